// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls at the client.
 */
#include <errno.h>
#include <string.h>

#include "call.h"
#include "channel.h"
#include "clock.h"
#include "conn.h"
#include "hedge.h"
#include "msg.h"
#include "op.h"
#include "qp.h"
#include "release.h"
#include "result.h"
#include "retry.h"

static const struct mrpc_call_opts no_opts;

/* The index of a service in the connection's numbering. */
static int find_service(const struct mrpc_conn *conn, const struct mrpc_service_desc *service)
{
	u32 i;

	for (i = 0; i < conn->nr; i++)
		if (conn->services[i] == service)
			return (int)i;
	/* The same generated code can be in a program and in a library. */
	for (i = 0; i < conn->nr; i++)
		if (conn->services[i]->schema_len == service->schema_len &&
		    !memcmp(conn->services[i]->schema, service->schema, service->schema_len))
			return (int)i;
	return -1;
}

static int bad_call(struct mrpc_result *res, int status, const char *why)
{
	result_fail(res, status, "%s", why);
	res->unsent = true;
	set_error("%s", res->detail);
	return status;
}

static int msg_status(struct mrpc_result *res, const struct mrpc_msg *msg)
{
	switch (msg->err) {
	case 0:
		break;
	case -EPERM:
		return bad_call(res, MRPC_FAILED_PRECONDITION,
				"the message's session belongs to the process that this one was "
				"forked from");
	case -ENOMEM:
		return bad_call(res, MRPC_RESOURCE_EXHAUSTED,
				"the message does not fit in the send heap");
	case -EMSGSIZE:
		return bad_call(res, MRPC_INVALID_ARGUMENT,
				"the message is larger than a message can be");
	default:
		return bad_call(res, MRPC_INVALID_ARGUMENT, "the message could not be built");
	}
	if (!msg->root)
		return bad_call(res, MRPC_INVALID_ARGUMENT,
				"the message was sent before, or never begun");
	return MRPC_OK;
}

static u8 call_priority(const struct mrpc_method_desc *method, const struct mrpc_call_opts *opts)
{
	if (opts->flags & MRPC_CALL_PRIORITY)
		return opts->priority < 255 ? (u8)opts->priority : 255;
	return method->priority & MRPC_METHOD_PRIORITY ? (u8)method->priority :
							 MRPC_PRIORITY_DEFAULT;
}

/* What the service config of the channel says of the method. */
static RARE int apply_config(struct mrpc_sqe *sqe, const struct method_config *config,
			     const struct mrpc_msg *msg, struct mrpc_result *res)
{
	if (msg && msg->total > config->max_request) {
		result_fail(res, MRPC_RESOURCE_EXHAUSTED, "the request has %llu bytes, and the "
			    "service config's maxRequestMessageBytes is %u",
			    (unsigned long long)msg->total, config->max_request);
		res->unsent = true;
		set_error("%s", res->detail);
		return res->status;
	}
	if (config->timeout_us && (!sqe->timeout_us || config->timeout_us < sqe->timeout_us))
		sqe->timeout_us = config->timeout_us;
	if (config->max_reply != UINT32_MAX &&
	    (!sqe->max_reply || config->max_reply < sqe->max_reply))
		sqe->max_reply = config->max_reply ? config->max_reply : 1;
	return MRPC_OK;
}

int call_prepare(struct mrpc_sqe *sqe, const struct mrpc_conn *conn,
		 const struct mrpc_service_desc *service, u32 method, struct mrpc_msg *msg,
		 const struct mrpc_call_opts *opts, struct mrpc_result *res)
{
	int index, status = MRPC_OK;

	if (session_check(conn->session))
		return bad_call(res, MRPC_FAILED_PRECONDITION, mrpc_last_error());
	if (likely(msg))
		status = msg_status(res, msg);
	if (status)
		return status;
	if (msg && msg->session != conn->session)
		return bad_call(res, MRPC_INVALID_ARGUMENT,
				"the message and the connection belong to different sessions");
	index = find_service(conn, service);
	if (index < 0 || method >= service->nr_methods)
		return bad_call(res, MRPC_UNIMPLEMENTED,
				"the connection was made without this service, or it has no such "
				"method");
	if (opts->meta && opts->meta->err)
		return bad_call(res, MRPC_INVALID_ARGUMENT, "the metadata could not be built");
	memset(sqe, 0, sizeof(*sqe));
	sqe->op = MRPC_OP_CALL;
	sqe->priority = call_priority(&service->methods[method], opts);
	if (opts->flags & MRPC_CALL_TIMES)
		sqe->flags |= MRPC_SQE_TIMES;
	if (opts->flags & MRPC_CALL_COMPRESS)
		sqe->flags |= MRPC_SQE_COMPRESS;
	if (unlikely(!msg))
		sqe->flags |= MRPC_SQE_STREAM;
	else if (msg->total <= conn->session->setup.copy_threshold)
		sqe->flags |= MRPC_SQE_COPY;
	sqe->conn = conn->id;
	sqe->method = (u32)index << 16 | method;
	if (likely(msg))
		sqe->root = send_off(conn->session, msg->root);
	sqe->max_reply = opts->max_reply;
	sqe->timeout_us = opts->timeout_us;
	if (unlikely(conn->channel))
		return apply_config(sqe, channel_config(conn->channel, sqe->method), msg, res);
	return MRPC_OK;
}

