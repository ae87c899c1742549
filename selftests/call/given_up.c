// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/client kmod/call/server kmod/lib/message/calltable */
/*
 * Calls over prio that end while their requests are being sent. The callers do not wait, and
 * their blocks come back at once. Nothing more of the requests is sent. The server never runs a
 * request of which it has a part. The slots are free again. For calls that their CANCELs
 * overtake, see overtaken.c.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "gen.h"
#include "hosts.h"
#include "operator.h"
#include "prio_calls.h"

#define LARGE	(4 << 20)

static void start(const struct mrpc_sqe *sqe)
{
	CHECK(raw_push(&qp, sqe));
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
}

static void cancel(uint64_t tag)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_CANCEL, .conn = p.conn, .call = tag };

	start(&sqe);
}

/* A call completes once, and its blocks come back, long before a peer counts as silent. */
static void completes(uint64_t tag, uint32_t status)
{
	uint64_t until = raw_now() + 300 * RAW_MS * raw_patience();

	raw_ends(&qp, tag, status, WAIT);
	CHECK_MSG(raw_now() < until, "%llu ms late",
		  (unsigned long long)((raw_now() - until) / RAW_MS));
}

/* Bytes that leave lo in half a second. */
static uint64_t leaves_lo(const char *kind)
{
	uint64_t before = host_queue(getpid(), "lo", kind).bytes;

	raw_sleep(500 * RAW_MS);
	return host_queue(getpid(), "lo", kind).bytes - before;
}

/* -- a peer that is dead --------------------------------------------------------------------- */

static void sync_late(uint32_t len, uint64_t timeout_us)
{
	struct mrpc_sqe sqe = request(1, len, timeout_us);
	uint64_t before = raw_now(), ns;
	struct mrpc_cqe cqe;

	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), 0);
	ns = raw_now() - before;
	CHECK_EQ(cqe.status, MRPC_DEADLINE_EXCEEDED);
	CHECK(cqe.flags & MRPC_CQE_FREED);
	CHECK_MSG(ns + RAW_MS >= timeout_us * 1000 &&
		  ns < timeout_us * 1000 + 300 * RAW_MS * raw_patience(),
		  "%u bytes: it took %llu ms", len, (unsigned long long)(ns / RAW_MS));
	raw_done(&p.c, &cqe);
	raw_free(&p.c, sqe.root);
}

/* A synchronous call ends at its deadline, however much of it has been sent. */
TEST_LIMIT(dead_sync, 120)
{
	begin("netem limit 10000 delay 0", "64");
	works();
	bend("netem limit 10000 loss 100%");
	sync_late(100, 200000);
	sync_late(20000, 200000);	/* all of it is sent at once */
	sync_late(LARGE, 200000);	/* waits for grants */
	sync_late(20000, 1000);
	bend("netem limit 10000 delay 0");
	works();
	works();
	has_run(3);
	nothing_left();
	end();
}

static void nothing(int sig)
{
	(void)sig;
}

/* The same after a signal. */
TEST_LIMIT(dead_signal, 120)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;
	uint64_t before, ns;

	begin("netem limit 10000 delay 0", "64");
	bend("netem limit 10000 loss 100%");
	CHECK_SYS(sigaction(SIGALRM, &sa, NULL));
	sqe = request(1, 20000, 0);
	before = raw_now();
	alarm(1);
	CHECK_EQ(raw_call(&p.c, &sqe, &cqe), -EINTR);
	ns = raw_now() - before;
	CHECK_MSG(ns < RAW_S + 300 * RAW_MS * raw_patience(), "it took %llu ms",
		  (unsigned long long)(ns / RAW_MS));
	bend("netem limit 10000 delay 0");
	works();
	has_run(1);
	end();
}

/* The same with a queue pair: the blocks come back at once. */
TEST_LIMIT(dead_ring, 120)
{
	struct mrpc_sqe sqe;
	unsigned int i;

	begin("netem limit 10000 delay 0", "64");
	bend("netem limit 10000 loss 100%");
	for (i = 0; i < 4; i++) {
		sqe = request(1, i % 2 ? LARGE : 20000, i / 2 ? 0 : 100000);
		start(&sqe);
		if (i / 2) {
			raw_sleep(20 * RAW_MS);
			cancel(1);
		} else {
			raw_sleep(100 * RAW_MS);
		}
		completes(1, i / 2 ? MRPC_CANCELLED : MRPC_DEADLINE_EXCEEDED);
		raw_free(&p.c, sqe.root);
	}
	bend("netem limit 10000 delay 0");
	works();
	has_run(1);
	nothing_left();
	end();
}

