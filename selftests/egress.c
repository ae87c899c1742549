// SPDX-License-Identifier: GPL-2.0
/*
 * Egress domains: in which order messages of different connections leave, that
 * nothing is lost whatever happens to the domain or to who waits in it, and that
 * nobody is in others' way.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tap.h"
#include "load.h"
#include "operator.h"
#include "peer.h"

#define FIFO	"discipline=0"
#define STRICT	"discipline=1"
#define SMALL	"discipline=2"

#define SET	MRPC_CMD_EGRESS_SET
#define DEL	MRPC_CMD_EGRESS_DEL

static struct raw_pair p;
static struct load l, other;

static void begin(void)
{
	op_del_all();
	op_egress(DEL, "", NULL);
	op_egress(DEL, "lo", NULL);
}

static const char *dev_of(const char *how)
{
	return strcmp(how, "loop") ? "lo" : "";
}

/* Waits until a number of the domain is at least @least. */
static bool reaches(const char *dev, unsigned int attr, int64_t least)
{
	uint64_t until = raw_now() + 10 * RAW_S * raw_scale();

	while (op_egress_number(dev, attr) < least) {
		if (raw_now() > until)
			return false;
		raw_sleep(RAW_MS);
	}
	return true;
}

/* Waits until the domain has nothing more to do with anybody's messages. */
static bool quiet(const char *dev)
{
	uint64_t until = raw_now() + 10 * RAW_S * raw_scale();
	static struct op_queue all[4096];
	unsigned int nr, i, busy;

	do {
		nr = op_egress_queues(dev, all, 4096);
		for (i = busy = 0; i < nr; i++)
			busy += all[i].value[MRPC_A_EGRESS_QUEUE_LEFT] > 0 ||
				all[i].value[MRPC_A_EGRESS_QUEUE_STATE] !=
				MRPC_EGRESS_QUEUE_STATE_IDLE;
		if (!busy)
			return true;
		raw_sleep(RAW_MS);
	} while (raw_now() < until);
	return false;
}

/* -- traffic passes ------------------------------------------------------------------- */

/* Messages of all sizes through a domain that comes, changes and goes under them. */
static void passes(const char *how)
{
	static const char *const words[] = { FIFO, STRICT " chunk=4096 limit=4096", SMALL " fair=1",
					     FIFO " fair=0 chunk=65536 limit=131072" };
	const char *dev = dev_of(how);
	unsigned int i;

	begin();
	raw_pair(&p, how, 2);
	load_start(&l, &p.c, p.conn, 32);
	other.len = 100000;
	load_start(&other, &p.c, raw_connect(&p.c, p.addr), 8);
	for (i = 0; i < 12; i++) {
		op_must_egress(SET, dev, words[i % 4]);
		CHECK(load_more(&l, 50, 60000));
		CHECK(load_more(&other, 10, 60000));
		CHECK_EQ(op_egress_number(dev, MRPC_A_EGRESS_DATAPATHS), 4);
		CHECK(op_egress_number(dev, MRPC_A_EGRESS_SENT) > 1000000);
		if (i % 4 != 3)
			continue;
		op_must_egress(DEL, dev, NULL);
		CHECK(load_more(&l, 50, 60000));
		CHECK(load_more(&other, 10, 60000));
	}
	load_stop(&l);
	load_stop(&other);
	CHECK_EQ(load_done(&l, MRPC_OK), load_all(&l));
	CHECK_EQ(load_done(&other, MRPC_OK), load_all(&other));
	raw_pair_end(&p);
}

TEST_LIMIT(passes_tcp, 120)
{
	passes("tcp4");
}

TEST_LIMIT(passes_loop, 120)
{
	passes("loop");
}
