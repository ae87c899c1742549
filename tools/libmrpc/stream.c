// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams: their messages, at both ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "channel.h"
#include "clock.h"
#include "defer.h"
#include "msg.h"
#include "op.h"
#include "release.h"
#include "result.h"
#include "retry.h"
#include "stream.h"

/* Consumed bytes that the kernel is not told of yet. */
#define GRANT_BYTES	(MRPC_STREAM_WINDOW / 8)

static u32 cost(const struct mrpc_cqe *cqe)
{
	return cqe->msg_len + cqe->meta_len + MRPC_STREAM_MESSAGE;
}

static void drop_block(struct mrpc_stream *st, struct mrpc_cqe *cqe)
{
	if (cqe->flags & MRPC_CQE_BLOCK)
		release_block(st->qp->session, cqe->block, cqe->msg_len + cqe->meta_len);
	cqe->flags &= (u8)~MRPC_CQE_BLOCK;
}

/* -- completions ------------------------------------------------------------------ */

static void stream_free(struct op_stream *in)
{
	struct mrpc_stream *st = (struct mrpc_stream *)in;

	if (st->channel)
		channel_leave(st->channel);
	if (st->deferred)
		free(st->call);
	free(st->got);
	free(st);
}

static bool got_grow(struct mrpc_stream *st)
{
	u32 cap = st->cap ? 2 * st->cap : 16, i;
	struct mrpc_cqe *got = malloc(cap * sizeof(*got));

	if (!got)
		return false;
	for (i = 0; i < st->nr; i++)
		got[i] = st->got[(st->first + i) & (st->cap - 1)];
	free(st->got);
	st->got = got;
	st->cap = cap;
	st->first = 0;
	return true;
}

static void push_cancel(struct mrpc_stream *st)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_CANCEL };

	sqe.conn = st->in.conn;
	sqe.call = st->op->id;
	qp_push(st->qp, &sqe, NULL);
}

void stream_end(struct mrpc_stream *st, int status)
{
	st->status = (u16)status;
	/* Other threads ask for it if the call is deferred. */
	__atomic_store_n(&st->ended, true, __ATOMIC_RELEASE);
}

static void take_message(struct mrpc_stream *st, const struct mrpc_cqe *cqe)
{
	struct mrpc_cqe copy = *cqe;

	if (st->client)
		st->in.token = cqe->call;
	if (cqe->status != MRPC_OK) {	/* at a server: the call has ended */
		stream_end(st, cqe->status);
		return;
	}
	st->done |= !(cqe->flags & MRPC_CQE_MORE);
	if (!(cqe->flags & MRPC_CQE_BLOCK))
		return;
	if (!st->closed && !st->broken && st->nr == st->cap && !got_grow(st)) {
		st->broken = true;
		if (st->op)
			push_cancel(st);
		else if (!st->client)
			stream_end(st, MRPC_RESOURCE_EXHAUSTED);
	}
	if (st->closed || st->broken) {
		drop_block(st, &copy);
		return;
	}
	st->got[(st->first + st->nr++) & (st->cap - 1)] = copy;
}

void stream_explain(struct mrpc_session *session, const struct mrpc_cqe *cqe)
{
	struct mrpc_result res;

	result_fill(session, &res, cqe);
	set_error("the message was refused: %s",
		  res.detail[0] ? res.detail : mrpc_status_name(res.status));
}

/* The caller of mrpc_stream_send() is told. */
static void refuse_message(struct mrpc_stream *st, const struct mrpc_cqe *cqe)
{
	stream_explain(st->qp->session, cqe);
	st->refused = cqe->status;
	st->refused_id = cqe->user_data;
	if (cqe->user_data == st->last_id)
		st->last = false;
}

/* The call has ended at a client. A channel looks whether its connection stands. */
static void take_end(struct mrpc_stream *st, const struct mrpc_cqe *cqe)
{
	st->op = NULL;
	st->ended = true;
	st->end = *cqe;
	if (st->channel && cqe->flags & MRPC_CQE_LOCAL && cqe->status == MRPC_UNAVAILABLE)
		channel_lost(st->channel, st->in.conn);
}

void stream_free_if_done(struct mrpc_stream *st)
{
	if (!st->closed || st->unsent || st->op || st->in.has_event)
		return;
	qp_del_stream(&st->in);
	stream_free(&st->in);
}

