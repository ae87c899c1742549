// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How a server begins and ends, against the stand-in.
 */
#include <signal.h>

#include "request.h"
#include "served.h"

static struct mrpc_server *signalled;

static void on_signal(int sig)
{
	(void)sig;
	mrpc_server_stop(signalled);
}

static int slow_handler(struct mrpc_call *call, const struct fake_msg *req,
			struct fake_msg *reply)
{
	usleep(req->number);
	return echo_handler(call, req, reply);
}

TEST(stop_from_a_signal_handler)
{
	static const struct test_ops ops = { .echo = slow_handler };
	struct sigaction sa = { .sa_handler = on_signal };
	struct test_server ts;
	struct client c;

	server_start(&ts, &ops, NULL, "loop:signal", 3);
	signalled = ts.server;
	sigaction(SIGUSR1, &sa, NULL);
	client_start(&c, "loop:signal");
	CHECK_EQ(call(&c, TEST_ECHO, 100, 0, NULL, NULL), 0);
	raise(SIGUSR1);
	pthread_join(ts.thread, NULL);
	CHECK_EQ(ts.ret, 0);
	/* The next run reuses the queue pairs, and needs a listener. */
	CHECK_EQ(mrpc_server_run(ts.server, 1), -EINVAL);
	CHECK_EQ(mrpc_server_listen(ts.server, "loop:signal", NULL), 0);
	CHECK_EQ(pthread_create(&ts.thread, NULL, test_server_main, &ts), 0);
	fake_wait_serving(mrpc_session_fd(ts.session), 1);
	client_stop(&c);
	client_start(&c, "loop:signal");
	CHECK_EQ(call(&c, TEST_ECHO, 0, 0, NULL, NULL), 0);
	client_stop(&c);
	server_stop(&ts);
}

static int leaving_handler(struct mrpc_call *call, const struct fake_msg *req,
			   struct fake_msg *reply)
{
	deferring_handler(call, req, reply);
	pthread_exit(NULL);
}

static u32 count_idle(const struct mrpc_session *session)
{
	const struct mrpc_qp *qp;
	u32 nr = 0;

	for (qp = session->idle_qps; qp && nr < 100; qp = qp->idle_next)
		nr++;
	return nr;
}

/* The server gives the worker's queue pair back, once. */
TEST(handler_ends_its_thread)
{
	static const struct test_ops ops = { .echo = leaving_handler };
	struct mrpc_call *call;
	struct test_server ts;
	struct client c;
	int status = -1;

	server_start(&ts, &ops, NULL, "loop:leaving", 1);
	client_start(&c, "loop:leaving");
	call_echo(&c, 1, 1, ended, &status);
	CHECK_EQ(mrpc_submit(mrpc_qp_self(c.session)), 0);
	call = take_deferred();
	mrpc_server_stop(ts.server);
	pthread_join(ts.thread, NULL);
	CHECK_EQ(ts.ret, 0);
	CHECK_EQ(count_idle(ts.session), 1);
	CHECK_EQ(mrpc_call_reply(call, MRPC_ABORTED), 0);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), 10000000), 0);
	CHECK_EQ(status, MRPC_ABORTED);
	client_stop(&c);
	mrpc_session_close(ts.session);
	CHECK_EQ(fake_stats().bad, 0);
}

/* More processors than there are queue pairs. */
TEST(many_processors)
{
	static const struct test_ops ops = { .echo = echo_handler };
	struct test_server ts;
	struct mrpc_qp *qp;
	u32 workers = 0;

	fake_processors(64);
	server_start(&ts, &ops, NULL, "loop:many", 0);
	mrpc_server_stop(ts.server);
	pthread_join(ts.thread, NULL);
	CHECK_EQ(ts.ret, 0);
	for (qp = ts.session->idle_qps; qp; qp = qp->idle_next)
		workers += !!qp->serve;
	CHECK_EQ(workers, 60);

	CHECK_EQ(mrpc_server_listen(ts.server, "loop:many", NULL), 0);
	CHECK_EQ(mrpc_server_run(ts.server, 61), -EINVAL);
	fake_processors(0);
	mrpc_server_free(ts.server);
	mrpc_session_close(ts.session);
}

/* Other signals may follow the one that stops the server. */
TEST(stop_is_interrupted)
{
	static const struct test_ops ops = { .echo = echo_handler };
	struct test_server ts;
	struct timespec until;

	server_start_asleep(&ts, &ops, "loop:interrupted");
	fake_fail(MRPC_IOC_ENTER, EINTR, 2);
	mrpc_server_stop(ts.server);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	CHECK_EQ(pthread_timedjoin_np(ts.thread, NULL, &until), 0);
	CHECK_EQ(ts.ret, 0);
	mrpc_session_close(ts.session);
}

