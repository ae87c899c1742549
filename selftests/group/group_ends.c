// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/group kmod/app/ioctl kmod/lib/group/operation */
/*
 * How groups end: ranks that disagree, do not come, leave or die. All ranks learn why. And what is
 * refused, after which a group goes on.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "fault.h"
#include "ranks.h"

#define HEAP	(4 << 20)
#define OUT	(2 << 20)
#define KEY	77

static struct mrpc_sqe allreduce(uint64_t count)
{
	return (struct mrpc_sqe){
		.collective = MRPC_ALLREDUCE, .algorithm = MRPC_RING, .elem = MRPC_ELEM_I32,
		.count = count, .output = OUT,
	};
}

static void end(void)
{
	ranks_end();
	CHECK_MSG(raw_sessions(0, 10000 * raw_patience()), "a session is left");
}

/* -- what is refused ------------------------------------------------------------------ */

static void refused(struct mrpc_sqe sqe, unsigned int status, const char *why)
{
	rank_submit(0, sqe);
	CHECK_MSG(rank_complete(0) == status, "status %u, not %u: %s", ranks[0].cqe.status, status,
		  ranks[0].why);
	CHECK_MSG(strstr(ranks[0].why, why), "'%s', not '%s'", ranks[0].why, why);
}

#define REFUSED(status, why, ...)					\
	do {								\
		struct mrpc_sqe sqe = allreduce(10);			\
		__VA_ARGS__;						\
		refused(sqe, status, why);				\
	} while (0)

TEST(operations)
{
	struct mrpc_sqe good = allreduce(1000);

	ranks_begin("loop", 2, HEAP);
	REFUSED(MRPC_INVALID_ARGUMENT, "no collective 9", sqe.collective = 9);
	REFUSED(MRPC_INVALID_ARGUMENT, "no algorithm 5", sqe.algorithm = 5);
	REFUSED(MRPC_UNIMPLEMENTED, "AllToAll is not done by ring", sqe.collective = MRPC_ALLTOALL);
	REFUSED(MRPC_INVALID_ARGUMENT, "no type of elements 7", sqe.elem = 7);
	REFUSED(MRPC_INVALID_ARGUMENT, "no reduction 6", sqe.reduce = 6);
	REFUSED(MRPC_UNIMPLEMENTED, "reduction 4 of elements of type 3",
		sqe.elem = MRPC_ELEM_F32, sqe.reduce = MRPC_REDUCE_AND);
	REFUSED(MRPC_INVALID_ARGUMENT, "AllGather reduces nothing",
		sqe.collective = MRPC_ALLGATHER, sqe.reduce = 1);
	REFUSED(MRPC_INVALID_ARGUMENT, "AllReduce has no root", sqe.root_rank = 1);
	REFUSED(MRPC_INVALID_ARGUMENT, "root 2, but there are 2 ranks",
		sqe.collective = MRPC_REDUCE, sqe.root_rank = 2);
	REFUSED(MRPC_INVALID_ARGUMENT, "a Barrier has no elements", sqe.collective = MRPC_BARRIER);
	REFUSED(MRPC_INVALID_ARGUMENT, "input: 4000004 bytes at 1000000 are not inside",
		sqe.input = 1000000, sqe.output = 0, sqe.count = 1000001);
	REFUSED(MRPC_INVALID_ARGUMENT, "output: 40 bytes at 4194300 are not inside",
		sqe.output = HEAP - 4);
	REFUSED(MRPC_INVALID_ARGUMENT, "overlap", sqe.output = 36);
	REFUSED(MRPC_INVALID_ARGUMENT, "18446744073709551615 elements are too many",
		sqe.count = UINT64_MAX);
	REFUSED(MRPC_INVALID_ARGUMENT, "a reserved field", sqe.flags = MRPC_SQE_COPY);
	REFUSED(MRPC_INVALID_ARGUMENT, "a reserved field", sqe.resv2[1] = 1);
	ranks[0].group++;
	REFUSED(MRPC_NOT_FOUND, "no group", sqe.count = 1);
	ranks[0].group--;
	ranks_submit(&good);
	ranks_complete();
	end();
}

