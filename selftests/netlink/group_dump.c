// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/netlink/group kmod/group/inspect kmod/group/trace */
/* What operators see of groups: ranks, their connections, and what they have done. */
#include <errno.h>
#include <linux/mrpc_netlink.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "operator.h"
#include "operator_nl.h"
#include "ranks.h"

#define HEAP	(4 << 20)
#define OUT	(2 << 20)
#define KEY	77
#define WAIT	(10 * RAW_S)
#define TRACE	64	/* operations that a rank remembers */

static struct mrpc_sqe allreduce(uint64_t count)
{
	return (struct mrpc_sqe){
		.collective = MRPC_ALLREDUCE, .algorithm = MRPC_RING, .elem = MRPC_ELEM_I32,
		.count = count, .output = OUT, .priority = 9,
	};
}

static void end(void)
{
	ranks_end();
	CHECK_MSG(raw_sessions(0, 10000 * raw_patience()), "a session is left");
}

static uint32_t session_of(unsigned int rank)
{
	return ranks[rank].s.setup.session;
}

/* -- asking ------------------------------------------------------------------------------ */

static int ask_group(uint32_t session, uint32_t group)
{
	op_request(MRPC_CMD_GROUP_GET, 0);
	op_put_u32(MRPC_A_GROUP_SESSION, session);
	op_put_u32(MRPC_A_GROUP_ID, group);
	return op_ask();
}

static const struct nlattr *group_attr(unsigned int rank, unsigned int attr)
{
	if (ask_group(session_of(rank), ranks[rank].group))
		raw_die("rank %u: %s", rank, op_why);
	return op_find(op.buf, op.len, attr, NULL);
}

static int64_t group_value(unsigned int rank, unsigned int attr)
{
	return op_value(group_attr(rank, attr));
}

/* Of the operation that runs; -1: none does. */
static int64_t operation_value(unsigned int rank, unsigned int attr)
{
	const struct nlattr *nest = group_attr(rank, MRPC_A_GROUP_OPERATION);

	return nest ? op_value(op_inside(nest, attr)) : -1;
}

/* Of all operations of a collective; -1: it has done none. */
static int64_t total_value(unsigned int rank, unsigned int collective, unsigned int attr)
{
	const struct nlattr *nest = group_attr(rank, MRPC_A_GROUP_TOTAL);

	for (; nest; nest = op_find(op.buf, op.len, MRPC_A_GROUP_TOTAL, nest))
		if (op_value(op_inside(nest, MRPC_A_GROUP_TOTAL_COLLECTIVE)) == collective)
			return op_value(op_inside(nest, attr));
	return -1;
}

/* Waits until an attribute of the running operation, or of the group, is so. */
#define REACHES(what, want)							\
	do {									\
		uint64_t until = raw_now() + WAIT * raw_patience();		\
		while ((what) != (want)) {					\
			CHECK_MSG(raw_now() < until, "%s stays at %lld", #what,	\
				  (long long)(what));				\
			raw_sleep(5 * RAW_MS);					\
		}								\
	} while (0)

struct link {
	int64_t rank;
	int64_t conn;
	int64_t sent;
	int64_t received;
	bool early;
	bool left;
};

struct links {
	struct link link[MRPC_GROUP_RANKS];
	unsigned int nr;
};

static void add_link(const void *attrs, uint32_t len, void *arg)
{
	struct links *all = arg;

	CHECK(all->nr < MRPC_GROUP_RANKS);
	all->link[all->nr++] = (struct link){
		.rank = op_value(op_find(attrs, len, MRPC_A_GROUP_LINK_RANK, NULL)),
		.conn = op_value(op_find(attrs, len, MRPC_A_GROUP_LINK_CONN, NULL)),
		.sent = op_value(op_find(attrs, len, MRPC_A_GROUP_LINK_TX_CHUNKS, NULL)),
		.received = op_value(op_find(attrs, len, MRPC_A_GROUP_LINK_RX_CHUNKS, NULL)),
		.early = op_find(attrs, len, MRPC_A_GROUP_LINK_EARLY, NULL),
		.left = op_find(attrs, len, MRPC_A_GROUP_LINK_LEFT, NULL),
	};
}

static int dump_links(uint32_t session, uint32_t group, struct links *all)
{
	all->nr = 0;
	op_request(MRPC_CMD_GROUP_LINK_GET, NLM_F_DUMP);
	op_put_u32(MRPC_A_GROUP_LINK_SESSION, session);
	op_put_u32(MRPC_A_GROUP_LINK_GROUP, group);
	return op_ask_each(add_link, all);
}

