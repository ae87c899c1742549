// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Operations of groups: submitted to the kernel, which does them.
 */
#include <errno.h>
#include <string.h>

#include "clock.h"
#include "group.h"
#include "op.h"
#include "qp.h"
#include "result.h"

/* Does this rank have an input? */
static bool has_input(const struct mrpc_group *group, const struct mrpc_group_op *op)
{
	if (op->collective == MRPC_BROADCAST || op->collective == MRPC_SCATTER)
		return op->root == group->rank;
	return op->collective != MRPC_BARRIER;
}

/* Does this rank get a result? */
static bool has_output(const struct mrpc_group *group, const struct mrpc_group_op *op)
{
	if (op->collective == MRPC_REDUCE || op->collective == MRPC_GATHER)
		return op->root == group->rank;
	return op->collective != MRPC_BARRIER;
}

/* The offset of a buffer in the send heap. 0 or -errno, with the error set. */
static int buffer_offset(const struct mrpc_session *session, const char *what, const void *buffer,
			 bool needed, u32 *off)
{
	const u8 *p = buffer;

	*off = 0;
	if (!p && needed)
		return fail(EINVAL, "the %s is missing: this rank needs one", what);
	if (!needed)
		return 0;
	if (p < session->send.base || p >= session->send.base + session->send.reserved)
		return fail(EINVAL, "the %s at %p is not memory of mrpc_alloc() of this session", what,
			    buffer);
	*off = send_off(session, p);
	return 0;
}

/* Fields that are smaller in the entry. */
static int check_numbers(const struct mrpc_group_op *op)
{
	u32 i;

	if (op->flags & ~MRPC_GROUP_PRIORITY || op->resv0)
		return fail(EINVAL, "flags of an operation of a group must be %#x, not %#x",
			    MRPC_GROUP_PRIORITY, op->flags);
	for (i = 0; i < ARRAY_SIZE(op->resv); i++)
		if (op->resv[i])
			return fail(EINVAL, "a reserved field of the operation is not zero");
	if (op->collective >= MRPC_NR_COLLECTIVES)
		return fail(EINVAL, "no collective %u, at most %u", op->collective,
			    MRPC_NR_COLLECTIVES - 1);
	if (op->algorithm >= MRPC_NR_ALGORITHMS)
		return fail(EINVAL, "no algorithm %u, at most %u", op->algorithm,
			    MRPC_NR_ALGORITHMS - 1);
	if (op->elem >= MRPC_NR_ELEMS)
		return fail(EINVAL, "no type of elements %u, at most %u", op->elem,
			    MRPC_NR_ELEMS - 1);
	if (op->reduce >= MRPC_NR_REDUCE_OPS)
		return fail(EINVAL, "no reduction %u, at most %u", op->reduce,
			    MRPC_NR_REDUCE_OPS - 1);
	if (op->flags & MRPC_GROUP_PRIORITY && op->priority > 255)
		return fail(EINVAL, "priority %u, at most 255", op->priority);
	return 0;
}

static int fill_entry(const struct mrpc_group *group, const struct mrpc_group_op *op,
		      struct mrpc_sqe *sqe)
{
	int err = check_numbers(op);

	if (err)
		return err;
	memset(sqe, 0, sizeof(*sqe));
	sqe->op = MRPC_OP_COLLECTIVE;
	sqe->group = group->id;
	sqe->priority = op->flags & MRPC_GROUP_PRIORITY ? (u8)op->priority : MRPC_PRIORITY_DEFAULT;
	sqe->collective = (u8)op->collective;
	sqe->algorithm = (u8)op->algorithm;
	sqe->elem = (u8)op->elem;
	sqe->reduce = (u8)op->reduce;
	sqe->root_rank = op->root;
	sqe->count = op->count;
	sqe->limit_us = op->limit_us;
	err = buffer_offset(group->session, "input", op->input,
			    op->count && has_input(group, op), &sqe->input);
	return err ? err : buffer_offset(group->session, "output", op->output,
					 op->count && has_output(group, op), &sqe->output);
}

/* Pushes an entry. Return: what awaits its completion; NULL with the error set. */
static struct op *push(struct mrpc_qp *qp, struct mrpc_sqe *sqe)
{
	struct op *op = op_new(qp);

	if (!op) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	op->wait = OP_WAIT_END;
	op->conn = 0;	/* it goes over no connection of the caller */
	sqe->user_data = op->id;
	if (!qp_push(qp, sqe, NULL))
		return op;
	op_free(qp, op);
	return NULL;
}

int mrpc_group_start(struct mrpc_group *group, const struct mrpc_group_op *op, mrpc_done_fn done,
		     void *user)
{
	struct mrpc_qp *qp = op->qp;
	struct mrpc_sqe sqe;
	struct op *o;
	int err;

	err = session_check(group->session);
	if (!err && !done)
		err = fail(EINVAL, "an operation that is not waited for needs a callback");
	if (!err)
		err = fill_entry(group, op, &sqe);
	if (err)
		return status_of_errno(-err);
	if (!qp)
		qp = mrpc_qp_self(group->session);
	if (!qp)
		return status_of_errno(errno);
	o = push(qp, &sqe);
	if (!o)
		return status_of_errno(errno);
	o->done = done;
	o->user = user;
	qp->in_flight++;
	return MRPC_OK;
}

/* -- waiting ---------------------------------------------------------------------------------- */

/**
 * struct waiter - a thread that waits for the end of its operation
 * @in: takes its completion
 * @session: of the group
 * @done: it has come
 * @res: what it says
 */
struct waiter {
	struct op_stream in;
	struct mrpc_session *session;
	bool done;
	struct mrpc_result res;
};

static void waiter_take(struct op_stream *in, const struct mrpc_cqe *cqe)
{
	struct waiter *w = (struct waiter *)in;

	result_fill(w->session, &w->res, cqe);
	mrpc_result_release(&w->res);
	w->done = true;
}

static const struct op_stream_ops waiter_ops = { .take = waiter_take };

int mrpc_group_run(struct mrpc_group *group, const struct mrpc_group_op *op)
{
	struct waiter w = { .in = { .ops = &waiter_ops }, .session = group->session };
	const char *why;
	struct mrpc_sqe sqe;
	struct mrpc_qp *qp;
	struct op *o;
	int err;

	err = session_check(group->session);
	if (!err)
		err = fill_entry(group, op, &sqe);
	if (err)
		return status_of_errno(-err);
	if (op->qp)
		return status_of_errno(-fail(EINVAL, "this function uses the thread's own queue pair"));
	qp = mrpc_qp_self(group->session);
	o = qp ? push(qp, &sqe) : NULL;
	if (!o)
		return status_of_errno(errno);
	o->stream = &w.in;
	while (!w.done) {
		err = qp_enter(qp, 1, FOR_EVER);
		qp_harvest(qp);
		if (err && !is_temporary(err) && !w.done) {
			o->stream = NULL;	/* it may still end */
			return status_of_errno(-fail(-err, "cannot wait: %s", strerror(-err)));
		}
	}
	why = w.res.detail[0] ? w.res.detail : mrpc_status_name(w.res.status);
	if (w.res.status != MRPC_OK)
		set_error("%s", why);
	return w.res.status;
}
