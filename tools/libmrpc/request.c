// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests at the server: from completion to handler, and their replies.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "defer.h"
#include "msg.h"
#include "release.h"
#include "roots.h"
#include "request.h"

/* -- replying -------------------------------------------------------------------- */

/* Requests come one after the other, so the thread reuses their memory. */
static struct mrpc_call *call_alloc(struct mrpc_session *session)
{
	struct tctx *t = tctx_get(session);
	struct mrpc_call *call = t ? t->call : NULL;

	if (!call)
		return malloc(sizeof(*call));
	t->call = NULL;
	return call;
}

static void call_free(struct mrpc_call *call)
{
	struct tctx *t = tctx_get(call->session);

	if (t && !t->call)
		t->call = call;
	else
		free(call);
}

void request_release(struct mrpc_call *call)
{
	if (call->cqe.flags & MRPC_CQE_BLOCK)
		release_block(call->session, call->cqe.block,
			      call->cqe.msg_len + call->cqe.meta_len);
	call->cqe.flags &= (u8)~MRPC_CQE_BLOCK;
	call->cqe.msg_len = 0;
	call->cqe.meta_len = 0;
	call->request = NULL;
}

static void call_end(struct mrpc_call *call)
{
	request_release(call);
	mrpc_meta_free(&call->meta);
	mrpc_msg_free(&call->msg);
	if (likely(!stream_leave(call->stream)))
		call_free(call);
}

/* Replaces a reply that cannot be sent by a status that says why. */
static int check_reply(struct mrpc_call *call, int status)
{
	int err = call->msg.err ? call->msg.err : call->meta.err;

	if (status < 0 || status > MRPC_STATUS_MAX) {
		mrpc_call_set_detail(call, "the handler of %s returned %d, which is not a status",
				     call->method->name, status);
		return MRPC_UNKNOWN;
	}
	if (status != MRPC_OK)
		return status;
	if (!err)
		return call->instead;	/* only the detail may be left of the reply */
	/* Frees the reply to make room for the detail. */
	mrpc_msg_free(&call->msg);
	mrpc_msg_new(&call->msg, call->session, 8, 0);
	call->detail = NULL;
	if (err == -ENOMEM) {
		mrpc_call_set_detail(call, "the reply does not fit in the server's send heap");
		call->instead = MRPC_RESOURCE_EXHAUSTED;
		return call->instead;
	}
	mrpc_call_set_detail(call, err == -EMSGSIZE ? "the reply or its metadata is too large" :
						      "the reply could not be built");
	call->instead = MRPC_INTERNAL;
	return call->instead;
}

static void fill_reply(struct mrpc_call *call, int status, struct mrpc_sqe *sqe)
{
	struct mrpc_session *session = call->session;
	void *mem;

	memset(sqe, 0, sizeof(*sqe));
	sqe->op = MRPC_OP_REPLY;
	sqe->priority = call->cqe.priority;
	sqe->conn = call->cqe.conn;
	sqe->call = call->cqe.call;
	sqe->status = (u32)status;
	if (call->compress)
		sqe->flags = MRPC_SQE_COMPRESS;
	if (status == MRPC_OK && !(call->method->streams & MRPC_STREAMS_SERVER))
		sqe->root = send_off(session, call->msg.root);
	if (call->meta.len && !call->meta.err && !call->msg.err) {
		mem = mrpc_msg_alloc(&call->msg, call->meta.len, 1);
		if (mem && !call->msg.err) {
			memcpy(mem, call->meta.data, call->meta.len);
			sqe->meta = send_off(session, mem);
			sqe->meta_len = call->meta.len;
		}
	}
	if (call->detail) {
		sqe->detail = send_off(session, call->detail);
		sqe->detail_len = call->detail_len;
	}
}

/* Submits all entries. If even the newest one cannot be submitted, it is removed. */
static int flush_newest(struct mrpc_qp *qp)
{
	u32 pos = qp->ring.sq_tail - 1;
	int err = qp_flush(qp);

	if (err && !qp_take_back(qp, pos))
		err = 0;
	qp_harvest(qp);
	return err;
}