static struct link *find_link(unsigned int rank, unsigned int other)
{
	static struct links all;
	unsigned int i;

	CHECK_EQ(dump_links(session_of(rank), ranks[rank].group, &all), 0);
	for (i = 0; i < all.nr; i++)
		if (all.link[i].rank == other)
			return &all.link[i];
	raw_die("rank %u has no link to rank %u", rank, other);
}

/**
 * struct record - an operation of a trace
 * @number: of the operation
 * @collective: enum mrpc_collective
 * @began: ns; the following times are counted from it, -1: not known
 */
struct record {
	int64_t number;
	int64_t collective;
	int64_t priority;
	int64_t tx_chunks;
	int64_t began;
	int64_t first_sent;
	int64_t last_received;
	int64_t duration;
	int64_t status;
};

struct records {
	struct record record[TRACE];
	unsigned int nr;
};

static void add_record(const void *attrs, uint32_t len, void *arg)
{
	const struct nlattr *o = op_find(attrs, len, MRPC_A_GROUP_TRACE_OPERATION, NULL);
	struct records *all = arg;

	CHECK(all->nr < TRACE);
	all->record[all->nr++] = (struct record){
		.number = op_value(op_inside(o, MRPC_A_GROUP_OPERATION_NUMBER)),
		.collective = op_value(op_inside(o, MRPC_A_GROUP_OPERATION_COLLECTIVE)),
		.priority = op_value(op_inside(o, MRPC_A_GROUP_OPERATION_PRIORITY)),
		.tx_chunks = op_value(op_inside(o, MRPC_A_GROUP_OPERATION_TX_CHUNKS)),
		.began = op_value(op_find(attrs, len, MRPC_A_GROUP_TRACE_BEGAN, NULL)),
		.first_sent = op_value(op_find(attrs, len, MRPC_A_GROUP_TRACE_FIRST_SENT, NULL)),
		.last_received = op_value(op_find(attrs, len, MRPC_A_GROUP_TRACE_LAST_RECEIVED,
						  NULL)),
		.duration = op_value(op_find(attrs, len, MRPC_A_GROUP_TRACE_DURATION, NULL)),
		.status = op_value(op_find(attrs, len, MRPC_A_GROUP_TRACE_STATUS, NULL)),
	};
}

static int dump_trace(uint32_t session, uint32_t group, struct records *all)
{
	all->nr = 0;
	op_request(MRPC_CMD_GROUP_TRACE_GET, NLM_F_DUMP);
	op_put_u32(MRPC_A_GROUP_TRACE_SESSION, session);
	op_put_u32(MRPC_A_GROUP_TRACE_GROUP, group);
	return op_ask_each(add_record, all);
}

static void trace_of(unsigned int rank, struct records *all)
{
	CHECK_EQ(dump_trace(session_of(rank), ranks[rank].group, all), 0);
}

static void count_one(const void *attrs, uint32_t len, void *arg)
{
	(void)attrs;
	(void)len;
	++*(unsigned int *)arg;
}

/* Ranks of a session, or of all sessions if it is 0. */
static unsigned int count_groups(uint32_t session)
{
	unsigned int nr = 0;

	op_request(MRPC_CMD_GROUP_GET, NLM_F_DUMP);
	if (session)
		op_put_u32(MRPC_A_GROUP_SESSION, session);
	CHECK_EQ(op_ask_each(count_one, &nr), 0);
	return nr;
}

/* -- what has been done -------------------------------------------------------------------- */