static void stream_take(struct op_stream *in, const struct mrpc_cqe *cqe)
{
	struct mrpc_stream *st = (struct mrpc_stream *)in;

	switch (cqe->type) {
	case MRPC_CQE_OPEN:
		st->in.token = cqe->call;
		break;
	case MRPC_CQE_MESSAGE:
		take_message(st, cqe);
		break;
	case MRPC_CQE_REPLY:
		take_end(st, cqe);
		break;
	case MRPC_CQE_ERROR:
		refuse_message(st, cqe);
		/* fallthrough */
	case MRPC_CQE_SENT:
		st->unsent--;
		break;
	}
	if (st->on_event && !st->closed)
		qp_add_event(&st->in, st->qp);
	stream_free_if_done(st);
}

static void drop_messages(struct mrpc_stream *st)
{
	drop_block(st, &st->read);
	for (; st->nr; st->nr--)
		drop_block(st, &st->got[st->first++ & (st->cap - 1)]);
}

static void stream_abandon(struct op_stream *in)
{
	struct mrpc_stream *st = (struct mrpc_stream *)in;

	drop_messages(st);
	if (stream_stays(st))
		return;
	st->closed = true;
	/* Its end may never be looked at: the channel does not wait for it. */
	if (st->channel)
		channel_leave(st->channel);
	st->channel = NULL;
	if (st->op)
		push_cancel(st);
	stream_free_if_done(st);
}

static const struct op_stream_ops stream_ops = {
	.take = stream_take, .abandon = stream_abandon, .free = stream_free,
};

static struct mrpc_stream *stream_new(struct mrpc_qp *qp, u32 conn)
{
	struct mrpc_stream *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	st->qp = qp;
	st->in.ops = &stream_ops;
	st->in.conn = conn;
	qp_add_stream(qp, &st->in);
	return st;
}

struct mrpc_stream *stream_accept(struct mrpc_qp *qp, const struct mrpc_cqe *request)
{
	struct mrpc_stream *st = stream_new(qp, request->conn);

	if (!st)
		return NULL;
	st->in.token = request->call;
	st->done = !(request->flags & MRPC_CQE_MORE);
	st->sends = true;	/* the kernel knows whether the method has such messages */
	return st;
}

void stream_close(struct mrpc_stream *st)
{
	if (!st)
		return;
	drop_messages(st);
	st->closed = true;
	stream_free_if_done(st);
}

/* -- waiting ------------------------------------------------------------------------ */

/*
 * Looks what has come after a wait for completions, which ended with @err. A signal cancels a
 * client's call, as a synchronous one.
 */
static void stream_waited(struct mrpc_stream *st, int err)
{
	qp_harvest(st->qp);
	if (err == -EINTR && st->op)
		push_cancel(st);
	if (!err || is_temporary(err))
		return;
	st->end.status = MRPC_INTERNAL;
	stream_end(st, MRPC_INTERNAL);
}

static void push_grant(struct mrpc_stream *st)
{
	struct mrpc_sqe sqe = { .op = MRPC_OP_GRANT };

	if (st->consumed < GRANT_BYTES || st->ended)
		return;
	sqe.conn = st->in.conn;
	sqe.call = st->in.token;
	sqe.max_reply = st->consumed;
	if (qp_push(st->qp, &sqe, NULL))
		return;
	st->consumed = 0;
	/* The thread may wait elsewhere before it waits for this stream. */
	if (!st->nr)
		qp_enter(st->qp, 0, 0);
}

/* The next message, in @st->read. Return: false: no more come. */
static bool stream_read(struct mrpc_stream *st)
{
	drop_block(st, &st->read);
	qp_harvest(st->qp);
	while (!st->nr && !st->done && !st->ended)
		stream_waited(st, qp_wait_message(st->qp));
	if (!st->nr)
		return false;
	st->read = st->got[st->first++ & (st->cap - 1)];
	st->nr--;
	st->consumed += cost(&st->read);
	push_grant(st);
	return true;
}

const void *mrpc_stream_next(struct mrpc_stream *st, __u32 *len)
{
	if (!st || session_check(st->qp->session))
		return NULL;
	/* A server's first can be metadata alone. */
	do {
		if (!stream_read(st))
			return NULL;
	} while (!st->read.msg_len);
	if (len)
		*len = st->read.msg_len;
	return st->qp->session->recv + st->read.block;
}

bool mrpc_stream_compressed(const struct mrpc_stream *st)
{
	return st && st->read.flags & MRPC_CQE_COMPRESSED;
}

int mrpc_stream_status(const struct mrpc_stream *st)
{
	if (!st || !__atomic_load_n(&st->ended, __ATOMIC_ACQUIRE))
		return st ? MRPC_OK : MRPC_INTERNAL;
	return st->client ? st->end.status : st->status;
}

/* -- sending -------------------------------------------------------------------------- */

