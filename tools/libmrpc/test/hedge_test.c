// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls that a service config has made several times at once, against the stand-in.
 */
#include "hedge_ends.h"

/* The second attempt begins after the delay, over another connection, and wins. */
TEST(second_wins)
{
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = { .meta = &meta, .timeout_us = 60000000 };
	struct ended e;
	enum how how;
	u64 before;
	u32 second;

	begin(HEDGE("\"maxAttempts\":2,\"hedgingDelay\":\"0.05s\""));
	mrpc_meta_add_str(&meta, "mark", "12345");
	for (how = 0; how < WAYS; how++) {
		expect("ho");
		before = clock_ns();
		CHECK_EQ(call_with(how, &opts, &e), MRPC_OK);
		must_come(2);
		/* They may come to their servers in either order. */
		CHECK_MSG(!strcmp(log.previous, "-1") || !strcmp(log.previous, "1-"), "%s",
			  log.previous);
		CHECK_EQ(log.mark[0], 5);
		CHECK_EQ(log.mark[1], 5);
		second = log.previous[1] == '1';
		CHECK(log.at[second] - before >= 50000000);
		CHECK(log.remaining_us[second] < 60000000 - 40000);
		CHECK(log.server[0] != log.server[1]);
		let_go();
		must_be_free(session, qp);
	}
	mrpc_meta_free(&meta);
	end();
}

/* Without a delay all begin at once, each over a connection of its own. */
TEST(all_at_once)
{
	struct ended e;
	enum how how;

	begin(HEDGE("\"maxAttempts\":3"));
	for (how = 0; how < WAYS; how++) {
		expect("hho");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_OK);
		must_come(3);
		CHECK_EQ(1u << log.server[0] | 1u << log.server[1] | 1u << log.server[2], 7);
		let_go();
		must_be_free(session, qp);
	}
	end();
}

/* Another connection is taken even if it is the turn of the one that the call has. */
TEST(other_connection)
{
	struct ended first, e;

	begin(HEDGE("\"maxAttempts\":2,\"hedgingDelay\":\"3s\""));
	expect("hooo");
	start(&first, NULL, NULL);
	CHECK_EQ(mrpc_submit(qp), 0);
	must_come(1);
	CHECK_EQ(call_with(SYNC, NULL, &e), MRPC_OK);
	CHECK_EQ(call_with(SYNC, NULL, &e), MRPC_OK);
	CHECK_EQ(came(), 3);
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	CHECK_EQ(first.status, MRPC_OK);
	must_come(4);
	CHECK(log.server[3] != log.server[0]);
	end();
}

/* One that answers in time is the only one. */
TEST(first_wins)
{
	struct ended e;
	enum how how;

	begin(HEDGE("\"maxAttempts\":5,\"hedgingDelay\":\"2s\""));
	for (how = 0; how < WAYS; how++) {
		expect("o");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_OK);
		must_come(1);
	}
	end();
}

/* A failure that is not fatal makes the next attempt begin at once; the last one counts. */
TEST(failures)
{
	struct ended e;
	u64 before = clock_ns();
	enum how how;

	begin(HEDGE("\"maxAttempts\":3,\"hedgingDelay\":\"60s\""));
	for (how = 0; how < WAYS; how++) {
		expect("aao");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_OK);
		must_come(3);
		CHECK_STR(log.previous, "-12");
		CHECK_EQ(1u << log.server[0] | 1u << log.server[1] | 1u << log.server[2], 7);
		expect("aaaa");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_ABORTED);
		CHECK_STR(e.detail, "attempt 2");
		must_come(3);
		expect("ar");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_INVALID_ARGUMENT);
		CHECK_STR(e.detail, "attempt 1");
		must_come(2);
	}
	CHECK(clock_ns() - before < 30000000000ull);
	end();
}

