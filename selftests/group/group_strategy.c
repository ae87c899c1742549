// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/group/strategy kmod/netlink/strategy kmod/lib/group/change */
/* Operators change the strategy of a group while its ranks do operations. */
#include <errno.h>
#include <linux/mrpc_netlink.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "fault.h"
#include "operator.h"
#include "operator_group.h"
#include "ranks.h"

#define HEAP	(1 << 20)
#define OUT	(1 << 19)
#define COUNT	1000
#define WAIT	(20 * RAW_S)

static void end(void)
{
	ranks_end();
	CHECK_MSG(raw_sessions(0, 10000 * raw_patience()), "a session is left");
}

/* -- operators --------------------------------------------------------------------------- */

static void reaches(unsigned int rank, unsigned int attr, int64_t want)
{
	uint64_t until = raw_now() + WAIT * raw_patience();

	while (op_strategy(rank, attr) != want) {
		CHECK_MSG(raw_now() < until, "rank %u: attribute %u stays at %lld, not %lld", rank,
			  attr, (long long)op_strategy(rank, attr), (long long)want);
		raw_sleep(2 * RAW_MS);
	}
}

static void has_order(unsigned int rank, const uint32_t *order)
{
	const struct nlattr *attr = op_strategy_attr(rank, MRPC_A_GROUP_STRATEGY_ORDER);

	CHECK_EQ(attr->nla_len - NLA_HDRLEN, nr_ranks * sizeof(*order));
	CHECK(!memcmp((const char *)attr + NLA_HDRLEN, order, nr_ranks * sizeof(*order)));
}

/* -- operations -------------------------------------------------------------------------- */

static struct mrpc_sqe allreduce(void)
{
	return (struct mrpc_sqe){
		.collective = MRPC_ALLREDUCE, .elem = MRPC_ELEM_I32, .count = COUNT, .output = OUT,
	};
}

static void fill(unsigned int rank, int round)
{
	int32_t *in = (void *)ranks[rank].s.send;
	int i;

	for (i = 0; i < COUNT; i++)
		in[i] = (rank + 1) * 1000 + round * 7 + i;
}

static bool is_sum(unsigned int rank, int round)
{
	const int32_t *out = (void *)(ranks[rank].s.send + OUT);
	int i, n = nr_ranks;

	for (i = 0; i < COUNT; i++)
		if (out[i] != n * (n + 1) / 2 * 1000 + n * (round * 7 + i))
			return false;
	return true;
}

static void run_one(int round)
{
	struct mrpc_sqe sqe = allreduce();
	unsigned int rank;

	for (rank = 0; rank < nr_ranks; rank++)
		fill(rank, round);
	ranks_submit(&sqe);
	ranks_complete();
	for (rank = 0; rank < nr_ranks; rank++)
		CHECK(is_sum(rank, round));
}

struct trace {
	int64_t number[64];
	int64_t strategy[64];
	int64_t algorithm[64];
	unsigned int nr;
};

static void add_record(const void *attrs, uint32_t len, void *arg)
{
	const struct nlattr *o = op_find(attrs, len, MRPC_A_GROUP_TRACE_OPERATION, NULL);
	struct trace *t = arg;

	CHECK(t->nr < 64);
	t->number[t->nr] = op_value(op_inside(o, MRPC_A_GROUP_OPERATION_NUMBER));
	t->strategy[t->nr] = op_value(op_inside(o, MRPC_A_GROUP_OPERATION_STRATEGY));
	t->algorithm[t->nr++] = op_value(op_inside(o, MRPC_A_GROUP_OPERATION_ALGORITHM));
}

static void trace_of(unsigned int rank, struct trace *t)
{
	t->nr = 0;
	op_request(MRPC_CMD_GROUP_TRACE_GET, NLM_F_DUMP);
	op_put_u32(MRPC_A_GROUP_TRACE_SESSION, ranks[rank].s.setup.session);
	op_put_u32(MRPC_A_GROUP_TRACE_GROUP, ranks[rank].group);
	CHECK_EQ(op_ask_each(add_record, t), 0);
}

