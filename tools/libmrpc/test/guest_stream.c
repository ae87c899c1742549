// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams with the module: stubs and handlers of all kinds, over each transport.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "guest_ends.h"
#include "guest_grpc.h"

#define WORKERS		2
#define SLOW_US		1500000

/* Request.text: what a handler shall do besides. */
#define FAIL_AT		"fail"	/* end with NOT_FOUND when this many have come */
#define WAIT_FOR_END	"wait"	/* until the call ends */

static struct {
	int waited;		/* status that ended the call of Produce that waited */
	int chatted;		/* the same of the latest Chat */
} srv;

static void fill(uint8_t *p, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(seed + i * 31 + (i >> 8) * 7);
}

static bool same(const uint8_t *p, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (uint8_t)(seed + i * 31 + (i >> 8) * 7))
			return false;
	return true;
}

/* -- the server ------------------------------------------------------------------------ */

static int collect(struct mrpc_call *call, struct guest_Reply *reply)
{
	const struct guest_Request *req;
	unsigned int nr = 0;
	size_t sum = 0, len;
	char text[64];

	while ((req = guest_Streams_Collect_get(call))) {
		const uint8_t *data = guest_Request_data(req, req, &len);

		if (req->what != nr || !same(data, len, nr))
			return MRPC_DATA_LOSS;
		nr++;
		sum += len;
		if (!strcmp(guest_Request_text(req, req), FAIL_AT))
			return MRPC_NOT_FOUND;
	}
	if (mrpc_stream_status(mrpc_call_stream(call)))
		return MRPC_ABORTED;
	snprintf(text, sizeof(text), "%u %zu", nr, sum);
	guest_Reply_set_text(mrpc_call_msg(call), reply, text);
	return MRPC_OK;
}

static struct guest_Reply *reply_new(struct mrpc_call *call, struct mrpc_msg *msg, uint32_t no,
				     size_t len)
{
	struct guest_Reply *reply = guest_Reply_new(msg, mrpc_call_session(call));
	char text[16];

	snprintf(text, sizeof(text), "%u", no);
	guest_Reply_set_text(msg, reply, text);
	fill(guest_Reply_alloc_data(msg, reply, len), len, no);
	return reply;
}

static int produce(struct mrpc_call *call, const struct guest_Request *req)
{
	struct mrpc_stream *stream = mrpc_call_stream(call);
	struct mrpc_msg msg;
	uint32_t i;
	size_t len;

	guest_Request_data(req, req, &len);
	for (i = 0; i < req->what; i++) {
		reply_new(call, &msg, i, len);
		if (guest_Streams_Produce_put(call, &msg, i % 4 ? MRPC_STREAM_MORE : 0)) {
			srv.waited = mrpc_stream_status(stream);
			return MRPC_ABORTED;
		}
	}
	if (!strcmp(guest_Request_text(req, req), WAIT_FOR_END)) {
		while (!mrpc_stream_status(stream) && !mrpc_stream_next(stream, NULL)) {
			reply_new(call, &msg, i++, 1);
			guest_Streams_Produce_put(call, &msg, 0);
			usleep(1000);
		}
		srv.waited = mrpc_stream_status(stream);
	}
	return MRPC_OK;
}

static int chat(struct mrpc_call *call)
{
	const struct guest_Request *req;
	struct mrpc_msg msg;
	size_t len;

	while ((req = guest_Streams_Chat_get(call))) {
		guest_Request_data(req, req, &len);
		if (!strcmp(guest_Request_text(req, req), FAIL_AT)) {
			mrpc_call_set_detail(call, "no %u here", req->what);
			return MRPC_NOT_FOUND;
		}
		reply_new(call, &msg, req->what, len);
		if (guest_Streams_Chat_put(call, &msg, 0))
			return MRPC_ABORTED;
	}
	srv.chatted = mrpc_stream_status(mrpc_call_stream(call));
	return MRPC_OK;
}

