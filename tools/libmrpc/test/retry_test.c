// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a service config makes of calls over a channel, against the stand-in.
 */
#include "clock.h"
#include "conn.h"
#include "free_blocks.h"
#include "op.h"
#include "session.h"
#include "ended.h"

#define NAME	"loop:retry-test"
#define RETRY	"\"retryPolicy\":{\"maxAttempts\":4,\"initialBackoff\":\"0.01s\"," \
		"\"maxBackoff\":\"0.02s\",\"backoffMultiplier\":2," \
		"\"retryableStatusCodes\":[\"UNAVAILABLE\"]}"
#define ALL(rest)	"{\"methodConfig\":[{\"name\":[{}]," rest "}]}"

static struct test_server server;
static struct mrpc_session *session;
static struct mrpc_conn *channel;
static struct mrpc_qp *qp;

/* What the server does, and what it has seen. The test and the server's threads use it. */
static struct {
	_Atomic u32 fails;	/* so many calls from now on */
	_Atomic int status;
	_Atomic bool waits;	/* calls are not answered until this is false */
	const char *_Atomic pushback;
	_Atomic u32 calls;
	char previous[16];	/* what the calls say of attempts before them */
	_Atomic u64 remaining_us;
	_Atomic u32 mark;	/* length of the caller's own metadata */
} does;

static int serve(struct mrpc_call *call, const struct fake_msg *req, struct fake_msg *reply)
{
	const char *previous, *pushback = does.pushback;
	u32 len, n = does.calls++;

	previous = mrpc_call_meta_find(call, "grpc-previous-rpc-attempts", &len);
	if (n < sizeof(does.previous))
		does.previous[n] = previous && len == 1 ? *previous : '-';
	mrpc_call_meta_find(call, "mark", &len);
	does.mark = len;
	does.remaining_us = mrpc_call_remaining_us(call);
	while (does.waits)
		usleep(100);
	if (!does.fails)
		return echo_handler(call, req, reply);
	does.fails--;
	if (pushback)
		mrpc_call_add_meta(call, "grpc-retry-pushback-ms", pushback, strlen(pushback));
	return does.status;
}

static const struct test_ops ops = { .echo = serve, .other = serve };

static void begin(const char *config)
{
	struct mrpc_channel_opts opts = { .service_config = config, .backoff_us = 100000 };

	memset(&does, 0, sizeof(does));
	does.status = MRPC_UNAVAILABLE;
	server_start(&server, &ops, NULL, NAME, 1);
	session = open_session();
	channel = mrpc_channel_open(session, NAME, test_services, 1, &opts);
	CHECK_MSG(channel, "%s", mrpc_last_error());
	qp = mrpc_qp_self(session);
	CHECK(qp);
}

static void end(void)
{
	must_be_free(session, qp);
	must_take_no_room(qp);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	mrpc_session_close(session);
	server_stop(&server);
	CHECK_EQ(fake_stats().bad, 0);
}

/* A call in either way. Its status; a reply must be the right one. */
static int call_with(bool async, u32 method, const struct mrpc_call_opts *opts, struct ended *e)
{
	struct mrpc_result res;
	struct mrpc_msg msg;
	int status;

	memset(e, 0, sizeof(*e));
	build(&msg, session, 1, 10000);
	if (!async) {
		mrpc_call_sync(channel, &test_service, method, &msg, opts, &res);
		on_done(e, &res);
		mrpc_result_release(&res);
	} else {
		status = mrpc_call_async(channel, &test_service, method, &msg, opts, on_done, e,
					 NULL);
		if (status) {
			snprintf(e->detail, sizeof(e->detail), "%s", mrpc_last_error());
			return status;
		}
		CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
		while (qp_pending(qp) || mrpc_qp_in_flight(qp))
			mrpc_poll(qp);
	}
	CHECK_EQ(e->nr, 1);
	CHECK_EQ(e->same, e->status == MRPC_OK);
	return e->status;
}