static int add_meta(struct mrpc_session *session, struct mrpc_sqe *sqe,
		    const struct mrpc_meta *meta, void *mem, struct mrpc_result *res)
{
	if (!mem)
		return bad_call(res, MRPC_RESOURCE_EXHAUSTED,
				"the metadata does not fit in the send heap");
	memcpy(mem, meta->data, meta->len);
	sqe->meta = send_off(session, mem);
	sqe->meta_len = meta->len;
	return MRPC_OK;
}

static int call_ioctl(struct mrpc_session *session, struct mrpc_call_sync *arg,
		      struct mrpc_result *res)
{
	struct tctx *t = tctx_get(session);
	int err;

	if (t && t->nr_release >= RELEASE_WITH_CALL)
		arg->nr = release_take(t, arg->blocks);
	err = session_ioctl(session, MRPC_IOC_CALL, arg);

	/* One that the application had given back itself: no reason not to call. */
	if (err == -EINVAL && arg->nr) {
		arg->nr = 0;
		err = session_ioctl(session, MRPC_IOC_CALL, arg);
	}
	/* After a handler without SA_RESTART: the kernel has kept the call. */
	if (err == -EINTR && arg->token) {
		arg->flags = MRPC_CALL_CANCEL;
		err = session_ioctl(session, MRPC_IOC_CALL, arg);
	}
	if (likely(!err)) {
		result_fill(session, res, &arg->cqe);
	} else {
		result_fail(res, status_of_errno(-err), "%s",
			    err == -EINTR ? "interrupted by a signal" : strerror(-err));
		set_error("%s", res->detail);
	}
	return res->status;
}

static void reset_call(struct mrpc_call_sync *arg, struct mrpc_result *res)
{
	mrpc_result_release(res);
	arg->nr = 0;
	arg->token = 0;
	arg->flags = 0;
}

/* One attempt, until the server may have executed it. */
static int call_once(struct mrpc_session *session, const struct retry_call *call,
		     struct mrpc_call_sync *arg, struct mrpc_result *res)
{
	int status;

	/* Again as long as it was not sent. */
	for (;;) {
		status = channel_link(call->channel, call->wait_ready, call->attempts.until,
				      &arg->sqe.conn, res);
		if (status)
			return status;
		arg->sqe.timeout_us = left_us(call->attempts.until);
		status = call_ioctl(session, arg, res);
		if (!res->unsent || !channel_lost(call->channel, arg->sqe.conn))
			return status;
		reset_call(arg, res);
	}
}

static __attribute__((noinline)) int
call_over_channel(struct mrpc_session *session, struct retry_call *call,
		  struct mrpc_call_sync *arg, struct mrpc_result *res)
{
	int status = -EAGAIN;

	channel_enter(call->channel);
	if (call->hedging)
		status = hedge_sync(session, call, &arg->sqe, res);
	if (status != -EAGAIN)
		goto leave;
	for (;;) {
		status = call_once(session, call, arg, res);
		if (!attempts_again(&call->attempts, res))
			break;
		reset_call(arg, res);
		if (channel_pause(call->channel, call->attempts.next)) {
			result_fail(res, MRPC_CANCELLED, "interrupted by a signal");
			set_error("%s", res->detail);
			status = res->status;
			break;
		}
		retry_tell(call, session, &arg->sqe);
	}
	if (call->attempts.sent)
		res->unsent = false;
leave:
	channel_leave(call->channel);
	return status;
}

u32 call_meta_bytes(const struct mrpc_call_opts *opts, const struct retry_call *call)
{
	return (opts->meta ? opts->meta->len : 0) + (call ? retry_meta_room(call, opts) : 0);
}

int call_put_meta(struct mrpc_session *session, struct mrpc_sqe *sqe,
		  const struct mrpc_call_opts *opts, struct retry_call *call, void *mem,
		  struct mrpc_result *res)
{
	static const struct mrpc_meta none;
	const struct mrpc_meta *meta = opts->meta ? opts->meta : &none;

	if (mem && call && retry_meta_room(call, opts))
		call->mem = (u8 *)mem + meta->len;
	return mem && !meta->len ? MRPC_OK : add_meta(session, sqe, meta, mem, res);
}

