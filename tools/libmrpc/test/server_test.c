// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Servers, against the stand-in: handlers and their replies. For how a server begins and ends, see
 * server_life_test.c.
 */
#include "op.h"
#include "served.h"

static int curious_handler(struct mrpc_call *call, const struct fake_msg *req,
			   struct fake_msg *reply)
{
	struct mrpc_meta_iter it;
	char peer[MRPC_ADDR_TEXT];
	const char *v;
	__u32 len;

	CHECK(mrpc_call_request(call) == req);
	CHECK(mrpc_call_reply_root(call) == reply);
	CHECK(mrpc_call_msg(call)->root == reply);
	CHECK(*(int *)mrpc_call_ctx(call) == 42);
	CHECK_STR(mrpc_call_method(call)->name, "Echo");
	CHECK(mrpc_call_service(call) == &test_service);
	CHECK_EQ(mrpc_call_priority(call), 7);
	CHECK_STR(mrpc_call_peer(call, peer, sizeof(peer)), "loop:peer");
	CHECK(mrpc_call_remaining_us(call) <= 5000000 && mrpc_call_remaining_us(call) > 1000000);
	CHECK(!mrpc_call_is_cancelled(call));
	CHECK(mrpc_call_request_len(call) >= sizeof(*req) + req->data.len);
	v = mrpc_call_meta_find(call, "who", &len);
	CHECK(v && len == 3 && !memcmp(v, "you", 3));
	mrpc_call_meta(call, &it);
	CHECK(mrpc_meta_next(&it));
	CHECK(!mrpc_meta_next(&it));
	CHECK_EQ(mrpc_call_add_meta(call, "answer", "yes", 3), 0);
	reply->number = 1;
	return MRPC_OK;
}

TEST(what_handlers_can_ask)
{
	static const struct test_ops ops = { .echo = curious_handler };
	struct mrpc_call_opts opts = { .timeout_us = 5000000, .priority = 7,
				       .flags = MRPC_CALL_PRIORITY };
	struct mrpc_meta meta = { 0 };
	struct mrpc_result res;
	struct test_server ts;
	struct client c;
	int ctx = 42;
	__u32 len;

	server_start(&ts, &ops, &ctx, "loop:curious", 1);
	client_start(&c, "loop:curious");
	mrpc_meta_add_str(&meta, "who", "you");
	opts.meta = &meta;
	CHECK_EQ(call(&c, TEST_ECHO, 1, 11, &opts, &res), 0);
	CHECK(!memcmp(mrpc_meta_find(res.meta, res.meta_len, "answer", &len), "yes", 3));
	mrpc_result_release(&res);
	CHECK_EQ(call(&c, TEST_OTHER, 1, 11, NULL, &res), MRPC_UNIMPLEMENTED);
	mrpc_meta_free(&meta);
	client_stop(&c);
	server_stop(&ts);
	CHECK_EQ(fake_stats().bad, 0);
}

/* Replies with the priority. */
static int ranked_handler(struct mrpc_call *call, const struct fake_msg *req,
			  struct fake_msg *reply)
{
	(void)req;
	reply->number = mrpc_call_priority(call);
	return MRPC_OK;
}

static u32 arrives(struct client *c, u32 method, const struct mrpc_call_opts *opts)
{
	struct mrpc_result res;
	u32 priority;

	CHECK_EQ(call(c, method, 0, 1, opts, &res), MRPC_OK);
	priority = ((const struct fake_msg *)res.reply)->number;
	mrpc_result_release(&res);
	return priority;
}

/* The priority is that of the call, else of the method, else the default. */
TEST(priorities)
{
	static const struct test_ops ops = { .echo = ranked_handler, .other = ranked_handler };
	struct mrpc_call_opts opts = { .priority = 7 };
	struct test_server ts;
	struct client c;

	server_start(&ts, &ops, NULL, "loop:ranked", 1);
	client_start(&c, "loop:ranked");
	CHECK_EQ(arrives(&c, TEST_ECHO, NULL), MRPC_PRIORITY_DEFAULT);
	CHECK_EQ(arrives(&c, TEST_OTHER, NULL), 9);
	CHECK_EQ(arrives(&c, TEST_ECHO, &opts), MRPC_PRIORITY_DEFAULT);
	CHECK_EQ(arrives(&c, TEST_OTHER, &opts), 9);
	opts.flags = MRPC_CALL_PRIORITY;
	CHECK_EQ(arrives(&c, TEST_ECHO, &opts), 7);
	CHECK_EQ(arrives(&c, TEST_OTHER, &opts), 7);
	opts.priority = 0;
	CHECK_EQ(arrives(&c, TEST_OTHER, &opts), 0);
	opts.priority = 300;
	CHECK_EQ(arrives(&c, TEST_OTHER, &opts), 255);
	client_stop(&c);
	server_stop(&ts);
	CHECK_EQ(fake_stats().bad, 0);
}