/* -- a line that is slow ---------------------------------------------------------------------- */

#define SLOW	"tbf rate 8mbit burst 20000 limit 4m"

/* The line is free as soon as the message on it is given up. */
TEST_LIMIT(line_is_free, 120)
{
	struct mrpc_sqe sqe;
	uint64_t busy, idle;

	begin(SLOW, "1");
	sqe = request(1, LARGE, 0);
	start(&sqe);
	busy = leaves_lo("tbf");
	cancel(1);
	completes(1, MRPC_CANCELLED);
	works();
	idle = leaves_lo("tbf");
	NOTE("%llu bytes leave while it is sent, %llu when it has been given up",
	     (unsigned long long)busy, (unsigned long long)idle);
	CHECK(busy > 100000);
	CHECK(idle < busy / 4);
	has_run(1);
	nothing_left();
	end();
}

/* The same in an egress domain, where the message may just have its turn. */
TEST_LIMIT(line_is_free_domain, 120)
{
	struct mrpc_sqe sqe;
	unsigned int i;

	begin("netem limit 10000 delay 0", "1");
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "rate=1000000");
	for (i = 0; i < 20; i++) {
		sqe = request(1, LARGE, 0);
		start(&sqe);
		raw_sleep(i * 5 * RAW_MS);
		cancel(1);
		completes(1, MRPC_CANCELLED);
		raw_free(&p.c, sqe.root);
		works();
	}
	CHECK(leaves_lo("netem") < 100000);
	has_run(20);
	nothing_left();
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	end();
}

/* A paused domain grants no turns. A call that waits there ends at once, and is never sent. */
TEST_LIMIT(domain_is_paused, 120)
{
	struct mrpc_sqe sqe;

	begin("netem limit 10000 delay 0", "2");
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=1");
	sqe = request(1, LARGE, 100000);
	start(&sqe);
	completes(1, MRPC_DEADLINE_EXCEEDED);
	op_must_egress(MRPC_CMD_EGRESS_SET, "lo", "paused=0");
	works();
	has_run(1);
	nothing_left();
	op_must_egress(MRPC_CMD_EGRESS_DEL, "lo", NULL);
	end();
}

/* -- the part that the server has ------------------------------------------------------------- */

static void queued(unsigned int nr)
{
	uint64_t until = raw_now() + WAIT * raw_patience();

	while (op_dir("null", true, MRPC_A_ENGINE_DIR_QUEUED) != nr) {
		CHECK_MSG(raw_now() < until, "%lld rpcs are queued, not %u",
			  (long long)op_dir("null", true, MRPC_A_ENGINE_DIR_QUEUED), nr);
		raw_sleep(RAW_MS);
	}
}

/* The head of the request is in the server's engines while its bytes still come. */
TEST_LIMIT(among_engines, 120)
{
	struct mrpc_sqe sqe;

	begin(SLOW, "1");
	op_must_add("null", "side=server", NULL);
	CHECK_EQ(op_pause("null", 2, true), 0);
	sqe = request(1, LARGE, 0);
	start(&sqe);
	queued(1);
	cancel(1);
	completes(1, MRPC_CANCELLED);
	queued(0);
	CHECK_EQ(op_pause("null", 2, false), 0);
	works();
	has_run(1);
	nothing_left();
	CHECK(!raw_visible(&p.srv.s, 1));
	op_must_del("null");
	end();
}

/* An engine delays the request. After that the request goes to no application. */
TEST_LIMIT(kept_by_engine, 120)
{
	struct mrpc_sqe sqe;

	begin(SLOW, "1");
	op_must_add("fault", "delay_percent=10000 delay=1000000000 side=server", NULL);
	sqe = request(1, LARGE, 0);
	start(&sqe);
	raw_sleep(300 * RAW_MS);
	cancel(1);
	completes(1, MRPC_CANCELLED);
	works();
	raw_sleep(1500 * RAW_MS);
	has_run(1);
	nothing_left();
	CHECK(!raw_visible(&p.srv.s, 1));
	op_must_del("fault");
	end();
}

