// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls over channels, against the stand-in: what the kernel seldom does, or does in an order that
 * a test cannot ask it for. guest_channel.c has the rest.
 */
#include "conn.h"
#include "op.h"
#include "release.h"
#include "session.h"
#include "ended.h"

#define NAME	"loop:channel-test"

static const struct test_ops echo_ops = { .echo = echo_handler };

static struct test_server server;
static struct mrpc_session *session;
static struct mrpc_conn *channel;
static struct mrpc_qp *qp;

static __thread int threads_that_fail;	/* that this thread starts */

int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	if (!threads_that_fail)
		return __real_pthread_create(t, attr, fn, arg);
	threads_that_fail--;
	return EAGAIN;
}

static void begin(void)
{
	server_start(&server, &echo_ops, NULL, NAME, 2);
	session = open_session();
	channel = mrpc_channel_open(session, NAME, test_services, 1, NULL);
	CHECK_MSG(channel, "%s", mrpc_last_error());
	qp = mrpc_qp_self(session);
	CHECK(qp);
}

static u64 used(void)
{
	struct tctx *t = tctx_get(session);
	struct mrpc_heap_stats stats;

	release_flush(t);
	heap_cache_flush(&session->send, &t->cache);
	mrpc_send_heap_stats(session, &stats);
	return stats.used;
}

static void end(void)
{
	CHECK_EQ(used(), 0);
	CHECK_EQ(mrpc_qp_in_flight(qp), 0);
	CHECK_EQ(mrpc_conn_close(channel, 0), 0);
	mrpc_session_close(session);
	server_stop(&server);
	CHECK_EQ(fake_stats().bad, 0);
}

static int call(struct mrpc_result *res)
{
	struct mrpc_call_opts opts = { .flags = MRPC_CALL_WAIT_READY };
	struct mrpc_msg msg;

	build(&msg, session, 1, 10);
	return mrpc_call_sync(channel, &test_service, TEST_ECHO, &msg, &opts, res);
}

static void connect_it(void)
{
	struct mrpc_result res;

	CHECK_MSG(!call(&res), "%s", res.detail);
	CHECK(matches(res.reply, 1, 10));
	mrpc_result_release(&res);
}

/*
 * Starts a call, and takes its entry back before the stand-in has it. So this test can play the
 * kernel. Its message is too large to be copied at submission.
 */
static mrpc_call_id start_unseen(struct ended *e)
{
	struct mrpc_msg msg;
	mrpc_call_id id;

	build(&msg, session, 7, 100000);
	CHECK_EQ(mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, NULL, on_done, e, &id), 0);
	CHECK_EQ(qp_pending(qp), 1);
	CHECK(qp_take_back(qp, qp->ring.sq_tail - 1));
	return id;
}

/* Completes a call as the kernel does whose connection ends before it is sent. */
static void unsent(mrpc_call_id id, u32 conn, u8 flags)
{
	struct mrpc_cqe cqe = {
		.type = MRPC_CQE_REPLY,
		.user_data = id,
		.conn = conn,
		.status = MRPC_UNAVAILABLE,
		.flags = (u8)(MRPC_CQE_LOCAL | MRPC_CQE_UNSENT | flags),
	};

	qp_complete(qp, &cqe);
}

static void blocks_free_now(mrpc_call_id id)
{
	struct mrpc_cqe cqe = { .type = MRPC_CQE_SENT, .user_data = id };

	qp_complete(qp, &cqe);
}

static u32 lose_connection(void)
{
	u32 id = mrpc_conn_id(channel);

	CHECK(id != 0);
	CHECK_EQ(session_close_id(session, id, 0), 0);
	return id;
}

/* The message is sent again only when the kernel no longer reads it, in whatever order it says so. */
TEST(sent_again)
{
	static const enum { BEFORE, WITH, AFTER } orders[] = { BEFORE, WITH, AFTER };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		struct ended e = { 0 };
		mrpc_call_id id;
		u32 conn;

		begin();
		connect_it();
		id = start_unseen(&e);
		conn = lose_connection();
		if (orders[i] == BEFORE)
			blocks_free_now(id);
		unsent(id, conn, orders[i] == WITH ? MRPC_CQE_FREED : 0);
		CHECK(used() > 0);
		if (orders[i] == AFTER) {
			CHECK(!qp->nr_parked);
			blocks_free_now(id);
		}
		CHECK(qp->nr_parked);
		while (!e.nr)
			CHECK(mrpc_run(qp, 10000000) >= 0);
		CHECK_EQ(e.status, MRPC_OK);
		CHECK_EQ(mrpc_run_all(qp, 1000000), 0);
		qp_harvest(qp);
		end();
	}
}

/* A call can be cancelled while the kernel still reads its blocks. It is not sent again. */
TEST(cancelled_before_blocks_are_free)
{
	struct ended e = { 0 };
	mrpc_call_id id;

	begin();
	connect_it();
	id = start_unseen(&e);
	unsent(id, lose_connection(), 0);
	CHECK_EQ(mrpc_cancel(qp, id), 0);
	CHECK_EQ(mrpc_cancel(qp, id), -ENOENT);
	CHECK_EQ(mrpc_poll(qp), 1);
	CHECK_EQ(e.status, MRPC_CANCELLED);
	CHECK(e.unsent);
	CHECK(used() > 0);
	blocks_free_now(id);
	end();
}

/* What is not unsent, or was not lost with its connection, ends. */
TEST(ends_otherwise)
{
	struct ended e = { 0 };
	mrpc_call_id id;
	u32 conn;

	begin();
	connect_it();
	conn = mrpc_conn_id(channel);
	id = start_unseen(&e);
	unsent(id, conn, MRPC_CQE_FREED);	/* the connection stands */
	CHECK_EQ(mrpc_poll(qp), 1);
	CHECK_EQ(e.status, MRPC_UNAVAILABLE);
	CHECK(e.unsent);
	end();
}

/* Without memory for a thread no call waits for ever. */
TEST(no_thread)
{
	struct ended e = { 0 };
	struct mrpc_result res;
	struct mrpc_msg msg;

	begin();
	threads_that_fail = 3;
	CHECK_EQ(call(&res), MRPC_RESOURCE_EXHAUSTED);
	CHECK_MSG(strstr(res.detail, "cannot start a thread"), "%s", res.detail);
	CHECK(res.unsent);
	build(&msg, session, 7, 10);
	CHECK_EQ(mrpc_call_async(channel, &test_service, TEST_ECHO, &msg, NULL, on_done, &e, NULL),
		 MRPC_RESOURCE_EXHAUSTED);
	CHECK_EQ(mrpc_channel_state(channel, true), -EAGAIN);
	CHECK_EQ(mrpc_channel_state(channel, false), MRPC_CHANNEL_IDLE);
	connect_it();
	CHECK_EQ(e.nr, 0);
	end();
}
