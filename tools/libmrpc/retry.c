// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls over channels that are made again, and asynchronous ones.
 *
 * An asynchronous call is parked while its channel has no connection, if it ends without having
 * been sent, and if it fails and the service config says that it is made again. Its message stays
 * in the send heap until it has ended. A queue pair looks at its parked calls whenever it runs
 * callbacks, and wakes up now and then to do so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "msg.h"
#include "release.h"
#include "result.h"
#include "retry.h"

/**
 * struct retry - one asynchronous call over a channel, until it has ended
 * @base: what the queue pair knows of it
 * @waiter: while it is parked: in the channel's list
 * @call: how it is made; the call is inside its channel
 * @op: the call
 * @sqe: its entry
 * @pauses: it is not made before attempts.next
 * @detail: why it failed here, or ""
 */
struct retry {
	struct op_retry base;
	struct channel_waiter waiter;
	struct retry_call call;
	struct op *op;
	struct mrpc_sqe sqe;
	bool pauses;
	char detail[MRPC_MAX_DETAIL + 1];
};

void retry_prepare(struct retry_call *call, struct channel *ch, const struct mrpc_sqe *sqe,
		   const struct mrpc_call_opts *opts)
{
	const struct method_config *config = channel_config(ch, sqe->method);

	memset(call, 0, sizeof(*call));
	call->channel = ch;
	call->wait_ready = opts->flags & MRPC_CALL_WAIT_READY || config->wait_ready;
	call->attempts.policy = &config->retry;
	call->attempts.throttle = channel_throttle(ch);
	call->attempts.until = deadline_of(sqe->timeout_us);
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
	attempts_write(&call->attempts, call->mem);
	if (!sqe->meta_len)
		sqe->meta = send_off(session, call->mem);
	sqe->meta_len = send_off(session, call->mem) - sqe->meta + (u32)ATTEMPTS_META;
}

static struct retry *retry_of(struct op_retry *base)
{
	return (struct retry *)base;
}

static void retry_free(struct op *op)
{
	struct retry *r = retry_of(op->retry);

	op->retry = NULL;
	channel_del_waiter(r->call.channel, &r->waiter);
	channel_leave(r->call.channel);
	free(r);
}

/* Ends a call that the kernel has ended, or has not got. The detail is in @r. */
static void end(struct mrpc_qp *qp, struct retry *r, int status)
{
	struct mrpc_cqe cqe = {
		.type = MRPC_CQE_REPLY,
		.flags = MRPC_CQE_LOCAL | MRPC_CQE_UNSENT,
		.status = (u16)status,
		.user_data = r->op->id,
	};

	op_end(qp, r->op, &cqe);
}

static void park(struct mrpc_qp *qp, struct op *op)
{
	struct retry *r = retry_of(op->retry);

	op->wait = OP_WAIT_END | OP_WAIT_LINK;
	op->conn = 0;
	r->base.next = NULL;
	*qp->parked.last = &r->base;
	qp->parked.last = &r->base.next;
	r->waiter.eventfd = qp->eventfd;
	r->waiter.until = r->pauses ? r->call.attempts.next : r->call.attempts.until;
	channel_add_waiter(r->call.channel, &r->waiter);
}

/* The pause is over: what it waits for now ends at its deadline. */
static void end_pause(struct retry *r)
{
	r->pauses = false;
	channel_del_waiter(r->call.channel, &r->waiter);
	r->waiter.until = r->call.attempts.until;
	channel_add_waiter(r->call.channel, &r->waiter);
}

/* @p: what points to it in the queue pair's list. */
static void unpark(struct mrpc_qp *qp, struct op_retry **p)
{
	struct retry *r = retry_of(*p);

	*p = r->base.next;
	if (!*p)
		qp->parked.last = p;
	channel_del_waiter(r->call.channel, &r->waiter);
	r->op->wait &= ~OP_WAIT_LINK;
}

static bool has_room(struct mrpc_qp *qp, u32 id)
{
	u32 max = qp->session->setup.max_calls;

	return qp->in_flight <= max || ops_under_way(qp, id) < max;
}

/* Gives a call to the kernel. Return: 0 or -errno, with the error set. */
static int push(struct mrpc_qp *qp, struct retry *r, u32 id)
{
	int err;

	if (r->call.attempts.failed)
		retry_tell(&r->call, qp->session, &r->sqe);
	r->sqe.conn = id;
	r->sqe.timeout_us = left_us(r->call.attempts.until);
	r->op->conn = id;
	r->op->wait |= OP_WAIT_SENT;
	err = qp_push(qp, &r->sqe, NULL);
	if (err)
		r->op->wait &= ~OP_WAIT_SENT;
	return err;
}

/* As channel_try(). At the deadline it says what the call has waited for. */
static int try_link(struct retry *r, u32 *id, struct mrpc_result *res)
{
	const struct retry_call *c = &r->call;
	int status = channel_try(c->channel, c->wait_ready, id, res);

	if (status == -EAGAIN && clock_ns() >= c->attempts.until)
		status = channel_link(c->channel, c->wait_ready, 0, id, res);
	return status;
}

