/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tests of servers share: a client, and requests that are answered later.
 */
#ifndef TEST_SERVED_H
#define TEST_SERVED_H

#include "session.h"

struct client {
	struct mrpc_session *session;
	struct mrpc_conn *conn;
};

static UNUSED void client_start(struct client *c, const char *address)
{
	c->session = open_session();
	c->conn = mrpc_connect(c->session, address, test_services, 1, NULL);
	CHECK_MSG(c->conn, "%s", mrpc_last_error());
	fake_reset_stats();
}

static UNUSED void client_stop(struct client *c)
{
	mrpc_session_close(c->session);
}

static UNUSED int call(struct client *c, u32 method, u32 number, u32 len,
		       const struct mrpc_call_opts *opts, struct mrpc_result *res)
{
	struct mrpc_msg msg;

	build(&msg, c->session, number, len);
	return mrpc_call_sync(c->conn, &test_service, method, &msg, opts, res);
}

/* An asynchronous Echo; @done is called at its end. */
static UNUSED void call_echo(struct client *c, u32 number, u32 len, mrpc_done_fn done, int *user)
{
	struct mrpc_msg msg;

	build(&msg, c->session, number, len);
	CHECK_EQ(mrpc_call_async(c->conn, &test_service, TEST_ECHO, &msg, NULL, done, user, NULL),
		 0);
}

static UNUSED void ended(void *user, struct mrpc_result *res)
{
	*(int *)user = res->status;
}

/* Starts a server with one worker, and waits until it sleeps in the kernel. */
static UNUSED void server_start_asleep(struct test_server *ts, const struct test_ops *ops,
				       const char *address)
{
	fake_reset_stats();
	server_start(ts, ops, NULL, address, 1);
	while (!fake_stats().enters)
		usleep(1000);
}

/* -- deferred replies ----------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct mrpc_call *calls[256];
	unsigned int nr;
	bool end;
} later = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

static UNUSED int deferring_handler(struct mrpc_call *call, const struct fake_msg *req,
				    struct fake_msg *reply)
{
	(void)req;
	(void)reply;
	pthread_mutex_lock(&later.lock);
	later.calls[later.nr++] = call;
	pthread_cond_signal(&later.more);
	pthread_mutex_unlock(&later.lock);
	return MRPC_DEFER;
}

static UNUSED struct mrpc_call *take_deferred(void)
{
	struct mrpc_call *call;

	pthread_mutex_lock(&later.lock);
	while (!later.nr)
		pthread_cond_wait(&later.more, &later.lock);
	call = later.calls[--later.nr];
	pthread_mutex_unlock(&later.lock);
	return call;
}

#endif /* TEST_SERVED_H */