/* -- changes ----------------------------------------------------------------------------- */

static void changes(const char *how)
{
	static const uint32_t other[] = { 2, 0, 3, 1 };
	unsigned int rank;
	struct trace t;

	ranks_begin(how, 4, HEAP);
	CHECK_EQ(op_strategy(0, MRPC_A_GROUP_STRATEGY_VERSION), 0);
	CHECK_EQ(op_strategy(0, MRPC_A_GROUP_STRATEGY_PROPOSER), -1);
	has_order(1, (const uint32_t []){ 0, 1, 2, 3 });
	run_one(1);
	CHECK_EQ(op_strategy_set(2, other, 4, MRPC_RING), 0);
	CHECK_EQ(op_value(op_inside(op_find(op.buf, op.len, MRPC_A_GROUP_STRATEGY, NULL),
				    MRPC_A_GROUP_STRATEGY_VERSION)), 1);
	for (rank = 0; rank < 4; rank++) {
		reaches(rank, MRPC_A_GROUP_STRATEGY_VERSION, 1);
		has_order(rank, other);
		CHECK_EQ(op_strategy(rank, MRPC_A_GROUP_STRATEGY_PROPOSER), 2);
		CHECK_EQ(op_strategy(rank, MRPC_A_GROUP_STRATEGY_NEXT), -1);
	}
	run_one(2);
	trace_of(3, &t);
	CHECK_EQ(t.nr, 2);
	CHECK(t.strategy[0] == 0 && t.algorithm[0] == MRPC_BINOMIAL);
	CHECK(t.strategy[1] == 1 && t.algorithm[1] == MRPC_RING);
	/* The order stays; the choice is taken back. */
	CHECK_EQ(op_strategy_set(0, NULL, 0, MRPC_ALGORITHM_CHOSEN), 0);
	reaches(3, MRPC_A_GROUP_STRATEGY_VERSION, 2);
	has_order(3, other);
	CHECK_EQ(op_strategy(3, MRPC_A_GROUP_STRATEGY_CHOICE), -1);
	run_one(3);
	end();
}

TEST(changes_tcp) { changes("tcp4"); }
TEST(changes_loop) { changes("loop"); }

/* The operator's choice comes before that of the application. */
TEST(precedence)
{
	struct mrpc_sqe sqe = allreduce();
	struct trace t;

	sqe.algorithm = MRPC_DIRECT;
	ranks_begin("loop", 2, HEAP);
	CHECK_EQ(op_strategy_set(0, NULL, 0, MRPC_BINOMIAL), 0);
	reaches(0, MRPC_A_GROUP_STRATEGY_VERSION, 1);
	ranks_submit(&sqe);
	ranks_complete();
	trace_of(0, &t);
	CHECK_EQ(t.algorithm[0], MRPC_BINOMIAL);
	end();
}

/* An operation that one rank has begun is the last one of the old strategy, at all ranks. */
TEST(begun_before)
{
	static const uint32_t other[] = { 2, 1, 0 };
	struct mrpc_sqe sqe = allreduce();
	unsigned int rank;
	struct trace t;

	ranks_begin("tcp4", 3, HEAP);
	rank_submit(0, sqe);
	CHECK_EQ(op_strategy_set(1, other, 3, -1), 0);
	for (rank = 0; rank < 3; rank++) {
		reaches(rank, MRPC_A_GROUP_STRATEGY_LAST, 1);
		CHECK_EQ(op_strategy(rank, MRPC_A_GROUP_STRATEGY_VERSION), 0);
		CHECK_EQ(op_strategy(rank, MRPC_A_GROUP_STRATEGY_NEXT), 1);
		CHECK_EQ(op_strategy_set(rank, other, 3, -1), -EBUSY);
		/* The report of rank 0 can be behind its chunk, which waits for its turn. */
		CHECK_MSG(!strcmp(op_why, "strategy 1 is under way: it is used after operation 1") ||
			  !strcmp(op_why, "strategy 1 is under way: rank 0 has not reported"),
			  "%s", op_why);
	}
	rank_submit(0, sqe);
	rank_submit(1, sqe);
	rank_submit(2, sqe);
	ranks_complete();
	rank_submit(1, sqe);
	rank_submit(2, sqe);
	ranks_complete();
	for (rank = 0; rank < 3; rank++) {
		trace_of(rank, &t);
		CHECK_EQ(t.nr, 2);
		CHECK(t.strategy[0] == 0 && t.strategy[1] == 1);
	}
	end();
}

