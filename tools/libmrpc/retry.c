// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls over channels that are made again, and asynchronous ones.
 *
 * An asynchronous call is parked while its channel has no connection, if it ends without having
 * been sent, and if it fails and the service config says that it is made again. Its message stays
 * in the send heap until it has ended. lot.c decides when a parked call is looked at.
 *
 * No completion is taken while a call changes: what needs room in the submission queue makes it
 * before, or waits for it in the lot.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "clock.h"
#include "hedge.h"
#include "msg.h"
#include "release.h"
#include "result.h"
#include "retry.h"

/* Of an attempt that is refused for want of room: the first pause, and how many there are. */
#define REFUSED_NS	1000000u
#define REFUSED_MAX	8

void retry_prepare(struct retry_call *call, struct channel *ch, struct mrpc_msg *msg,
		   const struct mrpc_sqe *sqe, const struct mrpc_call_opts *opts)
{
	const struct method_config *config = channel_config(ch, sqe->method);

	memset(call, 0, sizeof(*call));
	call->channel = ch;
	call->wait_ready = opts->flags & MRPC_CALL_WAIT_READY || config->wait_ready;
	call->attempts.policy = &config->retry;
	call->attempts.throttle = channel_throttle(ch);
	call->attempts.until = deadline_of(sqe->timeout_us);
	call->msg = msg;
	call->keep = opts->flags & MRPC_CALL_KEEP;
	if (config->hedging.max_attempts)
		call->hedging = &config->hedging;
}

u32 retry_meta_room(const struct retry_call *call, const struct mrpc_call_opts *opts)
{
	return attempts_room(call->attempts.policy, opts->meta ? opts->meta->len : 0);
}

void retry_tell(const struct retry_call *call, const struct mrpc_session *session,
		struct mrpc_sqe *sqe)
{
	if (!call->mem)
		return;
	attempts_write(call->attempts.failed, call->mem);
	if (!sqe->meta_len)
		sqe->meta = send_off(session, call->mem);
	sqe->meta_len = send_off(session, call->mem) - sqe->meta + (u32)ATTEMPTS_META;
}

void retry_fill(const struct retry_call *call, const struct mrpc_session *session,
		struct mrpc_sqe *sqe, u32 id)
{
	if (call->attempts.failed)
		retry_tell(call, session, sqe);
	sqe->conn = id;
	sqe->timeout_us = left_us(call->attempts.until);
}

void retry_wait_for_link(const struct retry_call *call, struct lot *lot, struct parked *p)
{
	lot_park(lot, p, call->wait_ready ? LOT_WAIT_READY : LOT_WAIT, call->attempts.until);
}

void retry_explain(const struct retry_call *call, const char *has_link, struct mrpc_result *res)
{
	u32 id;

	if (!channel_link(call->channel, call->wait_ready, 0, &id, res))
		result_fail(res, MRPC_DEADLINE_EXCEEDED, "%s", has_link);
	res->unsent = true;
}

void retry_leave(struct retry *r)
{
	if (!r->lot)
		return;
	lot_put(r->lot);
	channel_leave(r->call.channel);
	r->lot = NULL;
}

void retry_free(struct retry *r)
{
	r->op->retry = NULL;
	retry_leave(r);
	free(r);
}

/* Ends a call that the kernel has not got. The detail is in @r. */
static void end(struct retry *r, int status)
{
	struct mrpc_cqe cqe = cqe_unsent(status);

	cqe.user_data = r->op->id;
	r->op->wait &= ~OP_WAIT_LINK;
	if (r->hedge)
		hedge_ends(r, &cqe);
	else
		op_end(r->lot->qp, r->op, &cqe);
}

static void fail_with(struct retry *r, const struct mrpc_result *res)
{
	memcpy(r->detail, res->detail, sizeof(r->detail));
	end(r, res->status);
}

/* -- waiting -------------------------------------------------------------------------------- */

static void wait_for_link(struct retry *r)
{
	retry_wait_for_link(&r->call, r->lot, &r->wait);
}

/* It is not made before attempts.next. */
static void pause_call(struct retry *r)
{
	lot_park(r->lot, &r->wait, LOT_PAUSED, r->call.attempts.next);
}

static void set_waiting(struct retry *r)
{
	r->op->wait = OP_WAIT_END | OP_WAIT_LINK;
	r->op->conn = 0;
}

