// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls at the client, against the stand-in.
 */
#include <poll.h>

#include "clock.h"
#include "op.h"
#include "release.h"
#include "session.h"

struct peer {
	struct test_server server;
	struct mrpc_session *session;
	struct mrpc_conn *conn;
};

static const struct test_ops echo_ops = { .echo = echo_handler };

static void peer_start(struct peer *p)
{
	server_start(&p->server, &echo_ops, NULL, "loop:client-test", 2);
	p->session = open_session();
	p->conn = mrpc_connect(p->session, "loop:client-test", test_services, 1, NULL);
	CHECK_MSG(p->conn, "%s", mrpc_last_error());
	fake_reset_stats();
}

static void peer_stop(struct peer *p)
{
	struct mrpc_heap_stats stats;
	struct tctx *t = tctx_get(p->session);

	release_flush(t);
	heap_cache_flush(&p->session->send, &t->cache);
	mrpc_send_heap_stats(p->session, &stats);
	CHECK_EQ(stats.used, 0);
	CHECK_EQ(mrpc_conn_close(p->conn, 0), 0);
	mrpc_session_close(p->session);
	server_stop(&p->server);
	CHECK_EQ(fake_stats().bad, 0);
}

TEST(connect_fails_clearly)
{
	struct mrpc_session *s = open_session();

	CHECK(!mrpc_connect(s, "loop:nobody", test_services, 1, NULL));
	CHECK_EQ(errno, ECONNREFUSED);
	CHECK_STR(mrpc_last_error(), "cannot connect to loop:nobody: nobody listens there");
	CHECK(!mrpc_connect(s, "loop:nobody", test_services, 0, NULL));
	CHECK(!mrpc_connect(s, "nobody", test_services, 1, NULL));
	CHECK_EQ(errno, EINVAL);
	CHECK(!mrpc_connect(s, "tcp:localhost:1", test_services, 1, NULL));
	CHECK(strstr(mrpc_last_error(), "cannot connect to tcp:localhost:1"));
	mrpc_session_close(s);
}

/* A silent address costs a moment; the attempt there is given up. */
TEST(silent_address)
{
	static const struct test_ops ops = { .echo = echo_handler };
	struct mrpc_conn_opts opts = { .timeout_us = 400000 };
	struct mrpc_session *s = open_session();
	struct test_server ts;
	struct mrpc_conn *conn;
	u64 before = clock_ns();

	server_start(&ts, &ops, NULL, "tcp:127.0.0.1:257", 1);
	conn = mrpc_connect(s, "tcp:both.test:257", test_services, 1, NULL);
	CHECK_MSG(conn, "%s", mrpc_last_error());
	CHECK(clock_ns() - before < 5000000000u);
	CHECK_EQ(fake_stats().silent, 0);

	/* One time limit for all, and an error of the one that says more. */
	before = clock_ns();
	CHECK(!mrpc_connect(s, "tcp:[::1]:257", test_services, 1, &opts));
	CHECK_EQ(errno, ETIMEDOUT);
	CHECK(clock_ns() - before >= 400000000u);
	CHECK(!mrpc_connect(s, "tcp:both.test:258", test_services, 1, &opts));
	CHECK_EQ(errno, ECONNREFUSED);
	CHECK(strstr(mrpc_last_error(), "tcp:127.0.0.1:258"));
	CHECK_EQ(fake_stats().silent, 0);
	mrpc_session_close(s);
	server_stop(&ts);
}

TEST(schema_is_bound_once)
{
	struct mrpc_service_desc copy = test_service;
	struct mrpc_session *s = open_session();
	struct mrpc_bind_info a, b;

	fake_reset_stats();
	copy.schema = strdup("schema");
	CHECK_EQ(mrpc_session_bind(s, &test_service, &a), 0);
	CHECK_EQ(mrpc_session_bind(s, &copy, &b), 0);
	CHECK_EQ(a.id, b.id);
	CHECK_EQ(fake_stats().binds, 1);
	fake_fail(MRPC_IOC_BIND, EINVAL, 1);
	copy.schema_len = 3;
	CHECK_EQ(mrpc_session_bind(s, &copy, NULL), -EINVAL);
	CHECK(strstr(mrpc_last_error(), "cannot bind the schema of test.Test"));
	mrpc_session_close(s);
	free((void *)copy.schema);
}

