// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/app/enter kmod/core/qp */
/*
 * MRPC_ENTER_NOT_SENT: a wait that completions of MRPC_CQE_SENT do not end.
 */
#include <errno.h>

#include "tap.h"
#include "raw.h"
#include "streams.h"

#define ENTRIES	8	/* of the submission queue; the completion queue has 16 */

static uint64_t up, down;
static bool stop;

/* Submits all, and waits for @min completions. */
static int wait_news(struct side *side, uint32_t min, uint64_t ns)
{
	struct mrpc_enter e = {
		.size = sizeof(e), .flags = MRPC_ENTER_NOT_SENT, .qp = side->qp.id,
		.to_submit = side->qp.pushed, .min_complete = min, .until_ns = raw_until(ns),
	};
	int err = raw_ioctl(side->s.fd, MRPC_IOC_ENTER, &e);

	side->qp.pushed -= e.submitted;
	return err;
}

static void *run_server(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		raw_enter(&server.qp, 1, RAW_MS);
	return arg;
}

static pthread_t start(void *(*run)(void *), void *arg)
{
	pthread_t t;

	__atomic_store_n(&stop, false, __ATOMIC_RELEASE);
	CHECK(!pthread_create(&t, NULL, run, arg));
	return t;
}

static void join(pthread_t t)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
}

static void begin_chat(const char *how)
{
	begin_sized(how, ENTRIES);
	up = open_call(CHAT, 7, 0);
	down = requested(CHAT);
}

static void push_message(struct side *side, uint64_t token, uint64_t tag)
{
	struct mrpc_sqe sqe = message(side, token, tag, 10);

	sqe.flags = MRPC_SQE_COPY;
	CHECK(raw_push(&side->qp, &sqe));
}

/* The message of the client is sent, and no more happens. */
static void sent_goes_on(const char *how)
{
	uint64_t before;
	pthread_t t;

	begin_chat(how);
	t = start(run_server, NULL);
	push_message(&client, up, 1);
	before = raw_now();
	CHECK_EQ(wait_news(&client, 1, 200 * RAW_MS), -ETIME);
	CHECK(raw_now() - before >= 200 * RAW_MS);
	CHECK_EQ(raw_ready(&client.qp), 1);
	/* What was there before the wait counts. */
	CHECK_EQ(wait_news(&client, 1, WAIT), 0);
	CHECK_EQ(wait_news(&client, 2, 100 * RAW_MS), -ETIME);
	join(t);
	sent(&client, 1, MRPC_OK);
	end();
}

TEST_EACH_TRANSPORT(sent_goes_on, sent_goes_on)
TEST_GRPC(sent_goes_on, sent_goes_on)

/* Answers the first message after a while. */
static void *answer(void *arg)
{
	comes(&server, 1, 10, true);
	usleep(100000);
	push_message(&server, down, 2);
	raw_enter(&server.qp, 0, 0);
	run_server(arg);
	return NULL;
}

/* Another message ends it, and then two completions are there: that one and MRPC_CQE_SENT. */
static void message_ends(const char *how)
{
	pthread_t t;

	begin_chat(how);
	nr_sides = 1;	/* the server's thread does not run the client */
	t = start(answer, NULL);
	push_message(&client, up, 1);
	CHECK_EQ(wait_news(&client, 1, WAIT * raw_patience()), 0);
	CHECK_EQ(raw_ready(&client.qp), 2);
	join(t);
	comes(&client, 2, 10, true);
	sent(&client, 1, MRPC_OK);
	end();
}

TEST_EACH_TRANSPORT(message_ends, message_ends)
TEST_GRPC(message_ends, message_ends)

#define CALLS	13	/* the end of each has room in the completion queue, which leaves 3 entries */

/* Begins more calls, so that there is room for 3 completions besides their ends. */
static void begin_tight(const char *how)
{
	unsigned int i;

	begin_chat(how);
	for (i = 1; i < CALLS; i++) {
		open_call(CHAT, 7 + i, 0);
		requested(CHAT);
	}
	nr_sides = 1;	/* the server's thread does not run the client */
}

/* There is no room for one MRPC_CQE_SENT. The thread must take the others, so the wait ends. */
static void late_sent_ends(const char *how)
{
	unsigned int i;
	pthread_t t;

	begin_tight(how);
	t = start(run_server, NULL);
	for (i = 0; i < 3; i++)
		push_message(&client, up, i);
	CHECK_EQ(wait_news(&client, 1, 200 * RAW_MS), -ETIME);
	CHECK_EQ(raw_ready(&client.qp), 3);
	all_sent(&client, 3);
	for (i = 0; i < 4; i++)
		push_message(&client, up, i);
	CHECK_EQ(wait_news(&client, 1, WAIT * raw_patience()), 0);
	CHECK_EQ(raw_ready(&client.qp), 3);
	all_sent(&client, 4);
	join(t);
	end();
}

TEST_EACH_TRANSPORT(late_sent_ends, late_sent_ends)

/* There is no room for the message that the thread waits for. */
static void late_message_ends(const char *how)
{
	unsigned int i;
	pthread_t t;

	begin_tight(how);
	t = start(answer, NULL);
	for (i = 1; i < 4; i++)
		push_message(&client, up, i);
	CHECK_EQ(wait_news(&client, 1, WAIT * raw_patience()), 0);
	CHECK_EQ(raw_ready(&client.qp), 3);
	all_sent(&client, 3);
	comes(&client, 2, 10, true);
	join(t);
	end();
}

TEST_EACH_TRANSPORT(late_message_ends, late_message_ends)

static void *wait_for_any(void *arg)
{
	CHECK_EQ(raw_enter(arg, 1, WAIT * raw_patience()), 0);
	return NULL;
}

/* Of two threads that wait at one queue pair, MRPC_CQE_SENT wakes that which waits for it. */
TEST(two_threads)
{
	pthread_t any_type, t;

	begin_chat("loop");
	any_type = start(wait_for_any, &client.qp);
	usleep(50000);
	push_message(&client, up, 1);
	t = start(run_server, NULL);
	CHECK_EQ(wait_news(&client, 1, 300 * RAW_MS), -ETIME);
	CHECK(!pthread_join(any_type, NULL));
	join(t);
	sent(&client, 1, MRPC_OK);
	end();
}