/* Sends a reply. If that fails, the call keeps its message. */
static int send_reply(struct mrpc_call *call, int status)
{
	struct mrpc_session *session = call->session;
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct mrpc_sqe sqe;
	struct op *op = NULL;
	u64 copy;
	int err;

	if (!qp)
		return -errno;
	status = check_reply(call, status);
	fill_reply(call, status, &sqe);

	/* A thread that is not a worker may never look at its completions. */
	copy = qp->serve ? session->setup.copy_threshold : MRPC_MAX_COPY;
	if (status != MRPC_OK || call->msg.total <= copy) {
		sqe.flags |= MRPC_SQE_COPY;
	} else {
		op = op_new(qp);
		if (!op)
			return fail(ENOMEM, "out of memory");
		op->wait = OP_WAIT_SENT;
		op->conn = sqe.conn;
		op->blocks = call->msg.blocks;
		sqe.user_data = op->id;
	}
	err = qp_push(qp, &sqe, op ? NULL : call->msg.blocks);
	/* Workers submit with their next wait. */
	if (!err && !qp->serve)
		err = flush_newest(qp);
	if (!err)
		msg_spend(&call->msg);
	else if (op)
		op_free(qp, op);
	return err;
}

/* Replies to a call, and frees it. */
static int reply_and_end(struct mrpc_call *call, int status)
{
	int err = session_check(call->session);

	if (!err && unlikely(call->stream) && stream_settle(call->stream) && status == MRPC_OK) {
		mrpc_call_set_detail(call, "a message was not sent: %s", mrpc_last_error());
		status = MRPC_INTERNAL;
	}
	if (!err)
		err = send_reply(call, status);
	if (!err)
		call_end(call);
	return err;
}

int mrpc_call_reply(struct mrpc_call *call, int status)
{
	return reply_and_end(call, status);
}

/* Replies after a handler has returned. On failure it replies again with less memory. */
static void reply_for_handler(struct mrpc_call *call, int status)
{
	if (!reply_and_end(call, status))
		return;
	mrpc_call_set_detail(call, "the server cannot send the reply: %s", mrpc_last_error());
	if (reply_and_end(call, MRPC_RESOURCE_EXHAUSTED))
		call_end(call);
}

/* -- serving ----------------------------------------------------------------------- */

/* Is it a request for a method that streams? */
static bool streams(const struct mrpc_server *server, const struct mrpc_cqe *cqe)
{
	u32 service = cqe->method >> 16, method = cqe->method & 0xffff;

	return server && service < server->nr_services &&
	       method < server->services[service].desc->nr_methods &&
	       server->services[service].desc->methods[method].streams;
}

static struct mrpc_call *call_new(struct mrpc_qp *qp, const struct mrpc_cqe *cqe)
{
	struct mrpc_call *call = call_alloc(qp->session);

	if (!call)
		return NULL;
	/* Not all fields: the others are set before they are used. */
	call->session = qp->session;
	call->next = NULL;
	call->cqe = *cqe;
	call->msg.blocks = NULL;
	call->msg.session = NULL;
	call->msg.flags = 0;
	memset(&call->meta, 0, sizeof(call->meta));
	call->detail = NULL;
	call->detail_len = 0;
	call->instead = MRPC_OK;
	call->compress = false;
	call->stream = NULL;
	if (likely(!streams(qp->session->server, cqe)))
		return call;
	/* Now: its messages, and its end, may come before it is served. */
	call->stream = stream_accept(qp, cqe);
	if (call->stream)
		return call;
	call_free(call);
	return NULL;
}