static void up(const char *address)
{
	static const struct guest_Streams_ops ops = {
		.Chat = chat, .Collect = collect, .Produce = produce,
	};

	srv.waited = -1;
	srv.chatted = -1;
	open_server();
	CHECK_EQ(guest_Streams_add(server, &ops, NULL), 0);
	start_ends(address, WORKERS, &guest_Streams_service);
}

/* -- the client ------------------------------------------------------------------------ */

static void build(struct mrpc_msg *msg, uint32_t what, size_t len, const char *text)
{
	struct guest_Request *req = guest_Request_new(msg, session);

	req->what = what;
	guest_Request_set_text(msg, req, text);
	fill(guest_Request_alloc_data(msg, req, len), len, what);
}

static struct mrpc_stream *ask(uint32_t what, size_t len, const char *text,
			       const struct mrpc_call_opts *opts)
{
	struct mrpc_stream *st;
	struct mrpc_msg msg;

	build(&msg, what, len, text);
	st = guest_Streams_Produce_open(conn, &msg, opts);
	CHECK_MSG(st, "%s", mrpc_last_error());
	return st;
}

/* Checks a message of the server. */
static void check_reply(const struct guest_Reply *reply, uint32_t no, size_t want)
{
	const uint8_t *data;
	char text[16];
	size_t len;

	CHECK_MSG(reply, "message %u does not come: %s", no, mrpc_last_error());
	snprintf(text, sizeof(text), "%u", no);
	CHECK_STR(guest_Reply_text(reply, reply), text);
	data = guest_Reply_data(reply, reply, &len);
	CHECK_EQ(len, want);
	CHECK(same(data, len, no));
}

static void finish(struct mrpc_stream *st, int status)
{
	struct mrpc_result res;

	mrpc_stream_finish(st, &res);
	CHECK_MSG(res.status == status, "%s: %s, not %s", mrpc_status_name(res.status), res.detail,
		  mrpc_status_name(status));
	mrpc_result_release(&res);
}

static const size_t lens[] = { 0, 1, 100, 4096, 70000, 300000, 3 << 20 };

#define NR_LENS	(sizeof(lens) / sizeof(lens[0]))

static void collects(void)
{
	struct mrpc_stream *st = guest_Streams_Collect_open(conn, NULL);
	struct mrpc_result res;
	struct mrpc_msg msg;
	size_t sum = 0;
	char text[64];
	uint32_t i;

	CHECK_MSG(st, "%s", mrpc_last_error());
	for (i = 0; i < 200; i++) {
		size_t len = i < 20 ? lens[i % NR_LENS] : i;

		build(&msg, i, len, "");
		CHECK_MSG(!guest_Streams_Collect_send(st, &msg, i % 3 ? MRPC_STREAM_MORE : 0), "%s",
			  mrpc_last_error());
		sum += len;
	}
	mrpc_stream_finish(st, &res);
	CHECK_MSG(res.status == MRPC_OK, "%s: %s", mrpc_status_name(res.status), res.detail);
	snprintf(text, sizeof(text), "200 %zu", sum);
	CHECK_STR(guest_Reply_text(guest_Streams_Collect_reply(&res),
				   guest_Streams_Collect_reply(&res)), text);
	mrpc_result_release(&res);
}

static void produces(void)
{
	size_t i;

	for (i = 0; i < NR_LENS; i++) {
		uint32_t nr = lens[i] > 100000 ? 20 : 500, no;
		struct mrpc_stream *st = ask(nr, lens[i], "", NULL);

		for (no = 0; no < nr; no++)
			check_reply(guest_Streams_Produce_next(st), no, lens[i]);
		CHECK(!guest_Streams_Produce_next(st));
		finish(st, MRPC_OK);
	}
}

static void chats(void)
{
	struct mrpc_stream *st = guest_Streams_Chat_open(conn, NULL);
	struct mrpc_msg msg;
	uint32_t i;

	CHECK_MSG(st, "%s", mrpc_last_error());
	for (i = 0; i < 500; i++) {
		build(&msg, i, i % 300, "");
		CHECK_EQ(guest_Streams_Chat_send(st, &msg, 0), 0);
		check_reply(guest_Streams_Chat_next(st), i, i % 300);
	}
	CHECK_EQ(mrpc_stream_end(st), 0);
	CHECK_EQ(mrpc_stream_end(st), 0);
	CHECK(!guest_Streams_Chat_next(st));
	finish(st, MRPC_OK);
	CHECK_EQ(srv.chatted, MRPC_OK);
}

