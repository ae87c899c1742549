// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Asynchronous calls over channels.
 *
 * Such a call is parked while its channel has no connection, and again if it ends without having
 * been sent. Its message stays in the send heap until it has ended. A queue pair looks at its
 * parked calls whenever it runs callbacks, and wakes up now and then to do so.
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
 * @channel: a reference
 * @op: the call
 * @sqe: its entry
 * @until: its deadline; FOR_EVER: none
 * @wait_ready: MRPC_CALL_WAIT_READY
 * @detail: why it failed here, or ""
 */
struct retry {
	struct op_retry base;
	struct channel_waiter waiter;
	struct channel *channel;
	struct op *op;
	struct mrpc_sqe sqe;
	u64 until;
	bool wait_ready;
	char detail[MRPC_MAX_DETAIL + 1];
};

static struct retry *retry_of(struct op_retry *base)
{
	return (struct retry *)base;
}

static void retry_free(struct op *op)
{
	struct retry *r = retry_of(op->retry);

	op->retry = NULL;
	channel_del_waiter(r->channel, &r->waiter);
	channel_put(r->channel);
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
	r->waiter.until = r->until;
	channel_add_waiter(r->channel, &r->waiter);
}

/* @p: what points to it in the queue pair's list. */
static void unpark(struct mrpc_qp *qp, struct op_retry **p)
{
	struct retry *r = retry_of(*p);

	*p = r->base.next;
	if (!*p)
		qp->parked.last = p;
	channel_del_waiter(r->channel, &r->waiter);
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

	r->sqe.conn = id;
	r->sqe.timeout_us = left_us(r->until);
	r->op->conn = id;
	r->op->wait |= OP_WAIT_SENT;
	err = qp_push(qp, &r->sqe, NULL);
	if (err)
		r->op->wait &= ~OP_WAIT_SENT;
	return err;
}

/* Looks at one parked call. @p: what points to it. Return: true: it is parked no more. */
static bool resume(struct mrpc_qp *qp, struct op_retry **p)
{
	struct retry *r = retry_of(*p);
	struct mrpc_result res;
	int status;
	u32 id;

	status = channel_try(r->channel, r->wait_ready, &id, &res);
	if (status == -EAGAIN && clock_ns() >= r->until)
		/* It has passed: this says why, and does not wait. */
		status = channel_link(r->channel, r->wait_ready, 0, &id, &res);
	if (status == -EAGAIN || (!status && !has_room(qp, id)))
		return false;
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

static bool takes(struct mrpc_qp *qp, struct op *op, const struct mrpc_cqe *cqe)
{
	struct retry *r = retry_of(op->retry);

	if (!(cqe->flags & MRPC_CQE_UNSENT) || !op->done || !channel_lost(r->channel, cqe->conn))
		return false;
	if (cqe->flags & MRPC_CQE_BLOCK)
		release_block(qp->session, cqe->block, cqe->msg_len);
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

int retry_start(struct mrpc_qp *qp, struct channel *ch, struct mrpc_sqe *sqe,
		struct mrpc_msg *msg, struct op *op, const struct mrpc_call_opts *opts,
		struct mrpc_result *res)
{
	bool wait_ready = opts->flags & MRPC_CALL_WAIT_READY;
	struct retry *r = malloc(sizeof(*r));
	u32 id = 0;
	int status;

	status = r ? channel_try(ch, wait_ready, &id, res) : MRPC_RESOURCE_EXHAUSTED;
	if (!r)
		result_fail(res, status, "out of memory");
	if (status && status != -EAGAIN)
		goto fail;
	channel_get(ch);
	r->base.ops = &retry_ops;
	r->channel = ch;
	r->op = op;
	r->sqe = *sqe;
	r->sqe.flags &= ~MRPC_SQE_COPY;	/* the message may be needed again */
	r->sqe.user_data = op->id;
	r->until = deadline_of(opts->timeout_us);
	r->wait_ready = wait_ready;
	r->waiter.prev = NULL;
	r->detail[0] = '\0';
	op->retry = &r->base;
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
	retry_free(op);
	r = NULL;
fail:
	free(r);
	mrpc_msg_free(msg);
	op_free(qp, op);
	set_error("%s", res->detail);
	return status;
}