/* -- under traffic ----------------------------------------------------------------------- */

#define CHANGES	1000

static struct traffic {
	bool stop;
	unsigned long rounds;
	unsigned int wrong;
} traffic;

static void *one_rank(void *arg)
{
	unsigned int rank = (struct rank *)arg - ranks;
	struct mrpc_sqe sqe = allreduce();
	int round = 0;
	bool last;

	do {
		/* All ranks see the same: it is decided by a rank, and summed. */
		last = !rank && __atomic_load_n(&traffic.stop, __ATOMIC_ACQUIRE);
		fill(rank, round);
		((int32_t *)ranks[rank].s.send)[COUNT] = last;
		sqe.count = COUNT + 1;
		rank_submit(rank, sqe);
		if (rank_complete(rank) != MRPC_OK)
			raw_die("rank %u, round %d: %s", rank, round, ranks[rank].why);
		if (!is_sum(rank, round))
			__atomic_add_fetch(&traffic.wrong, 1, __ATOMIC_RELAXED);
		last = ((int32_t *)(ranks[rank].s.send + OUT))[COUNT];
		round++;
	} while (!last);
	if (!rank)
		traffic.rounds = round;
	return NULL;
}

static void shuffle(uint32_t *order, unsigned int nr)
{
	unsigned int i, k;
	uint32_t was;

	for (i = 0; i < nr; i++)
		order[i] = i;
	for (i = nr - 1; i; i--) {
		k = rand() % (i + 1);
		was = order[i];
		order[i] = order[k];
		order[k] = was;
	}
}

/*
 * Any rank's operator asks for any strategy, while ranks do operations one after another. Nothing is
 * lost, all results are right, and each change that was accepted alone is the next version.
 */
static void under_traffic(const char *how, unsigned int nr, unsigned int times)
{
	unsigned int i, rank, version = 0;
	pthread_t threads[RANKS];
	uint32_t order[RANKS];
	int err;

	ranks_begin(how, nr, HEAP);
	memset(&traffic, 0, sizeof(traffic));
	for (rank = 0; rank < nr; rank++)
		CHECK(!pthread_create(&threads[rank], NULL, one_rank, &ranks[rank]));
	for (i = 0; i < times; i++) {
		shuffle(order, nr);
		do {
			err = op_strategy_set(i % nr, order, nr, rand() % MRPC_NR_ALGORITHMS);
			CHECK_MSG(!err || err == -EBUSY, "%d: %s", err, op_why);
		} while (err);
		version++;
		reaches(i % nr, MRPC_A_GROUP_STRATEGY_VERSION, version);
	}
	__atomic_store_n(&traffic.stop, true, __ATOMIC_RELEASE);
	for (rank = 0; rank < nr; rank++)
		pthread_join(threads[rank], NULL);
	NOTE("%u changes in %lu operations", version, traffic.rounds);
	CHECK_EQ(traffic.wrong, 0);
	for (rank = 0; rank < nr; rank++) {
		reaches(rank, MRPC_A_GROUP_STRATEGY_VERSION, version);
		has_order(rank, order);
	}
	end();
}

TEST_LIMIT(under_traffic_loop, 300) { under_traffic("loop", 4, CHANGES); }
TEST_LIMIT(under_traffic_tcp, 300) { under_traffic("tcp4", 3, CHANGES / 10); }