static struct mrpc_conn *backend;
static struct mrpc_call *queueing;

/* Fills the submission queue. The worker submits all of it with its next wait. */
static int queueing_handler(struct mrpc_call *call, const struct fake_msg *req,
			    struct fake_msg *reply)
{
	struct mrpc_session *s = mrpc_call_session(call);
	struct mrpc_qp *qp = mrpc_qp_self(s);
	static int ignored;
	struct mrpc_msg msg;
	u32 i;

	(void)req;
	(void)reply;
	for (i = 0; i <= qp->ring.sq_mask; i++) {
		build(&msg, s, 0, 0);
		CHECK_EQ(mrpc_call_async(backend, &test_service, TEST_ECHO, &msg, NULL, ended,
					 &ignored, NULL), 0);
	}
	CHECK_EQ(ring_sq_pending(&qp->ring), i);
	queueing = call;
	return MRPC_DEFER;
}

/* The notes of the entries that the sleeping worker submitted are not collected yet. */
TEST(stop_behind_a_full_queue)
{
	static const struct test_ops back_ops = { .echo = deferring_handler };
	static const struct test_ops front_ops = { .echo = queueing_handler };
	struct mrpc_call *calls[ARRAY_SIZE(later.calls)];
	struct test_server back, front;
	struct timespec until;
	struct client c;
	int status = -1;
	u32 i;

	server_start(&back, &back_ops, NULL, "loop:silent", 1);
	server_start(&front, &front_ops, NULL, "loop:full", 1);
	backend = mrpc_connect(front.session, "loop:silent", test_services, 1, NULL);
	CHECK(backend != NULL);
	client_start(&c, "loop:full");
	call_echo(&c, 1, 1, ended, &status);
	CHECK_EQ(mrpc_submit(mrpc_qp_self(c.session)), 0);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = take_deferred();
	fake_wait_serving(mrpc_session_fd(front.session), 1);
	mrpc_server_stop(front.server);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	CHECK_EQ(pthread_timedjoin_np(front.thread, NULL, &until), 0);
	CHECK_EQ(front.ret, 0);
	CHECK_EQ(mrpc_call_reply(queueing, MRPC_ABORTED), 0);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		CHECK_EQ(mrpc_call_reply(calls[i], MRPC_ABORTED), 0);
	client_stop(&c);
	mrpc_session_close(front.session);
	server_stop(&back);
	CHECK_EQ(fake_stats().bad, 0);
}

/* A worker that ends may harvest requests while it submits its last replies. */
TEST(requests_that_nobody_serves)
{
	struct mrpc_session *s = open_session();
	struct mrpc_cqe cqe = { .type = MRPC_CQE_REQUEST };
	struct mrpc_qp *qp = qp_create(s, NULL, &request_serves);

	CHECK(qp != NULL);
	request_serves.keep(qp, &cqe);
	request_serves.keep(qp, &cqe);
	mrpc_session_close(s);	/* the sanitizer reports a leak of them */
}

TEST(set_up_in_the_wrong_order)
{
	struct mrpc_session *s = open_session();
	struct mrpc_server *server = mrpc_server_new(s);
	static const struct test_ops ops;
	char buf[MRPC_ADDR_TEXT];

	CHECK(server != NULL);
	CHECK(!mrpc_server_new(s));
	CHECK_EQ(errno, EBUSY);
	CHECK_EQ(mrpc_server_listen(server, "loop:x", NULL), -EINVAL);
	CHECK_EQ(mrpc_server_add(server, &test_service, &ops, NULL), 0);
	CHECK_EQ(mrpc_server_add(server, &test_service, &ops, NULL), -EEXIST);
	CHECK_EQ(mrpc_server_run(server, 1), -EINVAL);
	CHECK_EQ(mrpc_server_listen(server, "nonsense", NULL), -EINVAL);
	CHECK_EQ(mrpc_server_listen(server, "loop:order", NULL), 0);
	CHECK_STR(mrpc_server_address(server, buf, sizeof(buf)), "loop:order");
	CHECK_EQ(mrpc_server_add(server, &test_service, &ops, NULL), -EBUSY);
	mrpc_server_free(server);
	server = mrpc_server_new(s);
	CHECK(server != NULL);
	mrpc_session_close(s);	/* frees it, too */
}