TEST(joins)
{
	struct rank *r = &ranks[0];
	unsigned int i;

	ranks_open(1, HEAP);
	CHECK_EQ(rank_join(r, 0, 0, KEY, 0), -EINVAL);
	CHECK_EQ(rank_join(r, 2, 2, KEY, 0), -EINVAL);
	CHECK_MSG(strstr(r->s.why, "rank 2 of 2: a group has 1 to 1024 ranks"), "%s", r->s.why);
	CHECK_EQ(rank_join(r, 0, MRPC_GROUP_RANKS + 1, KEY, 0), -EINVAL);
	for (i = 0; i < MRPC_MAX_GROUPS; i++)
		CHECK_EQ(rank_join(r, 0, i ? 2 : MRPC_GROUP_RANKS, KEY, 0), 0);
	CHECK_EQ(rank_join(r, 0, 2, KEY, 0), -EBUSY);
	CHECK_MSG(strstr(r->s.why, "64 groups"), "%s", r->s.why);
	CHECK_EQ(rank_leave(r), 0);
	CHECK_EQ(rank_leave(r), -ENOENT);
	CHECK_EQ(rank_join(r, 0, 2, KEY, 0), 0);
	end();
}

TEST(links)
{
	struct rank *r = &ranks[0];
	uint32_t first, prio;

	ranks_open(3, HEAP);
	ranks_connect("loop");
	CHECK_EQ(rank_join(r, 0, 3, KEY, 0), 0);
	first = r->group;
	CHECK_EQ(rank_link(r, 0, r->conn[1]), -EINVAL);
	CHECK_MSG(strstr(r->s.why, "another rank than 0"), "%s", r->s.why);
	CHECK_EQ(rank_link(r, 3, r->conn[1]), -EINVAL);
	CHECK_EQ(rank_link(r, 1, 9999), -ENOENT);
	CHECK_EQ(rank_link(r, 1, r->conn[1]), 0);
	CHECK_EQ(rank_link(r, 2, r->conn[1]), -EBUSY);
	CHECK_EQ(rank_link(r, 1, r->conn[2]), -EEXIST);
	CHECK_MSG(strstr(r->s.why, "rank 1 has a connection"), "%s", r->s.why);
	CHECK_EQ(rank_join(r, 0, 3, KEY, 0), 0);
	CHECK_EQ(rank_link(r, 1, r->conn[1]), -EBUSY);
	CHECK_EQ(raw_close_id(&r->s, r->conn[2], 0, 0), 0);
	CHECK_EQ(rank_link(r, 2, r->conn[2]), -ENOENT);
	/* A transport without order. */
	CHECK(raw_serve(&ranks[1].s, "prio:127.0.0.1:7711") > 0);
	CHECK(!fork() ? (raw_enter(&ranks[1].qp, 1, 2 * RAW_S), _exit(0), 1) : 1);
	prio = raw_connect(&r->s, "prio:127.0.0.1:7711");
	CHECK((int)prio > 0);
	CHECK_EQ(rank_link(r, 2, prio), -EOPNOTSUPP);
	CHECK_MSG(strstr(r->s.why, "carries no chunks of groups"), "%s", r->s.why);
	wait(NULL);
	r->group = first;
	CHECK_EQ(rank_leave(r), 0);
	CHECK_EQ(rank_link(r, 2, r->conn[2]), -ENOENT);
	end();
}

/* -- ranks that disagree ---------------------------------------------------------------- */

/* Each rank from @from on completes with a status and a sentence. */
static void all_fail(unsigned int from, unsigned int status, const char *why)
{
	unsigned int rank;

	for (rank = from; rank < nr_ranks; rank++) {
		CHECK_MSG(rank_complete(rank) == status, "rank %u: status %u, not %u: %s", rank,
			  ranks[rank].cqe.status, status, ranks[rank].why);
		CHECK_MSG(strstr(ranks[rank].why, why), "rank %u: '%s', not '%s'", rank,
			  ranks[rank].why, why);
	}
}

static void differs(struct mrpc_sqe sqe, struct mrpc_sqe other, const char *why)
{
	struct mrpc_sqe again = allreduce(10);

	ranks_begin("tcp4", 3, HEAP);
	rank_submit(0, sqe);
	rank_submit(1, other);
	rank_submit(2, sqe);
	/* A root that only sends has done its part before another one finds the difference. */
	all_fail(sqe.collective == MRPC_BROADCAST, MRPC_FAILED_PRECONDITION, why);
	/* The group is of no more use, and says why. */
	rank_submit(1, again);
	CHECK_EQ(rank_complete(1), MRPC_FAILED_PRECONDITION);
	CHECK_MSG(strstr(ranks[1].why, "the group has ended: operation 1: rank"), "%s",
		  ranks[1].why);
	end();
}

