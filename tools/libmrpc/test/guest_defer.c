// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams of deferred calls, with the module. The server has one worker: a handler
 * that occupies it would stop each of these tests.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest_ends.h"
#include "guest_grpc.h"

#define STREAMS	100

/* Request.text of Produce: what becomes of the call. */
#define OTHERS	"others"	/* other threads send, and reply */
#define HERE	"here"		/* the handler replies, and then defers */
#define KEPT	"kept"		/* a test has it in @srv.kept */
#define TOLD	"told"		/* the same, and its end is told to @srv.events */
#define MEETS	"meets"		/* the worker calls back while a test replies */

static struct {
	struct mrpc_call *kept;
	sem_t has_kept;
	sem_t events;
	sem_t replied;
	int ended;		/* what told_end() has found */
} srv;

/* -- the server ------------------------------------------------------------------------ */

static int put(struct mrpc_call *call, uint32_t no, size_t len, unsigned int flags)
{
	struct mrpc_msg msg;
	struct guest_Reply *reply = guest_Reply_new(&msg, mrpc_call_session(call));
	char text[16];
	int err;

	snprintf(text, sizeof(text), "%u", no);
	guest_Reply_set_text(&msg, reply, text);
	memset(guest_Reply_alloc_data(&msg, reply, len), 'x', len);
	err = guest_Streams_Produce_put(call, &msg, flags);
	mrpc_msg_free(&msg);
	return err;
}

/* The sizes are on both sides of what is copied. */
static void *send_later(void *arg)
{
	struct mrpc_call *call = arg;
	const struct guest_Request *req = mrpc_call_request(call);
	uint32_t i, nr = req->what;

	for (i = 1; i < nr; i++)
		CHECK_EQ(put(call, i, i % 5 ? 100 : 100000, 0), 0);
	mrpc_call_set_detail(call, "that were %u", nr);
	CHECK_EQ(mrpc_call_reply(call, MRPC_OUT_OF_RANGE), 0);
	return NULL;
}

static void told_end(struct mrpc_call *call)
{
	int status = mrpc_stream_status(mrpc_call_stream(call));

	if (!status)
		return;
	srv.ended = status;
	CHECK_EQ(mrpc_call_reply(call, MRPC_ABORTED), 0);
	sem_post(&srv.events);
}

/* Runs until a test has replied, which does not free the call before the end of this function. */
static void meet_reply(struct mrpc_call *call)
{
	srv.kept = call;
	sem_post(&srv.has_kept);
	sem_wait(&srv.replied);
	CHECK(mrpc_call_ctx(call) == &srv);
	sem_post(&srv.events);
}

static int produce(struct mrpc_call *call, const struct guest_Request *req)
{
	const char *text = guest_Request_text(req, req);
	pthread_t thread;

	/* A message that is under way keeps its stream. */
	if (strcmp(text, MEETS))
		CHECK_EQ(put(call, 0, 10, 0), 0);
	if (!strcmp(text, OTHERS)) {
		CHECK_EQ(pthread_create(&thread, NULL, send_later, call), 0);
		pthread_detach(thread);
	} else if (!strcmp(text, HERE)) {
		CHECK_EQ(mrpc_call_reply(call, MRPC_OUT_OF_RANGE), 0);
	} else if (!strcmp(text, MEETS)) {
		mrpc_call_on_event(call, meet_reply);
	} else {
		if (!strcmp(text, TOLD))
			mrpc_call_on_event(call, told_end);
		srv.kept = call;
		sem_post(&srv.has_kept);
	}
	return MRPC_DEFER;
}

/* Sends back what can be read, while there is room. */
static void echo(struct mrpc_call *call)
{
	static const unsigned int both = MRPC_STREAM_READABLE | MRPC_STREAM_WRITABLE;
	struct mrpc_stream *stream = mrpc_call_stream(call);
	const struct guest_Request *req;

	while (mrpc_stream_ready(stream) == both) {
		req = guest_Streams_Chat_get(call);
		if (!req) {
			CHECK_EQ(mrpc_call_reply(call, MRPC_OK), 0);
			return;
		}
		put(call, req->what, 10, 0);
	}
}