static void again(bool async)
{
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = { .meta = &meta };
	struct ended e;

	begin(ALL(RETRY));
	does.fails = 3;
	CHECK_EQ(call_with(async, TEST_ECHO, NULL, &e), MRPC_OK);
	CHECK_EQ(does.calls, 4);
	CHECK_MSG(!memcmp(does.previous, "-123", 4), "%.4s", does.previous);
	CHECK_EQ(does.remaining_us, UINT64_MAX);

	/* The caller's metadata goes with all attempts. */
	mrpc_meta_add_str(&meta, "mark", "12345");
	does.fails = 1;
	does.calls = 0;
	CHECK_EQ(call_with(async, TEST_ECHO, &opts, &e), MRPC_OK);
	CHECK_EQ(does.mark, 5);
	CHECK_MSG(!memcmp(does.previous, "-1", 2), "%.2s", does.previous);
	mrpc_meta_free(&meta);

	/* Not more than four attempts. */
	does.fails = 9;
	does.calls = 0;
	CHECK_EQ(call_with(async, TEST_ECHO, NULL, &e), MRPC_UNAVAILABLE);
	CHECK_EQ(does.calls, 4);

	/* Nor for other statuses. */
	does.status = MRPC_INTERNAL;
	does.calls = 0;
	CHECK_EQ(call_with(async, TEST_ECHO, NULL, &e), MRPC_INTERNAL);
	CHECK_EQ(does.calls, 1);
	end();
}

TEST(again_sync)
{
	again(false);
}

TEST(again_async)
{
	again(true);
}

/* What each attempt has received is given back: else the heap would be full. */
TEST(blocks_return)
{
	struct ended e;
	int i;

	begin("{\"methodConfig\":[{\"name\":[{}],\"retryPolicy\":{\"maxAttempts\":5,"
	      "\"initialBackoff\":\"0.000001s\",\"maxBackoff\":\"0.000001s\","
	      "\"backoffMultiplier\":1,\"retryableStatusCodes\":[14]}}]}");
	does.pushback = "0";
	for (i = 0; i < 2200; i++) {
		does.fails = 4;
		CHECK_MSG(!call_with(i % 2, TEST_ECHO, NULL, &e), "%d: %s", i, e.detail);
	}
	end();
}

/* Metadata that leaves no room for the library's own goes all the same. */
TEST(full_metadata)
{
	static char value[MRPC_MAX_META];
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = { .meta = &meta };
	struct ended e;
	int async;

	begin(ALL(RETRY));
	CHECK_EQ(mrpc_meta_add(&meta, "mark", value,
			       MRPC_MAX_META - sizeof(struct mrpc_meta_entry) - 4), 0);
	for (async = 0; async < 2; async++) {
		does.fails = 1;
		does.calls = 0;
		CHECK_EQ(call_with(async, TEST_ECHO, &opts, &e), MRPC_OK);
		CHECK_MSG(!memcmp(does.previous, "--", 2), "%.2s", does.previous);
		CHECK_EQ(does.mark, MRPC_MAX_META - sizeof(struct mrpc_meta_entry) - 4);
	}
	mrpc_meta_free(&meta);
	end();
}

TEST(pushback)
{
	struct ended e;
	int async;
	u64 before;

	begin(ALL(RETRY));
	for (async = 0; async < 2; async++) {
		does.pushback = "150";
		does.fails = 1;
		before = clock_ns();
		CHECK_EQ(call_with(async, TEST_ECHO, NULL, &e), MRPC_OK);
		CHECK(clock_ns() - before >= 150000000);
		does.pushback = "-1";
		does.fails = 1;
		CHECK_EQ(call_with(async, TEST_ECHO, NULL, &e), MRPC_UNAVAILABLE);
		CHECK_EQ(does.fails, 0);
	}
	end();
}

/* All calls of the channel share the tokens, whatever their method. */
TEST(throttled)
{
	struct ended e;

	begin("{\"methodConfig\":[{\"name\":[{}]," RETRY "}],"
	      "\"retryThrottling\":{\"maxTokens\":4,\"tokenRatio\":1}}");
	does.fails = 5;
	CHECK_EQ(call_with(false, TEST_ECHO, NULL, &e), MRPC_UNAVAILABLE);
	CHECK_EQ(does.calls, 2);	/* 3 tokens, then 2 */
	CHECK_EQ(call_with(true, TEST_OTHER, NULL, &e), MRPC_UNAVAILABLE);
	CHECK_EQ(does.calls, 3);
	does.fails = 0;
	CHECK_EQ(call_with(true, TEST_ECHO, NULL, &e), MRPC_OK);
	CHECK_EQ(call_with(false, TEST_ECHO, NULL, &e), MRPC_OK);
	CHECK_EQ(call_with(false, TEST_ECHO, NULL, &e), MRPC_OK);
	does.fails = 1;
	CHECK_EQ(call_with(false, TEST_ECHO, NULL, &e), MRPC_OK);
	end();
}