#define DIFFERS(why, ...)					\
	do {							\
		struct mrpc_sqe sqe = allreduce(1000), other;	\
		other = sqe;					\
		__VA_ARGS__;					\
		differs(sqe, other, why);			\
	} while (0)

TEST(disagree)
{
	DIFFERS(" elements, this one ", other.count = 1001);
	DIFFERS(" reduces by ", other.reduce = MRPC_REDUCE_MAX);
	DIFFERS(" has elements of ", other.elem = MRPC_ELEM_F32);
	DIFFERS(" by recursive", other.algorithm = MRPC_RECURSIVE);
	DIFFERS(" does ", other.collective = MRPC_REDUCE_SCATTER);
	DIFFERS(" is the root, this one rank ", sqe.collective = other.collective = MRPC_BROADCAST,
		sqe.algorithm = other.algorithm = MRPC_RING, other.root_rank = 2);
}

/* A rank that has gone on, after an operation for which it had nothing to send. */
TEST(ahead)
{
	struct mrpc_sqe gather = allreduce(10), sqe = allreduce(10);

	ranks_begin("tcp4", 2, HEAP);
	gather.collective = MRPC_GATHER;
	gather.algorithm = MRPC_DIRECT;
	rank_submit(0, gather);
	gather.count = 0;
	rank_submit(1, gather);
	CHECK_EQ(rank_complete(1), MRPC_OK);
	rank_submit(1, sqe);
	all_fail(0, MRPC_FAILED_PRECONDITION,
		 "operation 1: rank 0 waits for rank 1, which has sent nothing for it");
	end();
}

/* Connections that lead to another rank, or group, than was said. */
TEST(crossed)
{
	struct mrpc_sqe sqe = allreduce(10);

	ranks_open(3, HEAP);
	ranks_connect("loop");
	CHECK_EQ(rank_join(&ranks[0], 0, 3, KEY, 0), 0);
	CHECK_EQ(rank_join(&ranks[1], 1, 3, KEY, 0), 0);
	CHECK_EQ(rank_join(&ranks[2], 2, 3, KEY, 0), 0);
	CHECK_EQ(rank_link(&ranks[0], 1, ranks[0].conn[2]), 0);
	CHECK_EQ(rank_link(&ranks[0], 2, ranks[0].conn[1]), 0);
	CHECK_EQ(rank_link(&ranks[1], 0, ranks[1].conn[0]), 0);
	CHECK_EQ(rank_link(&ranks[1], 2, ranks[1].conn[2]), 0);
	CHECK_EQ(rank_link(&ranks[2], 0, ranks[2].conn[0]), 0);
	CHECK_EQ(rank_link(&ranks[2], 1, ranks[2].conn[1]), 0);
	ranks_submit(&sqe);
	all_fail(0, MRPC_FAILED_PRECONDITION, "leads to rank");
	end();
	ranks_open(2, HEAP);
	ranks_connect("loop");
	CHECK_EQ(rank_join(&ranks[0], 0, 2, KEY, 0), 0);
	CHECK_EQ(rank_join(&ranks[1], 1, 2, KEY + 1, 0), 0);
	CHECK_EQ(rank_link(&ranks[0], 1, ranks[0].conn[1]), 0);
	CHECK_EQ(rank_link(&ranks[1], 0, ranks[1].conn[0]), 0);
	ranks_submit(&sqe);
	all_fail(0, MRPC_FAILED_PRECONDITION, "leads to another group");
	end();
}

TEST(unlinked)
{
	struct mrpc_sqe sqe = allreduce(10);

	ranks_open(2, HEAP);
	ranks_connect("loop");
	CHECK_EQ(rank_join(&ranks[0], 0, 2, KEY, 0), 0);
	CHECK_EQ(rank_join(&ranks[1], 1, 2, KEY, 0), 0);
	/* One end sends before the other one has its connection: it waits. */
	CHECK_EQ(rank_link(&ranks[0], 1, ranks[0].conn[1]), 0);
	rank_submit(0, sqe);
	raw_sleep(50 * RAW_MS);
	CHECK_EQ(raw_enter(&ranks[1].qp, 1, 100 * RAW_MS), -ETIME);
	CHECK_EQ(rank_link(&ranks[1], 0, ranks[1].conn[0]), 0);
	rank_submit(1, sqe);
	ranks_complete();
	/* Without any connection. */
	CHECK_EQ(rank_join(&ranks[0], 0, 2, KEY, 0), 0);
	rank_submit(0, sqe);
	CHECK_EQ(rank_complete(0), MRPC_FAILED_PRECONDITION);
	CHECK_MSG(strstr(ranks[0].why, "rank 0 has no connection to rank 1"), "%s", ranks[0].why);
	CHECK_EQ(rank_join(&ranks[0], 0, 2, KEY, 0), 0);
	sqe.collective = MRPC_BROADCAST;
	sqe.root_rank = 1;
	rank_submit(0, sqe);
	CHECK_EQ(rank_complete(0), MRPC_FAILED_PRECONDITION);
	CHECK_MSG(strstr(ranks[0].why, "rank 0 has no connection to rank 1"), "%s", ranks[0].why);
	end();
}

