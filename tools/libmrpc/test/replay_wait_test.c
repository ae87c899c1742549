// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams over a channel that wait for their next attempt.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "replay_ends.h"

/* -- while it waits ----------------------------------------------------------------- */

TEST(sent_while_paused)
{
	struct mrpc_stream *st;
	u64 before = clock_ns();

	begin(ALL(RETRY));
	does.fails = 1;
	does.pushback = "300";
	st = open_up(NULL);
	send_all(st, 0, 5, LARGE);
	must_wait(st);
	send_all(st, 5, 10, SMALL);
	send_all(st, 10, 20, LARGE);
	/* What would be too much waits for the attempt, and then commits the stream. */
	CHECK_EQ(send(st, 20, REPLAY_BYTES, MRPC_STREAM_NOWAIT), -EAGAIN);
	CHECK_MSG(strstr(mrpc_last_error(), "20 messages"), "%s", mrpc_last_error());
	send_all(st, 20, 40, LARGE);
	CHECK(clock_ns() - before >= 300000000);
	CHECK(!st->replay);
	ends(st, MRPC_OK, 40, NULL);
	CHECK_EQ(does.calls, 2);

	/* The end of the messages can be all that is sent. */
	does.fails = 1;
	st = open_up(NULL);
	must_wait(st);
	CHECK_EQ(mrpc_stream_end(st), 0);
	ends(st, MRPC_OK, 0, NULL);
	end();
}

TEST(cancelled_while_paused)
{
	struct mrpc_stream *st;
	u32 i;

	begin(ALL(RETRY));
	for (i = 0; i < 2; i++) {
		fail_and_wait();
		st = open_up(NULL);
		send_all(st, 0, 3, LARGE);
		must_wait(st);
		send_all(st, 3, 6, SMALL);
		if (i)
			fake_fail(MRPC_IOC_ENTER, EINTR, 1);
		else
			mrpc_stream_cancel(st);
		CHECK(!mrpc_stream_next(st, NULL));
		CHECK_EQ(mrpc_stream_status(st), MRPC_CANCELLED);
		must_be_free(session, qp);
		CHECK_EQ(send(st, 6, SMALL, 0), -ECANCELED);
		mrpc_stream_cancel(st);
		ends(st, MRPC_CANCELLED, 0, i ? "interrupted by a signal" :
						"cancelled by the application");
		CHECK_EQ(does.calls, 1 + i);
	}
	end();
}

/* A stream that was cancelled is not made again, whatever comes of its attempt. */
TEST(cancelled_before)
{
	struct mrpc_stream *st;

	begin(ALL(RETRY));
	does.fails = 1;
	does.reads = 2;
	st = open_up(NULL);
	send_all(st, 0, 1, LARGE);
	while (!does.calls)
		usleep(1000);
	mrpc_stream_cancel(st);
	CHECK(!st->replay);
	mrpc_stream_finish(st, NULL);
	CHECK_EQ(does.calls, 1);
	end();
}

TEST(deadline)
{
	const struct mrpc_call_opts opts = { .timeout_us = 400000, .flags = MRPC_CALL_WAIT_READY };
	struct mrpc_stream *st;
	u64 before = clock_ns();

	begin(ALL(RETRY));
	does.pushback = "60000";
	does.fails = 1;
	ends(open_up(&opts), MRPC_UNAVAILABLE, 0, NULL);	/* the pause would be too long */
	CHECK(clock_ns() - before < 400000000);

	does.pushback = "100";
	does.fails = 1;
	before = clock_ns();
	st = open_up(&opts);
	send_all(st, 0, 3, LARGE);
	must_wait(st);
	stop();
	CHECK_EQ(session_close_id(session, mrpc_conn_id(channel), 0), 0);
	ends(st, MRPC_DEADLINE_EXCEEDED, 0, "no connection to " NAME " until the deadline");
	CHECK(clock_ns() - before >= 400000000);
	end();
}

TEST(closed_while_paused)
{
	struct mrpc_stream *st;

	begin(ALL(RETRY));
	fail_and_wait();
	st = open_up(NULL);
	send_all(st, 0, 3, LARGE);
	must_wait(st);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	ends(st, MRPC_UNAVAILABLE, 0, "the channel was closed");
	open_channel(NULL);
	end();
}

