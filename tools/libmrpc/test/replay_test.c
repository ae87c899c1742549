// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which streams over a channel are made again, and until when.
 */
#include "replay_ends.h"

/* -- what is made again ----------------------------------------------------------------- */

static void again(u32 nr, u32 len, u32 reads)
{
	struct mrpc_stream *st;

	does.fails = 3;
	does.reads = reads;
	does.calls = 0;
	st = open_up(NULL);
	CHECK(st->replay);
	send_all(st, 0, nr, len);
	ends(st, MRPC_OK, nr, NULL);
	CHECK_EQ(does.calls, 4);
	CHECK_MSG(!memcmp(does.previous, "-123", 4), "%.4s", does.previous);
	must_be_free(session, qp);
}

TEST(client_streams)
{
	begin(ALL(RETRY));
	again(0, 0, 0);
	again(1, SMALL, 0);
	again(10, SMALL, 4);
	again(20, LARGE, 20);
	again(300, SMALL, 300);		/* more than may be unsent */

	/* Not more than four attempts, and not for other statuses. */
	does.fails = 9;
	does.calls = 0;
	ends(open_up(NULL), MRPC_UNAVAILABLE, 0, NULL);
	CHECK_EQ(does.calls, 4);
	does.status = MRPC_INTERNAL;
	ends(open_up(NULL), MRPC_INTERNAL, 0, NULL);
	CHECK_EQ(does.calls, 5);
	end();
}

TEST(server_streams)
{
	struct mrpc_stream *st;
	u32 i, j;

	begin(ALL(RETRY));
	for (j = 0; j < 8; j++) {
		does.fails = 3;
		does.calls = 0;
		st = open_down(j % 2 ? SMALL : LARGE);
		for (i = 0; i < 3; i++) {
			CHECK(matches(mrpc_stream_next(st, NULL), i, SMALL));
			CHECK(!st->replay);
		}
		CHECK(!mrpc_stream_next(st, NULL));
		ends(st, MRPC_OK, 0, NULL);
		CHECK_EQ(does.calls, 4);
		CHECK_MSG(!memcmp(does.previous, "-123", 4), "%.4s", does.previous);
	}
	end();
}

/* The metadata of the caller goes with each attempt. */
TEST(metadata)
{
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = { .meta = &meta };
	struct mrpc_stream *st;

	begin(ALL(RETRY));
	mrpc_meta_add_str(&meta, "grpc-previous-rpc-attempts", "x");
	does.fails = 2;
	st = open_up(&opts);
	mrpc_meta_free(&meta);
	send_all(st, 0, 3, SMALL);
	ends(st, MRPC_OK, 3, NULL);
	CHECK_MSG(!memcmp(does.previous, "xxx", 3), "%.3s", does.previous);
	end();
}

/* A full submission queue has completions taken between messages. They stay in order. */
TEST(small_queue)
{
	const struct mrpc_qp_opts small = { .sq_entries = 4, .cq_entries = 128 };
	struct mrpc_call_opts opts = { .qp = NULL };
	struct mrpc_stream *st;
	u32 i;

	begin(ALL(RETRY));
	opts.qp = mrpc_qp_new(session, &small);
	CHECK(opts.qp);
	for (i = 0; i < 20; i++) {
		does.fails = 3;
		does.reads = 10 * i;
		does.calls = 0;
		fake_take_at_most(i % 3);
		st = open_up(&opts);
		send_all(st, 0, 200, SMALL);
		ends(st, MRPC_OK, 200, NULL);
		CHECK_EQ(does.calls, 4);
	}
	fake_take_at_most(0);
	mrpc_qp_free(opts.qp);
	end();
}

/* A stream that was not sent is made again whatever the config says; what is sent meanwhile is kept. */
TEST(not_sent)
{
	struct mrpc_stream *st;

	begin(NULL);
	ends(open_up(NULL), MRPC_OK, 0, NULL);
	CHECK_EQ(session_close_id(session, mrpc_conn_id(channel), 0), 0);
	does.calls = 0;
	st = open_up(NULL);
	CHECK_EQ(st->replay->state, REPLAY_WAITS);
	send_all(st, 0, 10, SMALL);
	ends(st, MRPC_OK, 10, NULL);
	CHECK_EQ(does.calls, 1);
	CHECK_EQ(does.previous[0], '-');
	end();
}

