// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/change */
/*
 * The barrier between two strategies: kmod/lib/group/change.c, in worlds of ranks that take turns in
 * any order. All ranks do each operation by the same strategy, and none stops.
 */
#include "change_world.h"
#include "lib/group/schedule.h"
#include "tap.h"

static struct change_world w;

static struct change_case random_case(u64 seed)
{
	return (struct change_case){
		.ranks = 1 + seed % 6,
		.ops = 1 + seed / 6 % 12,
		.changes = 1 + seed / 72 % 5,
		.overtakes = seed & 1,
		.seed = seed * 0x9e3779b97f4a7c15,
	};
}

TEST(interleavings)
{
	u32 seed, changes = 0, busy = 0;

	for (seed = 1; seed <= 10000; seed++) {
		struct change_case is = random_case(seed);

		change_world_begin(&w, &is);
		CHECK_MSG(change_world_run(&w), "%s", w.fault);
		changes += w.rank[0].c->version;
		busy += w.busy;
		change_world_end(&w);
	}
	/* The worlds do meet what is tested: changes, and some that come while one is under way. */
	CHECK(changes > 5000);
	CHECK(busy > 500);
}

TEST(many_changes)
{
	static const struct change_case is = {
		.ranks = 4, .ops = CHANGE_OPS, .changes = 500, .overtakes = true, .seed = 77,
	};

	change_world_begin(&w, &is);
	CHECK_MSG(change_world_run(&w), "%s", w.fault);
	CHECK(w.rank[0].c->version > 100);
	change_world_end(&w);
}

TEST(no_change_no_message)
{
	static const struct change_case is = { .ranks = 4, .ops = 20, .seed = 5 };

	change_world_begin(&w, &is);
	CHECK_MSG(change_world_run(&w), "%s", w.fault);
	CHECK_EQ(w.reports, 0);
	change_world_end(&w);
}

/* Figure 4.3 of the dissertation: rank 0 has begun AR1 when the request comes, the others have not. */
static bool figure_4_3(bool no_barrier)
{
	const struct change_case is = { .ranks = 3, .ops = 2, .changes = 1, .no_barrier = no_barrier };
	u32 rank;

	change_world_begin(&w, &is);
	for (rank = 0; rank < 3; rank++)
		change_ask(&w, rank);
	change_go_on(&w, 0);
	change_propose(&w, 1);
	while (change_send_report(&w, 1))
		;
	change_read(&w, 1, 2);
	change_world_run(&w);
	change_world_end(&w);
	return !w.fault[0];
}

TEST(figure_4_3)
{
	CHECK_MSG(figure_4_3(false), "%s", w.fault);
	CHECK_EQ(w.rank[2].version_of[1], 0);
	CHECK_EQ(w.rank[0].version_of[2], 1);
	CHECK(!figure_4_3(true));
	CHECK(strstr(w.fault, "gets a chunk of another strategy"));
}

/* Several operators at once: that of the lowest rank is used, and all ranks know which one it is. */
TEST(lowest_proposer)
{
	static const struct change_case is = { .ranks = 4, .ops = 1, .changes = 3 };
	u32 rank;

	change_world_begin(&w, &is);
	for (rank = 1; rank < 4; rank++)
		change_propose(&w, rank);
	CHECK_EQ(w.asked, 3);
	CHECK_MSG(change_world_run(&w), "%s", w.fault);
	for (rank = 0; rank < 4; rank++) {
		CHECK_EQ(w.rank[rank].c->version, 1);
		CHECK_EQ(w.rank[rank].c->proposer, 1);
	}
	change_world_end(&w);
}

/* -- reports that have no place ------------------------------------------------------- */

static struct mrpc_change *c;

static enum mrpc_change_verdict report(u32 rank, u32 version, u32 proposer, u8 algorithm)
{
	struct mrpc_report r = { .last = 3, .version = version, .proposer = proposer };

	mrpc_strategy_init(c->spare, 3);
	c->spare->algorithm[MRPC_ALLREDUCE] = algorithm;
	return mrpc_change_report(c, rank, &r, 3);
}

static void tell(u32 rank)
{
	CHECK(mrpc_change_owes(c, rank));
	mrpc_change_tell(c, rank);
	CHECK(!mrpc_change_owes(c, rank));
}

static void begin_three(void)
{
	c = calloc(1, mrpc_change_bytes(3));
	mrpc_change_init(c, 3, 0);
}