/* -- ranks that do not come, leave, or die -------------------------------------------------- */

static void missing(const char *how)
{
	struct mrpc_sqe sqe = allreduce(100000);

	ranks_open(3, HEAP);
	ranks_connect(how);
	ranks_join(KEY, 0);
	/* A limit that is far away does not hide a near one. */
	ranks_submit(&sqe);
	ranks_complete();
	sqe.limit_us = 300000;
	rank_submit(0, sqe);
	sqe.limit_us = 0;
	rank_submit(2, sqe);
	CHECK_EQ(rank_complete(0), MRPC_DEADLINE_EXCEEDED);
	CHECK_MSG(strstr(ranks[0].why, "operation 2 takes longer than it may: rank 0 waits"), "%s",
		  ranks[0].why);
	/* The others get the same sentence, also the one that does nothing. */
	CHECK_EQ(rank_complete(2), MRPC_DEADLINE_EXCEEDED);
	CHECK_MSG(!strcmp(ranks[0].why, ranks[2].why), "%s", ranks[2].why);
	rank_submit(1, sqe);
	CHECK_EQ(rank_complete(1), MRPC_DEADLINE_EXCEEDED);
	end();
}

TEST(missing_loop) { missing("loop"); }
TEST(missing_tcp) { missing("tcp4"); }