/* Looks at one parked call. @p: what points to it. Return: true: it is parked no more. */
static bool resume(struct mrpc_qp *qp, struct op_retry **p)
{
	struct retry *r = retry_of(*p);
	struct mrpc_result res;
	int status;
	u32 id;

	if (r->pauses) {
		if (clock_ns() < r->call.attempts.next && !channel_is_closed(r->call.channel))
			return false;
		end_pause(r);
	}
	status = try_link(r, &id, &res);
	if (status == -EAGAIN)
		return false;
	if (!status && !has_room(qp, id)) {
		if (clock_ns() < r->call.attempts.until)
			return false;
		result_fail(&res, MRPC_DEADLINE_EXCEEDED,
			    "the connection has had no room for one more call until the deadline");
		res.unsent = true;
		status = res.status;
	}
	if (status && attempts_again(&r->call.attempts, &res)) {
		unpark(qp, p);
		r->pauses = true;
		park(qp, r->op);
		return true;
	}
	unpark(qp, p);
	if (!status && push(qp, r, id)) {
		snprintf(r->detail, sizeof(r->detail), "%s", mrpc_last_error());
		end(qp, r, MRPC_RESOURCE_EXHAUSTED);
	} else if (status) {
		memcpy(r->detail, res.detail, sizeof(r->detail));
		end(qp, r, status);
	}
	return true;
}

static void resume_all(struct mrpc_qp *qp)
{
	struct op_retry **p = &qp->parked.first;

	while (*p)
		if (!resume(qp, p))
			p = &(*p)->next;
}

/* Is the call, which has ended, to be made again? */
static bool is_to_be_made(struct mrpc_qp *qp, struct retry *r, const struct mrpc_cqe *cqe)
{
	struct mrpc_result res;

	if (cqe->status == MRPC_OK) {
		throttle_success(r->call.attempts.throttle);
		return false;
	}
	if (!r->op->done)
		return false;
	if (cqe->flags & MRPC_CQE_UNSENT && channel_lost(r->call.channel, cqe->conn))
		return true;
	result_fill(qp->session, &res, cqe);
	if (!attempts_again(&r->call.attempts, &res))
		return false;
	r->pauses = true;
	return true;
}

static bool takes(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe)
{
	if (!is_to_be_made(qp, retry_of(op->retry), cqe))
		return false;
	if (cqe->flags & MRPC_CQE_BLOCK)
		release_block(qp->session, cqe->block, cqe->msg_len + cqe->meta_len);
	if (op->wait & OP_WAIT_SENT && !(cqe->flags & MRPC_CQE_FREED))
		op->wait |= OP_WAIT_LINK;	/* parked when the kernel no longer reads its blocks */
	else
		park(qp, op);
	return true;
}

static void finish(struct op *op, struct mrpc_result *res)
{
	struct retry *r = retry_of(op->retry);

	if (r->detail[0])
		memcpy(res->detail, r->detail, sizeof(res->detail));
	retry_free(op);
}

static bool cancel(struct mrpc_qp *qp, struct op *op)
{
	struct op_retry **p = &qp->parked.first;
	struct retry *r = retry_of(op->retry);

	if (!(op->wait & OP_WAIT_LINK))
		return false;
	/* If the kernel still reads its blocks, it is not in the list. */
	while (*p && *p != op->retry)
		p = &(*p)->next;
	if (*p)
		unpark(qp, p);
	op->wait &= ~OP_WAIT_LINK;
	snprintf(r->detail, sizeof(r->detail), "cancelled by the application");
	end(qp, r, MRPC_CANCELLED);
	return true;
}

static const struct op_retry_ops retry_ops = {
	.takes = takes,
	.park = park,
	.resume_all = resume_all,
	.finish = finish,
	.cancel = cancel,
	.free = retry_free,
};

static struct retry *retry_new(const struct retry_call *call, const struct mrpc_sqe *sqe,
			       struct op *op)
{
	struct retry *r = malloc(sizeof(*r));

	if (!r)
		return NULL;
	channel_enter(call->channel);
	r->base.ops = &retry_ops;
	r->call = *call;
	r->op = op;
	r->sqe = *sqe;
	r->sqe.flags &= ~MRPC_SQE_COPY;	/* the message may be needed again */
	r->sqe.user_data = op->id;
	r->pauses = false;
	r->waiter.prev = NULL;
	r->detail[0] = '\0';
	op->retry = &r->base;
	return r;
}

int retry_start(struct mrpc_qp *qp, const struct retry_call *call, struct mrpc_sqe *sqe,
		struct mrpc_msg *msg, struct op *op, struct mrpc_result *res)
{
	struct retry *r = retry_new(call, sqe, op);
	int status = MRPC_RESOURCE_EXHAUSTED;
	u32 id = 0;

	if (!r) {
		result_fail(res, status, "out of memory");
		goto fail;
	}
	status = channel_try(call->channel, call->wait_ready, &id, res);
	if (status && status != -EAGAIN) {
		if (!attempts_again(&r->call.attempts, res))
			goto fail;
		r->pauses = true;
	}
	op->blocks = msg_spend(msg);
	op->wait = OP_WAIT_END;
	qp->in_flight++;
	if (status || !has_room(qp, id)) {
		park(qp, op);
		return MRPC_OK;
	}
	if (!push(qp, r, id))
		return MRPC_OK;
	qp->in_flight--;
	status = MRPC_RESOURCE_EXHAUSTED;
	result_fail(res, status, "%s", mrpc_last_error());
	blocks_free(qp->session, op->blocks);
	op->blocks = NULL;
fail:
	if (r)
		retry_free(op);
	mrpc_msg_free(msg);
	op_free(qp, op);
	set_error("%s", res->detail);
	return status;
}