static uint64_t real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* By ring, the ranks together send their buffer 2 (n - 1) times. */
static void totals(const char *how)
{
	struct mrpc_sqe sqe = allreduce(100001), barrier = { .collective = MRPC_BARRIER };
	uint64_t bytes = 4 * 100001, tx = 0, rx = 0;
	unsigned int rank, i;

	ranks_begin(how, 3, HEAP);
	for (i = 0; i < 3; i++) {
		ranks_submit(&sqe);
		ranks_complete();
	}
	ranks_submit(&barrier);
	ranks_complete();
	CHECK_EQ(count_groups(0), 3);
	for (rank = 0; rank < 3; rank++) {
		CHECK_EQ(count_groups(session_of(rank)), 1);
		CHECK_EQ(group_value(rank, MRPC_A_GROUP_RANK), rank);
		CHECK_EQ(group_value(rank, MRPC_A_GROUP_RANKS), 3);
		CHECK_EQ(group_value(rank, MRPC_A_GROUP_PID), getpid());
		CHECK_EQ(group_value(rank, MRPC_A_GROUP_CONNS), 2);
		CHECK_EQ(group_value(rank, MRPC_A_GROUP_STATE), MRPC_GROUP_STATE_IDLE);
		CHECK_EQ(group_value(rank, MRPC_A_GROUP_STATUS), -1);
		CHECK_EQ(group_value(rank, MRPC_A_GROUP_COMPLETED), 4);
		CHECK_EQ(group_value(rank, MRPC_A_GROUP_FAILED), 0);
		CHECK_EQ(total_value(rank, MRPC_ALLREDUCE, MRPC_A_GROUP_TOTAL_COMPLETED), 3);
		CHECK_EQ(total_value(rank, MRPC_ALLREDUCE, MRPC_A_GROUP_TOTAL_BYTES), 3 * bytes);
		CHECK(total_value(rank, MRPC_ALLREDUCE, MRPC_A_GROUP_TOTAL_TIME) > 0);
		CHECK_EQ(total_value(rank, MRPC_BARRIER, MRPC_A_GROUP_TOTAL_COMPLETED), 1);
		CHECK_EQ(total_value(rank, MRPC_BARRIER, MRPC_A_GROUP_TOTAL_BYTES), 0);
		CHECK_EQ(total_value(rank, MRPC_GATHER, MRPC_A_GROUP_TOTAL_COMPLETED), -1);
		tx += group_value(rank, MRPC_A_GROUP_TX_BYTES);
		rx += group_value(rank, MRPC_A_GROUP_RX_BYTES);
	}
	CHECK_EQ(tx, 3 * 4 * bytes);
	CHECK_EQ(rx, tx);
	end();
}

TEST(totals_loop) { totals("loop"); }
TEST(totals_tcp) { totals("tcp4"); }

TEST(trace)
{
	struct mrpc_sqe sqe = allreduce(100000), barrier = { .collective = MRPC_BARRIER };
	uint64_t begin = real_ns();
	struct records t;
	unsigned int i;

	ranks_begin("loop", 2, HEAP);
	trace_of(0, &t);
	CHECK_EQ(t.nr, 0);
	ranks_submit(&sqe);
	ranks_complete();
	trace_of(1, &t);
	CHECK_EQ(t.nr, 1);
	CHECK_EQ(t.record[0].number, 1);
	CHECK_EQ(t.record[0].priority, 9);
	CHECK(t.record[0].tx_chunks >= 2);
	CHECK(t.record[0].first_sent >= 0 && t.record[0].last_received > 0);
	CHECK(t.record[0].duration >= t.record[0].last_received);
	/* The clock may be set meanwhile, by some ms. */
	CHECK(t.record[0].began + 1000000000 > (int64_t)begin);
	CHECK(t.record[0].began + t.record[0].duration < (int64_t)real_ns() + 1000000000);
	for (i = 0; i < TRACE + 6; i++) {
		ranks_submit(&barrier);
		ranks_complete();
	}
	trace_of(0, &t);
	CHECK_EQ(t.nr, TRACE);
	for (i = 0; i < TRACE; i++) {
		CHECK_EQ(t.record[i].number, 1 + 7 + i);
		CHECK_EQ(t.record[i].collective, MRPC_BARRIER);
		CHECK_EQ(t.record[i].status, MRPC_OK);
		CHECK(!i || t.record[i].began >= t.record[i - 1].began);
	}
	end();
}

/* -- what is done now ---------------------------------------------------------------------- */

