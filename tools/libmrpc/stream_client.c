// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams at a client: their beginning and their end.
 */
#include <errno.h>
#include <stdio.h>

#include "call.h"
#include "msg.h"
#include "op.h"
#include "replay.h"
#include "result.h"

int stream_call(struct mrpc_stream *st, struct mrpc_sqe *sqe, void *blocks)
{
	bool copied = sqe->flags & (MRPC_SQE_COPY | MRPC_SQE_STREAM);
	struct op *op = op_new(st->qp);
	int err;

	if (!op)
		return fail(ENOMEM, "out of memory");
	op->conn = sqe->conn;
	op->stream = &st->in;
	op->wait = OP_WAIT_END;
	if (!copied) {
		op->wait |= OP_WAIT_SENT;
		op->blocks = blocks;
	}
	sqe->user_data = op->id;
	st->op = op;
	if (st->channel)
		op_begun(st->qp, op);
	err = qp_push(st->qp, sqe, copied ? blocks : NULL);
	if (!err)
		return 0;
	st->op = NULL;
	op->blocks = NULL;
	op_free(st->qp, op);
	return err;
}

/* Puts the metadata of the call into its message. @own: where the call has none. Return: status. */
static int open_meta(struct mrpc_session *session, struct mrpc_sqe *sqe, struct mrpc_msg **msg,
		     struct mrpc_msg *own, const struct mrpc_call_opts *opts,
		     struct retry_call *over, struct mrpc_result *res)
{
	u32 len = call_meta_bytes(opts, over);
	void *mem;

	if (!len)
		return MRPC_OK;
	if (!*msg) {
		mrpc_msg_new(own, session, 8, len);
		*msg = own;
	}
	mem = mrpc_msg_alloc(*msg, len, 1);
	return call_put_meta(session, sqe, opts, over, (*msg)->err ? NULL : mem, res);
}

/*
 * Which connection of a channel: the one that it has now, or will have. That there is none counts
 * as an attempt. Takes a reference to the channel.
 */
static int open_link(struct retry_call *over, const struct mrpc_session *session,
		     struct mrpc_sqe *sqe, struct mrpc_result *res)
{
	struct attempts *attempts = &over->attempts;
	int status;

	channel_enter(over->channel);
	for (;;) {
		status = channel_link(over->channel, over->wait_ready, attempts->until, &sqe->conn,
				      res);
		if (!status || !attempts_again(attempts, res))
			break;
		if (channel_pause(over->channel, attempts->next)) {
			result_fail(res, MRPC_CANCELLED, "interrupted by a signal");
			status = res->status;
			break;
		}
	}
	if (status)
		channel_leave(over->channel);
	else
		retry_fill(over, session, sqe, sqe->conn);
	return status;
}

/* Return: 0: the call will end, whatever comes; -errno: the kernel has not got it. */
static int submit_open(struct mrpc_stream *st, struct mrpc_sqe *sqe, void *blocks)
{
	int err = stream_call(st, sqe, blocks);
	struct op *op = st->op;
	u32 pos;

	if (!err) {
		pos = st->qp->ring.sq_tail - 1;
		err = qp_flush(st->qp);
		/* Other threads submit what is on a worker's queue: it cannot be taken back. */
		if (!err || st->qp->serve || !st->op || !qp_take_back(st->qp, pos))
			return 0;
		st->op = NULL;
		op->blocks = NULL;
		op_free(st->qp, op);
	}
	blocks_free(st->qp->session, blocks);
	return err;
}

/* As submit_open(). @over: NULL: not over a channel. The blocks are spent. */
static int begin(struct mrpc_stream *st, struct mrpc_sqe *sqe, const struct retry_call *over,
		 void *blocks)
{
	struct replay *r;
	int err;

	if (!over)
		return submit_open(st, sqe, blocks);
	st->channel = over->channel;
	r = replay_new(st, over, sqe, blocks);
	if (!r) {
		blocks_free(st->qp->session, blocks);
		return fail(ENOMEM, "out of memory");
	}
	err = submit_open(st, &r->sqe, NULL);
	if (err)
		replay_drop(st);
	return err;
}

struct mrpc_stream *mrpc_stream_open(struct mrpc_conn *conn,
				     const struct mrpc_service_desc *service, unsigned int method,
				     struct mrpc_msg *msg, const struct mrpc_call_opts *opts)
{
	static const struct mrpc_call_opts no_opts;
	struct retry_call prepared, *over = NULL;	/* @conn may be closed during the wait */
	struct mrpc_session *session = conn->session;
	struct mrpc_stream *st = NULL;
	struct mrpc_result res;
	struct mrpc_msg own;
	struct mrpc_sqe sqe;
	struct mrpc_qp *qp;
	int status;

	if (!opts)
		opts = &no_opts;
	status = call_prepare(&sqe, conn, service, method, msg, opts, &res);
	if (!status && !service->methods[method].streams) {
		fail(EINVAL, "the method %s does not stream", service->methods[method].name);
		goto drop;
	}
	if (!status && conn->channel) {
		over = &prepared;
		retry_prepare(over, conn->channel, NULL, &sqe, opts);
	}
	if (!status)
		status = open_meta(session, &sqe, &msg, &own, opts, over, &res);
	if (!status && over)
		status = open_link(over, session, &sqe, &res);
	if (status) {
		fail(errno_of_status(status), "%s", res.detail);
		goto drop;
	}
	qp = opts->qp ? opts->qp : mrpc_qp_self(session);
	st = qp ? stream_new(qp, sqe.conn) : NULL;
	if (!st) {
		if (qp)
			fail(ENOMEM, "out of memory");
		if (over)
			channel_leave(over->channel);
		goto drop;
	}
	st->client = true;
	st->sends = service->methods[method].streams & MRPC_STREAMS_CLIENT;
	st->last = !st->sends;
	if (begin(st, &sqe, over, msg ? msg_spend(msg) : NULL)) {
		qp_del_stream(&st->in);
		stream_free(&st->in);
		st = NULL;
	}
drop:
	if (msg)
		mrpc_msg_free(msg);
	return st;
}

void mrpc_stream_cancel(struct mrpc_stream *st)
{
	if (!st || session_check(st->qp->session))
		return;
	qp_harvest(st->qp);
	if (st->ended)
		return;
	stream_cancel(st, "cancelled by the application");
	qp_flush(st->qp);
}

int mrpc_stream_finish(struct mrpc_stream *st, struct mrpc_result *res)
{
	struct mrpc_result ignored;
	int refused;

	if (!res)
		res = &ignored;
	if (!st || session_check(st->qp->session)) {
		result_fail(res, MRPC_INTERNAL, "%s", mrpc_last_error());
		return res->status;
	}
	refused = stream_settle(st);
	while (!st->ended) {
		if (!st->last && mrpc_stream_end(st))
			mrpc_stream_cancel(st);
		if (!st->ended && !stream_read(st) && !st->ended)
			stream_wait(st);
	}
	result_fill(st->qp->session, res, &st->end);
	if (st->replay && st->replay->detail)
		snprintf(res->detail, sizeof(res->detail), "%s", st->replay->detail);
	if ((refused || st->refused) && res->status == MRPC_OK) {
		mrpc_result_release(res);
		result_fail(res, MRPC_INTERNAL, "the server did not get each message: %s",
			    mrpc_last_error());
	}
	stream_close(st);
	if (res == &ignored)
		mrpc_result_release(res);
	return res->status;
}