/* Replies with a status only: there is no memory for more. */
static void refuse(struct mrpc_qp *qp, const struct mrpc_cqe *cqe, int status)
{
	struct mrpc_sqe sqe;

	memset(&sqe, 0, sizeof(sqe));
	sqe.op = MRPC_OP_REPLY;
	sqe.flags = MRPC_SQE_COPY;
	sqe.conn = cqe->conn;
	sqe.call = cqe->call;
	sqe.status = (u32)status;
	qp_push(qp, &sqe, NULL);
	if (cqe->flags & MRPC_CQE_BLOCK)
		release_block(qp->session, cqe->block, cqe->msg_len);
}

static void request_keep(struct mrpc_qp *qp, const struct mrpc_cqe *cqe)
{
	struct mrpc_call *call = call_new(qp, cqe);

	if (!call) {
		refuse(qp, cqe, MRPC_RESOURCE_EXHAUSTED);
		return;
	}
	*qp->last_request = call;
	qp->last_request = &call->next;
}

/* Refuses a request that is not served. */
static void turn_away(struct mrpc_call *call, int status)
{
	refuse(mrpc_qp_self(call->session), &call->cqe, status);
	stream_close(call->stream);
	call_free(call);
}

static void serve(struct mrpc_server *server, struct mrpc_call *call)
{
	u32 service = call->cqe.method >> 16, method = call->cqe.method & 0xffff;
	struct mrpc_stream *stream = call->stream;
	int status;

	/* It waited too long: its deadline has passed, and the caller has its answer. */
	if (call->cqe.deadline_ns && clock_ns() >= call->cqe.deadline_ns) {
		__atomic_add_fetch(&server->expired, 1, __ATOMIC_RELAXED);
		turn_away(call, MRPC_DEADLINE_EXCEEDED);
		return;
	}
	if (service >= server->nr_services ||
	    method >= server->services[service].desc->nr_methods) {
		turn_away(call, MRPC_UNIMPLEMENTED);
		return;
	}
	call->service = &server->services[service];
	call->method = &call->service->desc->methods[method];
	call->request = call->cqe.flags & MRPC_CQE_BLOCK ?
			call->session->recv + call->cqe.block : NULL;
	if (unlikely(roots_watched) && call->request)
		roots_begin(call->session, call->request, call->request, call->cqe.msg_len);
	call->reply = mrpc_msg_new(&call->msg, call->session, call->method->reply_size, 0);
	if (!call->reply) {
		turn_away(call, MRPC_RESOURCE_EXHAUSTED);
		return;
	}
	if (unlikely(stream))
		stream_begin(stream, call);
	status = call->method->invoke(call->service->ops, call, call->request, call->reply);
	/* If deferred, another thread may already have ended the call. The worker frees the stream. */
	if (status == MRPC_DEFER) {
		if (unlikely(stream))
			stream_defer(stream);
		return;
	}
	if (unlikely(stream))
		stream->serving = false;
	reply_for_handler(call, status);
}

void request_serve(struct mrpc_server *server, struct mrpc_qp *qp, const struct mrpc_cqe *cqe)
{
	struct mrpc_call *call = call_new(qp, cqe);

	if (call)
		serve(server, call);
	else
		refuse(qp, cqe, MRPC_RESOURCE_EXHAUSTED);
}

bool request_serve_queued(struct mrpc_server *server, struct mrpc_qp *qp)
{
	struct mrpc_call *call = qp->requests;

	if (!call)
		return false;
	qp->requests = call->next;
	if (!call->next)
		qp->last_request = &qp->requests;
	serve(server, call);
	return true;
}

/* Frees the requests of a worker that has ended: their connections have ended, too. */
static void requests_drop(struct mrpc_qp *qp)
{
	struct mrpc_call *call;

	while ((call = qp->requests)) {
		qp->requests = call->next;
		free(call);
	}
}

const struct qp_serves request_serves = { .keep = request_keep, .drop = requests_drop };

/* -- queries by handlers ---------------------------------------------------------------- */

struct mrpc_msg *mrpc_call_msg(struct mrpc_call *call)
{
	return &call->msg;
}

struct mrpc_stream *mrpc_call_stream(struct mrpc_call *call)
{
	return call->stream;
}

