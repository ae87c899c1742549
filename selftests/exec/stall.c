// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/exec/stall kmod/exec/recv_free kmod/core/heap */
/* Connections that wait for room in the receive heap: which of them tries when a block is freed. */
#include "tap.h"
#include "operator.h"
#include "raw.h"

static struct raw_pair p;
static struct raw_qp qp;

#define MANY		24	/* and a few more */
#define GIVEN_LEN	900000	/* a block of 1 MiB */
#define MANY_LEN	60000	/* a block of 64 KiB, half of the heap */

/*
 * How often input of the server's connections has stopped for want of room. @latest: the latest
 * connection with input that has stopped, or NULL.
 */
static int64_t stalls(uint32_t *latest)
{
	int64_t sum = 0, n;
	uint32_t id;

	for (id = 1; id < MANY + 10; id++) {
		n = op_conn_stat(p.srv.s.setup.session, id, MRPC_A_CONN_STATS_HEAP_STALLS);
		if (n <= 0)
			continue;
		sum += n;
		if (latest)
			*latest = id;
	}
	return sum;
}

/* Sends what was pushed, and waits until the server has no room for it. */
static uint32_t stalls_now(void)
{
	int64_t before = stalls(NULL);
	uint32_t id = 0;
	int i;

	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	for (i = 0; i < 500 && stalls(NULL) == before; i++)
		raw_sleep(10 * RAW_MS);
	CHECK(stalls(&id) > before);
	return id;
}

/*
 * Sends a request over a connection of its own, for which the server has no room.
 * Return: the server's connection.
 */
static uint32_t one_stalls(uint64_t tag, uint32_t len)
{
	p.conn = raw_connect_quiet(&p.c, p.addr);
	CHECK(p.conn > 0);
	raw_push_blob(&qp, &p, RAW_HANG, tag, len);
	return stalls_now();
}

/* Starts a server, and fills its heap with eight requests of @len bytes. */
static void fill_heap(const char *how, uint32_t heap, uint32_t len)
{
	unsigned int i;

	raw_server_open(&p.srv, 1 << 20, heap);
	raw_open(&p.c, 8 << 20, 1 << 20);
	p.srv.keep = true;
	p.srv.keepalive_us = RAW_HOUR_US;
	raw_pair_start(&p, how, 1);
	raw_qp(&qp, &p.c, 64, 256, 0);
	for (i = 0; i < 8; i++)
		raw_push_blob(&qp, &p, RAW_HANG, 1000 + i, len);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(raw_server_hangs(&p.srv, 8));
}

/* The server gives back the block of a request. */
static void give_back(unsigned int nr)
{
	CHECK_EQ(raw_release(&p.srv.s, p.srv.hung[nr].block), 0);
}

static void expect_hung(unsigned int nr, uint64_t tag, uint32_t len)
{
	const struct mrpc_cqe *cqe = &p.srv.hung[nr];

	CHECK(raw_server_hangs(&p.srv, nr + 1));
	CHECK(raw_is_blob(raw_msg(&p.srv.s, cqe), cqe->msg_len, tag, len));
}

/*
 * Many connections wait for room. A block that comes back goes to the one that waits longest, of
 * those for which it is enough, and the others do not even try. One that ends is passed over.
 */
static void many_wait(const char *how)
{
	uint32_t ids[MANY];
	unsigned int i, hung;
	int64_t before;
	int first;

	fill_heap(how, 131072, 16000);
	first = p.conn;
	for (i = 0; i < MANY; i++)
		ids[i] = one_stalls(i, MANY_LEN);
	one_stalls(MANY, 16000);
	before = stalls(NULL);

	give_back(0);	/* enough for the last one only */
	expect_hung(8, MANY, 16000);
	for (i = 1; i < 8; i++)
		give_back(i);
	expect_hung(9, 0, MANY_LEN);
	raw_sleep(50 * RAW_MS);
	CHECK_EQ(p.srv.nr_hung, 10);
	CHECK_EQ(raw_close_id(&p.srv.s, ids[2], 0, 0), 0);
	give_back(8);
	for (i = 1, hung = 10; i < MANY; i++) {
		if (i == 2)
			continue;
		expect_hung(hung, i, MANY_LEN);
		give_back(hung++ - 1);
	}
	/* Each block may have cost two tries in vain. All connections would have tried for each. */
	CHECK_MSG(stalls(NULL) - before <= 2 * (int64_t)hung, "%lld tries in vain for %u blocks",
		  (long long)(stalls(NULL) - before), hung);

	/* One block makes room for several: each of them gets it. */
	give_back(hung - 1);
	p.conn = first;
	raw_push_blob(&qp, &p, RAW_HANG, 2000, 2 * MANY_LEN);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	expect_hung(hung, 2000, 2 * MANY_LEN);
	for (i = 0; i < 4; i++)
		one_stalls(2001 + i, 16000);
	raw_sleep(2500 * RAW_MS);	/* connections look after themselves in their first second */
	give_back(hung++);
	CHECK(raw_server_hangs(&p.srv, hung + 4));
	p.conn = first;
	raw_pair_end(&p);
}

TEST_EACH_TRANSPORT(many_wait, many_wait)

/*
 * A request that is given up while it waits gives up its place, too: the next one waits anew. It is
 * so large that its end is not sent before there is room.
 */
TEST(given_up_waits_anew)
{
	struct mrpc_cqe cqe;
	struct mrpc_sqe sqe;
	unsigned int i;
	int conn;

	fill_heap("prio", 1 << 20, 120000);
	conn = raw_connect_quiet(&p.c, p.addr);
	CHECK(conn > 0);
	sqe = raw_sqe(conn, RAW_HANG, raw_blob(&p.c, 0, GIVEN_LEN, NULL));
	sqe.timeout_us = 500000 * raw_scale();
	CHECK(raw_push(&qp, &sqe));
	stalls_now();
	raw_expect(&qp, &cqe, MRPC_CQE_REPLY, 5 * RAW_S);
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	raw_sleep(300 * RAW_MS * raw_scale());	/* the server is told of it */
	one_stalls(1, GIVEN_LEN);
	p.conn = conn;
	raw_push_blob(&qp, &p, RAW_HANG, 2, GIVEN_LEN);
	stalls_now();
	for (i = 0; i < 8; i++)
		give_back(i);
	expect_hung(8, 1, GIVEN_LEN);
	give_back(8);
	expect_hung(9, 2, GIVEN_LEN);
	raw_pair_end(&p);
}