/* One that was sent is not, unless the config says so. */
TEST(connection_lost)
{
	struct mrpc_stream *st;
	u32 i, n;

	begin(NULL);
	for (i = 0; i < 2; i++) {
		does.calls = 0;
		st = open_up(NULL);
		send_all(st, 0, 5, LARGE);
		while (!does.calls)
			usleep(1000);
		CHECK_EQ(session_close_id(session, mrpc_conn_id(channel), 0), 0);
		for (n = 5; n < 8; n++)
			CHECK_EQ(send(st, n, LARGE, 0), i ? 0 : -ECANCELED);
		ends(st, i ? MRPC_OK : MRPC_UNAVAILABLE, 8, NULL);
		CHECK_EQ(does.calls, 1 + i);
		CHECK_EQ(mrpc_conn_close(channel, 0), 0);
		open_channel(ALL(RETRY));
	}
	end();
}

/* A channel without a connection: that is an attempt. */
TEST(no_connection)
{
	u64 before;

	begin(ALL(RETRY));
	stop();
	before = clock_ns();
	CHECK(!mrpc_stream_open(channel, &test_service, TEST_UP, NULL, NULL));
	CHECK(clock_ns() - before >= 8000000 + 2 * 16000000);
	CHECK_MSG(strstr(mrpc_last_error(), "nobody listens"), "%s", mrpc_last_error());
	end();
}

static void *start_late(UNUSED void *user)
{
	usleep(50000);
	server_start(&server, &ops, NULL, NAME, 1);
	return NULL;
}

/* The attempt that finds one says so. */
TEST(connection_late)
{
	pthread_t thread;

	begin("{\"methodConfig\":[{\"name\":[{}],\"retryPolicy\":{\"maxAttempts\":2,"
	      "\"initialBackoff\":\"0.5s\",\"maxBackoff\":\"0.5s\",\"backoffMultiplier\":1,"
	      "\"retryableStatusCodes\":[\"UNAVAILABLE\"]}}]}");
	stop();
	CHECK_EQ(pthread_create(&thread, NULL, start_late, NULL), 0);
	ends(open_up(NULL), MRPC_OK, 0, NULL);
	pthread_join(thread, NULL);
	server_runs = true;
	CHECK_EQ(does.previous[0], '1');
	end();
}

/* A message that the kernel refuses is not one of those that are sent again. */
TEST(refused_message)
{
	struct mrpc_stream *st;

	begin(ALL(RETRY));
	does.fails = 2;
	does.reads = UINT32_MAX;
	st = open_up(NULL);
	send_all(st, 0, 2, LARGE);
	CHECK_EQ(send(st, FAKE_REFUSED, SMALL, 0), -EINVAL);
	send_all(st, 2, 4, LARGE);
	/* The end of the messages, too. */
	CHECK_EQ(send(st, FAKE_REFUSED, LARGE, MRPC_STREAM_LAST), -EINVAL);
	CHECK_EQ(send(st, 4, LARGE, MRPC_STREAM_LAST), 0);
	CHECK_EQ(send(st, 5, LARGE, 0), -EPIPE);
	ends(st, MRPC_OK, 5, NULL);
	CHECK_EQ(does.calls, 3);
	end();
}

static void count(void *user, struct mrpc_result *res)
{
	CHECK_MSG(!res->status, "%s: %s", mrpc_status_name(res->status), res->detail);
	++*(u32 *)user;
}

/* A stream takes room of its connection until its end, and again when it is made again. */
TEST(takes_room)
{
	struct mrpc_stream *st[3];
	struct mrpc_msg msg;
	u32 done = 0, i;

	fake_max_calls(4);
	begin(ALL(RETRY));
	stop();
	server_start(&server, &ops, NULL, NAME, 5);	/* a thread for each attempt */
	server_runs = true;
	does.fails = 2;
	for (i = 0; i < 3; i++)
		st[i] = open_up(NULL);
	while (does.calls < 5)
		CHECK(mrpc_poll(qp) >= 0);
	for (i = 0; i < 5; i++) {
		build(&msg, session, i, SMALL);
		CHECK_EQ(mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, NULL, count,
					 &done, NULL), 0);
	}
	CHECK_EQ(qp->nr_parked, 4);
	for (i = 0; i < 3; i++)
		ends(st[i], MRPC_OK, 0, NULL);
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	CHECK_EQ(done, 5);
	end();
	fake_max_calls(256);
}