/* The blocks of the request in the receive heap come back. */
TEST_LIMIT(heap_comes_back, 120)
{
	struct mrpc_sqe sqe;
	unsigned int i;

	begin(SLOW, "1");
	for (i = 0; i < 30; i++) {
		sqe = request(1, LARGE, 0);
		start(&sqe);
		raw_sleep(30 * RAW_MS);
		cancel(1);
		completes(1, MRPC_CANCELLED);
		raw_free(&p.c, sqe.root);
		works();
	}
	has_run(30);
	nothing_left();
	CHECK(!raw_visible(&p.srv.s, 1));
	end();
}

/* -- replies ------------------------------------------------------------------------------------- */

/* The reply is on its way. The rest of it is not sent, and the server's blocks come back. */
static void reply_comes(unsigned int nr)
{
	struct mrpc_sqe sqe = request(LARGE, 10, 0);
	unsigned int i;

	sqe.method = RAW_MAKE;
	for (i = 1; i <= nr; i++) {
		start(&sqe);
		CHECK(leaves_lo("tbf") > 50000);
		cancel(LARGE);
		completes(LARGE, MRPC_CANCELLED);
		works();
		CHECK(leaves_lo("tbf") < 50000);
		CHECK(raw_server_idle(&p.srv, 100));
		has_run(2 * i);
	}
	nothing_left();
}

TEST_LIMIT(reply_comes_not, 120)
{
	begin(SLOW, "1");
	reply_comes(3);
	end();
}

/* The head of the reply is in the client's engines. */
TEST_LIMIT(reply_among_engines, 120)
{
	struct mrpc_sqe sqe;

	begin(SLOW, "1");
	op_must_add("null", "side=client", NULL);
	reply_comes(1);
	CHECK_EQ(op_pause("null", 2, true), 0);
	sqe = request(LARGE, 10, 0);
	sqe.method = RAW_MAKE;
	start(&sqe);
	queued(1);
	cancel(LARGE);
	completes(LARGE, MRPC_CANCELLED);
	queued(0);
	CHECK_EQ(op_pause("null", 2, false), 0);
	works();
	nothing_left();
	op_must_del("null");
	end();
}

/* -- at any moment -------------------------------------------------------------------------------- */

static const uint32_t sizes[] = { 100, 2000, 20000, 100000, 1000000 };

static uint32_t size_of(uint64_t tag)
{
	return tag == 999 ? 100 : sizes[tag % 5];
}

/* The bytes of each request that the server runs belong to its tag. */
static void is_whole(const struct mrpc_cqe *cqe, const void *msg)
{
	const struct test_Blob *blob = msg;

	if (!raw_is_blob(msg, cqe->msg_len, blob->tag, size_of(blob->tag)))
		raw_die("the server runs a request whose content is another's");
}

/*
 * Requests of all sizes are given up at random moments. Their blocks are used again as soon as
 * they come back. The line loses, repeats and reorders packets.
 */
TEST_LIMIT(at_any_moment, 300)
{
	struct gen g = gen_seeded(1);
	unsigned int i, ok = 0;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;

	begin("netem limit 10000 delay 2ms 1ms loss 3% duplicate 3% reorder 10%", "4");
	p.srv.seen = is_whole;
	for (i = 1; i <= 150; i++) {
		bool freed = false, done = false;

		sqe = request(i, size_of(i), gen_below(&g, 3) ? 0 : 1 + gen_below(&g, 30000));
		start(&sqe);
		raw_sleep(gen_below(&g, 30) * RAW_MS);
		cancel(i);
		while (!done || !freed) {
			CHECK_MSG(raw_next(&qp, &cqe, WAIT), "%u: done %d, freed %d", i, done, freed);
			if (cqe.type == MRPC_CQE_ERROR) {	/* it had already ended */
				CHECK_EQ(cqe.status, MRPC_NOT_FOUND);
				continue;
			}
			CHECK_EQ(cqe.user_data, i);
			if (cqe.type == MRPC_CQE_REPLY) {
				CHECK(!done);
				done = true;
				ok += cqe.status == MRPC_OK;
				CHECK(cqe.status == MRPC_OK || cqe.status == MRPC_CANCELLED ||
				      cqe.status == MRPC_DEADLINE_EXCEEDED);
				raw_done(&p.c, &cqe);
			}
			if (cqe.type == MRPC_CQE_SENT || cqe.flags & MRPC_CQE_FREED) {
				CHECK(!freed);
				freed = true;
			}
		}
		memset(p.c.send + sqe.root, 0xee, raw_blob_size(size_of(i), NULL));
		raw_free(&p.c, sqe.root);
		works();
	}
	NOTE("%u of 150 were answered", ok);
	nothing_left();
	end();
}