/* Gives a call to the kernel. Return: false: not now, without room in the queue. */
static bool push(struct retry *r, u32 id)
{
	struct mrpc_qp *qp = r->lot->qp;

	retry_fill(&r->call, qp->session, &r->sqe, id);
	if (!qp_push_now(qp, &r->sqe))
		return false;
	r->op->conn = id;
	r->op->wait = OP_WAIT_END | OP_WAIT_SENT;
	r->in_kernel = true;
	op_begun(qp, r->op);
	return true;
}

/* As channel_try(). The connection has room, and is none that the call's other attempts have. */
static int find_link(const struct retry *r, u32 *id, struct mrpc_result *res)
{
	struct channel_conn conn;
	struct avoid avoid;
	int status;

	avoid.nr = 0;
	if (r->hedge)
		hedge_used(r->hedge, &avoid);
	do {
		status = channel_try(r->call.channel, r->call.wait_ready, &avoid, &conn, res);
		if (status)
			return status;
		*id = conn.id;
		if (ops_have_room(r->lot->qp, conn.id, conn.max_calls))
			return MRPC_OK;
	} while (avoid_add(&avoid, conn.id));
	return -EAGAIN;
}

static bool go(struct parked *p)
{
	struct retry *r = retry_parked(p);
	struct mrpc_result res;
	u32 id;
	int status = find_link(r, &id, &res);

	if (status == -EAGAIN || (!status && !push(r, id)))
		return false;
	lot_unpark(p);
	if (status && attempts_again(&r->call.attempts, &res))
		pause_call(r);
	else if (status)
		fail_with(r, &res);
	return true;
}

/* The pause is over, or the deadline has passed. */
static void due(struct parked *p)
{
	struct retry *r = retry_parked(p);
	struct mrpc_result res;

	lot_unpark(p);
	if (p->list == LOT_PAUSED) {
		wait_for_link(r);
		return;
	}
	retry_explain(&r->call, "the connection has had no room for one more call until the deadline",
		      &res);
	fail_with(r, &res);
}

static const struct parked_ops parked_ops = { .go = go, .due = due };

/* -- for the queue pair ------------------------------------------------------------------------ */

/*
 * A cancelled attempt has ended here while its server has not said so yet: until then the kernel
 * keeps its room. So an attempt that is refused for want of room is made again after a pause, some
 * times.
 */
static bool finds_room_later(struct retry *r, const struct mrpc_cqe *cqe)
{
	if (!r->hedge || cqe->status != MRPC_RESOURCE_EXHAUSTED ||
	    !(cqe->flags & MRPC_CQE_UNSENT) || r->refused == REFUSED_MAX)
		return false;
	r->call.attempts.next = clock_ns() + ((u64)REFUSED_NS << r->refused++);
	return r->call.attempts.next < r->call.attempts.until;
}

/* Is the call, which has ended, to be made again? It then waits as attempts.next says, or not. */
static bool is_to_be_made(struct mrpc_qp *qp, struct retry *r, const struct mrpc_cqe *cqe,
			  bool *pauses)
{
	struct mrpc_result res;

	*pauses = false;
	if (cqe->status == MRPC_OK) {
		throttle_success(r->call.attempts.throttle);
		return false;
	}
	if (cqe->flags & MRPC_CQE_UNSENT && channel_lost(r->call.channel, cqe->conn))
		return true;
	result_fill(qp->session, &res, cqe);
	*pauses = finds_room_later(r, cqe) || attempts_again(&r->call.attempts, &res);
	return *pauses;
}

/* With OP_WAIT_LINK: the kernel does not read its blocks any more. */
static void freed(struct mrpc_qp *qp, struct op *op)
{
	struct retry *r = retry_of(op->retry);

	(void)qp;
	if (r->hedge && !r->lot) {
		hedge_freed(r);
		return;
	}
	set_waiting(r);
	if (r->call.attempts.next)
		pause_call(r);
	else
		wait_for_link(r);
}

static bool takes(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe)
{
	struct retry *r = retry_of(op->retry);
	bool pauses;

	r->in_kernel = false;
	if (r->hedge && !r->lot) {
		hedge_ends(r, cqe);
		return true;
	}
	if (!is_to_be_made(qp, r, cqe, &pauses)) {
		if (!r->hedge)
			return false;
		hedge_ends(r, cqe);
		return true;
	}
	if (cqe->flags & MRPC_CQE_BLOCK)
		release_block(qp->session, cqe->block, cqe->msg_len + cqe->meta_len);
	if (!pauses)
		r->call.attempts.next = 0;
	if (op->wait & OP_WAIT_SENT && !(cqe->flags & MRPC_CQE_FREED))
		op->wait |= OP_WAIT_LINK;	/* parked when the kernel no longer reads its blocks */
	else
		freed(qp, op);
	return true;
}