/* Several operators ask at once. The ranks agree on one of them. */
TEST(at_once)
{
	struct mrpc_sqe sqe = allreduce();
	unsigned int round, rank;
	uint32_t order[4];
	int64_t version = 0, proposer;

	ranks_begin("tcp4", 4, HEAP);
	for (round = 0; round < 30; round++) {
		for (rank = 4; rank-- > 0;) {
			shuffle(order, 4);
			op_strategy_set(rank, order, 4, -1);	/* EBUSY if the others were faster */
		}
		ranks_submit(&sqe);
		ranks_complete();
		for (rank = 0; rank < 4; rank++)
			reaches(rank, MRPC_A_GROUP_STRATEGY_NEXT, -1);
		CHECK(op_strategy(0, MRPC_A_GROUP_STRATEGY_VERSION) > version);
		version = op_strategy(0, MRPC_A_GROUP_STRATEGY_VERSION);
		proposer = op_strategy(0, MRPC_A_GROUP_STRATEGY_PROPOSER);
		memcpy(order, (const char *)op_strategy_attr(0, MRPC_A_GROUP_STRATEGY_ORDER) + NLA_HDRLEN,
		       sizeof(order));
		for (rank = 1; rank < 4; rank++) {
			CHECK_EQ(op_strategy(rank, MRPC_A_GROUP_STRATEGY_VERSION), version);
			CHECK_EQ(op_strategy(rank, MRPC_A_GROUP_STRATEGY_PROPOSER), proposer);
			has_order(rank, order);
		}
	}
	end();
}

/*
 * Each allocation of a change fails in turn. It is refused; or it goes on; or the group ends, and all
 * ranks learn it.
 */
TEST_LIMIT(without_memory, 300)
{
	static const uint32_t other[] = { 2, 1, 0 };
	unsigned int nth, rank, refused = 0, ended = 0;
	struct mrpc_sqe sqe = allreduce();
	bool came = true;
	int err;

	fault_begin();
	for (nth = 1; nth < FAULT_MANY && came; nth++) {
		ranks_begin("loop", 3, HEAP);
		CHECK_EQ(op_strategy(0, MRPC_A_GROUP_STRATEGY_VERSION), 0);	/* opens the socket */
		fault_arm(nth);
		err = op_strategy_set(0, other, 3, MRPC_BINOMIAL);
		came = fault_came();
		fault_arm(0);
		CHECK_MSG(!err || fault_is_refusal(err), "allocation %u: %d", nth, err);
		refused += !!err;
		ranks_submit(&sqe);
		if (rank_complete(0) != MRPC_OK) {
			ended++;
			CHECK_EQ(ranks[0].cqe.status, MRPC_RESOURCE_EXHAUSTED);
		}
		for (rank = 1; rank < 3; rank++)
			CHECK_MSG((rank_complete(rank) == MRPC_OK) ==
				  (ranks[0].cqe.status == MRPC_OK), "allocation %u: rank %u: %u %s",
				  nth, rank, ranks[rank].cqe.status, ranks[rank].why);
		end();
	}
	NOTE("%u allocations: %u changes were refused, %u groups ended", nth - 2, refused, ended);
	CHECK(!came && refused && ended);
}

/* -- refusals ---------------------------------------------------------------------------- */

#define REFUSED(ret, err, text)							\
	do {									\
		CHECK_EQ(ret, err);						\
		CHECK_MSG(strstr(op_why, text), "'%s', not '%s'", op_why, text); \
	} while (0)

static int set_nothing(unsigned int rank)
{
	op_nest_end(op_strategy_begin(rank));
	return op_ask();
}

static int set_twice(unsigned int rank)
{
	uint32_t nest = op_strategy_begin(rank);

	op_strategy_choice(MRPC_BROADCAST, MRPC_RING);
	op_strategy_choice(MRPC_BROADCAST, MRPC_DIRECT);
	op_nest_end(nest);
	return op_ask();
}

static int set_choice(unsigned int rank, uint32_t collective, uint32_t algorithm)
{
	uint32_t nest = op_strategy_begin(rank);

	op_strategy_choice(collective, algorithm);
	op_nest_end(nest);
	return op_ask();
}

static int set_odd(unsigned int rank)
{
	uint32_t nest = op_strategy_begin(rank);

	op_put(MRPC_A_GROUP_STRATEGY_ORDER, "odd", 3);
	op_nest_end(nest);
	return op_ask();
}