static void leaves(const char *how)
{
	struct mrpc_sqe sqe = allreduce(100000);
	unsigned int i;

	ranks_begin(how, 3, HEAP);
	for (i = 0; i < 3; i++)
		rank_submit(0, sqe);
	rank_submit(1, sqe);
	CHECK_EQ(rank_leave(&ranks[0]), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(rank_complete(0), MRPC_CANCELLED);
	CHECK_EQ(rank_complete(1), MRPC_CANCELLED);
	CHECK_MSG(!strcmp(ranks[1].why, "rank 0 has left the group"), "%s", ranks[1].why);
	end();
}

TEST(leaves_loop) { leaves("loop"); }
TEST(leaves_tcp) { leaves("tcp4"); }

/* Ranks leave, or end their sessions, once their operation is complete: those of others complete, too. */
static void leaves_after(const char *how, bool session)
{
	struct mrpc_sqe sqe = allreduce(1000);
	unsigned int i, rank;

	for (i = 0; i < 12; i++) {
		ranks_begin(how, 4, HEAP);
		sqe.algorithm = 1 + i % (MRPC_NR_ALGORITHMS - 1);
		ranks_submit(&sqe);
		for (rank = 0; rank < 4; rank++) {
			CHECK_MSG(rank_complete(rank) == MRPC_OK, "algorithm %u: rank %u: %s",
				  sqe.algorithm, rank, ranks[rank].why);
			if (session)
				raw_close(&ranks[rank].s);
			else
				CHECK_EQ(rank_leave(&ranks[rank]), 0);
		}
		if (!session)
			ranks_end();
	}
	CHECK_MSG(raw_sessions(0, 10000 * raw_patience()), "a session is left");
}

/* The root leaves before the last ranks of a chain have begun. */
static void leaves_before(const char *how, bool session)
{
	struct mrpc_sqe sqe = allreduce(1000);
	unsigned int rank;

	ranks_begin(how, 4, HEAP);
	sqe.collective = MRPC_BROADCAST;
	rank_submit(0, sqe);
	rank_submit(1, sqe);
	CHECK_EQ(rank_complete(0), MRPC_OK);
	if (session)
		raw_close(&ranks[0].s);
	else
		CHECK_EQ(rank_leave(&ranks[0]), 0);
	raw_sleep(50 * RAW_MS);
	for (rank = 2; rank < 4; rank++)
		rank_submit(rank, sqe);
	for (rank = 1; rank < 4; rank++)
		CHECK_MSG(rank_complete(rank) == MRPC_OK, "rank %u: %s", rank, ranks[rank].why);
	/* The next one needs it. */
	for (rank = 1; rank < 4; rank++)
		rank_submit(rank, sqe);
	for (rank = 1; rank < 4; rank++) {
		CHECK_EQ(rank_complete(rank), MRPC_CANCELLED);
		CHECK_MSG(strstr(ranks[rank].why, "rank 0 has left the group"), "%s",
			  ranks[rank].why);
	}
	for (rank = session; rank < 4; rank++)
		raw_close(&ranks[rank].s);
	CHECK_MSG(raw_sessions(0, 10000 * raw_patience()), "a session is left");
}

TEST(leaves_before_loop) { leaves_before("loop", false); }
TEST(leaves_before_tcp) { leaves_before("tcp4", false); }
TEST(closes_before_loop) { leaves_before("loop", true); }
TEST(closes_before_tcp) { leaves_before("tcp4", true); }

TEST(leaves_after_loop) { leaves_after("loop", false); }
TEST(leaves_after_tcp) { leaves_after("tcp4", false); }
TEST(closes_after_loop) { leaves_after("loop", true); }
TEST(closes_after_tcp) { leaves_after("tcp4", true); }

/* A session ends at any moment of a row of operations: the others learn it. */
static void dies(const char *how)
{
	struct mrpc_sqe sqe = allreduce(60000);
	unsigned int round, i, rank;

	srand(7);
	for (round = 0; round < 12; round++) {
		ranks_begin(how, 3, HEAP);
		for (i = 0; i < 20; i++)
			ranks_submit(&sqe);
		raw_sleep(rand() % 30 * RAW_MS);
		raw_close(&ranks[1].s);
		for (rank = 0; rank < 3; rank += 2) {
			for (i = 0; i < 20; i++) {
				if (rank_complete(rank) == MRPC_OK)
					continue;
				CHECK_MSG(strstr(ranks[rank].why, "rank 1 is lost") ||
					  strstr(ranks[rank].why, "rank 1 has left"), "%s",
					  ranks[rank].why);
			}
		}
		raw_close(&ranks[0].s);
		raw_close(&ranks[2].s);
		CHECK_MSG(raw_sessions(0, 10000 * raw_patience()), "a session is left");
	}
}

TEST(dies_loop) { dies("loop"); }
TEST(dies_tcp) { dies("tcp4"); }

/* A process dies, with all that it has under way. */
TEST(killed)
{
	struct mrpc_sqe sqe = allreduce(60000);
	unsigned int round, i;
	pid_t pid;

	for (round = 0; round < 5; round++) {
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			ranks_begin("tcp4", 3, HEAP);
			for (i = 0; i < 30; i++)
				ranks_submit(&sqe);
			pause();
		}
		raw_sleep(200 * RAW_MS + round * 100 * RAW_MS);
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, NULL, 0) == pid);
		CHECK_MSG(raw_sessions(0, 10000 * raw_patience()), "a session is left");
	}
}

/* -- memory ------------------------------------------------------------------------------ */

/* Each allocation of an operation fails in turn: it is refused, or all ranks learn it. */
TEST_LIMIT(without_memory, 300)
{
	struct mrpc_sqe sqe = allreduce(40000);
	unsigned int nth, rank, ended = 0;
	bool came = true;

	fault_begin();
	sqe.algorithm = MRPC_BINOMIAL;	/* needs work memory */
	for (nth = 1; nth < FAULT_MANY && came; nth++) {
		ranks_begin("loop", 3, HEAP);
		rank_submit(1, sqe);
		rank_submit(2, sqe);
		fault_arm(nth);
		rank_submit(0, sqe);
		came = fault_came();
		fault_arm(0);
		if (rank_complete(0) != MRPC_OK) {
			ended++;
			CHECK_EQ(ranks[0].cqe.status, MRPC_RESOURCE_EXHAUSTED);
			rank_leave(&ranks[0]);
		}
		for (rank = 1; rank < 3; rank++)
			CHECK_MSG((rank_complete(rank) == MRPC_OK) ==
				  (ranks[0].cqe.status == MRPC_OK), "allocation %u: rank %u: %u %s",
				  nth, rank, ranks[rank].cqe.status, ranks[rank].why);
		end();
	}
	NOTE("%u allocations, of which %u ended the group", nth - 2, ended);
	CHECK(!came);
}
