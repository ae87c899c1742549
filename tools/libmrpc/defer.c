// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams of deferred calls: the handler has returned MRPC_DEFER.
 *
 * A stream stays the worker's: the worker takes its completions, reads its messages, calls back when
 * something has come, and frees it. Another thread sends on a queue pair of its own, and ends the
 * call. It then leaves the stream, with the memory of the call, to the worker. So what the worker
 * calls back for is never freed meanwhile, and no lock is needed.
 */
#include <errno.h>
#include <stdlib.h>

#include "defer.h"
#include "msg.h"
#include "op.h"

void stream_begin(struct mrpc_stream *st, struct mrpc_call *call)
{
	st->call = call;
	st->serving = true;
}

void stream_defer(struct mrpc_stream *st)
{
	st->serving = false;
	st->deferred = true;
}

static bool is_left(const struct mrpc_stream *st)
{
	return __atomic_load_n(&st->left, __ATOMIC_ACQUIRE);
}

bool stream_leave(struct mrpc_stream *st)
{
	struct mrpc_qp *qp;
	bool deferred;

	if (!st)
		return false;
	qp = st->qp;
	/* A handler that replies and then returns MRPC_DEFER finds its stream alive, too. */
	if (!stream_is_mine(st) || st->serving) {
		__atomic_store_n(&st->left, true, __ATOMIC_RELEASE);	/* now it can be freed */
		__atomic_add_fetch(&qp->left, 1, __ATOMIC_RELEASE);
		return true;
	}
	deferred = st->deferred;
	stream_close(st);
	return deferred;
}

bool stream_stays(struct mrpc_stream *st)
{
	if (!st->deferred || is_left(st))
		return false;
	stream_end(st, MRPC_UNAVAILABLE);
	if (st->on_event)
		qp_add_event(&st->in, st->qp);
	return true;
}

static void free_left(struct mrpc_qp *qp)
{
	struct op_stream *in, *next;

	if (!__atomic_exchange_n(&qp->left, 0, __ATOMIC_ACQUIRE))
		return;
	for (in = qp->streams; in; in = next) {
		next = in->next;
		if (is_left((struct mrpc_stream *)in))
			stream_close((struct mrpc_stream *)in);
	}
}

void defer_run(struct mrpc_qp *qp)
{
	struct mrpc_stream *st;

	free_left(qp);
	st = (struct mrpc_stream *)qp_take_event(qp);
	if (!st)
		return;
	if (st->closed)
		stream_free_if_done(st);
	else if (!is_left(st))
		st->on_event(st->call);
}

void mrpc_call_on_event(struct mrpc_call *call, mrpc_event_fn fn)
{
	struct mrpc_stream *st = mrpc_call_stream(call);

	if (!st)
		return;
	st->on_event = fn;
	/* Something may have come before. */
	qp_add_event(&st->in, st->qp);
}

unsigned int mrpc_stream_ready(const struct mrpc_stream *st)
{
	unsigned int ready = 0;

	if (!st)
		return 0;
	if (st->nr || st->done || st->ended)
		ready |= MRPC_STREAM_READABLE;
	if (st->unsent < SENDING_MAX || st->ended)
		ready |= MRPC_STREAM_WRITABLE;
	return ready;
}

/* -- sending from another thread --------------------------------------------------------- */

/**
 * struct away - a SEND of another thread
 * @in: takes its completion
 * @session: of the call
 * @done: the completion has come
 * @refused: it was an error
 * @status: what it said
 */
struct away {
	struct op_stream in;
	struct mrpc_session *session;
	bool done;
	bool refused;
	u16 status;
};

static void away_take(struct op_stream *in, const struct mrpc_cqe *cqe)
{
	struct away *away = (struct away *)in;

	away->done = true;
	away->refused = cqe->type == MRPC_CQE_ERROR;
	away->status = cqe->status;
	if (away->refused)
		stream_explain(away->session, cqe);
}

static const struct op_stream_ops away_ops = { .take = away_take };

/* Submits it. What the kernel says at once is in @away. Return: 0 or -errno. */
static int submit_away(struct away *away, struct mrpc_qp *qp, struct mrpc_sqe *sqe, void *blocks)
{
	struct op *op = stream_push(qp, &away->in, sqe, blocks);

	if (!op) {
		blocks_free(away->session, blocks);
		return -errno;
	}
	/* If this fails, the message is submitted later. */
	qp_flush(qp);
	if (!away->done)
		op->stream = NULL;
	return 0;
}

int stream_send_away(struct mrpc_stream *st, struct mrpc_msg *msg, unsigned int flags)
{
	struct away away = {
		.in = { .ops = &away_ops, .conn = st->in.conn, .token = st->in.token },
		.session = st->qp->session,
	};
	struct mrpc_qp *qp = mrpc_qp_self(away.session);
	struct mrpc_sqe sqe = { 0 };
	int err;

	if (!qp) {
		mrpc_msg_free(msg);
		return -errno;
	}
	sqe.root = send_off(away.session, msg->root);
	/* Such a thread may never look at its completions, which free the blocks of others. */
	if (msg->total <= MRPC_MAX_COPY)
		sqe.flags = MRPC_SQE_COPY;
	if (flags & MRPC_STREAM_COMPRESS)
		sqe.flags |= MRPC_SQE_COMPRESS;
	err = submit_away(&away, qp, &sqe, msg_spend(msg));
	if (err || !away.done)
		return err;
	if (away.refused)
		return -errno_of_status(away.status);
	return away.status == MRPC_OK ? 0 : fail(ECANCELED, "the call has ended");
}