/* A failure while another attempt is under way does not end the call, unless it is fatal. */
TEST(fails_beside_another)
{
	struct ended e;
	enum how how;

	begin(HEDGE("\"maxAttempts\":2,\"hedgingDelay\":\"0.02s\""));
	for (how = 0; how < WAYS; how++) {
		expect("hr");
		CHECK_EQ(call_with(how, NULL, &e), MRPC_INVALID_ARGUMENT);
		let_go();
		must_be_free(session, qp);
	}
	expect("ha");
	start(&e, NULL, NULL);
	while (came() < 2)
		CHECK_EQ(mrpc_run(qp, 10000), -ETIME);
	CHECK_EQ(mrpc_run(qp, 50000), -ETIME);
	let_go();
	CHECK_EQ(mrpc_run(qp, 5000000), 1);
	CHECK_EQ(e.status, MRPC_OK);
	CHECK(e.same);
	end();
}

TEST(pushback)
{
	struct ended e;
	enum how how;
	u64 before;

	begin(HEDGE("\"maxAttempts\":3,\"hedgingDelay\":\"60s\""));
	for (how = 0; how < WAYS; how++) {
		expect("ao");
		log.pushback = "150";
		before = clock_ns();
		CHECK_EQ(call_with(how, NULL, &e), MRPC_OK);
		CHECK(clock_ns() - before >= 150000000);
		must_come(2);
		expect("ao");
		log.pushback = "-1";
		CHECK_EQ(call_with(how, NULL, &e), MRPC_ABORTED);
		must_come(1);
	}
	end();
}

/* The first attempt is always made; others only while there are more than half of the tokens. */
TEST(throttled)
{
	struct ended e;

	begin("{" ROBIN "\"methodConfig\":[{\"name\":[{}],\"hedgingPolicy\":{\"maxAttempts\":5,"
	      "\"nonFatalStatusCodes\":[\"ABORTED\"]}}],"
	      "\"retryThrottling\":{\"maxTokens\":4,\"tokenRatio\":1}}");
	expect("aaaaa");
	CHECK_EQ(call_with(SYNC, NULL, &e), MRPC_ABORTED);
	expect("a");
	CHECK_EQ(call_with(ASYNC, NULL, &e), MRPC_ABORTED);
	must_come(1);
	expect("");
	CHECK_EQ(call_with(KEEP, NULL, &e), MRPC_OK);
	must_come(1);
	end();
}

/* No attempt begins after the deadline of the call, which is that of all. */
TEST(deadline)
{
	struct mrpc_call_opts opts = { .timeout_us = 10000000 };
	struct ended e;
	enum how how;
	u64 before;

	begin(HEDGE("\"maxAttempts\":2,\"hedgingDelay\":\"60s\""));
	for (how = 0; how < WAYS; how++) {
		expect("ao");
		log.pushback = "60000";
		before = clock_ns();
		CHECK_EQ(call_with(how, &opts, &e), MRPC_ABORTED);
		CHECK(clock_ns() - before < 10000000000ull);
		must_come(1);
	}
	end();
}

TEST(no_server)
{
	struct mrpc_call_opts opts = { 0 }, wait = { .timeout_us = 200000 };
	struct ended e;
	enum how how;
	u64 before;

	wait.flags = MRPC_CALL_WAIT_READY;
	begin_at("loop:nobody", HEDGE("\"maxAttempts\":3"));
	for (how = 0; how < WAYS; how++) {
		CHECK_EQ(call_with(how, &opts, &e), MRPC_UNAVAILABLE);
		CHECK(e.unsent);
		before = clock_ns();
		CHECK_EQ(call_with(how, &wait, &e), MRPC_DEADLINE_EXCEEDED);
		CHECK(e.unsent);
		CHECK_MSG(strstr(e.detail, "no connection to loop:nobody"), "%s", e.detail);
		CHECK(clock_ns() - before >= 200000000);
	}
	end();
}

/* -- ends from outside ------------------------------------------------------------------------ */

