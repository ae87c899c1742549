// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams: their messages, at both ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "clock.h"
#include "defer.h"
#include "msg.h"
#include "op.h"
#include "release.h"
#include "replay.h"
#include "result.h"
#include "roots.h"
#include "stream.h"

/* Consumed bytes that the kernel is not told of yet. */
#define GRANT_BYTES	(MRPC_STREAM_WINDOW / 8)

static u32 cost(const struct mrpc_cqe *cqe)
{
	return cqe->msg_len + cqe->meta_len + MRPC_STREAM_MESSAGE;
}

void stream_drop_block(struct mrpc_stream *st, struct mrpc_cqe *cqe)
{
	if (cqe->flags & MRPC_CQE_BLOCK)
		release_block(st->qp->session, cqe->block, cqe->msg_len + cqe->meta_len);
	cqe->flags &= (u8)~MRPC_CQE_BLOCK;
}

/* -- completions ------------------------------------------------------------------ */

void stream_free(struct op_stream *in)
{
	struct mrpc_stream *st = (struct mrpc_stream *)in;

	if (st->replay)
		replay_free(st->replay);
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

void stream_push_cancel(struct mrpc_stream *st)
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
	if (unlikely(st->replay))
		replay_answered(st);
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
			stream_push_cancel(st);
		else if (!st->client)
			stream_end(st, MRPC_RESOURCE_EXHAUSTED);
	}
	if (st->closed || st->broken) {
		stream_drop_block(st, &copy);
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
	if (unlikely(st->replay))
		replay_refused(st, cqe->user_data);
}

/* The call has ended at a client. A channel looks whether its connection stands. */
static void take_end(struct mrpc_stream *st, const struct mrpc_cqe *cqe)
{
	bool lost = false;

	if (st->op->wait)
		st->unsent++;	/* the kernel still reads its request */
	st->op = NULL;
	st->end = *cqe;
	if (st->channel && cqe->flags & MRPC_CQE_LOCAL && cqe->status == MRPC_UNAVAILABLE)
		lost = channel_lost(st->channel, st->in.conn);
	else if (st->channel && cqe->status == MRPC_OK)
		throttle_success(channel_throttle(st->channel));
	if (unlikely(st->replay) && replay_again(st, lost))
		return;
	st->ended = true;
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
		if (unlikely(st->replay))
			replay_opened(st);
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
		if (unlikely(st->replay))
			replay_sent(st);
		break;
	}
	if (st->on_event && !st->closed)
		qp_add_event(&st->in, st->qp);
	stream_free_if_done(st);
}

static void drop_messages(struct mrpc_stream *st)
{
	stream_drop_block(st, &st->read);
	for (; st->nr; st->nr--)
		stream_drop_block(st, &st->got[st->first++ & (st->cap - 1)]);
}

static void stream_abandon(struct op_stream *in)
{
	struct mrpc_stream *st = (struct mrpc_stream *)in;

	drop_messages(st);
	if (stream_stays(st))
		return;
	st->closed = true;
	if (st->replay)
		replay_drop(st);
	/* Its end may never be looked at: the channel does not wait for it. */
	if (st->channel)
		channel_leave(st->channel);
	st->channel = NULL;
	if (st->op)
		stream_push_cancel(st);
	stream_free_if_done(st);
}

static const struct op_stream_ops stream_ops = {
	.take = stream_take, .abandon = stream_abandon, .free = stream_free,
};

struct mrpc_stream *stream_new(struct mrpc_qp *qp, u32 conn)
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
	if (st->replay)
		replay_drop(st);
	stream_free_if_done(st);
}

/* -- waiting ------------------------------------------------------------------------ */

/* Takes completions. Calls that wait for their channel go on, if they can. */
static void look(struct mrpc_stream *st)
{
	qp_harvest(st->qp);
	if (unlikely(st->qp->nr_parked))
		st->qp->lot_ops->resume(st->qp);
}

void stream_cancel(struct mrpc_stream *st, const char *why)
{
	if (st->replay && replay_cancel(st, why))
		return;
	if (st->op)
		stream_push_cancel(st);
}

/* Looks what has come in a wait, which ended with @err. */
static void stream_waited(struct mrpc_stream *st, int err)
{
	look(st);
	if (err == -EINTR)
		stream_cancel(st, "interrupted by a signal");
	if (!err || is_temporary(err))
		return;
	st->end.status = MRPC_INTERNAL;
	stream_end(st, MRPC_INTERNAL);
}

