/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Both ends of streams over a channel that are made again, against the stand-in.
 */
#ifndef TEST_REPLAY_ENDS_H
#define TEST_REPLAY_ENDS_H

#include "clock.h"
#include "conn.h"
#include "free_blocks.h"
#include "op.h"
#include "replay.h"
#include "session.h"

#define NAME	"loop:replay-test"
#define RETRY	"\"retryPolicy\":{\"maxAttempts\":4,\"initialBackoff\":\"0.01s\"," \
		"\"maxBackoff\":\"0.02s\",\"backoffMultiplier\":2," \
		"\"retryableStatusCodes\":[\"UNAVAILABLE\"]}"
#define ALL(rest)	"{\"methodConfig\":[{\"name\":[{}]," rest "}]}"

#define SMALL	100	/* bytes of a message that is copied */
#define LARGE	10000	/* of one that is not */

static struct test_server server;
static struct mrpc_session *session;
static struct mrpc_conn *channel;
static struct mrpc_qp *qp;
static bool server_runs;

/* What the server does, and what it has seen. The test and the server's threads use it. */
static struct {
	_Atomic u32 fails;	/* so many calls from now on */
	_Atomic u32 reads;	/* messages that a call reads before it fails */
	_Atomic int status;
	const char *_Atomic pushback;
	_Atomic u32 calls;
	char previous[16];	/* what they say of attempts before them; set before @calls */
	_Atomic u32 wrong;	/* messages that were not expected */
	_Atomic u32 gave_up;	/* calls that were not ended by this server */
} does;

static bool call_fails(struct mrpc_call *call)
{
	const char *previous, *pushback = does.pushback;
	u32 len, n = does.calls;

	previous = mrpc_call_meta_find(call, "grpc-previous-rpc-attempts", &len);
	if (n < sizeof(does.previous))
		does.previous[n] = previous && len == 1 ? *previous : '-';
	does.calls = n + 1;
	if (!does.fails)
		return false;
	does.fails--;
	if (pushback)
		mrpc_call_add_meta(call, "grpc-retry-pushback-ms", pushback, strlen(pushback));
	return true;
}

/* Reads messages. Return: how many; all if there are fewer than @most. */
static u32 read_messages(struct mrpc_call *call, u32 most)
{
	const struct fake_msg *m;
	u32 nr = 0;

	while (nr < most && (m = mrpc_stream_next(mrpc_call_stream(call), NULL))) {
		does.wrong += !matches(m, nr, m->data.len);
		nr++;
	}
	does.gave_up += mrpc_stream_status(mrpc_call_stream(call)) != MRPC_OK;
	return nr;
}

static int up(struct mrpc_call *call, struct fake_msg *reply)
{
	if (call_fails(call)) {
		read_messages(call, does.reads);
		return does.status;
	}
	reply->number = read_messages(call, UINT32_MAX);
	return MRPC_OK;
}

static int send_one(struct mrpc_call *call, u32 number)
{
	struct mrpc_msg msg;

	build(&msg, mrpc_call_session(call), number, SMALL);
	return mrpc_stream_send(mrpc_call_stream(call), &msg, 0);
}

/* Sends three messages, or fails. */
static int down(struct mrpc_call *call, const struct fake_msg *req)
{
	u32 i;

	does.wrong += !matches(req, 7, SMALL) && !matches(req, 7, LARGE);
	if (call_fails(call))
		return does.status;
	for (i = 0; i < 3; i++)
		send_one(call, i);
	return MRPC_OK;
}

/* Answers the first message; then fails, or echoes the others. */
static int both(struct mrpc_call *call)
{
	bool fails = call_fails(call);
	u32 nr = read_messages(call, 1);

	if (nr && !(fails && !does.reads))
		send_one(call, 0);
	if (fails)
		return does.status;
	for (nr = 1; mrpc_stream_next(mrpc_call_stream(call), NULL); nr++)
		send_one(call, nr);
	return MRPC_OK;
}

static const struct test_ops ops = { .echo = echo_handler, .up = up, .down = down, .both = both };

static void open_channel(const char *config)
{
	struct mrpc_channel_opts opts = { .service_config = config, .backoff_us = 100000 };

	channel = mrpc_channel_open(session, NAME, test_services, 1, &opts);
	CHECK_MSG(channel, "%s", mrpc_last_error());
}

static UNUSED void begin(const char *config)
{
	memset(&does, 0, sizeof(does));
	does.status = MRPC_UNAVAILABLE;
	server_start(&server, &ops, NULL, NAME, 1);
	server_runs = true;
	session = open_session();
	open_channel(config);
	qp = mrpc_qp_self(session);
	CHECK(qp);
}

static void stop(void)
{
	server_stop(&server);
	server_runs = false;
}

static UNUSED void end(void)
{
	must_be_free(session, qp);
	must_take_no_room(qp);
	CHECK(!qp->streams);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	mrpc_session_close(session);
	if (server_runs)
		stop();
	CHECK_EQ(does.wrong, 0);
	CHECK_EQ(fake_stats().bad, 0);
}

static UNUSED struct mrpc_stream *open_up(const struct mrpc_call_opts *opts)
{
	struct mrpc_stream *st = mrpc_stream_open(channel, &test_service, TEST_UP, NULL, opts);

	CHECK_MSG(st, "%s", mrpc_last_error());
	return st;
}

static UNUSED int send(struct mrpc_stream *st, u32 number, u32 len, unsigned int flags)
{
	struct mrpc_msg msg;
	int err;

	build(&msg, session, number, len);
	err = mrpc_stream_send(st, &msg, flags);
	if (err == -EAGAIN)
		mrpc_msg_free(&msg);
	return err;
}

static UNUSED void send_all(struct mrpc_stream *st, u32 from, u32 to, u32 len)
{
	for (; from < to; from++)
		CHECK_MSG(!send(st, from, len, from % 3 ? MRPC_STREAM_MORE : 0), "%u: %s", from,
			  mrpc_last_error());
}

/* The end of a stream. @got: messages that the server says it has got. */
static UNUSED void ends(struct mrpc_stream *st, int status, u32 got, const char *detail)
{
	struct mrpc_result res;

	mrpc_stream_finish(st, &res);
	CHECK_MSG(res.status == status, "%s: %s, not %s", mrpc_status_name(res.status), res.detail,
		  mrpc_status_name(status));
	if (status == MRPC_OK && res.reply)
		CHECK_EQ(((const struct fake_msg *)res.reply)->number, got);
	if (detail)
		CHECK_MSG(strstr(res.detail, detail), "%s", res.detail);
	CHECK(!does.calls || !res.unsent);
	mrpc_result_release(&res);
}

/* Has the next streams fail once, and then wait for a minute. */
static UNUSED void fail_and_wait(void)
{
	does.fails = 1;
	does.pushback = "60000";
}

/* Until it is paused, or waits for a connection. */
static UNUSED void must_wait(struct mrpc_stream *st)
{
	u64 until = clock_ns() + 5000000000ull;

	while (st->replay->state != REPLAY_WAITS && clock_ns() < until) {
		CHECK(mrpc_poll(qp) >= 0);
		usleep(1000);
	}
	CHECK_EQ(st->replay->state, REPLAY_WAITS);
	CHECK_EQ(mrpc_stream_status(st), MRPC_OK);
}

static UNUSED struct mrpc_stream *open_down(u32 len)
{
	struct mrpc_stream *st;
	struct mrpc_msg msg;

	build(&msg, session, 7, len);
	st = mrpc_stream_open(channel, &test_service, TEST_DOWN, &msg, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	return st;
}

#endif /* TEST_REPLAY_ENDS_H */