TEST(synchronous_calls)
{
	struct mrpc_result res;
	struct mrpc_msg msg;
	struct peer p;
	u32 i;

	peer_start(&p);
	for (i = 0; i < 500; i++) {
		build(&msg, p.session, i, i * 17);
		CHECK_EQ(mrpc_call_sync(p.conn, &test_service, TEST_ECHO, &msg, NULL, &res), 0);
		CHECK(matches(res.reply, i, i * 17));
		mrpc_result_release(&res);
		mrpc_result_release(&res);
	}
	CHECK_EQ(fake_stats().sync_calls, 500);
	CHECK(fake_stats().release_ioctls < 500 / 8);
	/* One ioctl per call: blocks of small replies go with the next ones. */
	release_flush(tctx_get(p.session));
	fake_reset_stats();
	for (i = 0; i < 500; i++) {
		build(&msg, p.session, 1, 1);
		CHECK_EQ(mrpc_call_sync(p.conn, &test_service, TEST_ECHO, &msg, NULL, NULL), 0);
	}
	CHECK_EQ(fake_stats().sync_calls, 500);
	CHECK_EQ(fake_stats().release_ioctls, 0);
	/* The application gave one of them back itself: the call is made without them. */
	while (tctx_get(p.session)->nr_release < RELEASE_WITH_CALL) {
		build(&msg, p.session, 1, 1);
		CHECK_EQ(mrpc_call_sync(p.conn, &test_service, TEST_ECHO, &msg, NULL, NULL), 0);
	}
	fake_fail(MRPC_IOC_CALL, EINVAL, 1);
	build(&msg, p.session, 1, 1);
	CHECK_EQ(mrpc_call_sync(p.conn, &test_service, TEST_ECHO, &msg, NULL, NULL), 0);
	CHECK_EQ(tctx_get(p.session)->nr_release, 1);
	peer_stop(&p);
}

/* An operator's threshold may be higher than what a flag can ask for. */
TEST(threshold_above_the_flags)
{
	static const u32 sizes[] = { 60000, MRPC_MAX_COPY, MRPC_MAX_COPY + 1, 200000 };
	struct mrpc_result res;
	struct mrpc_msg msg;
	struct peer p;
	u32 i;

	fake_copy_threshold(1 << 20);
	peer_start(&p);
	fake_copy_threshold(4096);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		build(&msg, p.session, i, sizes[i]);
		CHECK_EQ(mrpc_call_sync(p.conn, &test_service, TEST_ECHO, &msg, NULL, &res), 0);
		CHECK(matches(res.reply, i, sizes[i]));
		mrpc_result_release(&res);
	}
	CHECK_EQ(fake_stats().copies, 2);
	peer_stop(&p);
}

TEST(message_is_kept_on_request)
{
	struct mrpc_call_opts opts = { .flags = MRPC_CALL_KEEP };
	struct mrpc_meta meta = { 0 };
	struct mrpc_result res;
	struct mrpc_msg msg;
	struct peer p;
	int i;

	peer_start(&p);
	mrpc_meta_add_str(&meta, "k", "v");
	opts.meta = &meta;
	build(&msg, p.session, 9, 6000);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(mrpc_call_sync(p.conn, &test_service, TEST_ECHO, &msg, &opts, &res), 0);
		CHECK(matches(res.reply, 9, 6000));
		mrpc_result_release(&res);
	}
	mrpc_msg_free(&msg);
	CHECK_EQ(mrpc_call_sync(p.conn, &test_service, TEST_ECHO, &msg, &opts, &res),
		 MRPC_INVALID_ARGUMENT);
	mrpc_meta_free(&meta);
	peer_stop(&p);
}