/* The deadline is that of the whole call: no attempt begins after it. */
TEST(deadline)
{
	struct mrpc_call_opts opts = { .timeout_us = 1000000 };
	struct ended e;
	int async;
	u64 before;

	begin(ALL(RETRY));
	for (async = 0; async < 2; async++) {
		does.fails = 1;
		CHECK_EQ(call_with(async, TEST_ECHO, &opts, &e), MRPC_OK);
		CHECK(does.remaining_us < 1000000 - 8000);
		does.pushback = "60000";
		does.fails = 1;
		before = clock_ns();
		CHECK_EQ(call_with(async, TEST_ECHO, &opts, &e), MRPC_UNAVAILABLE);
		CHECK(clock_ns() - before < 1000000000);
		does.pushback = NULL;
	}
	end();
}

TEST(limits)
{
	struct mrpc_call_opts opts = { .timeout_us = 10000000 };
	struct ended e;
	int async;

	begin("{\"methodConfig\":[{\"name\":[{\"service\":\"test.Test\"}],\"timeout\":\"5s\"},"
	      "{\"name\":[{\"service\":\"test.Test\",\"method\":\"Other\"}],"
	      "\"maxRequestMessageBytes\":1000}]}");
	for (async = 0; async < 2; async++) {
		CHECK_EQ(call_with(async, TEST_ECHO, NULL, &e), MRPC_OK);
		CHECK(does.remaining_us <= 5000000);
		CHECK_EQ(call_with(async, TEST_ECHO, &opts, &e), MRPC_OK);
		CHECK(does.remaining_us <= 5000000);
		opts.timeout_us = 2000000;
		CHECK_EQ(call_with(async, TEST_ECHO, &opts, &e), MRPC_OK);
		CHECK(does.remaining_us <= 2000000);
		CHECK_EQ(call_with(async, TEST_OTHER, NULL, &e), MRPC_RESOURCE_EXHAUSTED);
		CHECK_MSG(strstr(e.detail, "maxRequestMessageBytes is 1000"), "%s", e.detail);
	}
	CHECK_EQ(does.calls, 6);
	end();
}

/* Calls that cannot be sent count as attempts; those that wait for a connection do not fail. */
TEST(no_server)
{
	struct ended e;
	int async;
	u64 before;

	begin(ALL("\"timeout\":\"0.2s\",\"waitForReady\":true"));
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	channel = mrpc_channel_open(session, "loop:nobody", test_services, 1,
				    &(struct mrpc_channel_opts){ .service_config =
					ALL("\"timeout\":\"0.2s\",\"waitForReady\":true") });
	for (async = 0; async < 2; async++) {
		before = clock_ns();
		CHECK_EQ(call_with(async, TEST_ECHO, NULL, &e), MRPC_DEADLINE_EXCEEDED);
		CHECK(clock_ns() - before >= 200000000);
	}
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	channel = mrpc_channel_open(session, "loop:nobody", test_services, 1,
				    &(struct mrpc_channel_opts){ .service_config = ALL(RETRY) });
	for (async = 0; async < 2; async++) {
		before = clock_ns();
		CHECK_EQ(call_with(async, TEST_ECHO, NULL, &e), MRPC_UNAVAILABLE);
		CHECK(clock_ns() - before >= 8000000 + 2 * 16000000);
	}
	end();
}

/* Starts a call that waits for a minute before its second attempt. */
static void start_and_wait(struct ended *e, mrpc_call_id *id)
{
	struct mrpc_msg msg;

	memset(e, 0, sizeof(*e));
	begin(ALL(RETRY));
	does.pushback = "60000";
	does.fails = 2;
	build(&msg, session, 1, 10);
	CHECK_EQ(mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, NULL, on_done, e, id), 0);
	while (!qp->nr_parked || !does.calls)
		mrpc_run(qp, 10000);
	CHECK_EQ(e->nr, 0);
}

TEST(cancelled_while_waiting)
{
	struct ended e;
	mrpc_call_id id;

	start_and_wait(&e, &id);
	CHECK_EQ(mrpc_cancel(qp, id), 0);
	CHECK_EQ(mrpc_run(qp, 1000000), 1);
	CHECK_EQ(e.status, MRPC_CANCELLED);
	end();
}

TEST(closed_while_waiting)
{
	struct ended e;

	start_and_wait(&e, NULL);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	CHECK_EQ(mrpc_run(qp, 1000000), 1);
	CHECK_EQ(e.status, MRPC_UNAVAILABLE);
	CHECK_STR(e.detail, "the channel was closed");
	channel = mrpc_channel_open(session, NAME, test_services, 1, NULL);
	CHECK(channel);
	end();
}