static void *poll_and_go(UNUSED void *user)
{
	CHECK(mrpc_qp_self(session) == qp);
	CHECK(mrpc_poll(qp) >= 0);
	return NULL;
}

static void *open_and_go(void *user)
{
	struct mrpc_stream *st = open_up(NULL);

	qp = mrpc_qp_self(session);
	send_all(st, 0, 3, LARGE);
	must_wait(st);
	if (user)
		fake_hold_sent(false);
	return NULL;
}

/* A thread ends, and leaves a stream that is paused, or that has messages which the kernel reads. */
TEST(thread_ends)
{
	struct mrpc_qp *own;
	pthread_t thread;
	u32 i;

	begin(ALL(RETRY));
	own = qp;
	for (i = 0; i < 2; i++) {
		fail_and_wait();
		fake_hold_sent(i);
		CHECK_EQ(pthread_create(&thread, NULL, open_and_go, i ? &own : NULL), 0);
		pthread_join(thread, NULL);
		CHECK(!qp->lots);
		/* Another thread uses its queue pair. */
		CHECK_EQ(pthread_create(&thread, NULL, poll_and_go, NULL), 0);
		pthread_join(thread, NULL);
		CHECK(!qp->streams);
	}
	qp = own;
	CHECK_EQ(does.calls, 2);
	end();
}