struct op *stream_push(struct mrpc_qp *qp, struct op_stream *in, struct mrpc_sqe *sqe,
		       void *blocks)
{
	bool copied = sqe->flags & MRPC_SQE_COPY;
	struct op *op = op_new(qp);

	if (!op) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	op->wait = OP_WAIT_SENT;
	op->conn = in->conn;
	op->stream = in;
	op->blocks = copied ? NULL : blocks;
	sqe->op = MRPC_OP_SEND;
	sqe->conn = in->conn;
	sqe->call = in->token;
	sqe->user_data = op->id;
	if (!qp_push(qp, sqe, copied ? blocks : NULL))
		return op;
	op->blocks = NULL;
	op_free(qp, op);
	return NULL;
}

/* Return: 0: submitted with the next flush, as sqe->user_data; -errno. */
static int send_entry(struct mrpc_stream *st, struct mrpc_sqe *sqe, void *blocks)
{
	struct op *op = stream_push(st->qp, &st->in, sqe, blocks);

	if (!op)
		return -errno;
	st->unsent++;
	if (sqe->flags & MRPC_SQE_END) {
		st->last = true;
		st->last_id = op->id;
	}
	return 0;
}

static int check_send(struct mrpc_stream *st, const struct mrpc_msg *msg)
{
	if (!st->sends)
		return fail(EINVAL, "this end of the stream has no messages to send");
	if (st->last)
		return fail(EPIPE, "the messages were ended before");
	if (msg && msg->err)
		return fail(-msg->err, "the message could not be built: %s", strerror(-msg->err));
	if (msg && (!msg->root || msg->session != st->qp->session))
		return fail(EINVAL, "the message was sent before, or is of another session");
	return 0;
}

/* Waits until one more may be sent. Return: 0; -EAGAIN: with MRPC_STREAM_NOWAIT, not now; -ECANCELED. */
static int wait_to_send(struct mrpc_stream *st, unsigned int flags)
{
	qp_harvest(st->qp);
	if (st->unsent >= SENDING_MAX && flags & MRPC_STREAM_NOWAIT && !st->ended) {
		qp_enter(st->qp, 0, 0);
		qp_harvest(st->qp);
		if (st->unsent >= SENDING_MAX)
			return fail(EAGAIN, "%u messages are not sent yet", st->unsent);
	}
	while (st->unsent >= SENDING_MAX && !st->ended)
		stream_waited(st, qp_enter(st->qp, 1, FOR_EVER));
	return st->ended ? fail(ECANCELED, "the call has ended") : 0;
}

/* A message that was submitted was refused. Its sentence is the latest error. */
static int tell_refused(struct mrpc_stream *st)
{
	int err = st->refused ? errno_of_status(st->refused) : 0;

	st->refused = MRPC_OK;
	return -err;
}

int stream_settle(struct mrpc_stream *st)
{
	if (!stream_is_mine(st))
		return 0;
	qp_flush(st->qp);
	return tell_refused(st);
}

int mrpc_stream_send(struct mrpc_stream *st, struct mrpc_msg *msg, unsigned int flags)
{
	struct mrpc_session *session;
	struct mrpc_sqe sqe = { 0 };
	void *blocks;
	int err;

	err = st ? session_check(st->qp->session) : fail(EINVAL, "there is no stream");
	if (!err)
		err = check_send(st, msg);
	if (!err && flags & ~(MRPC_STREAM_MORE | MRPC_STREAM_LAST | MRPC_STREAM_NOWAIT |
			      MRPC_STREAM_COMPRESS))
		err = fail(EINVAL, "unknown flags 0x%x", flags);
	if (!err && unlikely(!stream_is_mine(st)))
		return stream_send_away(st, msg, flags);
	if (!err)
		err = wait_to_send(st, flags);
	if (err == -EAGAIN)
		return err;
	if (!err)
		err = tell_refused(st);
	if (err) {
		mrpc_msg_free(msg);
		return err;
	}
	session = st->qp->session;
	sqe.root = send_off(session, msg->root);
	if (msg->total <= session->setup.copy_threshold)
		sqe.flags |= MRPC_SQE_COPY;
	if (flags & MRPC_STREAM_LAST)
		sqe.flags |= MRPC_SQE_END;
	if (flags & MRPC_STREAM_COMPRESS)
		sqe.flags |= MRPC_SQE_COMPRESS;
	blocks = msg_spend(msg);
	err = send_entry(st, &sqe, blocks);
	if (err) {
		blocks_free(session, blocks);
		return err;
	}
	if (flags & MRPC_STREAM_MORE)
		return 0;
	/* If this fails, the message is submitted later. */
	qp_flush(st->qp);
	return st->refused_id == sqe.user_data ? tell_refused(st) : 0;
}