static u64 cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (u64)ts.tv_sec * 1000000000u + (u64)ts.tv_nsec;
}

/* The processor's time of so many looks; the least of some. */
static u64 looks_take(void)
{
	u64 least = UINT64_MAX, before, time;
	u32 round, i;

	for (round = 0; round < 5; round++) {
		before = cpu_ns();
		for (i = 0; i < 200; i++)
			CHECK_EQ(mrpc_poll(qp), 0);
		time = cpu_ns() - before;
		if (time < least)
			least = time;
	}
	return least;
}

/* A look at parked calls costs no more if there are many: a hundred times as many here. */
TEST(many_are_parked)
{
	struct mrpc_call_opts opts = { .flags = MRPC_CALL_WAIT_READY, .timeout_us = 3600000000 };
	static struct ended e[4000];
	struct mrpc_msg msg;
	u64 few = 0, many;
	u32 i;

	begin(ALL(RETRY));
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	channel = mrpc_channel_open(session, "loop:nobody", test_services, 1, NULL);
	for (i = 0; i < ARRAY_SIZE(e); i++) {
		build(&msg, session, 1, 10);
		opts.timeout_us -= i * 7919 % 100000;
		CHECK_EQ(mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, &opts, on_done,
					 &e[i], NULL), 0);
		if (i == ARRAY_SIZE(e) / 100)
			few = looks_take();
	}
	many = looks_take();
	CHECK_MSG(many < 10 * few, "%llu ns, and %llu ns with a hundredth of the calls",
		  (unsigned long long)many, (unsigned long long)few);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	CHECK_EQ(mrpc_poll(qp), ARRAY_SIZE(e));
	for (i = 0; i < ARRAY_SIZE(e); i++)
		CHECK_EQ(e[i].status, MRPC_UNAVAILABLE);
	channel = mrpc_channel_open(session, NAME, test_services, 1, NULL);
	end();
}

/* A connection takes fewer calls than this host says: the others wait. */
TEST(peer_takes_fewer)
{
	static struct ended e[200];
	struct mrpc_msg msg;
	u32 i;

	fake_max_calls(16);
	begin(NULL);
	CHECK_EQ(call_with(true, TEST_ECHO, NULL, &e[0]), MRPC_OK);
	e[0].nr = 0;
	for (i = 0; i < ARRAY_SIZE(e); i++) {
		build(&msg, session, 1, 10000);
		CHECK_EQ(mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, NULL, on_done,
					 &e[i], NULL), 0);
	}
	CHECK_EQ(qp->nr_parked, ARRAY_SIZE(e) - 16);
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	for (i = 0; i < ARRAY_SIZE(e); i++) {
		CHECK_EQ(e[i].nr, 1);
		CHECK_MSG(e[i].same, "%u: %s", i, e[i].detail);
	}
	end();
	fake_max_calls(256);
}

static void *start_and_die(UNUSED void *user)
{
	static struct ended e;
	struct mrpc_msg msg;

	build(&msg, session, 1, 10000);
	CHECK_EQ(mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, NULL, on_done, &e, NULL),
		 0);
	return NULL;
}

/* The thread of a call ends. The call takes room as long as the kernel has it. */
TEST(thread_dies)
{
	struct ended e[2];
	struct mrpc_msg msg;
	pthread_t t;
	u32 i;

	fake_max_calls(2);
	begin(NULL);
	CHECK_EQ(call_with(true, TEST_ECHO, NULL, &e[0]), MRPC_OK);
	mrpc_qp_free(qp);
	does.waits = true;
	CHECK_EQ(pthread_create(&t, NULL, start_and_die, NULL), 0);
	pthread_join(t, NULL);
	CHECK(qp == mrpc_qp_self(session));
	memset(e, 0, sizeof(e));
	for (i = 0; i < 2; i++) {
		build(&msg, session, 1, 10000);
		CHECK_EQ(mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, NULL, on_done,
					 &e[i], NULL), 0);
		CHECK_EQ(qp->nr_parked, i);
	}
	does.waits = false;
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	CHECK(e[0].same && e[1].same);
	end();
	fake_max_calls(256);
}

TEST(bad_config)
{
	begin(NULL);
	CHECK(!mrpc_channel_open(session, NAME, test_services, 1,
				 &(struct mrpc_channel_opts){ .service_config =
					ALL("\"timeout\":1") }));
	CHECK_EQ(errno, EINVAL);
	CHECK_STR(mrpc_last_error(), "service config: methodConfig[0].timeout must be a positive "
		  "time in seconds such as \"1.5s\", not 1");
	end();
}