/* The session of a forked child has the stream, too, and the child closes it. */
TEST(forked_while_paused)
{
	struct mrpc_stream *st;
	int status;
	pid_t pid;

	begin(ALL(RETRY));
	fail_and_wait();
	st = open_up(NULL);
	send_all(st, 0, 3, LARGE);
	must_wait(st);
	pid = CHECK_SYS(fork());
	if (!pid) {
		CHECK_EQ(send(st, 3, SMALL, 0), -EPERM);
		CHECK_EQ(mrpc_stream_finish(st, NULL), MRPC_INTERNAL);
		mrpc_session_close(session);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	mrpc_stream_cancel(st);
	ends(st, MRPC_CANCELLED, 0, NULL);
	end();
}

/* A session is closed, and with it a stream that waits. */
TEST(session_closed)
{
	struct mrpc_stream *st;

	begin(ALL(RETRY));
	fail_and_wait();
	st = open_up(NULL);
	send_all(st, 0, 3, LARGE);
	must_wait(st);
	mrpc_session_close(session);
	stop();
	CHECK_EQ(does.wrong, 0);
}

/* A stream goes on in mrpc_poll(), for an application that sleeps elsewhere. */
TEST(goes_on_by_itself)
{
	const struct mrpc_qp_opts with_fd = { .flags = MRPC_QP_OPT_EVENTFD };
	struct mrpc_call_opts opts = { .qp = NULL };
	u64 until = clock_ns() + 5000000000ull;
	struct mrpc_stream *st;

	begin(ALL(RETRY));
	opts.qp = mrpc_qp_new(session, &with_fd);
	CHECK(opts.qp);
	does.fails = 3;
	does.reads = 3;
	st = open_up(&opts);
	send_all(st, 0, 3, LARGE);
	while (does.calls < 4 && clock_ns() < until) {
		mrpc_poll(opts.qp);
		usleep(1000);
	}
	CHECK_EQ(does.calls, 4);
	ends(st, MRPC_OK, 3, NULL);
	mrpc_qp_free(opts.qp);
	end();
}

/* -- blocks that the kernel still reads ----------------------------------------------------------------- */

/* For longer than the pause before an attempt. */
static void run_for_a_while(void)
{
	u32 i;

	for (i = 0; i < 60; i++) {
		CHECK(mrpc_poll(qp) >= 0);
		usleep(1000);
	}
}

/* The next attempt begins when the kernel has finished with the messages of the one before. */
TEST(read_for_long)
{
	struct mrpc_call_opts opts = { .timeout_us = 300000 };
	struct mrpc_stream *st;
	u32 i;

	begin(ALL(RETRY));
	for (i = 0; i < 4; i++) {
		does.fails = 1;
		does.reads = 5;
		does.calls = 0;
		fake_hold_sent(true);
		st = open_up(i == 1 ? &opts : NULL);
		send_all(st, 0, 5, LARGE);
		must_wait(st);
		CHECK_EQ(st->unsent, 5);
		send_all(st, 5, 7, LARGE);
		run_for_a_while();
		CHECK_EQ(does.calls, 1);
		if (i == 1)
			ends(st, MRPC_DEADLINE_EXCEEDED, 0, "not before the deadline");
		if (i == 2)
			mrpc_stream_cancel(st);
		if (i == 2)
			ends(st, MRPC_CANCELLED, 0, NULL);
		if (i == 3) {
			CHECK_EQ(mrpc_conn_close(channel, 0), 0);
			ends(st, MRPC_UNAVAILABLE, 0, "the channel was closed");
			open_channel(NULL);
		}
		fake_hold_sent(false);
		if (!i)
			ends(st, MRPC_OK, 7, NULL);
		CHECK_EQ(does.calls, i ? 1 : 2);
		must_be_free(session, qp);
	}
	end();
}

/* The same for the request of a call of which only the server streams. */
TEST(request_read_for_long)
{
	struct mrpc_stream *st;

	begin(ALL(RETRY));
	does.fails = 1;
	fake_hold_sent(true);
	st = open_down(LARGE);
	must_wait(st);
	CHECK_EQ(st->unsent, 1);
	run_for_a_while();
	CHECK_EQ(does.calls, 1);
	fake_hold_sent(false);
	CHECK(matches(mrpc_stream_next(st, NULL), 0, SMALL));
	ends(st, MRPC_OK, 0, NULL);
	CHECK_EQ(does.calls, 2);

	/* It can be finished before. */
	fake_hold_sent(true);
	st = open_down(LARGE);
	ends(st, MRPC_OK, 0, NULL);
	fake_hold_sent(false);
	end();
}

/* -- in a handler ----------------------------------------------------------------- */

static struct mrpc_conn *onward;

/* Sends on what it gets, over a channel of the server's session: on the queue pair of the worker. */
static int send_on(struct mrpc_call *call, const struct fake_msg *req, struct fake_msg *reply)
{
	struct mrpc_stream *st = mrpc_stream_open(onward, &test_service, TEST_UP, NULL, NULL);
	struct mrpc_result res;
	struct mrpc_msg msg;
	u32 i;

	CHECK_MSG(st, "%s", mrpc_last_error());
	CHECK(st->qp->serve);
	for (i = 0; i < req->number; i++) {
		build(&msg, mrpc_call_session(call), i, LARGE);
		CHECK_EQ(mrpc_stream_send(st, &msg, MRPC_STREAM_MORE), 0);
	}
	mrpc_stream_finish(st, &res);
	if (!res.status)
		reply->number = ((const struct fake_msg *)res.reply)->number;
	mrpc_result_release(&res);
	return res.status;
}

TEST(in_a_handler)
{
	static const struct test_ops middle_ops = { .echo = send_on };
	struct mrpc_channel_opts opts = { .service_config = ALL(RETRY) };
	struct test_server middle;
	struct mrpc_result res;
	struct mrpc_conn *conn;
	struct mrpc_msg msg;

	begin(NULL);
	does.fails = 3;
	does.reads = 7;
	server_start(&middle, &middle_ops, NULL, "loop:middle", 1);
	onward = mrpc_channel_open(middle.session, NAME, test_services, 1, &opts);
	CHECK_MSG(onward, "%s", mrpc_last_error());
	conn = mrpc_connect(session, "loop:middle", test_services, 1, NULL);
	CHECK_MSG(conn, "%s", mrpc_last_error());
	build(&msg, session, 20, SMALL);
	mrpc_call_sync(conn, &test_service, TEST_ECHO, &msg, NULL, &res);
	CHECK_MSG(res.status == MRPC_OK, "%s", res.detail);
	CHECK_EQ(((const struct fake_msg *)res.reply)->number, 20);
	mrpc_result_release(&res);
	CHECK_EQ(does.calls, 4);
	CHECK_EQ(mrpc_conn_close(conn, 0), 0);
	CHECK_EQ(mrpc_conn_close(onward, 0), 0);
	server_stop(&middle);
	end();
}

/* -- without memory ----------------------------------------------------------------- */

enum failing { FAIL_NOT, FAIL_CALLOC, FAIL_REALLOC };

/* Without memory: which function fails in this thread, once, after so many that do not. */
static __thread struct {
	enum failing in;
	u32 after;
} fails;

void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool fails_now(enum failing in)
{
	if (fails.in != in)
		return false;
	if (fails.after) {
		fails.after--;
		return false;
	}
	fails.in = FAIL_NOT;
	return true;
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails_now(FAIL_CALLOC) ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails_now(FAIL_REALLOC) ? NULL : __real_realloc(p, size);
}


TEST(no_memory)
{
	struct mrpc_stream *st;

	begin(ALL(RETRY));
	/* For the stream, and for what it keeps. */
	for (fails.after = 0; fails.after < 2; ) {
		u32 after = fails.after;

		fails.in = FAIL_CALLOC;
		CHECK(!mrpc_stream_open(channel, &test_service, TEST_UP, NULL, NULL));
		CHECK_EQ(errno, ENOMEM);
		CHECK(!fails.in);
		fails.after = after + 1;
	}
	/* For more messages: it is committed. */
	fails.after = 0;
	does.fails = 1;
	does.reads = 9;
	st = open_up(NULL);
	send_all(st, 0, 8, LARGE);
	CHECK(st->replay);
	fails.in = FAIL_REALLOC;
	send_all(st, 8, 9, LARGE);
	CHECK(!st->replay && !fails.in);
	ends(st, MRPC_UNAVAILABLE, 0, NULL);

	/* The same while it waits: the message is not sent. */
	does.fails = 1;
	does.pushback = "100";
	does.reads = 0;
	st = open_up(NULL);
	send_all(st, 0, 8, LARGE);
	must_wait(st);
	fails.in = FAIL_REALLOC;
	CHECK_EQ(send(st, 8, LARGE, 0), -ENOMEM);
	send_all(st, 8, 9, LARGE);
	ends(st, MRPC_OK, 9, NULL);

	/* For the wait: it is not made again. */
	does.pushback = NULL;
	does.fails = 1;
	does.reads = UINT32_MAX;
	st = open_up(NULL);
	fails.in = FAIL_CALLOC;
	ends(st, MRPC_UNAVAILABLE, 0, NULL);
	CHECK(!fails.in);
	end();
}

/* For the operations of messages: those that are new, and those that are sent again. */
TEST(no_memory_for_operations)
{
	struct mrpc_stream *st[2];
	struct op *ops_of[OPS_PER_CHUNK];
	u32 nr, bytes, i;

	begin(ALL(RETRY));
	does.pushback = "100";
	does.fails = 1;
	st[0] = open_up(NULL);
	send_all(st[0], 0, 3, LARGE);
	must_wait(st[0]);
	st[1] = open_up(NULL);
	send_all(st[1], 0, 3, LARGE);
	mrpc_run(qp, 1000);
	/* One is left: for the call of the next attempt. */
	for (nr = 0; qp->free_ops->next; nr++)
		ops_of[nr] = op_new(qp);
	fails.in = FAIL_REALLOC;
	ops_of[nr] = op_new(qp);
	bytes = st[1]->replay->bytes;
	CHECK_EQ(send(st[1], 3, LARGE, 0), -ENOMEM);
	CHECK_EQ(st[1]->replay->bytes, bytes);
	CHECK(!fails.in);
	op_free(qp, ops_of[nr]);
	send_all(st[1], 3, 4, LARGE);
	ends(st[1], MRPC_OK, 4, NULL);
	fails.in = FAIL_REALLOC;
	while (!mrpc_stream_status(st[0]) && fails.in)
		mrpc_run(qp, 1000);
	CHECK(!fails.in);
	ends(st[0], MRPC_CANCELLED, 0, NULL);
	for (i = 0; i < nr; i++)
		op_free(qp, ops_of[i]);
	end();
}