const void *mrpc_call_request(const struct mrpc_call *call)
{
	return call->request;
}

bool mrpc_call_compressed(const struct mrpc_call *call)
{
	return call->cqe.flags & MRPC_CQE_COMPRESSED;
}

void mrpc_call_compress(struct mrpc_call *call)
{
	call->compress = true;
}

__u32 mrpc_call_request_len(const struct mrpc_call *call)
{
	return call->cqe.msg_len;
}

void *mrpc_call_reply_root(struct mrpc_call *call)
{
	return call->reply;
}

void *mrpc_call_ctx(const struct mrpc_call *call)
{
	return call->service->ctx;
}

struct mrpc_session *mrpc_call_session(const struct mrpc_call *call)
{
	return call->session;
}

const struct mrpc_service_desc *mrpc_call_service(const struct mrpc_call *call)
{
	return call->service->desc;
}

const struct mrpc_method_desc *mrpc_call_method(const struct mrpc_call *call)
{
	return call->method;
}

__u32 mrpc_call_priority(const struct mrpc_call *call)
{
	return call->cqe.priority;
}

static const void *request_meta(const struct mrpc_call *call)
{
	return (const u8 *)call->request + ALIGN_UP(call->cqe.msg_len, 8u);
}

void mrpc_call_meta(const struct mrpc_call *call, struct mrpc_meta_iter *it)
{
	mrpc_meta_begin(it, request_meta(call), call->cqe.meta_len);
}

const void *mrpc_call_meta_find(const struct mrpc_call *call, const char *key, __u32 *vlen)
{
	return mrpc_meta_find(request_meta(call), call->cqe.meta_len, key, vlen);
}

int mrpc_call_add_meta(struct mrpc_call *call, const char *key, const void *value, size_t len)
{
	return mrpc_meta_add(&call->meta, key, value, len);
}

__u64 mrpc_call_remaining_us(const struct mrpc_call *call)
{
	u64 now;

	if (!call->cqe.deadline_ns)
		return UINT64_MAX;
	now = clock_ns();
	return now < call->cqe.deadline_ns ? (call->cqe.deadline_ns - now) / 1000 : 0;
}

bool mrpc_call_is_cancelled(const struct mrpc_call *call)
{
	struct mrpc_request request = {
		.size = sizeof(request), .conn = call->cqe.conn, .call = call->cqe.call,
	};

	return session_ioctl(call->session, MRPC_IOC_REQUEST, &request) < 0;
}

__u32 mrpc_call_conn(const struct mrpc_call *call)
{
	return call->cqe.conn;
}

int mrpc_call_conn_info(const struct mrpc_call *call, struct mrpc_conn_info *info)
{
	int err;

	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->conn = call->cqe.conn;
	err = session_ioctl(call->session, MRPC_IOC_CONN_INFO, info);
	return err ? fail(-err, "cannot look at the connection: %s", strerror(-err)) : 0;
}

const char *mrpc_call_peer(const struct mrpc_call *call, char *buf, size_t size)
{
	struct mrpc_conn_info info;

	if (mrpc_call_conn_info(call, &info))
		snprintf(buf, size, "-");
	else
		mrpc_addr_format(info.transport, info.peer, buf, size);
	return buf;
}

void mrpc_call_set_detail(struct mrpc_call *call, const char *fmt, ...)
{
	char text[MRPC_MAX_DETAIL + 2];	/* to see whether the cut is inside a character */
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (len < 0)
		return;
	if (len > MRPC_MAX_DETAIL) {
		/* Not in the middle of a UTF-8 character. */
		len = MRPC_MAX_DETAIL;
		while (len && ((u8)text[len] & 0xc0) == 0x80)
			len--;
	}
	if (!call->detail)
		call->detail = mrpc_msg_alloc(&call->msg, MRPC_MAX_DETAIL, 1);
	if (call->msg.err)
		call->detail = NULL;
	if (!call->detail)
		return;
	memcpy(call->detail, text, (size_t)len);
	call->detail_len = (u32)len;
}