TEST(running)
{
	struct mrpc_sqe sqe = allreduce(30000);
	struct records t;

	ranks_begin("tcp4", 3, HEAP);
	sqe.limit_us = 600000000;
	rank_submit(0, sqe);
	rank_submit(0, sqe);
	rank_submit(0, sqe);
	rank_submit(1, sqe);
	/* Along the ring: rank 0 waits for rank 2, which has a chunk of rank 1. */
	REACHES(find_link(2, 1)->early, true);
	CHECK_EQ(group_value(2, MRPC_A_GROUP_STATE), MRPC_GROUP_STATE_IDLE);
	CHECK_EQ(find_link(2, 0)->early, false);
	CHECK_EQ(find_link(2, 1)->conn, ranks[2].conn[1]);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_STATE), MRPC_GROUP_STATE_RUNNING);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_WAITING), 2);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_NUMBER), 1);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_AWAITS), 2);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_COLLECTIVE), MRPC_ALLREDUCE);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_ALGORITHM), MRPC_RING);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_REDUCE), MRPC_REDUCE_SUM);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_ROOT), -1);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_BYTES), 120000);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_TX_BYTES), 40000);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_RX_BYTES), 0);
	CHECK(operation_value(0, MRPC_A_GROUP_OPERATION_AGE) > 0);
	CHECK(operation_value(0, MRPC_A_GROUP_OPERATION_LEFT) > 500000000000);
	CHECK_EQ(find_link(0, 1)->sent, 1);
	CHECK_EQ(find_link(0, 2)->received, 0);
	REACHES(find_link(1, 0)->received, 1);
	CHECK_EQ(op_conn(session_of(0), ranks[0].conn[2], MRPC_A_CONN_GROUP), ranks[0].group);
	CHECK_EQ(op_conn(session_of(0), ranks[0].conn[2], MRPC_A_CONN_RANK), 2);
	trace_of(0, &t);
	CHECK_EQ(t.nr, 1);
	CHECK_EQ(t.record[0].status, -1);
	CHECK_EQ(t.record[0].duration, -1);
	CHECK_EQ(t.record[0].last_received, -1);
	rank_submit(1, sqe);
	rank_submit(1, sqe);
	rank_submit(2, sqe);
	rank_submit(2, sqe);
	rank_submit(2, sqe);
	ranks_complete();
	ranks_complete();
	ranks_complete();
	CHECK_EQ(group_value(0, MRPC_A_GROUP_STATE), MRPC_GROUP_STATE_IDLE);
	CHECK_EQ(operation_value(0, MRPC_A_GROUP_OPERATION_NUMBER), -1);
	CHECK_EQ(find_link(0, 1)->sent, 0);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_COMPLETED), 3);
	end();
}

TEST(ended)
{
	struct mrpc_sqe sqe = allreduce(30000);
	const struct nlattr *why;
	struct records t;
	unsigned int i;

	ranks_begin("loop", 3, HEAP);
	for (i = 0; i < 3; i++)
		rank_submit(0, sqe);
	rank_submit(1, sqe);
	CHECK_EQ(rank_leave(&ranks[1]), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(rank_complete(0), MRPC_CANCELLED);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_STATE), MRPC_GROUP_STATE_ENDED);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_STATUS), MRPC_CANCELLED);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_COMPLETED), 0);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_FAILED), 3);
	why = group_attr(0, MRPC_A_GROUP_DETAIL);
	CHECK_MSG(!strcmp((const char *)(why + 1), "rank 1 has left the group"), "%s",
		  (const char *)(why + 1));
	/* Of the operations that never began nothing is remembered. */
	trace_of(0, &t);
	CHECK_EQ(t.nr, 1);
	CHECK_EQ(t.record[0].number, 1);
	CHECK_EQ(t.record[0].status, MRPC_CANCELLED);
	CHECK_EQ(t.record[0].last_received, -1);
	CHECK(t.record[0].duration > 0);
	CHECK_EQ(ask_group(session_of(1), ranks[1].group), -ENOENT);
	CHECK_MSG(strstr(op_why, "has no group 1"), "%s", op_why);
	CHECK_EQ(dump_trace(session_of(1), ranks[1].group, &t), -ENOENT);
	CHECK_EQ(count_groups(0), 2);
	/* The connections end a second later. */
	REACHES(group_value(0, MRPC_A_GROUP_CONNS), 0);
	CHECK_EQ(find_link(0, 1)->conn, -1);
	CHECK_EQ(op_conn(session_of(0), ranks[0].conn[2], MRPC_A_CONN_GROUP), -1);
	end();
}