TEST(refused_reports)
{
	begin_three();
	CHECK_EQ(report(1, 0, 1, 0), MRPC_CHANGE_WRONG);
	CHECK_EQ(report(1, 2, 1, 0), MRPC_CHANGE_WRONG);	/* ahead of no change */
	CHECK_EQ(report(1, 1, 1, MRPC_RING), MRPC_CHANGE_TAKEN);
	CHECK_EQ(report(1, 1, 1, MRPC_RING), MRPC_CHANGE_WRONG);	/* twice */
	CHECK_EQ(report(2, 1, 1, MRPC_DIRECT), MRPC_CHANGE_DIFFERS);
	CHECK_EQ(report(1, 2, 1, 0), MRPC_CHANGE_WRONG);	/* the own report was not sent */
	tell(2);
	CHECK_EQ(report(1, 2, 1, 0), MRPC_CHANGE_WRONG);	/* not to that rank */
	tell(1);
	CHECK_EQ(mrpc_change_awaits(c), 2);
	CHECK_EQ(report(2, 1, 0, 0), MRPC_CHANGE_WRONG);	/* this rank has proposed nothing */
	CHECK_EQ(report(1, 2, 0, 0), MRPC_CHANGE_WRONG);
	CHECK_EQ(report(2, 2, 2, 0), MRPC_CHANGE_WRONG);	/* it has not reported for 1 */
	CHECK_EQ(report(1, 3, 1, 0), MRPC_CHANGE_WRONG);
	CHECK_EQ(report(1, 2, 1, 0), MRPC_CHANGE_TAKEN);
	CHECK_EQ(report(1, 2, 1, 0), MRPC_CHANGE_WRONG);
	CHECK(!mrpc_change_finish(c, 3));
	CHECK_EQ(report(2, 1, 2, MRPC_DIRECT), MRPC_CHANGE_TAKEN);
	CHECK_EQ(mrpc_change_awaits(c), MRPC_NO_RANK);
	CHECK_EQ(report(2, 2, 1, MRPC_DIRECT), MRPC_CHANGE_DIFFERS);
	CHECK(!mrpc_change_finish(c, 2));
	CHECK(mrpc_change_finish(c, 3));
	CHECK_EQ(c->version, 1);
	CHECK_EQ(c->use->algorithm[MRPC_ALLREDUCE], MRPC_RING);	/* rank 1's */
	CHECK(mrpc_change_owes(c, 1) && mrpc_change_owes(c, 2));	/* rank 1 was ahead */
	CHECK(!mrpc_change_owes(c, 0));
	CHECK_EQ(mrpc_change_propose(c, 3), -EBUSY);
	free(c);
}

TEST(no_version_left)
{
	begin_three();
	c->version = U32_MAX;
	CHECK_EQ(mrpc_change_propose(c, 0), -EOVERFLOW);
	CHECK_EQ(report(1, 0, 1, 0), MRPC_CHANGE_WRONG);
	CHECK_EQ(report(1, 1, 1, 0), MRPC_CHANGE_WRONG);
	free(c);
}

/* A chunk shows that its operation is of the old strategy, unless its sender may have the new one. */
TEST(chunks_allow)
{
	begin_three();
	CHECK(!mrpc_change_saw(c, 1, 4));
	CHECK_EQ(mrpc_change_propose(c, 3), 0);
	CHECK(mrpc_change_allows(c, 4));	/* seen before */
	CHECK(!mrpc_change_allows(c, 5));
	CHECK(mrpc_change_saw(c, 1, 5));
	CHECK(mrpc_change_allows(c, 5));
	CHECK_EQ(report(1, 1, 1, 0), MRPC_CHANGE_TAKEN);
	CHECK(!mrpc_change_saw(c, 1, 6));
	CHECK(!mrpc_change_allows(c, 6));
	free(c);
}

TEST(single_rank)
{
	c = calloc(1, mrpc_change_bytes(1));
	mrpc_change_init(c, 1, 0);
	mrpc_strategy_init(c->spare, 1);
	CHECK_EQ(mrpc_change_propose(c, 7), 0);
	CHECK(!mrpc_change_owes(c, 0));
	CHECK(!mrpc_change_finish(c, 6));
	CHECK(mrpc_change_finish(c, 7));
	CHECK_EQ(c->version, 1);
	free(c);
}