TEST(cancelled)
{
	struct ended e;
	mrpc_call_id id;

	begin(HEDGE("\"maxAttempts\":3,\"hedgingDelay\":\"0.01s\""));
	expect("hhh");
	start(&e, NULL, &id);
	while (came() < 3)
		mrpc_run(qp, 10000);
	CHECK_EQ(mrpc_cancel(qp, id), 0);
	CHECK_EQ(mrpc_cancel(qp, id), -ENOENT);
	CHECK_EQ(mrpc_run(qp, 1000000), 1);
	CHECK_EQ(e.status, MRPC_CANCELLED);
	CHECK(!e.unsent);
	CHECK_STR(e.detail, "cancelled by the application");
	end();
}

TEST(closed)
{
	struct ended e;

	begin(HEDGE("\"maxAttempts\":3,\"hedgingDelay\":\"60s\""));
	expect("aoo");
	log.pushback = "60000";
	start(&e, NULL, NULL);
	while (!came() || !qp->nr_parked)
		mrpc_run(qp, 10000);
	mrpc_run(qp, 100000);
	CHECK_EQ(e.nr, 0);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	CHECK_EQ(mrpc_run(qp, 1000000), 1);
	CHECK_EQ(e.status, MRPC_ABORTED);
	CHECK(!qp->lots);
	channel = mrpc_channel_open(session, TARGET, test_services, 1, NULL);
	CHECK(channel);
	end();
}

/* The session ends while attempts are under way, and while the next one is waited for. */
TEST(session_ends)
{
	struct ended e[3];
	u32 i;

	begin(HEDGE("\"maxAttempts\":4,\"hedgingDelay\":\"0.05s\""));
	expect("hhhhhhhh");
	for (i = 0; i < 3; i++)
		start(&e[i], NULL, NULL);
	while (came() < 5)
		mrpc_run(qp, 10000);
	mrpc_session_close(session);
	let_go();
	for (i = 0; i < SERVERS; i++)
		server_stop(&servers[i]);
	for (i = 0; i < 3; i++)
		CHECK_EQ(e[i].nr, 0);
}

/* Dies when @nr attempts have come to their servers. */
static void *start_and_die(void *nr)
{
	static struct ended e;
	struct mrpc_qp *own = mrpc_qp_self(session);
	u32 before = came();

	start(&e, NULL, NULL);
	while (came() < before + (u32)(uintptr_t)nr)
		mrpc_run(own, 10000);
	return NULL;
}

/* A call of a thread that has died does not keep the channel from being idle. */
static void dies(const char *config, uintptr_t attempts)
{
	u64 until;
	pthread_t t;

	idle_us = 200000;
	begin(config);
	idle_us = 0;
	expect("hhhhh");
	mrpc_qp_free(qp);
	CHECK_EQ(pthread_create(&t, NULL, start_and_die, (void *)attempts), 0);
	pthread_join(t, NULL);
	until = clock_ns() + 30000000000ull;
	while (mrpc_channel_state(channel, false) != MRPC_CHANNEL_IDLE) {
		CHECK_MSG(clock_ns() < until, "it is %s",
			  mrpc_channel_state_name(mrpc_channel_state(channel, false)));
		usleep(1000);
	}
	CHECK_EQ(came(), attempts);
	/* Its queue pair is used again: what comes late harms nothing. */
	let_go();
	usleep(50000);
	CHECK_EQ(pthread_create(&t, NULL, start_and_die, (void *)1), 0);
	pthread_join(t, NULL);
	qp = mrpc_qp_self(session);
	end();
}

TEST(thread_dies)
{
	dies(HEDGE("\"maxAttempts\":2"), 2);
}

TEST(thread_dies_unhedged)
{
	dies("{" ROBIN "\"methodConfig\":[]}", 1);
}

/* -- many ------------------------------------------------------------------------------------------ */

/* Quick ones whose losers answer late; each has one reply, and no block is lost. */
TEST(many)
{
	static struct ended e[40];
	u32 round, i;

	begin(HEDGE("\"maxAttempts\":5"));
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 3; i++) {
			expect(i == 2 ? "aaoo" : "ooooo");
			CHECK_EQ(call_with((enum how)i, NULL, &e[i]), MRPC_OK);
			must_be_free(session, qp);
		}
	}
	end();
}
