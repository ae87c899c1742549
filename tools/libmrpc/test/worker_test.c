// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Worker threads, against the stand-in: what waits while they are busy, and how they are made.
 */
#include <signal.h>

#include "session.h"

struct client {
	struct mrpc_session *session;
	struct mrpc_conn *conn;
};

static void client_start(struct client *c, const char *address)
{
	c->session = open_session();
	c->conn = mrpc_connect(c->session, address, test_services, 1, NULL);
	CHECK_MSG(c->conn, "%s", mrpc_last_error());
}

static void start(struct client *c, u32 number, u64 timeout_us, mrpc_done_fn done, void *user)
{
	struct mrpc_call_opts opts = { .timeout_us = timeout_us };
	struct mrpc_msg msg;

	build(&msg, c->session, number, 10);
	CHECK_EQ(mrpc_call_async(c->conn, &test_service, TEST_ECHO, &msg, &opts, done, user, NULL),
		 0);
}

/* -- deadlines of requests that wait ---------------------------------------------------- */

static pthread_barrier_t gate;
static u64 left_us;

/* The first request keeps the only worker; a later one says how much time it has. */
static int keeping_handler(struct mrpc_call *call, const struct fake_msg *req,
			   struct fake_msg *reply)
{
	if (!req->number) {
		pthread_barrier_wait(&gate);
		usleep(200000);
	} else {
		left_us = mrpc_call_remaining_us(call);
	}
	return echo_handler(call, req, reply);
}

static void note_status(void *user, struct mrpc_result *res)
{
	*(int *)user = res->status;
}

TEST(waiting_counts)
{
	static const struct test_ops ops = { .echo = keeping_handler };
	int status[3] = { -1, -1, -1 };
	struct test_server ts;
	struct client c;

	pthread_barrier_init(&gate, NULL, 2);
	server_start(&ts, &ops, NULL, "loop:kept", 1);
	client_start(&c, "loop:kept");
	start(&c, 0, 0, note_status, &status[0]);
	start(&c, 1, 5000000, note_status, &status[1]);
	start(&c, 2, 100000, note_status, &status[2]);
	CHECK_EQ(mrpc_submit(mrpc_qp_self(c.session)), 0);
	pthread_barrier_wait(&gate);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), 10000000), 0);
	CHECK_EQ(status[0], MRPC_OK);
	CHECK_EQ(status[1], MRPC_OK);
	CHECK_EQ(status[2], MRPC_DEADLINE_EXCEEDED);
	CHECK(left_us <= 4800000);
	CHECK_EQ(mrpc_server_expired(ts.server), 1);
	mrpc_session_close(c.session);
	server_stop(&ts);
	CHECK_EQ(fake_stats().bad, 0);
}

/* -- signals ----------------------------------------------------------------------------- */

static sigset_t in_worker;

static int masked_handler(struct mrpc_call *call, const struct fake_msg *req,
			  struct fake_msg *reply)
{
	pthread_sigmask(SIG_SETMASK, NULL, &in_worker);
	return echo_handler(call, req, reply);
}

/*
 * A crash handler runs, and children of a handler can be ended: workers block what the program
 * blocks.
 */
TEST(signal_mask)
{
	static const struct test_ops ops = { .echo = masked_handler };
	struct test_server ts;
	sigset_t blocked;
	struct client c;
	int status = -1, sig;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	server_start(&ts, &ops, NULL, "loop:masked", 1);
	pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
	client_start(&c, "loop:masked");
	start(&c, 0, 0, note_status, &status);
	CHECK_EQ(mrpc_run_all(mrpc_qp_self(c.session), 10000000), 0);
	CHECK_EQ(status, MRPC_OK);
	for (sig = 1; sig < SIGRTMIN; sig++)
		CHECK_MSG(sigismember(&in_worker, sig) == (sig == SIGUSR1), "signal %d", sig);
	mrpc_session_close(c.session);
	server_stop(&ts);
}