#define EACH(name)							\
	TEST(name##_tcp) { up("tcp:127.0.0.1:0"); name(); end_ends(); }	\
	TEST(name##_loop) { up("loop:stream-" #name); name(); end_ends(); }	\
	TEST(name##_prio) { up("prio:127.0.0.1:0"); name(); end_ends(); }	\
	TEST(name##_grpc) { load_grpc(); up("grpc:127.0.0.1:0"); name(); end_ends(); }

EACH(collects)
EACH(produces)
EACH(chats)

/* A reader that does not read stops its sender, and no other stream of the connection. */
static void slow_reader(void)
{
	struct mrpc_stream *slow = ask(2000, 10000, "", NULL);
	uint32_t i, j;

	check_reply(guest_Streams_Produce_next(slow), 0, 10000);
	for (i = 0; i < 20; i++) {
		struct mrpc_stream *fast = ask(100, 5000, "", NULL);

		for (j = 0; j < 100; j++)
			check_reply(guest_Streams_Produce_next(fast), j, 5000);
		finish(fast, MRPC_OK);
	}
	for (i = 1; i < 2000; i++)
		check_reply(guest_Streams_Produce_next(slow), i, 10000);
	finish(slow, MRPC_OK);
}

EACH(slow_reader)

/* A server fails in the middle of what the client sends, and reads no more of it. */
static void fails(void)
{
	struct mrpc_stream *st = guest_Streams_Chat_open(conn, NULL);
	struct mrpc_result res;
	struct mrpc_msg msg;
	int err = 0;
	uint32_t i;

	for (i = 0; i < 10; i++) {
		build(&msg, i, 10, "");
		CHECK_EQ(guest_Streams_Chat_send(st, &msg, 0), 0);
		check_reply(guest_Streams_Chat_next(st), i, 10);
	}
	build(&msg, 17, 10, FAIL_AT);
	CHECK_EQ(guest_Streams_Chat_send(st, &msg, 0), 0);
	for (i = 0; i < 100000 && !err; i++) {
		build(&msg, i, 100, "");
		err = guest_Streams_Chat_send(st, &msg, 0);
	}
	CHECK_EQ(err, -ECANCELED);
	CHECK(!guest_Streams_Chat_next(st));
	CHECK_EQ(mrpc_stream_status(st), MRPC_NOT_FOUND);
	mrpc_stream_finish(st, &res);
	CHECK_EQ(res.status, MRPC_NOT_FOUND);
	CHECK_STR(res.detail, "no 17 here");
	mrpc_result_release(&res);
}

EACH(fails)

static void cancels(void)
{
	struct mrpc_stream *st = ask(3, 10, WAIT_FOR_END, NULL);
	int i;

	check_reply(guest_Streams_Produce_next(st), 0, 10);
	mrpc_stream_cancel(st);
	finish(st, MRPC_CANCELLED);
	for (i = 0; srv.waited < 0 && i < 5000; i++)
		usleep(1000);
	CHECK_EQ(srv.waited, MRPC_CANCELLED);
}

EACH(cancels)

static void deadlines(void)
{
	const struct mrpc_call_opts opts = { .timeout_us = 300000 };
	struct mrpc_stream *st = ask(3, 10, WAIT_FOR_END, &opts);
	int i;

	while (guest_Streams_Produce_next(st))
		;
	finish(st, MRPC_DEADLINE_EXCEEDED);
	for (i = 0; srv.waited < 0 && i < 5000; i++)
		usleep(1000);
	CHECK(srv.waited == MRPC_DEADLINE_EXCEEDED || srv.waited == MRPC_CANCELLED);
}

EACH(deadlines)

/* The connection ends under a stream: both ends learn it. */
static void ends_with_connection(void)
{
	struct mrpc_stream *st = ask(3, 10, WAIT_FOR_END, NULL);
	int i;

	check_reply(guest_Streams_Produce_next(st), 0, 10);
	CHECK_EQ(mrpc_conn_close(conn, 0), 0);
	finish(st, MRPC_UNAVAILABLE);
	for (i = 0; srv.waited < 0 && i < 5000; i++)
		usleep(1000);
	CHECK_EQ(srv.waited, MRPC_UNAVAILABLE);
}

EACH(ends_with_connection)

/* A server that stops ends its streams, whose handlers wait for their clients. */
TEST(server_stops)
{
	struct mrpc_stream *st;

	up("loop:stream-stops");
	st = guest_Streams_Chat_open(conn, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	stop_server();
	mrpc_session_close(serving);
	finish(st, MRPC_UNAVAILABLE);
	CHECK_EQ(srv.chatted, MRPC_UNAVAILABLE);
	mrpc_session_close(session);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* A signal whose handler has no SA_RESTART cancels what waits, as it does a synchronous call. */
TEST(signal_cancels)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval in = { .it_value = { .tv_usec = 200000 } };
	struct mrpc_stream *st;

	up("loop:stream-signal");
	sigaction(SIGALRM, &sa, NULL);
	st = guest_Streams_Chat_open(conn, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	setitimer(ITIMER_REAL, &in, NULL);
	CHECK(!guest_Streams_Chat_next(st));
	finish(st, MRPC_CANCELLED);
	end_ends();
}

/* A message that the kernel refuses does not end the stream. */
TEST(bad_message)
{
	struct mrpc_stream *st;
	struct mrpc_msg msg;

	up("loop:stream-bad");
	st = guest_Streams_Chat_open(conn, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	build(&msg, 0, 10, "\xff\xfe");
	CHECK_EQ(guest_Streams_Chat_send(st, &msg, 0), -EINVAL);
	CHECK_MSG(strstr(mrpc_last_error(), "UTF-8"), "%s", mrpc_last_error());
	build(&msg, 5, 10, "");
	CHECK_EQ(guest_Streams_Chat_send(st, &msg, MRPC_STREAM_LAST), 0);
	check_reply(guest_Streams_Chat_next(st), 5, 10);
	build(&msg, 6, 10, "");
	CHECK_EQ(guest_Streams_Chat_send(st, &msg, 0), -EPIPE);
	finish(st, MRPC_OK);
	end_ends();
}

/* Many streams of one thread, one message of each in turn; then all end with the session. */
TEST(many)
{
	struct mrpc_stream *st[200];
	uint32_t i, round;

	up("loop:stream-many");
	for (i = 0; i < 200; i++)
		st[i] = ask(20, 100, "", NULL);
	for (round = 0; round < 20; round++)
		for (i = 0; i < 200; i++)
			check_reply(guest_Streams_Produce_next(st[i]), round, 100);
	for (i = 0; i < 100; i++)
		finish(st[i], MRPC_OK);
	end_ends();
}

/* Calls that do not stream are refused as such, and the reverse. */
TEST(wrong_kind)
{
	struct mrpc_result res;
	struct mrpc_msg msg;

	up("loop:stream-kind");
	build(&msg, 1, 1, "");
	CHECK_EQ(mrpc_call_sync(conn, &guest_Streams_service, guest_Streams_METHOD_Produce, &msg,
				NULL, &res), MRPC_INVALID_ARGUMENT);
	CHECK_MSG(strstr(res.detail, "streams"), "%s", res.detail);
	mrpc_result_release(&res);
	CHECK(!mrpc_stream_open(conn, &guest_Echo_service, guest_Echo_METHOD_Say, NULL, NULL));
	CHECK_EQ(mrpc_stream_finish(NULL, &res), MRPC_INTERNAL);
	mrpc_result_release(&res);
	end_ends();
}

/* A request waits for its worker while its call is cancelled: the handler learns it. */
TEST(cancelled_before_it_is_served)
{
	struct mrpc_stream *busy[WORKERS], *st;
	int i;

	up("loop:stream-early");
	for (i = 0; i < WORKERS; i++)
		busy[i] = guest_Streams_Chat_open(conn, NULL);
	st = ask(0, 10, WAIT_FOR_END, NULL);
	mrpc_stream_cancel(st);
	finish(st, MRPC_CANCELLED);
	for (i = 0; i < WORKERS; i++)
		finish(busy[i], MRPC_OK);
	for (i = 0; srv.waited < 0 && i < 5000; i++)
		usleep(1000);
	CHECK_EQ(srv.waited, MRPC_CANCELLED);
	end_ends();
}

/* Two ends that only send: a client that does not wait reads in between. */
TEST(no_wait)
{
	struct mrpc_stream *st;
	struct mrpc_msg msg;
	uint32_t sent = 0, got = 0;
	int err;

	up("loop:stream-nowait");
	st = guest_Streams_Chat_open(conn, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	while (sent < 300) {
		build(&msg, sent, 20000, "");
		err = guest_Streams_Chat_send(st, &msg, MRPC_STREAM_NOWAIT);
		if (!err) {
			sent++;
			continue;
		}
		CHECK_EQ(err, -EAGAIN);
		mrpc_msg_free(&msg);
		check_reply(guest_Streams_Chat_next(st), got++, 20000);
	}
	CHECK_MSG(got, "the sender never had to wait");
	CHECK_EQ(mrpc_stream_end(st), 0);
	for (; got < sent; got++)
		check_reply(guest_Streams_Chat_next(st), got, 20000);
	finish(st, MRPC_OK);
	end_ends();
}

/* A stream that is finished unread ends, whatever its sides have not sent. */
TEST(finished_unread)
{
	struct mrpc_stream *st;
	struct mrpc_msg msg;
	uint32_t i;

	up("loop:stream-unread");
	st = guest_Streams_Chat_open(conn, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	for (i = 0; i < 300; i++) {
		build(&msg, i, 20000, "");
		if (guest_Streams_Chat_send(st, &msg, MRPC_STREAM_NOWAIT)) {
			mrpc_msg_free(&msg);
			break;
		}
	}
	finish(st, MRPC_OK);
	end_ends();
}

/* A refusal that MRPC_STREAM_MORE has hidden is told by the next call, or by the end. */
TEST(refused_later)
{
	struct mrpc_stream *st;
	struct mrpc_msg msg;

	up("loop:stream-later");
	st = guest_Streams_Chat_open(conn, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	build(&msg, 0, 10, "\xff");
	CHECK_EQ(guest_Streams_Chat_send(st, &msg, MRPC_STREAM_MORE), 0);
	build(&msg, 1, 10, "");
	CHECK_EQ(guest_Streams_Chat_send(st, &msg, 0), 0);	/* this one was sent */
	check_reply(guest_Streams_Chat_next(st), 1, 10);
	build(&msg, 2, 10, "");
	CHECK_EQ(guest_Streams_Chat_send(st, &msg, 0), -EINVAL);
	build(&msg, 3, 10, "\xff");
	CHECK_EQ(guest_Streams_Chat_send(st, &msg, MRPC_STREAM_MORE | MRPC_STREAM_LAST), 0);
	finish(st, MRPC_INTERNAL);
	end_ends();
}

static void *open_and_go(void *arg)
{
	struct mrpc_stream *st = ask(5, 10, WAIT_FOR_END, NULL);

	(void)arg;
	check_reply(guest_Streams_Produce_next(st), 0, 10);
	return NULL;
}

/* A thread ends with an open stream: its call is cancelled, and its queue pair is used again. */
TEST(thread_ends)
{
	struct mrpc_stream *st;
	pthread_t thread;
	uint32_t i;

	up("loop:stream-thread");
	CHECK_EQ(pthread_create(&thread, NULL, open_and_go, NULL), 0);
	pthread_join(thread, NULL);
	for (i = 0; srv.waited < 0 && i < 5000; i++)
		usleep(1000);
	CHECK_EQ(srv.waited, MRPC_CANCELLED);
	st = ask(100, 10, "", NULL);
	for (i = 0; i < 100; i++)
		check_reply(guest_Streams_Produce_next(st), i, 10);
	finish(st, MRPC_OK);
	end_ends();
}