static int failing_handler(struct mrpc_call *call, const struct fake_msg *req,
			   struct fake_msg *reply)
{
	static char big[600];
	size_t i;

	reply->number = 1;
	switch (req->number) {
	case 1:
		mrpc_call_set_detail(call, "there is no %s", "such thing");
		return MRPC_NOT_FOUND;
	case 2:	/* cut, but not inside a character */
		for (i = 0; i + 2 < sizeof(big); i += 2)
			memcpy(big + i + 1, "ü", 2);
		big[0] = 'x';
		mrpc_call_set_detail(call, "%s", big);
		return MRPC_ABORTED;
	case 3:
		return 1000;
	case 4:
		mrpc_msg_alloc_bytes(mrpc_call_msg(call), &reply->data, 20 << 20);
		return MRPC_OK;
	case 5:
		mrpc_call_add_meta(call, "BAD", "", 0);
		return MRPC_OK;
	default:
		return MRPC_OK;
	}
}

TEST(handlers_that_fail)
{
	static const struct test_ops ops = { .echo = failing_handler };
	struct mrpc_session_opts so = { .send_limit = 2 << 20, .recv_initial = 16 << 20 };
	struct mrpc_result res;
	struct test_server ts;
	struct client c;
	size_t len;

	memset(&ts, 0, sizeof(ts));
	ts.session = open_with(so);
	ts.server = mrpc_server_new(ts.session);
	CHECK_EQ(mrpc_server_add(ts.server, &test_service, &ops, NULL), 0);
	CHECK_EQ(mrpc_server_listen(ts.server, "loop:failing", NULL), 0);
	ts.nr_threads = 1;
	CHECK_EQ(pthread_create(&ts.thread, NULL, test_server_main, &ts), 0);
	fake_wait_serving(mrpc_session_fd(ts.session), 1);
	client_start(&c, "loop:failing");

	CHECK_EQ(call(&c, TEST_ECHO, 1, 0, NULL, &res), MRPC_NOT_FOUND);
	CHECK_STR(res.detail, "there is no such thing");
	CHECK(!res.reply && !res.local);
	mrpc_result_release(&res);
	CHECK_EQ(call(&c, TEST_ECHO, 2, 0, NULL, &res), MRPC_ABORTED);
	len = strlen(res.detail);
	CHECK_EQ(len, MRPC_MAX_DETAIL - 1);
	CHECK_EQ((u8)res.detail[len - 2], 0xc3);
	mrpc_result_release(&res);
	CHECK_EQ(call(&c, TEST_ECHO, 3, 0, NULL, &res), MRPC_UNKNOWN);
	CHECK_STR(res.detail, "the handler of Echo returned 1000, which is not a status");
	mrpc_result_release(&res);
	CHECK_EQ(call(&c, TEST_ECHO, 4, 0, NULL, &res), MRPC_RESOURCE_EXHAUSTED);
	CHECK_STR(res.detail, "the reply does not fit in the server's send heap");
	mrpc_result_release(&res);
	CHECK_EQ(call(&c, TEST_ECHO, 5, 0, NULL, &res), MRPC_INTERNAL);
	mrpc_result_release(&res);
	CHECK_EQ(call(&c, TEST_ECHO, 6, 0, NULL, &res), MRPC_OK);
	mrpc_result_release(&res);
	client_stop(&c);
	server_stop(&ts);
	CHECK_EQ(fake_stats().bad, 0);
}

/* -- deferred replies ----------------------------------------------------------------- */

static void *answer_later(void *arg)
{
	struct mrpc_call *call;

	(void)arg;
	for (;;) {
		pthread_mutex_lock(&later.lock);
		while (!later.nr && !later.end)
			pthread_cond_wait(&later.more, &later.lock);
		if (!later.nr) {
			pthread_mutex_unlock(&later.lock);
			return NULL;
		}
		call = later.calls[--later.nr];
		pthread_mutex_unlock(&later.lock);
		echo_handler(call, mrpc_call_request(call), mrpc_call_reply_root(call));
		CHECK_EQ(mrpc_call_reply(call, MRPC_OK), 0);
	}
}

static void count(void *user, struct mrpc_result *res)
{
	const struct fake_msg *reply = res->reply;

	if (!res->status && matches(reply, reply->number, reply->number * 700))
		++*(int *)user;
}