int mrpc_call_sync(struct mrpc_conn *conn, const struct mrpc_service_desc *service,
		   unsigned int method, struct mrpc_msg *msg, const struct mrpc_call_opts *opts,
		   struct mrpc_result *res)
{
	struct mrpc_call_sync arg = { .size = sizeof(arg) };
	struct mrpc_session *session = conn->session;
	struct retry_call over, *call = NULL;
	struct mrpc_result ignored;
	void *meta = NULL;
	struct tctx *t;
	int status;

	if (!res)
		res = &ignored;
	if (!opts)
		opts = &no_opts;
	status = call_prepare(&arg.sqe, conn, service, method, msg, opts, res);
	if (!status && unlikely(conn->channel)) {
		call = &over;
		retry_prepare(call, conn->channel, msg, &arg.sqe, opts);
	}
	if (!status && call_meta_bytes(opts, call)) {
		meta = mrpc_alloc(session, call_meta_bytes(opts, call));
		status = call_put_meta(session, &arg.sqe, opts, call, meta, res);
	}
	if (!status) {
		/* What the thread has started before must not come after. */
		t = tctx_get(session);
		if (t && t->qp && qp_pending(t->qp))
			qp_flush(t->qp);
		status = likely(!call) ? call_ioctl(session, &arg, res) :
			 call_over_channel(session, call, &arg, res);
	}
	if (meta)
		mrpc_free(session, meta);
	if (!(opts->flags & MRPC_CALL_KEEP))
		mrpc_msg_free(msg);
	if (res == &ignored)
		mrpc_result_release(res);
	return status;
}

/* The connection takes so many calls: one more waits until one of the thread's has ended. */
static RARE int wait_for_room(struct mrpc_qp *qp, const struct mrpc_conn *conn)
{
	int err;

	while (ops_under_way(qp, conn->id) >= conn->max_calls) {
		err = qp_enter(qp, 1, FOR_EVER);
		if (err && !is_temporary(err))
			return fail(-err, "cannot wait for room: %s", strerror(-err));
		qp_harvest(qp);
	}
	return 0;
}

static int start(struct mrpc_qp *qp, struct mrpc_sqe *sqe, struct mrpc_msg *msg,
		 struct op *op, struct mrpc_result *res)
{
	void *blocks = msg_spend(msg);
	bool copied = sqe->flags & MRPC_SQE_COPY;

	op->conn = sqe->conn;
	op->wait = OP_WAIT_END;
	if (!copied) {
		op->wait |= OP_WAIT_SENT;
		op->blocks = blocks;
	}
	sqe->user_data = op->id;
	if (qp_push(qp, sqe, copied ? blocks : NULL)) {
		op_free(qp, op);
		blocks_free(qp->session, blocks);
		return bad_call(res, MRPC_RESOURCE_EXHAUSTED, mrpc_last_error());
	}
	qp->in_flight++;
	return MRPC_OK;
}

int mrpc_call_async(struct mrpc_conn *conn, const struct mrpc_service_desc *service,
		    unsigned int method, struct mrpc_msg *msg, const struct mrpc_call_opts *opts,
		    mrpc_done_fn done, void *user, mrpc_call_id *id)
{
	struct mrpc_session *session = conn->session;
	struct retry_call over, *call = NULL;
	struct mrpc_result res;
	struct mrpc_sqe sqe;
	struct mrpc_qp *qp;
	struct op *op;
	int status;

	if (!opts)
		opts = &no_opts;
	status = call_prepare(&sqe, conn, service, method, msg, opts, &res);
	if (!status && (!done || (opts->flags & MRPC_CALL_KEEP)))
		status = bad_call(&res, MRPC_INVALID_ARGUMENT,
				  "an asynchronous call needs a callback, and spends its message");
	if (!status && unlikely(conn->channel)) {
		call = &over;
		retry_prepare(call, conn->channel, msg, &sqe, opts);
	}
	if (!status && call_meta_bytes(opts, call))
		status = call_put_meta(session, &sqe, opts, call,
				  mrpc_msg_alloc(msg, call_meta_bytes(opts, call), 1), &res);
	if (!status)
		status = msg_status(&res, msg);
	if (status)
		goto drop;
	qp = opts->qp ? opts->qp : mrpc_qp_self(session);
	if (qp && !conn->channel && qp->in_flight >= conn->max_calls && wait_for_room(qp, conn))
		qp = NULL;
	op = qp ? op_new(qp) : NULL;
	if (!op) {
		status = bad_call(&res, MRPC_RESOURCE_EXHAUSTED,
				  qp ? "out of memory" : mrpc_last_error());
		goto drop;
	}
	op->done = done;
	op->user = user;
	if (id)
		*id = op->id;
	if (unlikely(call))
		return call->hedging ? hedge_start(qp, call, &sqe, msg, op, &res) :
				       retry_start(qp, call, &sqe, msg, op, &res);
	return start(qp, &sqe, msg, op, &res);
drop:
	mrpc_msg_free(msg);
	return status;
}
