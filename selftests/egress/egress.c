// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/egress kmod/control/egress_config kmod/lib/egress.c kmod/lib/ds/order */
/*
 * Egress domains: no message is lost when the domain changes or goes, or when a connection that
 * waits in it ends. For the order in which messages leave, see egress_order.c.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "tap.h"
#include "load.h"
#include "operator.h"

#define FIFO	"discipline=fifo"
#define STRICT	"discipline=strict"
#define SMALL	"discipline=small-first"
#define DEADLINE	"discipline=deadline"

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

/* -- traffic passes ------------------------------------------------------------------- */

/* Sends messages of all sizes through a domain that is made, changed and deleted meanwhile. */
static void passes(const char *how)
{
	static const char *const words[] = { FIFO, STRICT " chunk=4096 limit=4096", SMALL " fair=1",
					     DEADLINE " fair=0 chunk=65536 limit=131072" };
	const char *dev = op_egress_dev(how);
	unsigned int i;

	begin();
	raw_pair(&p, how, 2);
	load_start(&l, &p.c, p.conn, 32);
	other.len = 100000;
	other.timeout_us = 900000000;
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
	CHECK_EQ(load_failed(&l), 0);
	CHECK_EQ(load_failed(&other), 0);
	raw_pair_end(&p);
}

TEST_LIMIT_EACH_TRANSPORT(passes, 120, passes)

/* -- ends ---------------------------------------------------------------------------------- */

/* A process with much under way dies while the domain runs or is paused. */
static void killed(const char *scheme)
{
	char addr[32];
	unsigned int i;
	int status;
	pid_t pid;

	begin();
	snprintf(addr, sizeof(addr), "%s:127.0.0.1:0", scheme);
	raw_server(&p.srv, addr, 1);
	snprintf(p.addr, sizeof(p.addr), "%s:127.0.0.1:%u", scheme, p.srv.s.port);
	for (i = 0; i < 6; i++) {
		op_must_egress(SET, "lo", STRICT " paused=0 chunk=4096 limit=8192");
		pid = CHECK_SYS(fork());
		if (!pid) {
			raw_open(&p.c, 16 << 20, 16 << 20);
			l.len = 50000;
			load_start(&l, &p.c, raw_connect(&p.c, p.addr), 16);
			load_start(&other, &p.c, raw_connect(&p.c, p.addr), 16);
			for (;;)
				pause();
		}
		CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_SENT, (i + 1) * 1000000));
		if (i & 1) {
			op_must_egress(SET, "lo", "paused=1");
			CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, 1));
		}
		CHECK_SYS(kill(pid, SIGKILL));
		CHECK_SYS(waitpid(pid, &status, 0));
		CHECK(raw_server_conns(&p.srv, 0, 20000));
		CHECK(raw_sessions(1, 20000));
		CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_DATAPATHS), 0);
		CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_OUT), 0);
		CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_WAITING), 0);
	}
	raw_server_stop(&p.srv);
	op_must_egress(DEL, "lo", NULL);
}

TEST_LIMIT(killed_tcp, 120)
{
	killed("tcp");
}

TEST_LIMIT(killed_prio, 120)
{
	killed("prio");
}

/* Messages that wait in a paused domain go on when it is deleted, or end with the connection. */
static void deleted_paused(const char *how)
{
	begin();
	raw_pair(&p, how, 1);
	op_must_egress(SET, "lo", FIFO " paused=1");
	load_start(&l, &p.c, p.conn, 8);
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, 1));
	CHECK_EQ(load_all(&l), 0);
	op_must_egress(DEL, "lo", NULL);
	CHECK(load_more(&l, 50, 20000));
	op_must_egress(SET, "lo", FIFO " paused=1");
	CHECK(op_egress_reaches("lo", MRPC_A_EGRESS_WAITING, 1));
	CHECK_EQ(raw_close_id(&p.c, p.conn, 0, 0), 0);
	load_stop(&l);
	CHECK(raw_server_conns(&p.srv, 0, 20000));
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_DATAPATHS), 0);
	raw_pair_end(&p);
	/* The domain stays until the module goes. */
}

TEST(deleted_paused_tcp)
{
	deleted_paused("tcp4");
}

TEST(deleted_paused_prio)
{
	deleted_paused("prio");
}

/* Bytes that a domain sends in about half a second. @allowed: bytes that its rate allows. */
static int64_t paced(const char *dev, uint64_t rate, double *allowed)
{
	uint64_t start = raw_now();
	int64_t from = op_egress_number(dev, MRPC_A_EGRESS_SENT), bytes;

	raw_sleep(RAW_S / 2);
	bytes = op_egress_number(dev, MRPC_A_EGRESS_SENT) - from;
	*allowed = rate * (raw_now() - start) / 1e9;
	return bytes;
}

/* A rate is exceeded at most by one chunk that is made up for. A busy load reaches the rate. */
static void rate_of(const char *how)
{
	const uint64_t rate = 2000000;
	const char *dev = op_egress_dev(how);
	double allowed = 1;
	int64_t bytes = 0;
	unsigned int i;

	begin();
	raw_pair(&p, how, 1);
	l.len = 20000;
	l.ack = true;
	load_start(&l, &p.c, p.conn, 16);
	op_must_egress(SET, dev, STRICT " rate=2000000");
	CHECK(load_more(&l, 20, 60000));
	for (i = 0; i < 10 && bytes < 0.9 * allowed; i++) {
		bytes = paced(dev, rate, &allowed);
		NOTE("%lld bytes of %.0f", (long long)bytes, allowed);
		CHECK(bytes <= allowed + 2 * 16384);
	}
	CHECK(bytes >= 0.9 * allowed);
	/* Without a rate, the full bandwidth is available at once. */
	op_must_egress(SET, dev, "rate=0");
	for (i = 0; i < 10 && bytes < 1.5 * allowed; i++)
		bytes = paced(dev, rate, &allowed);
	NOTE("%lld bytes without", (long long)bytes);
	CHECK(bytes >= 1.5 * allowed || raw_scale() > 1);	/* a debug kernel is slower */
	load_stop(&l);
	CHECK_EQ(load_failed(&l), 0);
	raw_pair_end(&p);
	op_must_egress(DEL, dev, NULL);
}