TEST(deferred_replies_from_another_thread)
{
	static const struct test_ops ops = { .echo = deferring_handler };
	struct test_server ts;
	struct client c;
	pthread_t thread;
	int good = 0;
	u32 i;

	later.end = false;
	server_start(&ts, &ops, NULL, "loop:later", 2);
	CHECK_EQ(pthread_create(&thread, NULL, answer_later, NULL), 0);
	client_start(&c, "loop:later");
	for (i = 0; i < 200; i++)
		call_echo(&c, i, i * 700, count, &good);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), -1), 0);
	CHECK_EQ(good, 200);
	pthread_mutex_lock(&later.lock);
	later.end = true;
	pthread_cond_signal(&later.more);
	pthread_mutex_unlock(&later.lock);
	pthread_join(thread, NULL);
	client_stop(&c);
	server_stop(&ts);
	CHECK_EQ(fake_stats().bad, 0);
}

static struct mrpc_call *defer_one(struct client *c, u32 number, mrpc_done_fn done, int *user)
{
	unsigned int enters = fake_stats().enters;
	struct mrpc_call *call;

	call_echo(c, number, number * 700, done, user);
	CHECK_EQ(mrpc_submit(mrpc_qp_self(c->session)), 0);
	/* One enter by the client, and one by the worker, which then sleeps. */
	while (fake_stats().enters < enters + 2)
		usleep(1000);
	call = take_deferred();
	echo_handler(call, mrpc_call_request(call), mrpc_call_reply_root(call));
	return call;
}

/* The call stays valid until its reply has been sent. */
TEST(replies_that_cannot_be_sent)
{
	static const struct test_ops ops = { .echo = deferring_handler };
	struct mrpc_call *call;
	struct test_server ts;
	struct client c;
	struct mrpc_ref ref;
	int good = 0, status = -1;

	server_start_asleep(&ts, &ops, "loop:unsent");
	client_start(&c, "loop:unsent");
	call = defer_one(&c, 1, count, &good);
	fake_fail(MRPC_IOC_QP, EDQUOT, 1);
	CHECK_EQ(mrpc_call_reply(call, MRPC_OK), -EDQUOT);
	fake_fail(MRPC_IOC_ENTER, EIO, 1);
	CHECK_EQ(mrpc_call_reply(call, MRPC_OK), -EIO);
	CHECK_EQ(mrpc_call_reply(call, MRPC_OK), 0);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), 10000000), 0);

	/* A reply that is not copied. */
	call = defer_one(&c, 200, count, &good);
	fake_fail(MRPC_IOC_ENTER, EIO, 1);
	CHECK_EQ(mrpc_call_reply(call, MRPC_OK), -EIO);
	CHECK_EQ(mrpc_call_reply(call, MRPC_OK), 0);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), 10000000), 0);
	CHECK_EQ(good, 2);

	/* A reply of which only the reason is left. */
	call = defer_one(&c, 1, ended, &status);
	mrpc_msg_alloc_bytes(mrpc_call_msg(call), &ref, (size_t)MRPC_MAX_MESSAGE + 1);
	fake_fail(MRPC_IOC_ENTER, EIO, 1);
	CHECK_EQ(mrpc_call_reply(call, MRPC_OK), -EIO);
	CHECK_EQ(mrpc_call_reply(call, MRPC_OK), 0);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), 10000000), 0);
	CHECK_EQ(status, MRPC_INTERNAL);

	CHECK_EQ(fake_stats().replies, 3);
	client_stop(&c);
	server_stop(&ts);
	CHECK_EQ(fake_stats().bad, 0);
}

/* Leaves no room for its reply; and the kernel does not make room at once. */
static int filling_handler(struct mrpc_call *call, const struct fake_msg *req,
			   struct fake_msg *reply)
{
	struct mrpc_qp *qp = mrpc_qp_self(mrpc_call_session(call));
	struct mrpc_sqe nop = { .op = MRPC_OP_NOP };

	while (qp_pending(qp) <= qp->ring.sq_mask)
		CHECK_EQ(qp_push(qp, &nop, NULL), 0);
	fake_fail(MRPC_IOC_ENTER, EIO, 1);
	return echo_handler(call, req, reply);
}

TEST(a_handlers_reply_that_cannot_be_sent)
{
	static const struct test_ops ops = { .echo = filling_handler };
	struct test_server ts;
	struct client c;
	int status = -1;

	server_start(&ts, &ops, NULL, "loop:filled", 1);
	client_start(&c, "loop:filled");
	call_echo(&c, 1, 700, ended, &status);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), 10000000), 0);
	CHECK_EQ(status, MRPC_RESOURCE_EXHAUSTED);
	client_stop(&c);
	server_stop(&ts);
	CHECK_EQ(fake_stats().bad, 0);
}