TEST(calls_that_cannot_start)
{
	struct mrpc_service_desc other = test_service;
	struct mrpc_session *s2;
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = { .meta = &meta };
	struct mrpc_result res;
	struct mrpc_msg msg;
	struct peer p;

	peer_start(&p);
	s2 = open_session();
	other.schema = "SCHEMA";
	build(&msg, p.session, 1, 5000);
	CHECK_EQ(mrpc_call_sync(p.conn, &other, 0, &msg, NULL, &res), MRPC_UNIMPLEMENTED);
	CHECK(res.local && strlen(res.detail) > 10 && !res.reply);
	build(&msg, p.session, 1, 5000);
	CHECK_EQ(mrpc_call_sync(p.conn, &test_service, 2, &msg, NULL, &res), MRPC_UNIMPLEMENTED);
	build(&msg, s2, 1, 5000);
	CHECK_EQ(mrpc_call_sync(p.conn, &test_service, 0, &msg, NULL, &res),
		 MRPC_INVALID_ARGUMENT);
	CHECK(strstr(res.detail, "different sessions"));
	mrpc_meta_add_str(&meta, "BAD", "x");
	build(&msg, p.session, 1, 5000);
	CHECK_EQ(mrpc_call_sync(p.conn, &test_service, 0, &msg, &opts, &res),
		 MRPC_INVALID_ARGUMENT);
	build(&msg, p.session, 1, 5000);
	CHECK_EQ(mrpc_call_async(p.conn, &test_service, 0, &msg, NULL, NULL, NULL, NULL),
		 MRPC_INVALID_ARGUMENT);
	fake_fail(MRPC_IOC_CALL, EINTR, 1);
	build(&msg, p.session, 1, 5000);
	CHECK_EQ(mrpc_call_sync(p.conn, &test_service, 0, &msg, NULL, &res), MRPC_CANCELLED);
	CHECK_STR(res.detail, "interrupted by a signal");
	mrpc_meta_free(&meta);
	mrpc_session_close(s2);
	peer_stop(&p);
}

struct progress {
	u32 done;
	u32 wrong;
	u32 failed;
	u32 len;
	struct peer *peer;
	u32 more;
	struct mrpc_result kept;
};

static void on_done(void *user, struct mrpc_result *res)
{
	struct progress *pr = user;
	const struct fake_msg *reply = res->reply;

	pr->done++;
	if (res->status)
		pr->failed++;
	else if (!matches(reply, reply->number, pr->len))
		pr->wrong++;
}

TEST(asynchronous_calls)
{
	static const u32 lens[] = { 0, 100, 3000, 5000, 70000 };
	struct progress pr = { 0 };
	struct mrpc_msg msg;
	struct peer p;
	u32 i, j;

	peer_start(&p);
	for (j = 0; j < ARRAY_SIZE(lens); j++) {
		pr.len = lens[j];
		for (i = 0; i < 200; i++) {
			build(&msg, p.session, i, pr.len);
			CHECK_EQ(mrpc_call_async(p.conn, &test_service, TEST_ECHO, &msg, NULL,
						 on_done, &pr, NULL), 0);
			CHECK(!mrpc_msg_root(&msg));
		}
		CHECK_EQ(mrpc_run_all(mrpc_qp_self(p.session), -1), 0);
		CHECK_EQ(pr.done, 200 * (j + 1));
	}
	CHECK_EQ(pr.wrong + pr.failed, 0);
	CHECK_EQ(mrpc_run(mrpc_qp_self(p.session), -1), 0);
	/* 200 calls travel with one entry into the kernel. */
	CHECK(fake_stats().enters < 1500);
	/* SENT may come last. */
	qp_harvest(mrpc_qp_self(p.session));
	peer_stop(&p);
}

static int slow_at_first(struct mrpc_call *call, const struct fake_msg *req,
			 struct fake_msg *reply)
{
	if (!req->number)
		usleep(300000);
	return echo_handler(call, req, reply);
}

/* One that the connection has no room for waits: none of them fails. */
TEST(more_calls_than_a_connection_takes)
{
	static const struct test_ops ops = { .echo = slow_at_first };
	struct progress pr = { .len = 10 };
	struct mrpc_session *s = open_session();
	struct test_server ts;
	struct mrpc_conn *conn;
	struct mrpc_msg msg;
	u32 i;

	server_start(&ts, &ops, NULL, "loop:slow", 1);
	conn = mrpc_connect(s, "loop:slow", test_services, 1, NULL);
	for (i = 0; i < 600; i++) {
		build(&msg, s, i, pr.len);
		CHECK_EQ(mrpc_call_async(conn, &test_service, TEST_ECHO, &msg, NULL, on_done, &pr,
					 NULL), 0);
	}
	CHECK_EQ(pr.done, 0);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(s), 10000000), 0);
	CHECK_EQ(pr.done, 600);
	CHECK_EQ(pr.wrong + pr.failed, 0);
	mrpc_session_close(s);
	server_stop(&ts);
}