static void finish(struct op *op, struct mrpc_result *res)
{
	struct retry *r = retry_of(op->retry);

	if (r->detail[0])
		memcpy(res->detail, r->detail, sizeof(res->detail));
	if (r->call.attempts.sent)
		res->unsent = false;
	retry_free(r);
}

static bool cancel(struct mrpc_qp *qp, struct op *op)
{
	struct retry *r = retry_of(op->retry);

	(void)qp;
	if (!(op->wait & OP_WAIT_LINK))
		return false;
	/* If the kernel still reads its blocks, it is not parked. */
	if (is_parked(&r->wait))
		lot_unpark(&r->wait);
	snprintf(r->detail, sizeof(r->detail), "cancelled by the application");
	end(r, MRPC_CANCELLED);
	return true;
}

/* From now on it is a call as any other, which ends without a callback. */
static void abandon(struct mrpc_qp *qp, struct op *op)
{
	struct retry *r = retry_of(op->retry);

	if (r->hedge) {
		hedge_abandon(r->hedge);
		return;
	}
	if (is_parked(&r->wait))
		lot_unpark(&r->wait);
	retry_free(r);
	if (!(op->wait & OP_WAIT_LINK))
		return;
	op->wait &= OP_WAIT_SENT;
	if (op->wait)
		return;
	blocks_free(qp->session, op->blocks);
	op->blocks = NULL;
	op_free(qp, op);
}

static void free_op(struct op *op)
{
	struct retry *r = retry_of(op->retry);

	if (is_parked(&r->wait))
		lot_unpark(&r->wait);
	if (r->hedge)
		hedge_free_attempt(r);
	else
		retry_free(r);
}

static const struct op_retry_ops retry_ops = {
	.takes = takes,
	.freed = freed,
	.finish = finish,
	.cancel = cancel,
	.abandon = abandon,
	.free = free_op,
};

/* -- beginning ---------------------------------------------------------------------------------- */

struct retry *retry_new(struct mrpc_qp *qp, const struct retry_call *call,
			const struct mrpc_sqe *sqe, struct op *op)
{
	struct retry *r = malloc(sizeof(*r));
	struct lot *lot = r ? lot_get(qp, call->channel) : NULL;

	if (!lot) {
		free(r);
		return NULL;
	}
	channel_enter(call->channel);
	r->base.ops = &retry_ops;
	r->wait.ops = &parked_ops;
	r->wait.prev = NULL;
	r->call = *call;
	r->lot = lot;
	r->op = op;
	r->sqe = *sqe;
	r->sqe.flags &= ~MRPC_SQE_COPY;	/* the message may be needed again */
	r->sqe.user_data = op->id;
	r->in_kernel = false;
	r->detail[0] = '\0';
	r->hedge = NULL;
	r->number = 0;
	r->refused = 0;
	r->meta = NULL;
	op->retry = &r->base;
	return r;
}

int retry_begin(struct retry *r, struct mrpc_result *res)
{
	u32 id = 0;
	int status = find_link(r, &id, res);

	if (status && status != -EAGAIN && !attempts_again(&r->call.attempts, res))
		return status;
	set_waiting(r);
	if (status == -EAGAIN || (!status && !push(r, id)))
		wait_for_link(r);
	else if (status)
		pause_call(r);
	return MRPC_OK;
}

int retry_start(struct mrpc_qp *qp, const struct retry_call *call, struct mrpc_sqe *sqe,
		struct mrpc_msg *msg, struct op *op, struct mrpc_result *res)
{
	struct retry *r = retry_new(qp, call, sqe, op);
	int status = MRPC_RESOURCE_EXHAUSTED;

	if (!r)
		result_fail(res, status, "out of memory");
	/* Before: the kernel may end it at once. */
	op->blocks = r ? msg_spend(msg) : NULL;
	qp->in_flight++;
	if (r && qp_make_room(qp, 1))
		result_fail(res, status, "%s", mrpc_last_error());
	else if (r)
		status = retry_begin(r, res);
	if (!status)
		return MRPC_OK;
	qp->in_flight--;
	if (r)
		retry_free(r);
	blocks_free(qp->session, op->blocks);
	op->blocks = NULL;
	mrpc_msg_free(msg);
	op_free(qp, op);
	set_error("%s", res->detail);
	return status;
}