/* -- a server that is a client of another -------------------------------------------------- */

static struct mrpc_conn *backend;

static void relayed(void *user, struct mrpc_result *res)
{
	struct mrpc_call *call = user;
	struct fake_msg *reply = mrpc_call_reply_root(call);
	const struct fake_msg *got = res->reply;

	reply->number = got->number;
	mrpc_msg_set_bytes(mrpc_call_msg(call), &reply->data, mrpc_ref_ptr(got, got->data),
			   got->data.len);
	CHECK_EQ(mrpc_call_reply(call, res->status), 0);
}

static int relaying_handler(struct mrpc_call *call, const struct fake_msg *req,
			    struct fake_msg *reply)
{
	struct mrpc_msg msg;

	build(&msg, mrpc_call_session(call), req->number, req->data.len);
	if (req->number % 2) {
		struct mrpc_result res;
		int status = mrpc_call_sync(backend, &test_service, TEST_ECHO, &msg, NULL, &res);

		if (!status)
			echo_handler(call, res.reply, reply);
		mrpc_result_release(&res);
		return status;
	}
	CHECK_EQ(mrpc_call_async(backend, &test_service, TEST_ECHO, &msg, NULL, relayed, call,
				 NULL), 0);
	return MRPC_DEFER;
}

TEST(handlers_make_calls)
{
	static const struct test_ops back_ops = { .echo = echo_handler };
	static const struct test_ops front_ops = { .echo = relaying_handler };
	struct test_server back, front;
	struct client c;
	int good = 0;
	u32 i;

	server_start(&back, &back_ops, NULL, "loop:back", 2);
	server_start(&front, &front_ops, NULL, "loop:front", 2);
	backend = mrpc_connect(front.session, "loop:back", test_services, 1, NULL);
	CHECK(backend != NULL);
	client_start(&c, "loop:front");
	for (i = 0; i < 100; i++)
		call_echo(&c, i, i * 700, count, &good);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), -1), 0);
	CHECK_EQ(good, 100);
	client_stop(&c);
	server_stop(&front);
	server_stop(&back);
	CHECK_EQ(fake_stats().bad, 0);
}

/* -- a call that ends while a request is served that was queued ---------------------------- */

static pthread_barrier_t gate;

/* The first call's answer comes while the second request is served. */
static int gated_handler(struct mrpc_call *call, const struct fake_msg *req,
			 struct fake_msg *reply)
{
	pthread_barrier_wait(&gate);
	return echo_handler(call, req, reply);
}

static int harvesting_handler(struct mrpc_call *call, const struct fake_msg *req,
			      struct fake_msg *reply)
{
	struct mrpc_session *s = mrpc_call_session(call);
	struct mrpc_qp *qp = mrpc_qp_self(s);
	struct mrpc_msg msg;

	if (!req->number) {
		build(&msg, s, 0, 0);
		CHECK_EQ(mrpc_call_async(backend, &test_service, TEST_ECHO, &msg, NULL, relayed,
					 call, NULL), 0);
		/* Takes the second request off the ring. */
		CHECK_EQ(mrpc_submit(qp), 0);
		CHECK(qp->requests != NULL);
		return MRPC_DEFER;
	}
	pthread_barrier_wait(&gate);
	while (ring_cq_empty(&qp->ring))
		usleep(100);
	CHECK_EQ(mrpc_cancel(qp, 1), -ENOENT);
	return echo_handler(call, req, reply);
}

TEST(calls_end_while_queued_requests_are_served)
{
	static const struct test_ops back_ops = { .echo = gated_handler };
	static const struct test_ops front_ops = { .echo = harvesting_handler };
	struct test_server back, front;
	struct client c;
	int good = 0;
	u32 i;

	pthread_barrier_init(&gate, NULL, 2);
	server_start(&back, &back_ops, NULL, "loop:gated", 1);
	server_start(&front, &front_ops, NULL, "loop:harvesting", 1);
	backend = mrpc_connect(front.session, "loop:gated", test_services, 1, NULL);
	CHECK(backend != NULL);
	client_start(&c, "loop:harvesting");
	for (i = 0; i < 2; i++)
		call_echo(&c, i, i * 700, count, &good);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), 10000000), 0);
	CHECK_EQ(good, 2);
	client_stop(&c);
	server_stop(&front);
	server_stop(&back);
	CHECK_EQ(fake_stats().bad, 0);
}