TEST(queue_is_smaller_than_what_is_in_flight)
{
	struct mrpc_qp_opts qo = { .sq_entries = 4, .cq_entries = 8 };
	struct mrpc_call_opts opts = { 0 };
	struct progress pr = { .len = 5000 };
	struct mrpc_msg msg;
	struct peer p;
	u32 i;

	peer_start(&p);
	opts.qp = mrpc_qp_new(p.session, &qo);
	CHECK(opts.qp != NULL);
	for (i = 0; i < 300; i++) {
		build(&msg, p.session, i, pr.len);
		CHECK_EQ(mrpc_call_async(p.conn, &test_service, TEST_ECHO, &msg, &opts, on_done,
					 &pr, NULL), 0);
	}
	CHECK_EQ(mrpc_qp_in_flight(opts.qp), 300);
	CHECK_EQ(pr.done, 0);	/* callbacks run only where it is said */
	CHECK_EQ(mrpc_run_all(opts.qp, 10000000), 0);
	CHECK_EQ(pr.done, 300);
	CHECK_EQ(pr.wrong + pr.failed, 0);
	qp_harvest(opts.qp);
	mrpc_qp_free(opts.qp);
	CHECK(mrpc_qp_new(p.session, &qo) == opts.qp);
	peer_stop(&p);
}

TEST(kernel_takes_few_at_a_time)
{
	struct progress pr = { .len = 10 };
	struct mrpc_msg msg;
	struct peer p;
	u32 i;

	peer_start(&p);
	fake_take_at_most(3);
	for (i = 0; i < 100; i++) {
		build(&msg, p.session, i, pr.len);
		CHECK_EQ(mrpc_call_async(p.conn, &test_service, TEST_ECHO, &msg, NULL, on_done,
					 &pr, NULL), 0);
	}
	CHECK_EQ(mrpc_submit(mrpc_qp_self(p.session)), 0);
	CHECK_EQ(qp_pending(mrpc_qp_self(p.session)), 0);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(p.session), -1), 0);
	CHECK_EQ(pr.done, 100);
	fake_take_at_most(0);
	peer_stop(&p);
}

static void on_done_more(void *user, struct mrpc_result *res)
{
	struct progress *pr = user;
	struct mrpc_msg msg;

	on_done(user, res);
	CHECK_EQ(mrpc_run(mrpc_qp_self(pr->peer->session), -1), -EDEADLK);
	if (!pr->more)
		return;
	pr->more--;
	build(&msg, pr->peer->session, pr->more, pr->len);
	if (mrpc_call_async(pr->peer->conn, &test_service, TEST_ECHO, &msg, NULL, on_done_more, pr,
			    NULL))
		pr->wrong++;
	/* Synchronous calls are allowed anywhere. */
	build(&msg, pr->peer->session, 1, 2);
	if (mrpc_call_sync(pr->peer->conn, &test_service, TEST_ECHO, &msg, NULL, NULL))
		pr->wrong++;
}

TEST(callbacks_start_calls)
{
	struct peer p;
	struct progress pr = { .len = 5000, .more = 100, .peer = &p };
	struct mrpc_msg msg;

	peer_start(&p);
	build(&msg, p.session, 0, pr.len);
	CHECK_EQ(mrpc_call_async(p.conn, &test_service, TEST_ECHO, &msg, NULL, on_done_more, &pr,
				 NULL), 0);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(p.session), -1), 0);
	CHECK_EQ(pr.done, 101);
	CHECK_EQ(pr.wrong, 0);
	qp_harvest(mrpc_qp_self(p.session));
	peer_stop(&p);
}

static void on_done_keep(void *user, struct mrpc_result *res)
{
	struct progress *pr = user;

	mrpc_result_move(&pr->kept, res);
	pr->done++;
}

