// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/netlink/queue kmod/lib/ds/order kmod/egress */
/*
 * Dumps of a queue of thousands of messages, while calls come and go. Each dump shows the queue at
 * one moment, and which messages the engine keeps elsewhere.
 */
#include "tap.h"
#include "operator.h"
#include "raw.h"

#define MANY	3000	/* calls that wait in the paused queue */
#define KEPT	7	/* calls that the engine keeps */
#define ROOM	4096
#define WAIT	(60 * RAW_S)

static struct raw_pair p;
static struct raw_qp qp;
static uint32_t root;
static uint64_t next_tag, ended, under_way;
static bool stop;

/* All calls have the same message. 0: no deadline. */
static void submit(uint64_t timeout_us)
{
	struct mrpc_sqe sqe = raw_sqe(p.conn, RAW_ECHO, root);

	sqe.user_data = ++next_tag;
	sqe.timeout_us = timeout_us * raw_scale();
	while (!raw_push(&qp, &sqe))
		if (raw_enter(&qp, 0, 0))
			raw_die("cannot submit");
	__atomic_add_fetch(&under_way, 1, __ATOMIC_RELAXED);
}

/* From one to three seconds. */
static uint64_t some_time(void)
{
	return 1000000 + next_tag * 7919 % 2000 * 1000;
}

/* A call that ends by its deadline is followed by another call. */
static void *churn(void *arg)
{
	struct mrpc_cqe cqe;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&under_way, __ATOMIC_RELAXED)) {
		if (!raw_next(&qp, &cqe, 100 * RAW_MS) || cqe.type != MRPC_CQE_REPLY)
			continue;
		/* If all calls go on at once, the server may not accept them. */
		if (cqe.status != MRPC_DEADLINE_EXCEEDED &&
		    !__atomic_load_n(&stop, __ATOMIC_RELAXED))
			raw_die("a call ended with %u", cqe.status);
		raw_done(&p.c, &cqe);
		if (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
			submit(some_time());
		__atomic_sub_fetch(&under_way, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void reaches(unsigned int attr, int64_t least)
{
	uint64_t until = raw_now() + WAIT * raw_patience();

	while (op_dir("fault", false, attr) < least) {
		CHECK_MSG(raw_now() < until, "it stays at %lld, and does not come to %lld",
			  (long long)op_dir("fault", false, attr), (long long)least);
		raw_sleep(10 * RAW_MS);
	}
}

static int by_call(const void *a, const void *b)
{
	uint64_t x = ((const struct op_rpc *)a)->call, y = ((const struct op_rpc *)b)->call;

	return x < y ? -1 : x > y;
}

/* The queue in order, each call once, and behind it the calls that the engine keeps. */
static unsigned int dump(uint32_t datapath)
{
	static struct op_rpc all[ROOM];
	unsigned int nr = op_rpcs(datapath, "fault", false, all, ROOM), i;

	CHECK(nr >= KEPT);
	for (i = 0; i < nr; i++) {
		CHECK_EQ(all[i].index, i);
		CHECK_EQ(!!(all[i].flags & MRPC_RPC_FLAGS_KEPT), i >= nr - KEPT);
	}
	qsort(all, nr, sizeof(*all), by_call);
	for (i = 1; i < nr; i++)
		CHECK(all[i].call != all[i - 1].call);
	return nr;
}

/* The engine takes all waiting calls. A call that was in its queue is now kept. */
static void let_go(uint32_t datapath)
{
	static struct op_rpc all[ROOM];
	uint64_t until = raw_now() + WAIT * raw_patience();
	unsigned int nr, i;

	CHECK_EQ(op_pause("fault", 1, false), 0);
	while (op_dir("fault", false, MRPC_A_ENGINE_DIR_QUEUED)) {
		CHECK(raw_now() < until);
		raw_sleep(10 * RAW_MS);
	}
	nr = op_rpcs(datapath, "fault", false, all, ROOM);
	CHECK(nr > KEPT);
	CHECK_EQ(nr, op_dir("fault", false, MRPC_A_ENGINE_DIR_KEPT));
	for (i = 0; i < nr; i++)
		CHECK(all[i].flags & MRPC_RPC_FLAGS_KEPT);
}

static void begin(void)
{
	op_del_all();
	CHECK(raw_file_write(RAW_KNOBS "max_calls", "4096"));
	raw_pair(&p, "tcp4", 2);
	CHECK(raw_file_write(RAW_KNOBS "max_calls", "256"));
	raw_qp(&qp, &p.c, 4096, 16384, 0);
	root = raw_blob(&p.c, 1, 100, NULL);
	stop = false;
	next_tag = ended = under_way = 0;
}

TEST_LIMIT(churn, 300)
{
	uint64_t until, first, slowest = 0, begun;
	unsigned int i, nr, most = 0, dumps = 0;
	uint32_t datapath;
	pthread_t thread;

	begin();
	datapath = op_conn(p.c.setup.session, p.conn, MRPC_A_CONN_DATAPATH);
	op_must_add("fault", "side=client delay=3000000000000 delay_percent=10000", NULL);
	for (i = 0; i < KEPT; i++)
		submit(0);
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	reaches(MRPC_A_ENGINE_DIR_KEPT, KEPT);
	CHECK_EQ(op_pause("fault", 1, true), 0);
	for (i = 0; i < MANY; i++)
		submit(some_time());
	CHECK_EQ(raw_enter(&qp, 0, 0), 0);
	CHECK(!pthread_create(&thread, NULL, churn, NULL));
	reaches(MRPC_A_ENGINE_DIR_QUEUED, MANY / 2);
	first = __atomic_load_n(&ended, __ATOMIC_RELAXED);
	until = raw_now() + WAIT * raw_patience();
	while (dumps < 10 || __atomic_load_n(&ended, __ATOMIC_RELAXED) < first + MANY) {
		begun = raw_now();
		nr = dump(datapath);
		slowest = raw_now() - begun > slowest ? raw_now() - begun : slowest;
		most = nr > most ? nr : most;
		dumps++;
		CHECK_MSG(raw_now() < until, "%u dumps, %llu calls", dumps,
			  (unsigned long long)__atomic_load_n(&ended, __ATOMIC_RELAXED) - first);
	}
	NOTE("%u dumps of up to %u messages, the slowest in %llu us", dumps, most,
	     (unsigned long long)slowest / 1000);
	CHECK(most > MANY / 2 && most <= MANY + KEPT);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	let_go(datapath);
	op_must_del("fault");	/* all go on */
	pthread_join(thread, NULL);
	raw_free(&p.c, root);
	raw_pair_end(&p);
}