TEST(refused)
{
	static const uint32_t two[] = { 1, 0 }, same[] = { 1, 0, 1 }, high[] = { 0, 3, 1 };

	ranks_begin("loop", 3, HEAP);
	REFUSED(op_strategy_set(0, two, 2, -1), -EINVAL, "the order has 2 ranks, but the group has 3");
	REFUSED(op_strategy_set(0, same, 3, -1), -EINVAL, "the order has rank 1 twice, at place 2 again");
	REFUSED(op_strategy_set(0, high, 3, -1), -EINVAL, "the order has rank 3 at place 1, but ranks go to 2");
	REFUSED(set_nothing(0), -EINVAL, "a strategy has an order or a choice");
	REFUSED(set_twice(0), -EINVAL, "Broadcast has an algorithm twice");
	REFUSED(set_choice(0, MRPC_ALLTOALL, MRPC_RING), -EINVAL, "AllToAll is not done by ring");
	CHECK_EQ(set_choice(0, MRPC_NR_COLLECTIVES, MRPC_RING), -ERANGE);
	CHECK_EQ(set_choice(0, MRPC_BROADCAST, MRPC_NR_ALGORITHMS), -ERANGE);
	REFUSED(set_odd(0), -EINVAL, "an order of 3 bytes has no whole ranks of 4");
	ranks[0].group++;
	REFUSED(op_strategy_set(0, same, 3, -1), -ENOENT, "has no group 2");
	ranks[0].group--;
	CHECK_EQ(op_strategy(1, MRPC_A_GROUP_STRATEGY_VERSION), 0);
	CHECK_EQ(op_strategy(1, MRPC_A_GROUP_STRATEGY_NEXT), -1);
	rank_leave(&ranks[2]);
	reaches(0, MRPC_A_GROUP_STRATEGY_VERSION, 0);
	while (op_strategy_set(0, NULL, 0, MRPC_RING) != -ENOTCONN)
		raw_sleep(RAW_MS);
	CHECK_MSG(!strcmp(op_why, "rank 2 has left the group") ||
		  !strcmp(op_why, "there is no connection to rank 2"), "%s", op_why);
	end();
}

/* An operator asks while the group begins: a rank that has no connection yet is told later. */
TEST(linked_late)
{
	static const uint32_t other[] = { 2, 1, 0 };
	unsigned int rank, to;

	ranks_open(3, HEAP);
	ranks_connect("tcp4");
	for (rank = 0; rank < 3; rank++) {
		CHECK_EQ(rank_join(&ranks[rank], rank, 3, 9, 0), 0);
		for (to = 0; to < 3; to++)
			if (to != rank && (!rank || !to))
				CHECK_EQ(rank_link(&ranks[rank], to, ranks[rank].conn[to]), 0);
	}
	REFUSED(op_strategy_set(1, other, 3, -1), -ENOTCONN, "there is no connection to rank 2");
	CHECK_EQ(op_strategy_set(0, other, 3, -1), 0);
	reaches(1, MRPC_A_GROUP_STRATEGY_NEXT, 1);
	reaches(0, MRPC_A_GROUP_STRATEGY_AWAITS, -1);
	CHECK_EQ(op_strategy(1, MRPC_A_GROUP_STRATEGY_AWAITS), 2);
	CHECK_EQ(rank_link(&ranks[1], 2, ranks[1].conn[2]), 0);
	CHECK_EQ(rank_link(&ranks[2], 1, ranks[2].conn[1]), 0);
	for (rank = 0; rank < 3; rank++)
		reaches(rank, MRPC_A_GROUP_STRATEGY_VERSION, 1);
	run_one(1);
	end();
}

/* A group of one rank. */
TEST(alone)
{
	static const uint32_t order[] = { 0 };

	ranks_begin("loop", 1, HEAP);
	CHECK_EQ(op_strategy_set(0, order, 1, -1), 0);
	reaches(0, MRPC_A_GROUP_STRATEGY_VERSION, 1);
	run_one(1);
	end();
}