TEST_EACH_TRANSPORT(rate, rate_of)

/* A namespace ends with its domain. Other namespaces do not notice. */
TEST(namespace)
{
	int status;
	pid_t pid;

	begin();
	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_SYS(unshare(CLONE_NEWNET));
		op_forget();
		CHECK(!system("ip link set lo up"));
		op_must_egress(SET, "lo", STRICT);
		op_must_egress(SET, "", STRICT);
		raw_pair(&p, "tcp4", 1);
		load_start(&l, &p.c, p.conn, 8);
		CHECK(load_more(&l, 100, 20000));
		CHECK(op_egress_number("lo", MRPC_A_EGRESS_DATAPATHS) == 2);
		op_must_egress(SET, "lo", "paused=1");
		_exit(0);
	}
	CHECK_SYS(waitpid(pid, &status, 0));
	CHECK_EQ(status, 0);
	CHECK(raw_sessions(0, 20000));
	CHECK_EQ(op_egress(DEL, "lo", NULL), -ENOENT);
}

/* -- bad input ------------------------------------------------------------------------------ */

static void refused(int err, const char *why, uint8_t cmd, const char *dev, const char *words)
{
	int got = op_egress(cmd, dev, words);

	CHECK_MSG(got == err, "egress %s %s: %d, not %d: %s", dev, words, got, err, op_why);
	CHECK_MSG(strstr(op_why, why), "egress %s %s: '%s', not '%s'", dev, words, op_why, why);
}

TEST(bad_input)
{
	begin();
	refused(-ENODEV, "there is no device 'x'", SET, "x", FIFO);
	refused(-ENOENT, "device 'lo' has no egress domain", DEL, "lo", NULL);
	refused(-ENOENT, "loop links have no egress domain", DEL, "", NULL);
	refused(-ERANGE, "a chunk of 100 bytes; 1024 to 1048576", SET, "lo", "chunk=100");
	refused(-ERANGE, "a chunk of 2000000 bytes", SET, "lo", "chunk=2000000");
	refused(-ERANGE, "a limit of 1000 bytes; a chunk (16384) to", SET, "lo", "limit=1000");
	refused(-ERANGE, "a limit of 100000000 bytes", SET, "lo", "limit=100000000");
	refused(-ENOENT, "no discipline 'red'", SET, "lo", "discipline=red");
	refused(-EINVAL, "", SET, "lo", "discipline=a-name-that-is-too-long-for-a-policy");
	refused(-ERANGE, "rate 999 bytes/s: 1000 to 1000000000000 are allowed", SET, "lo",
		"rate=999");
	refused(-ERANGE, "rate 1000000000001 bytes/s", SET, "lo", "rate=1000000000001");
	CHECK(op_egress(SET, "lo", "fair=2") < 0);
	CHECK(op_egress(SET, "lo", "paused=2") < 0);
	refused(-EINVAL, "", SET, "a-name-that-is-too-long", FIFO);
	/* None of these has an effect. A refused change changes nothing. */
	refused(-ENOENT, "device 'lo' has no egress domain", DEL, "lo", NULL);
	op_must_egress(SET, "lo", STRICT " chunk=8192");
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_LIMIT), 16384);
	refused(-ERANGE, "a limit of 4096 bytes", SET, "lo", "limit=4096 fair=1");
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_LIMIT), 16384);
	CHECK_EQ(op_egress_number("lo", MRPC_A_EGRESS_FAIR), 0);
	CHECK(op_egress_is("lo", "strict"));
	op_must_egress(DEL, "lo", NULL);
}

/* Sets one number to many values. Each value must stay until the next one is set. */
static bool sets(const char *key, unsigned int attr, uint32_t from, uint32_t step)
{
	uint64_t until = raw_now() + 3 * RAW_S * raw_scale();
	char words[64];
	unsigned int i;

	for (i = 0; raw_now() < until; i++) {
		uint32_t value = from + i % 7 * step;

		snprintf(words, sizeof(words), "%s=%u", key, value);
		op_must_egress(SET, "lo", words);
		if (op_egress_number("lo", attr) != value) {
			printf("# %s is %lld, not %u, after %u times\n", key,
			       (long long)op_egress_number("lo", attr), value, i);
			fflush(stdout);
			return false;
		}
	}
	return true;
}

/* Two operators change different settings. Neither undoes the other's change. */
TEST_LIMIT(set_at_once, 60)
{
	int status;
	pid_t pid;

	begin();
	op_must_egress(SET, "lo", "chunk=1024 limit=1000000");
	pid = CHECK_SYS(fork());
	if (!pid) {
		op_forget();
		_exit(!sets("chunk", MRPC_A_EGRESS_CHUNK, 1024, 1000));
	}
	CHECK(sets("limit", MRPC_A_EGRESS_LIMIT, 100000, 1000));
	CHECK_SYS(waitpid(pid, &status, 0));
	CHECK_EQ(status, 0);
	op_must_egress(DEL, "lo", NULL);
}