static int chat(struct mrpc_call *call)
{
	mrpc_call_on_event(call, echo);
	return MRPC_DEFER;
}

static void up(const char *address)
{
	static const struct guest_Streams_ops ops = { .Chat = chat, .Produce = produce };

	sem_init(&srv.has_kept, 0, 0);
	sem_init(&srv.events, 0, 0);
	sem_init(&srv.replied, 0, 0);
	open_server();
	CHECK_EQ(guest_Streams_add(server, &ops, &srv), 0);
	start_ends(address, 1, &guest_Streams_service);
}

/* -- the client ------------------------------------------------------------------------ */

static struct mrpc_stream *ask(uint32_t what, const char *text)
{
	struct mrpc_msg msg;
	struct guest_Request *req = guest_Request_new(&msg, session);
	struct mrpc_stream *st;

	req->what = what;
	guest_Request_set_text(&msg, req, text);
	st = guest_Streams_Produce_open(conn, &msg, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
	return st;
}

static void next_is(struct mrpc_stream *st, uint32_t no)
{
	const struct guest_Reply *reply = mrpc_stream_next(st, NULL);
	char text[16];

	CHECK_MSG(reply, "message %u does not come: %s", no, mrpc_last_error());
	snprintf(text, sizeof(text), "%u", no);
	CHECK_STR(guest_Reply_text(reply, reply), text);
}

static void finish(struct mrpc_stream *st, int status, const char *detail)
{
	struct mrpc_result res;

	mrpc_stream_finish(st, &res);
	CHECK_MSG(res.status == status, "%s: %s, not %s", mrpc_status_name(res.status), res.detail,
		  mrpc_status_name(status));
	if (detail)
		CHECK_STR(res.detail, detail);
	mrpc_result_release(&res);
}

#define EACH(name)							\
	TEST(name##_tcp) { up("tcp:127.0.0.1:0"); name(); end_ends(); }	\
	TEST(name##_loop) { up("loop:defer-" #name); name(); end_ends(); }	\
	TEST(name##_grpc) { load_grpc(); up("grpc:127.0.0.1:0"); name(); end_ends(); }

/* A thread for each call sends messages behind the handler's, and the status. */
static void others_send(void)
{
	struct mrpc_stream *st[8];
	uint32_t i, no;

	for (i = 0; i < 8; i++)
		st[i] = ask(20, OTHERS);
	for (no = 0; no < 20; no++)
		for (i = 0; i < 8; i++)
			next_is(st[i], no);
	for (i = 0; i < 8; i++) {
		CHECK(!mrpc_stream_next(st[i], NULL));
		finish(st[i], MRPC_OUT_OF_RANGE, "that were 20");
	}
}

EACH(others_send)

static void say(struct mrpc_stream *st, uint32_t what)
{
	struct mrpc_msg msg;

	guest_Request_new(&msg, session)->what = what;
	CHECK_EQ(guest_Streams_Chat_send(st, &msg, 0), 0);
}

/* One worker serves all streams at a time. */
static void many_chats(void)
{
	struct mrpc_stream *st[STREAMS];
	uint32_t i, no;

	for (i = 0; i < STREAMS; i++) {
		st[i] = guest_Streams_Chat_open(conn, NULL);
		CHECK_MSG(st[i], "%s", mrpc_last_error());
	}
	for (no = 0; no < 3; no++) {
		for (i = 0; i < STREAMS; i++)
			say(st[i], i + no);
		for (i = 0; i < STREAMS; i++)
			next_is(st[i], i + no);
	}
	for (i = 0; i < STREAMS; i++)
		finish(st[i], MRPC_OK, NULL);
}

EACH(many_chats)

/* More messages than there is room for: the echo goes on when some have been sent. */
static void slow_reader(void)
{
	struct mrpc_stream *st = guest_Streams_Chat_open(conn, NULL);
	uint32_t no;

	CHECK_MSG(st, "%s", mrpc_last_error());
	for (no = 0; no < 900; no++)
		say(st, no);
	for (no = 0; no < 900; no++)
		next_is(st, no);
	finish(st, MRPC_OK, NULL);
}

EACH(slow_reader)

/* The worker tells that the caller has gone. */
static void end_is_told(void)
{
	struct mrpc_stream *st = ask(0, TOLD);

	next_is(st, 0);
	mrpc_stream_cancel(st);
	finish(st, MRPC_CANCELLED, NULL);
	sem_wait(&srv.events);
	CHECK_EQ(srv.ended, MRPC_CANCELLED);
}

EACH(end_is_told)

/* Without a function to tell it to, another thread learns it when it sends. */
TEST(end_is_found)
{
	struct mrpc_stream *st;
	int i, err = 0;

	up("loop:defer-found");
	st = ask(0, KEPT);
	next_is(st, 0);
	sem_wait(&srv.has_kept);
	CHECK_EQ(put(srv.kept, 1, 10, 0), 0);
	next_is(st, 1);
	CHECK_EQ(mrpc_stream_status(mrpc_call_stream(srv.kept)), MRPC_OK);
	mrpc_stream_cancel(st);
	finish(st, MRPC_CANCELLED, NULL);
	for (i = 0; !err && i < 5000; i++) {
		usleep(1000);
		err = put(srv.kept, 2, 10, 0);
	}
	CHECK_EQ(err, -ECANCELED);
	CHECK_EQ(mrpc_call_reply(srv.kept, MRPC_OK), 0);
	end_ends();
}

/* Another thread does not wait for a client that does not read. A refused message is not the end. */
TEST(never_waits)
{
	struct mrpc_stream *st;
	uint32_t sent = 1, no;
	int err = 0;

	up("loop:defer-full");
	st = ask(0, KEPT);
	sem_wait(&srv.has_kept);
	while (!err && sent < 1000) {
		err = put(srv.kept, sent, 20000, 0);
		sent += !err;
	}
	CHECK_EQ(err, -ENOBUFS);
	CHECK_EQ(mrpc_call_reply(srv.kept, MRPC_OK), 0);
	for (no = 0; no < sent; no++)
		next_is(st, no);
	finish(st, MRPC_OK, NULL);
	end_ends();
}

TEST(reply_meets_event)
{
	struct mrpc_stream *st;

	up("loop:defer-meets");
	st = ask(0, MEETS);
	sem_wait(&srv.has_kept);
	CHECK_EQ(mrpc_call_reply(srv.kept, MRPC_OUT_OF_RANGE), 0);
	sem_post(&srv.replied);
	sem_wait(&srv.events);
	finish(st, MRPC_OUT_OF_RANGE, NULL);
	end_ends();
}

TEST(handler_replies)
{
	struct mrpc_stream *st;
	int i;

	up("loop:defer-here");
	for (i = 0; i < 3; i++) {
		st = ask(0, HERE);
		next_is(st, 0);
		finish(st, MRPC_OUT_OF_RANGE, NULL);
	}
	end_ends();
}

/* A deferred call outlives the workers, and is answered in vain. */
TEST(server_stops)
{
	struct mrpc_stream *st;

	up("loop:defer-stops");
	st = ask(0, KEPT);
	next_is(st, 0);
	sem_wait(&srv.has_kept);
	stop_server();
	finish(st, MRPC_UNAVAILABLE, NULL);
	CHECK_EQ(mrpc_stream_status(mrpc_call_stream(srv.kept)), MRPC_UNAVAILABLE);
	CHECK_EQ(put(srv.kept, 1, 10, 0), -ECANCELED);
	CHECK_EQ(mrpc_call_reply(srv.kept, MRPC_OK), 0);
	mrpc_session_close(session);
	mrpc_session_close(serving);
}