/* -- what commits a stream ----------------------------------------------------------------- */

TEST(committed_by_message)
{
	struct mrpc_stream *st;

	begin(ALL(RETRY));
	does.fails = 9;
	does.reads = 1;
	st = mrpc_stream_open(channel, &test_service, TEST_BOTH, NULL, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	send_all(st, 0, 1, LARGE);
	CHECK(matches(mrpc_stream_next(st, NULL), 0, SMALL));
	CHECK(!st->replay);
	must_be_free(session, qp);
	ends(st, MRPC_UNAVAILABLE, 0, NULL);
	CHECK_EQ(does.calls, 1);
	end();
}

/* The server answers before the kernel has got all messages again: it gets the others, too. */
TEST(committed_while_sent_again)
{
	struct mrpc_stream *st;
	u32 i;

	fake_copy_threshold(0);
	begin(ALL(RETRY));
	does.fails = 1;
	does.pushback = "200";
	st = mrpc_stream_open(channel, &test_service, TEST_BOTH, NULL, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	send_all(st, 0, 1, SMALL);
	must_wait(st);
	send_all(st, 1, 200, SMALL);
	fake_hold_sent(true);
	CHECK(matches(mrpc_stream_next(st, NULL), 0, SMALL));
	CHECK_EQ(st->replay->state, REPLAY_COMMITTED);
	CHECK_EQ(st->replay->next, SENDING_MAX);
	CHECK_EQ(send(st, 200, SMALL, MRPC_STREAM_NOWAIT), -EAGAIN);
	CHECK_EQ(mrpc_stream_end(st), 0);
	fake_hold_sent(false);
	for (i = 1; i < 200; i++)
		CHECK(matches(mrpc_stream_next(st, NULL), i, SMALL));
	CHECK(!mrpc_stream_next(st, NULL));
	CHECK(!st->replay);
	ends(st, MRPC_OK, 0, NULL);
	CHECK_EQ(does.calls, 2);
	end();
}

static void fills(u32 nr, u32 len, bool committed)
{
	struct mrpc_stream *st;

	does.fails = 1;
	does.reads = nr;
	does.calls = 0;
	st = open_up(NULL);
	send_all(st, 0, nr, len);
	CHECK_EQ(!st->replay, committed);
	ends(st, committed ? MRPC_UNAVAILABLE : MRPC_OK, nr, NULL);
	CHECK_EQ(does.calls, committed ? 1 : 2);
	must_be_free(session, qp);
}

TEST(committed_by_bound)
{
	begin(ALL(RETRY));
	fills(25, LARGE, false);
	fills(26, LARGE, true);
	fills(600, SMALL, false);
	fills(740, SMALL, true);
	fills(1, REPLAY_BYTES, true);
	end();
}

TEST(pushback_and_throttle)
{
	begin("{\"methodConfig\":[{\"name\":[{}]," RETRY "}],"
	      "\"retryThrottling\":{\"maxTokens\":4,\"tokenRatio\":1}}");
	does.fails = 1;
	does.pushback = "-1";
	ends(open_up(NULL), MRPC_UNAVAILABLE, 0, NULL);	/* 3 tokens */
	CHECK_EQ(does.calls, 1);
	does.fails = 1;
	does.pushback = NULL;
	ends(open_up(NULL), MRPC_UNAVAILABLE, 0, NULL);	/* 2 tokens: not more than half */
	CHECK_EQ(does.calls, 2);
	ends(open_up(NULL), MRPC_OK, 0, NULL);
	ends(open_up(NULL), MRPC_OK, 0, NULL);
	does.fails = 1;
	ends(open_up(NULL), MRPC_OK, 0, NULL);
	CHECK_EQ(does.calls, 6);
	end();
}
