/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests with the stand-in share.
 */
#ifndef TEST_SESSION_H
#define TEST_SESSION_H

#include <errno.h>

#include "../error.h"
#include "../qp.h"
#include "fake.h"
#include "tap.h"

static UNUSED struct mrpc_session *open_with(struct mrpc_session_opts opts)
{
	struct mrpc_session *s;

	opts.device = fake_device();
	s = mrpc_session_open(&opts);
	unlink(opts.device);
	if (!s)
		NOTE("%s", mrpc_last_error());
	CHECK(s != NULL);
	return s;
}

static UNUSED struct mrpc_session *open_session(void)
{
	return open_with((struct mrpc_session_opts){ .recv_initial = 64 << 20 });
}

/* A message of the stand-in's type with @len bytes that follow from @number. */
static UNUSED struct fake_msg *build(struct mrpc_msg *msg, struct mrpc_session *s, u32 number,
				     u32 len)
{
	struct fake_msg *root = mrpc_msg_new(msg, s, sizeof(*root), 0);
	u8 *p = mrpc_msg_alloc_bytes(msg, &root->data, len);
	u32 i;

	root->number = number;
	for (i = 0; i < len; i++)
		p[i] = (u8)(number * 7 + i);
	return root;
}

static UNUSED bool matches(const struct fake_msg *root, u32 number, u32 len)
{
	const u8 *p = mrpc_ref_ptr(root, root->data);
	u32 i;

	if (root->number != number || root->data.len != len)
		return false;
	for (i = 0; i < len; i++)
		if (p[i] != (u8)(number * 7 + i))
			return false;
	return true;
}

/* A service of the stand-in's type. */
extern const struct mrpc_service_desc test_service;

struct test_ops {
	int (*echo)(struct mrpc_call *call, const struct fake_msg *req, struct fake_msg *reply);
	int (*other)(struct mrpc_call *call, const struct fake_msg *req, struct fake_msg *reply);
	int (*up)(struct mrpc_call *call, struct fake_msg *reply);
	int (*down)(struct mrpc_call *call, const struct fake_msg *req);
	int (*both)(struct mrpc_call *call);
};

enum { TEST_ECHO, TEST_OTHER, TEST_UP, TEST_DOWN, TEST_BOTH };

static int invoke_echo(const void *ops, struct mrpc_call *call, const void *req, void *reply)
{
	const struct test_ops *o = ops;

	return o->echo ? o->echo(call, req, reply) : MRPC_UNIMPLEMENTED;
}

static int invoke_other(const void *ops, struct mrpc_call *call, const void *req, void *reply)
{
	const struct test_ops *o = ops;

	return o->other ? o->other(call, req, reply) : MRPC_UNIMPLEMENTED;
}

static int invoke_up(const void *ops, struct mrpc_call *call, UNUSED const void *req, void *reply)
{
	const struct test_ops *o = ops;

	return o->up ? o->up(call, reply) : MRPC_UNIMPLEMENTED;
}

static int invoke_down(const void *ops, struct mrpc_call *call, const void *req, UNUSED void *reply)
{
	const struct test_ops *o = ops;

	return o->down ? o->down(call, req) : MRPC_UNIMPLEMENTED;
}

static int invoke_both(const void *ops, struct mrpc_call *call, UNUSED const void *req,
		       UNUSED void *reply)
{
	const struct test_ops *o = ops;

	return o->both ? o->both(call) : MRPC_UNIMPLEMENTED;
}

static const struct mrpc_method_desc test_methods[] = {
	{
		.name = "Echo",
		.request_size = sizeof(struct fake_msg),
		.reply_size = sizeof(struct fake_msg),
		.invoke = invoke_echo,
	}, {
		.name = "Other",
		.request_size = sizeof(struct fake_msg),
		.priority = MRPC_METHOD_PRIORITY | 9,
		.reply_size = sizeof(struct fake_msg),
		.invoke = invoke_other,
	}, {
		.name = "Up",
		.request_size = sizeof(struct fake_msg),
		.reply_size = sizeof(struct fake_msg),
		.streams = MRPC_STREAMS_CLIENT,
		.invoke = invoke_up,
	}, {
		.name = "Down",
		.request_size = sizeof(struct fake_msg),
		.reply_size = sizeof(struct fake_msg),
		.streams = MRPC_STREAMS_SERVER,
		.invoke = invoke_down,
	}, {
		.name = "Both",
		.request_size = sizeof(struct fake_msg),
		.reply_size = sizeof(struct fake_msg),
		.streams = MRPC_STREAMS_CLIENT | MRPC_STREAMS_SERVER,
		.invoke = invoke_both,
	},
};

const struct mrpc_service_desc test_service = {
	.name = "test.Test",
	.schema = "schema",
	.schema_len = 6,
	.nr_methods = ARRAY_SIZE(test_methods),
	.methods = test_methods,
};

static UNUSED const struct mrpc_service_desc *const test_services[] = { &test_service };

/* -- a server in a thread -------------------------------------------------------- */

struct test_server {
	struct mrpc_session *session;
	struct mrpc_server *server;
	unsigned int nr_threads;
	int ret;
	pthread_t thread;
};

static void *test_server_main(void *arg)
{
	struct test_server *ts = arg;

	ts->ret = mrpc_server_run(ts->server, ts->nr_threads);
	return NULL;
}

static UNUSED void server_start(struct test_server *ts, const struct test_ops *ops, void *ctx,
				const char *address, unsigned int nr_threads)
{
	ts->session = open_session();
	ts->server = mrpc_server_new(ts->session);
	CHECK(ts->server != NULL);
	CHECK_EQ(mrpc_server_add(ts->server, &test_service, ops, ctx), 0);
	CHECK_EQ(mrpc_server_listen(ts->server, address, NULL), 0);
	ts->nr_threads = nr_threads;
	CHECK_EQ(pthread_create(&ts->thread, NULL, test_server_main, ts), 0);
	fake_wait_serving(mrpc_session_fd(ts->session), nr_threads);
}

static UNUSED void server_stop(struct test_server *ts)
{
	mrpc_server_stop(ts->server);
	pthread_join(ts->thread, NULL);
	CHECK_EQ(ts->ret, 0);
	mrpc_server_free(ts->server);
	mrpc_session_close(ts->session);
}

static UNUSED int echo_handler(struct mrpc_call *call, const struct fake_msg *req,
			       struct fake_msg *reply)
{
	reply->number = req->number;
	mrpc_msg_set_bytes(mrpc_call_msg(call), &reply->data, mrpc_ref_ptr(req, req->data),
			   req->data.len);
	return MRPC_OK;
}

#endif /* TEST_SESSION_H */
