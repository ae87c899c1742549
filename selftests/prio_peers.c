// SPDX-License-Identifier: GPL-2.0
/*
 * Many peers of the prio transport: what one takes that has nothing to say, and that all of them
 * are forgotten.
 */
#include "tap.h"
#include "operator.h"
#include "stranger.h"

#define PEERS	10000

static struct raw_pair p;
static struct stranger all;	/* each of them is an address of lo */

static int64_t gauge(const char *name)
{
	return op_transport("prio", MRPC_A_TRANSPORT_GAUGE, name);
}

/* One end that will say nothing more. */
static void associate(unsigned int i)
{
	struct stranger one = all;

	one.token = 1000 + i;
	one.from = 0x7f010000 + i;
	stranger_associate(&one);
}

/* An idle peer is its object, and its place among the others. */
TEST_LIMIT(idle, 200)
{
	long long before, took;
	unsigned int i;
	int64_t peers;

	raw_pair(&p, "prio", 1);
	stranger_new(&all, AF_INET, p.srv.s.port);
	for (i = 0; i < 100; i++)	/* what is made once */
		associate(i);
	peers = gauge("peers");
	before = raw_meminfo("Slab");
	for (; i < 100 + PEERS; i++)
		associate(i);
	took = (raw_meminfo("Slab") - before) << 10;
	CHECK_EQ(gauge("peers"), peers + PEERS);
	CHECK_EQ(gauge("gap_maps"), 0);
	NOTE("%u idle peers take %lld bytes of slabs, %lld each", PEERS, took, took / PEERS);
	CHECK(took / PEERS <= 1024 || raw_scale() > 1);	/* a debug kernel adds red zones */
	/* Those that have a connection do not notice. */
	CHECK_EQ(gauge("links"), 2);
	stranger_close(&all);
	raw_pair_end(&p);
	raw_must_unload("mrpc_prio");
}