int mrpc_stream_end(struct mrpc_stream *st)
{
	struct mrpc_sqe sqe = { .flags = MRPC_SQE_END | MRPC_SQE_EMPTY };
	int err;

	err = st ? session_check(st->qp->session) : fail(EINVAL, "there is no stream");
	if (err || !st->client || !st->sends || st->last || st->ended)
		return err;
	/* Without a wait for room: the kernel takes more than mrpc_stream_send() uses. */
	err = send_entry(st, &sqe, NULL);
	if (err)
		return err;
	qp_flush(st->qp);
	return st->refused_id == sqe.user_data ? tell_refused(st) : 0;
}

/* -- at a client ------------------------------------------------------------------------ */

/* Puts the metadata of the call into its message. @own: where the call has none. Return: status. */
static int open_meta(struct mrpc_session *session, struct mrpc_sqe *sqe, struct mrpc_msg **msg,
		     struct mrpc_msg *own, const struct mrpc_call_opts *opts,
		     struct mrpc_result *res)
{
	void *mem;

	if (!opts->meta || !opts->meta->len)
		return MRPC_OK;
	if (!*msg) {
		mrpc_msg_new(own, session, 8, opts->meta->len);
		*msg = own;
	}
	mem = mrpc_msg_alloc(*msg, opts->meta->len, 1);
	return call_add_meta(session, sqe, opts->meta, (*msg)->err ? NULL : mem, res);
}

/* Which connection of a channel: the one that it has now, or will have. Takes a reference to it. */
static int open_link(struct channel *ch, struct mrpc_sqe *sqe, const struct mrpc_call_opts *opts,
		     struct mrpc_result *res)
{
	struct retry_call over;
	int status;

	if (!ch)
		return MRPC_OK;
	channel_enter(ch);
	retry_prepare(&over, ch, NULL, sqe, opts);
	status = channel_link(ch, over.wait_ready, over.attempts.until, &sqe->conn, res);
	sqe->timeout_us = left_us(over.attempts.until);
	if (status)
		channel_leave(ch);
	return status;
}

/* Return: 0: the call will end, whatever comes; -errno: the kernel has not got it. */
static int submit_open(struct mrpc_stream *st, struct mrpc_sqe *sqe, struct mrpc_msg *msg)
{
	bool copied = sqe->flags & (MRPC_SQE_COPY | MRPC_SQE_STREAM);
	void *blocks = msg ? msg_spend(msg) : NULL;
	struct op *op = op_new(st->qp);
	u32 pos;
	int err;

	if (!op) {
		blocks_free(st->qp->session, blocks);
		return fail(ENOMEM, "out of memory");
	}
	op->conn = sqe->conn;
	op->stream = &st->in;
	op->wait = OP_WAIT_END;
	if (!copied && msg) {
		op->wait |= OP_WAIT_SENT;
		op->blocks = blocks;
	}
	sqe->user_data = op->id;
	st->op = op;
	err = qp_push(st->qp, sqe, copied ? blocks : NULL);
	if (!err) {
		pos = st->qp->ring.sq_tail - 1;
		err = qp_flush(st->qp);
		/* Other threads submit what is on a worker's queue: it cannot be taken back. */
		if (!err || st->qp->serve || !st->op || !qp_take_back(st->qp, pos))
			return 0;
	}
	st->op = NULL;
	op->blocks = NULL;
	op_free(st->qp, op);
	blocks_free(st->qp->session, blocks);
	return err;
}

struct mrpc_stream *mrpc_stream_open(struct mrpc_conn *conn,
				     const struct mrpc_service_desc *service, unsigned int method,
				     struct mrpc_msg *msg, const struct mrpc_call_opts *opts)
{
	static const struct mrpc_call_opts no_opts;
	struct channel *ch = conn->channel;	/* @conn may be closed during the wait */
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
	if (!status)
		status = open_meta(session, &sqe, &msg, &own, opts, &res);
	if (!status)
		status = open_link(ch, &sqe, opts, &res);
	if (status) {
		fail(errno_of_status(status), "%s", res.detail);
		goto drop;
	}
	qp = opts->qp ? opts->qp : mrpc_qp_self(session);
	st = qp ? stream_new(qp, sqe.conn) : NULL;
	if (!st) {
		if (qp)
			fail(ENOMEM, "out of memory");
		if (ch)
			channel_leave(ch);
		goto drop;
	}
	st->client = true;
	st->channel = ch;
	st->sends = service->methods[method].streams & MRPC_STREAMS_CLIENT;
	st->last = !st->sends;
	if (submit_open(st, &sqe, msg)) {
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
	if (!st->op)
		return;
	push_cancel(st);
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
			stream_waited(st, qp_wait_message(st->qp));
	}
	result_fill(st->qp->session, res, &st->end);
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