void stream_wait(struct mrpc_stream *st)
{
	/* A stream that is not committed goes on when the kernel has finished with its messages. */
	stream_waited(st, st->qp->nr_replays ? qp_enter(st->qp, 1, FOR_EVER) :
					       qp_wait_message(st->qp));
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

bool stream_read(struct mrpc_stream *st)
{
	stream_drop_block(st, &st->read);
	qp_harvest(st->qp);
	while (!st->nr && !st->done && !st->ended)
		stream_wait(st);
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
	const u8 *message;

	if (!st || session_check(st->qp->session))
		return NULL;
	/* A server's first can be metadata alone. */
	do {
		if (!stream_read(st))
			return NULL;
	} while (!st->read.msg_len);
	if (len)
		*len = st->read.msg_len;
	message = st->qp->session->recv + st->read.block;
	if (unlikely(roots_watched))
		roots_begin(st->qp->session, message, message, st->read.msg_len);
	return message;
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

struct op *stream_op(struct mrpc_qp *qp, struct op_stream *in, struct mrpc_sqe *sqe)
{
	struct op *op = op_new(qp);

	if (!op) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	op->wait = OP_WAIT_SENT;
	op->conn = in->conn;
	op->stream = in;
	sqe->op = MRPC_OP_SEND;
	sqe->conn = in->conn;
	sqe->call = in->token;
	sqe->user_data = op->id;
	return op;
}

struct op *stream_push(struct mrpc_qp *qp, struct op_stream *in, struct mrpc_sqe *sqe,
		       void *blocks)
{
	bool copied = sqe->flags & MRPC_SQE_COPY;
	struct op *op = stream_op(qp, in, sqe);

	if (!op)
		return NULL;
	op->blocks = copied ? NULL : blocks;
	if (!qp_push(qp, sqe, copied ? blocks : NULL))
		return op;
	op->blocks = NULL;
	op_free(qp, op);
	return NULL;
}

/* Return: as send_entry(). */
static int send_now(struct mrpc_stream *st, struct mrpc_sqe *sqe, void *blocks)
{
	struct op *op = stream_push(st->qp, &st->in, sqe, blocks);
	int err = op ? 0 : -errno;

	if (err) {
		blocks_free(st->qp->session, blocks);
		return err;
	}
	st->unsent++;
	if (sqe->flags & MRPC_SQE_END)
		st->last_id = op->id;
	return 0;
}

/*
 * @total: bytes of the message. Return: 0: submitted with the next flush, as sqe->user_data, or
 * kept; -errno. The blocks are spent.
 */
static int send_entry(struct mrpc_stream *st, struct mrpc_sqe *sqe, void *blocks, u64 total)
{
	int err = unlikely(st->replay) && replay_keeps(st, total) ?
		  replay_send(st, sqe, blocks, total) : send_now(st, sqe, blocks);

	if (!err && sqe->flags & MRPC_SQE_END)
		st->last = true;
	return err;
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

static bool has_room(const struct mrpc_stream *st, u64 total)
{
	return st->unsent < SENDING_MAX &&
	       (likely(!st->replay) || replay_has_room(st->replay, total));
}

/*
 * Waits until a message of @total bytes may be sent. Return: 0; -EAGAIN: with MRPC_STREAM_NOWAIT,
 * not now; -ECANCELED.
 */
static int wait_to_send(struct mrpc_stream *st, u64 total, unsigned int flags)
{
	look(st);
	if (!has_room(st, total) && flags & MRPC_STREAM_NOWAIT && !st->ended) {
		qp_enter(st->qp, 0, 0);
		look(st);
		if (!has_room(st, total) && !st->ended)
			return fail(EAGAIN, "%u messages are not sent yet", st->unsent +
				    (st->replay ? st->replay->nr - st->replay->next : 0));
	}
	while (!has_room(st, total) && !st->ended)
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
		err = wait_to_send(st, msg->total, flags);
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
	err = send_entry(st, &sqe, msg_spend(msg), msg->total);
	if (err || flags & MRPC_STREAM_MORE)
		return err;
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
	err = send_entry(st, &sqe, NULL, 0);
	if (err)
		return err;
	qp_flush(st->qp);
	return st->refused_id == sqe.user_data ? tell_refused(st) : 0;
}