/* A rank that leaves between two operations ends the group of the others when they need it. */
TEST(left)
{
	struct mrpc_sqe sqe = allreduce(30000);

	ranks_begin("tcp4", 3, HEAP);
	ranks_submit(&sqe);
	ranks_complete();
	CHECK_EQ(find_link(0, 2)->left, false);
	CHECK_EQ(rank_leave(&ranks[2]), 0);
	REACHES(find_link(0, 2)->left, true);
	REACHES(find_link(1, 2)->left, true);
	CHECK_EQ(find_link(0, 1)->left, false);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_STATE), MRPC_GROUP_STATE_IDLE);
	REACHES(group_value(0, MRPC_A_GROUP_CONNS), 1);
	rank_submit(0, sqe);
	CHECK_EQ(rank_complete(0), MRPC_CANCELLED);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_STATE), MRPC_GROUP_STATE_ENDED);
	CHECK_EQ(group_value(0, MRPC_A_GROUP_FAILED), 1);
	end();
}

/* -- many, and while they go ----------------------------------------------------------------- */

/* More connections than one message, or one read, has room for; and all groups of a session. */
TEST(many)
{
	static struct links all;
	struct rank *r = &ranks[0];
	unsigned int i;

	ranks_open(1, HEAP);
	for (i = 0; i < MRPC_MAX_GROUPS; i++)
		CHECK_EQ(rank_join(r, 500, MRPC_GROUP_RANKS, KEY, 0), 0);
	CHECK_EQ(count_groups(0), MRPC_MAX_GROUPS);
	CHECK_EQ(dump_links(session_of(0), r->group, &all), 0);
	CHECK_EQ(all.nr, MRPC_GROUP_RANKS - 1);
	for (i = 0; i < all.nr; i++) {
		CHECK_EQ(all.link[i].rank, i + (i >= 500));
		CHECK_EQ(all.link[i].conn, -1);
	}
	CHECK_EQ(dump_links(session_of(0), MRPC_MAX_GROUPS + 1, &all), -ENOENT);
	end();
}

/* Groups begin and do operations, and all their sessions die at any moment. */
static void live_and_die(void)
{
	struct mrpc_sqe sqe = allreduce(20000);
	unsigned int i;

	for (;;) {
		ranks_begin("loop", 3, HEAP);
		for (i = 0; i < 20; i++) {
			ranks_submit(&sqe);
			ranks_complete();
		}
		rank_submit(0, sqe);
		rank_leave(&ranks[2]);
		ranks_end();
	}
}

static void look(const void *attrs, uint32_t len, void *arg)
{
	unsigned int *nr = arg;
	int64_t rank = op_value(op_find(attrs, len, MRPC_A_GROUP_RANK, NULL));

	CHECK(rank >= 0 && rank < op_value(op_find(attrs, len, MRPC_A_GROUP_RANKS, NULL)));
	if (*nr < 64) {
		nr[1 + 2 * *nr] = op_value(op_find(attrs, len, MRPC_A_GROUP_SESSION, NULL));
		nr[2 + 2 * *nr] = op_value(op_find(attrs, len, MRPC_A_GROUP_ID, NULL));
		++*nr;
	}
}

/* Return: ranks that were there. */
static unsigned int look_at_all(void)
{
	static struct links links;
	unsigned int found[1 + 2 * 64] = { }, i, seen = 0;
	struct records t;
	int err;

	op_request(MRPC_CMD_GROUP_GET, NLM_F_DUMP);
	CHECK_EQ(op_ask_each(look, found), 0);
	for (i = 0; i < found[0]; i++) {
		err = dump_links(found[1 + 2 * i], found[2 + 2 * i], &links);
		CHECK_MSG(!err || err == -ENOENT, "%d", err);
		CHECK(err || links.nr == 2);
		err = dump_trace(found[1 + 2 * i], found[2 + 2 * i], &t);
		CHECK_MSG(!err || err == -ENOENT, "%d", err);
		seen += !err;
	}
	return seen;
}

TEST_LIMIT(churn, 120)
{
	unsigned int seen = 0, dumps = 0, round;
	uint64_t until;
	pid_t pid;

	for (round = 0; round < 6; round++) {
		pid = fork();
		if (!pid)
			live_and_die();
		CHECK(pid > 0);
		until = raw_now() + (300 + 130 * round) * RAW_MS * raw_scale();
		for (; raw_now() < until; dumps++)
			seen += look_at_all();
		kill(pid, SIGKILL);
		for (; waitpid(pid, NULL, WNOHANG) != pid; dumps++)
			seen += look_at_all();
	}
	NOTE("%u dumps, which saw %u ranks", dumps, seen);
	CHECK(seen);
	CHECK_MSG(raw_sessions(0, 10000 * raw_patience()), "a session is left");
}
