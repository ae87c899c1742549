/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_DEFER_H
#define LIBMRPC_DEFER_H

#include "stream.h"

/* Is the calling thread the one that may do everything with the stream? */
static inline bool stream_is_mine(const struct mrpc_stream *st)
{
	struct tctx *t;

	if (st->client)
		return true;
	t = tctx_get(st->qp->session);
	return t && t->qp == st->qp;
}

/* A handler begins, or has ended with MRPC_DEFER. */
void stream_begin(struct mrpc_stream *stream, struct mrpc_call *call);
void stream_defer(struct mrpc_stream *stream);

/*
 * Gives up the stream of a call that was answered. Return: true: the stream takes the memory of the
 * call, too, and frees it, perhaps later. NULL is allowed.
 */
bool stream_leave(struct mrpc_stream *stream);

/* Does the stream outlive its worker, because its call is deferred? It then ends with UNAVAILABLE. */
bool stream_stays(struct mrpc_stream *stream);

/* mrpc_stream_send() of another thread than the worker. */
int stream_send_away(struct mrpc_stream *stream, struct mrpc_msg *msg, unsigned int flags);

RARE void defer_run(struct mrpc_qp *qp);

/*
 * Frees streams that other threads have left, and calls back for one that has an event. For the
 * worker, outside of handlers. Return: false if there was nothing.
 */
static inline bool defer_serve(struct mrpc_qp *qp)
{
	if (likely(!qp->events.first && !__atomic_load_n(&qp->left, __ATOMIC_ACQUIRE)))
		return false;
	defer_run(qp);
	return true;
}

#endif /* LIBMRPC_DEFER_H */