TEST(results_outlive_callbacks_if_moved)
{
	struct progress pr = { 0 };
	struct mrpc_msg msg;
	struct peer p;

	peer_start(&p);
	build(&msg, p.session, 77, 3000);
	CHECK_EQ(mrpc_call_async(p.conn, &test_service, TEST_ECHO, &msg, NULL, on_done_keep, &pr,
				 NULL), 0);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(p.session), -1), 0);
	CHECK(matches(pr.kept.reply, 77, 3000));
	mrpc_result_release(&pr.kept);
	peer_stop(&p);
}

TEST(eventfd)
{
	struct mrpc_qp_opts qo = { .flags = MRPC_QP_OPT_EVENTFD };
	struct mrpc_call_opts opts = { 0 };
	struct progress pr = { .len = 50 };
	struct mrpc_msg msg;
	struct pollfd pfd = { .events = POLLIN };
	struct peer p;
	u32 i;

	peer_start(&p);
	CHECK_EQ(mrpc_qp_fd(mrpc_qp_self(p.session)), -ENOENT);
	opts.qp = mrpc_qp_new(p.session, &qo);
	pfd.fd = mrpc_qp_fd(opts.qp);
	CHECK(pfd.fd >= 0);
	CHECK_EQ(poll(&pfd, 1, 0), 0);
	for (i = 0; i < 2000; i++) {
		build(&msg, p.session, i, pr.len);
		CHECK_EQ(mrpc_call_async(p.conn, &test_service, TEST_ECHO, &msg, &opts, on_done,
					 &pr, NULL), 0);
		if (i % 7)
			continue;
		CHECK_EQ(mrpc_submit(opts.qp), 0);
		while (pr.done <= i) {
			CHECK_EQ(poll(&pfd, 1, 5000), 1);
			CHECK(mrpc_poll(opts.qp) >= 0);
		}
	}
	CHECK_EQ(mrpc_run_all(opts.qp, -1), 0);
	CHECK_EQ(pr.done, 2000);
	CHECK(mrpc_poll(opts.qp) == 0);
	CHECK_EQ(poll(&pfd, 1, 0), 0);
	peer_stop(&p);
}

TEST(submission_fails)
{
	struct progress pr = { .len = 50 };
	struct mrpc_msg msg;
	struct peer p;

	peer_start(&p);
	build(&msg, p.session, 1, pr.len);
	CHECK_EQ(mrpc_call_async(p.conn, &test_service, TEST_ECHO, &msg, NULL, on_done, &pr, NULL),
		 0);
	fake_fail(MRPC_IOC_ENTER, EIO, 1);
	CHECK_EQ(mrpc_submit(mrpc_qp_self(p.session)), -EIO);
	fake_fail(MRPC_IOC_ENTER, EINTR, 3);
	CHECK_EQ(mrpc_run(mrpc_qp_self(p.session), -1), -EINTR);
	fake_fail(0, 0, 0);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(p.session), -1), 0);
	CHECK_EQ(pr.done, 1);
	peer_stop(&p);
}

TEST(heap_full_of_calls_in_flight)
{
	struct mrpc_session_opts so = { .send_limit = 1 << 20, .recv_initial = 64 << 20 };
	struct progress pr = { .len = 100000 };
	struct test_server ts;
	struct mrpc_session *s;
	struct mrpc_conn *conn;
	struct mrpc_msg msg;
	u32 i, refused = 0;

	server_start(&ts, &echo_ops, NULL, "loop:full", 1);
	s = open_with(so);
	conn = mrpc_connect(s, "loop:full", test_services, 1, NULL);
	CHECK(conn != NULL);
	for (i = 0; i < 100; i++) {
		build(&msg, s, i, pr.len);
		if (mrpc_call_async(conn, &test_service, TEST_ECHO, &msg, NULL, on_done, &pr,
				    NULL) == MRPC_RESOURCE_EXHAUSTED) {
			CHECK(strstr(mrpc_last_error(), "send heap"));
			refused++;
			CHECK(mrpc_run(mrpc_qp_self(s), -1) >= 0);
		}
	}
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(s), -1), 0);
	CHECK(refused > 0);
	CHECK_EQ(pr.done, 100 - refused);
	CHECK_EQ(pr.wrong + pr.failed, 0);
	mrpc_conn_close(conn, 1000);
	mrpc_session_close(s);
	server_stop(&ts);
}

