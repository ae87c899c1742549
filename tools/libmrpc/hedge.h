/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_HEDGE_H
#define LIBMRPC_HEDGE_H

#include "balance.h"
#include "retry.h"

/* As retry_start(), for a call with retry_call.hedging. */
int hedge_start(struct mrpc_qp *qp, const struct retry_call *call, struct mrpc_sqe *sqe,
		struct mrpc_msg *msg, struct op *op, struct mrpc_result *res);

/*
 * The same, and waits for its end. The message is spent, unless the caller keeps it. The metadata is
 * the caller's. Return: the status; -EAGAIN: it was not begun, because the thread has no queue pair
 * for it.
 */
int hedge_sync(struct mrpc_session *session, const struct retry_call *call,
	       const struct mrpc_sqe *sqe, struct mrpc_result *res);

/* For attempts, which retry.c makes. */

/* Adds the connections that attempts have been made over. */
void hedge_used(const struct hedge *h, struct avoid *avoid);
/* The attempt has ended, and is not made again. It may be free afterwards. */
void hedge_ends(struct retry *r, const struct mrpc_cqe *cqe);
/* It has ended before, and the kernel does not read its blocks any more. Frees it. */
void hedge_freed(struct retry *r);
/* The thread of its call has ended. The call leaves its channel, and no more attempts begin. */
void hedge_abandon(struct hedge *h);
/* The queue pair is being destroyed. */
void hedge_free_attempt(struct retry *r);

#endif /* LIBMRPC_HEDGE_H */
