// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls that are made several times at once when connections or queues have no room, against the
 * stand-in.
 */
#include "hedge_ends.h"

/* -- room ------------------------------------------------------------------------------------------ */

/* An attempt that was cancelled takes room until the kernel has ended it: one more waits for that. */
TEST(losers_take_room)
{
	struct ended first, second;

	fake_max_calls(2);
	begin_at("loop:hedge-0", HEDGE("\"maxAttempts\":2"));
	expect("hooo");
	start(&first, NULL, NULL);
	while (!first.nr)
		CHECK(mrpc_run(qp, 10000000) >= 0);
	CHECK_EQ(first.status, MRPC_OK);
	start(&second, NULL, NULL);
	CHECK_EQ(qp->nr_parked, 1);
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	CHECK_EQ(second.status, MRPC_OK);
	end();
	fake_max_calls(256);
}

/* Runs @on until so many attempts have come. */
static void run_until(struct mrpc_qp *on, u32 nr)
{
	u64 until = clock_ns() + 30000000000ull;

	while (came() < nr) {
		CHECK(clock_ns() < until);
		mrpc_run(on, 10000);
	}
}

/* Calls of another queue pair take the room: what this host refuses ends no call that goes on. */
TEST(refused_here)
{
	struct mrpc_call_opts with = { 0 };
	struct ended e[4];
	u32 i;

	fake_max_calls(3);
	begin_at("loop:hedge-0", HEDGE("\"maxAttempts\":2"));
	with.qp = mrpc_qp_new(session, NULL);
	CHECK(with.qp);
	expect("hhh");
	start(&e[0], &with, NULL);
	run_until(with.qp, 2);
	start(&e[1], NULL, NULL);
	run_until(qp, 3);
	CHECK_EQ(mrpc_run(qp, 50000), -ETIME);
	let_go();
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	CHECK_EQ(e[1].status, MRPC_OK);
	CHECK_EQ(mrpc_run_all(with.qp, 10000000), 0);
	/* Without another attempt under way they wait for a moment. */
	expect("hhh");
	start(&e[2], &with, NULL);
	start(&e[3], &with, NULL);
	run_until(with.qp, 3);
	start(&e[1], NULL, NULL);
	CHECK_EQ(mrpc_run(qp, 20000), -ETIME);
	let_go();
	CHECK_EQ(mrpc_run_all(with.qp, 10000000), 0);
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	CHECK_EQ(e[1].status, MRPC_OK);
	/* But not for longer. */
	expect("hhh");
	for (i = 2; i < 4; i++)
		start(&e[i], &with, NULL);
	run_until(with.qp, 3);
	CHECK_EQ(call_with(ASYNC, NULL, &e[1]), MRPC_RESOURCE_EXHAUSTED);
	CHECK(e[1].unsent);
	let_go();
	CHECK_EQ(mrpc_run_all(with.qp, 10000000), 0);
	for (i = 0; i < 4; i++)
		CHECK_MSG(i == 1 || e[i].same, "%u: %s", i, e[i].detail);
	must_be_free(session, with.qp);
	mrpc_qp_free(with.qp);
	end();
	fake_max_calls(256);
}

/* -- a full submission queue ------------------------------------------------------------------------- */

static struct mrpc_qp *small_qp(u32 sq, u32 cq)
{
	const struct mrpc_qp_opts opts = { .sq_entries = sq, .cq_entries = cq };
	struct mrpc_qp *small = mrpc_qp_new(session, &opts);

	CHECK_MSG(small, "%s", mrpc_last_error());
	return small;
}

/* Starts calls, and submits them if @submit. */
static void start_on(struct mrpc_qp *on, struct ended *e, u32 nr, bool submit)
{
	const struct mrpc_call_opts opts = { .qp = on };

	while (nr--)
		start(e++, &opts, NULL);
	if (submit)
		CHECK_EQ(qp_enter(on, 0, 0), 0);
}

static void must_reply(u32 nr)
{
	u64 until = clock_ns() + 30000000000ull;

	while (fake_stats().replies < nr) {
		CHECK(clock_ns() < until);
		usleep(1000);
	}
}

/* An attempt ends while there is no room for the CANCELs of others, which have ended, too. */
TEST(ends_without_room)
{
	struct mrpc_qp *own;
	struct ended e[3];
	u32 round, i;

	begin(HEDGE("\"maxAttempts\":4"));
	own = small_qp(8, 32);
	for (round = 0; round < 20; round++) {
		expect(round % 2 ? "oaaa" : "oooo");
		fake_reset_stats();
		start_on(own, e, 1, true);
		must_reply(4);
		start_on(own, &e[1], 2, false);
		CHECK_EQ(qp_pending(own), 8);
		qp_harvest(own);
		CHECK_EQ(mrpc_run_all(own, 10000000), 0);
		for (i = 0; i < 3; i++)
			CHECK_EQ(e[i].nr, 1);
		CHECK_MSG(e[0].same, "round %u: %s", round, e[0].detail);
		must_be_free(session, own);
		must_take_no_room(own);
	}
	mrpc_qp_free(own);
	end();
}

/* The kernel takes no entry, as it has no room for completions: CANCELs wait, and go later. */
TEST(cancels_wait)
{
	struct mrpc_qp *own;
	struct ended e[4];
	u32 i;

	begin(HEDGE("\"maxAttempts\":4"));
	own = small_qp(8, 16);
	expect("ohhh");
	fake_reset_stats();
	start_on(own, e, 1, true);
	must_reply(1);
	start_on(own, &e[1], 1, true);
	must_reply(5);
	start_on(own, &e[2], 2, false);
	qp_harvest(own);
	CHECK(own->nr_parked);
	CHECK_EQ(mrpc_run_all(own, 10000000), 0);
	for (i = 0; i < 4; i++)
		CHECK_MSG(e[i].same, "%u: %s", i, e[i].detail);
	/* Those that are held have been cancelled. */
	must_be_free(session, own);
	must_take_no_room(own);
	mrpc_qp_free(own);
	end();
}

/* Less room than a call has attempts. */
TEST(smallest_queue)
{
	static struct ended e[20];
	struct mrpc_qp *own;
	u32 round, i;

	begin(HEDGE("\"maxAttempts\":5"));
	own = small_qp(2, 8);
	for (round = 0; round < 5; round++) {
		expect("");
		start_on(own, e, ARRAY_SIZE(e), false);
		CHECK_EQ(mrpc_run_all(own, 10000000), 0);
		for (i = 0; i < ARRAY_SIZE(e); i++)
			CHECK_MSG(e[i].nr == 1 && e[i].same, "%u: %s", i, e[i].detail);
		must_be_free(session, own);
	}
	mrpc_qp_free(own);
	end();
}