static struct mrpc_conn *shared_conn;

static void *call_in_thread(void *arg)
{
	struct mrpc_session *s = mrpc_conn_session(shared_conn);
	struct progress pr = { .len = (u32)(uintptr_t)arg };
	struct mrpc_result res;
	struct mrpc_msg msg;
	u32 i;

	for (i = 0; i < 300; i++) {
		build(&msg, s, i, pr.len);
		CHECK_EQ(mrpc_call_async(shared_conn, &test_service, TEST_ECHO, &msg, NULL,
					 on_done, &pr, NULL), 0);
		build(&msg, s, i, pr.len);
		CHECK_EQ(mrpc_call_sync(shared_conn, &test_service, TEST_ECHO, &msg, NULL, &res),
			 0);
		CHECK(matches(res.reply, i, pr.len));
		mrpc_result_release(&res);
		if (i % 10 == 0)
			CHECK(mrpc_run(mrpc_qp_self(s), -1) > 0);
	}
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(s), -1), 0);
	CHECK_EQ(pr.done, 300);
	CHECK_EQ(pr.wrong + pr.failed, 0);
	return NULL;
}

TEST(threads_share_a_connection)
{
	pthread_t threads[4];
	struct mrpc_qp *qp;
	struct peer p;
	uintptr_t i;

	peer_start(&p);
	shared_conn = p.conn;
	for (i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, call_in_thread, (void *)(i * 2500)), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (qp = p.session->idle_qps; qp; qp = qp->idle_next)
		qp_harvest(qp);
	peer_stop(&p);
}

static void *start_and_leave(void *arg)
{
	struct peer *p = arg;
	struct mrpc_msg msg;

	build(&msg, p->session, 1, 50);
	CHECK_EQ(mrpc_call_async(p->conn, &test_service, TEST_ECHO, &msg, NULL, on_done, NULL,
				 NULL), 0);
	return NULL;
}

static void on_done_leave(void *user, struct mrpc_result *res)
{
	(void)user;
	mrpc_result_release(res);
	pthread_exit(NULL);
}

static void *leave_in_callback(void *arg)
{
	struct peer *p = arg;
	struct mrpc_msg msg;

	build(&msg, p->session, 1, 1);
	CHECK_EQ(mrpc_call_async(p->conn, &test_service, TEST_ECHO, &msg, NULL, on_done_leave,
				 NULL, NULL), 0);
	mrpc_run_all(mrpc_qp_self(p->session), -1);
	CHECK_MSG(false, "the callback returned");
	return NULL;
}

/* What a thread leaves behind is not the next one's. */
TEST(threads_leave_their_queue_pairs)
{
	struct progress pr = { .len = 50 };
	pthread_t thread;
	struct mrpc_msg msg;
	struct mrpc_qp *qp;
	struct peer p;

	peer_start(&p);
	CHECK_EQ(pthread_create(&thread, NULL, start_and_leave, &p), 0);
	pthread_join(thread, NULL);
	CHECK_EQ(fake_stats().calls, 1);

	CHECK_EQ(pthread_create(&thread, NULL, leave_in_callback, &p), 0);
	pthread_join(thread, NULL);
	CHECK_EQ(fake_stats().calls, 2);

	qp = p.session->idle_qps;
	CHECK(qp && mrpc_qp_self(p.session) == qp);
	CHECK_EQ(qp_pending(qp), 0);
	build(&msg, p.session, 1, pr.len);
	CHECK_EQ(mrpc_call_async(p.conn, &test_service, TEST_ECHO, &msg, NULL, on_done, &pr, NULL),
		 0);
	CHECK_EQ(mrpc_run_all(qp, 10000000), 0);
	CHECK_EQ(pr.done, 1);
	CHECK_EQ(pr.wrong + pr.failed, 0);
	CHECK_EQ(fake_stats().calls, 3);
	qp_harvest(qp);
	peer_stop(&p);
}
