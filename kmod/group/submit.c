// SPDX-License-Identifier: GPL-2.0
/* Collective operations: checked when they are submitted, and completed. */
#include <linux/list.h>
#include <linux/slab.h>

#include "call/client.h"
#include "core/conn.h"
#include "core/heap.h"
#include "core/qp.h"
#include "core/refusal.h"
#include "core/session.h"
#include "core/user.h"
#include "group/member.h"
#include "group/reduce.h"
#include "group/run.h"
#include "group/submit.h"
#include "lib/group/change.h"
#include "lib/group/choice.h"
#include "lib/group/operation.h"
#include "lib/group/reduce.h"

/* -- checks -------------------------------------------------------------------------- */

static int mrpc_check_fields(const struct mrpc_sqe *sqe, struct mrpc_refusal *r)
{
	bool barrier = sqe->collective == MRPC_BARRIER;

	if (sqe->flags || sqe->resv || sqe->resv2[0] || sqe->resv2[1] || sqe->resv3)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "a reserved field is not zero");
	if (barrier && (sqe->count || sqe->elem || sqe->input || sqe->output))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "a Barrier has no elements");
	if (sqe->root_rank && !mrpc_collective_has_root(sqe->collective))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "root %u, but %s has no root",
				   sqe->root_rank, mrpc_collective_name(sqe->collective));
	if (sqe->reduce && !mrpc_collective_reduces(sqe->collective))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "reduction %u, but %s reduces nothing",
				   sqe->reduce, mrpc_collective_name(sqe->collective));
	if (!mrpc_elem_size(sqe->elem))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "no type of elements %u, at most %u",
				   sqe->elem, MRPC_NR_ELEMS - 1);
	return 0;
}

static int mrpc_check_reduction(const struct mrpc_sqe *sqe, struct mrpc_refusal *r)
{
	int err = 0;

	if (mrpc_collective_reduces(sqe->collective))
		err = mrpc_reduce_offered(sqe->elem, sqe->reduce);
	if (err == -EINVAL)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "no reduction %u, at most %u",
				   sqe->reduce, MRPC_NR_REDUCE_OPS - 1);
	if (err)
		return mrpc_refuse(r, MRPC_UNIMPLEMENTED,
				   "reduction %u of elements of type %u is not offered here",
				   sqe->reduce, sqe->elem);
	return 0;
}

static int mrpc_refuse_schedule(struct mrpc_refusal *r, const struct mrpc_member *m,
				const struct mrpc_sqe *sqe, enum mrpc_schedule_fault fault)
{
	switch (fault) {
	case MRPC_SCHEDULE_BAD_COLLECTIVE:
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "no collective %u, at most %u",
				   sqe->collective, MRPC_NR_COLLECTIVES - 1);
	case MRPC_SCHEDULE_BAD_ALGORITHM:
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "no algorithm %u, at most %u",
				   sqe->algorithm, MRPC_NR_ALGORITHMS - 1);
	case MRPC_SCHEDULE_NOT_OFFERED:
		return mrpc_refuse(r, MRPC_UNIMPLEMENTED, "%s is not done by %s",
				   mrpc_collective_name(sqe->collective),
				   mrpc_algorithm_name(sqe->algorithm));
	case MRPC_SCHEDULE_BAD_ROOT:
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "root %u, but there are %u ranks",
				   sqe->root_rank, m->ranks);
	default:
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "%llu elements are too many",
				   sqe->count);
	}
}

/* Whether input and output share memory in the way that NCCL has defined. */
static bool mrpc_sqe_is_in_place(const struct mrpc_member *m, const struct mrpc_sqe *sqe)
{
	u64 block = sqe->count * mrpc_elem_size(sqe->elem) * m->rank;

	switch (sqe->collective) {
	case MRPC_ALLGATHER:
	case MRPC_GATHER:
		return sqe->input == sqe->output + block;
	case MRPC_REDUCE_SCATTER:
	case MRPC_SCATTER:
		return sqe->output == sqe->input + block;
	default:
		return sqe->input == sqe->output;
	}
}

static int mrpc_check_buffer(struct mrpc_session *session, const char *what, u32 off, u64 len,
			     struct mrpc_refusal *r)
{
	if (!len || (len <= MRPC_REGION_MAX && mrpc_heap_at(&session->send, off, len)))
		return 0;
	return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
			   "%s: %llu bytes at %u are not inside one region of the send heap", what,
			   len, off);
}

static int mrpc_check_buffers(struct mrpc_session *session, const struct mrpc_sqe *sqe,
			      const struct mrpc_schedule *s, struct mrpc_refusal *r)
{
	if (mrpc_check_buffer(session, "input", sqe->input, s->send_size, r) ||
	    mrpc_check_buffer(session, "output", sqe->output, s->recv_size, r))
		return -EINVAL;
	if (s->send_size && s->recv_size && sqe->input < sqe->output + s->recv_size &&
	    sqe->output < sqe->input + s->send_size)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "input and output overlap, and it is not in place");
	return 0;
}

/* -- operations ---------------------------------------------------------------------- */

static void mrpc_operation_free_work(struct mrpc_session *session, struct mrpc_operation *op)
{
	mrpc_user_uncharge_memory(session->user, op->work.len);
	mrpc_heap_destroy(&op->work);
	op->work.len = 0;
}

static void mrpc_operation_free(struct mrpc_session *session, struct mrpc_operation *op)
{
	mrpc_operation_free_work(session, op);
	kfree(op);
}

/* Allocates MRPC_BUF_WORK, @len bytes. */
static int mrpc_operation_work(struct mrpc_session *session, struct mrpc_operation *op, u64 len)
{
	struct mrpc_region *region;

	if (len == op->work.len)
		return 0;
	mrpc_operation_free_work(session, op);
	if (!len)
		return 0;
	if (len > MRPC_REGION_MAX || mrpc_user_charge_memory(session, len))
		return -EDQUOT;
	mrpc_heap_init(&op->work, MRPC_REGION_SEND, len);
	region = mrpc_heap_region(&op->work, len);
	if (IS_ERR(region)) {
		mrpc_user_uncharge_memory(session->user, len);
		return PTR_ERR(region);
	}
	mrpc_heap_publish(&op->work, region);
	return 0;
}

/* What the application has asked for, for lib/group/schedule.h. */
static struct mrpc_schedule_config mrpc_operation_asked(const struct mrpc_member *m,
							const struct mrpc_operation *op)
{
	struct mrpc_schedule_config c = op->schedule.c;

	c.ranks = m->ranks;
	c.rank = m->rank;
	c.order = NULL;
	c.algorithm = op->algorithm;
	if (!c.algorithm)
		c.algorithm = mrpc_choose_algorithm(c.collective, c.ranks, c.count, c.elem_size);
	return c;
}

/* Sets the schedule by the strategy in use. Return: bytes of work memory that it needs. */
static u64 mrpc_operation_schedule(struct mrpc_member *m, struct mrpc_operation *op)
{
	struct mrpc_schedule_config c = mrpc_operation_asked(m, op);
	const struct mrpc_strategy *s;

	spin_lock_bh(&m->lock);
	s = m->change->use;
	if (s->algorithm[c.collective])
		c.algorithm = s->algorithm[c.collective];
	/* It stays as it is as long as that version is in use. */
	c.order = s->order;
	op->strategy = m->change->version;
	/* Neither the order nor the algorithm can be wrong here. */
	WARN_ON_ONCE(mrpc_schedule_init(&op->schedule, &c));
	spin_unlock_bh(&m->lock);
	return ALIGN(op->schedule.work_size, MRPC_REGION_ALIGN);
}

/**
 * mrpc_operation_prepare() - make an operation ready to begin by the strategy in use
 * @m: the rank
 * @op: the operation; in no list, or the caller owns the claim of @m, and @op does not run
 * @r: out: the reason of a failure
 *
 * The strategy may change before it begins: see mrpc_operation_is_ready(). Context: process; may
 * sleep. Return: 0, or -EINVAL: there is no work memory.
 */
int mrpc_operation_prepare(struct mrpc_member *m, struct mrpc_operation *op,
			   struct mrpc_refusal *r)
{
	u64 len = mrpc_operation_schedule(m, op);

	if (!mrpc_operation_work(m->session, op, len))
		return 0;
	return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "no %llu bytes of work memory", len);
}

static int mrpc_operation_init(struct mrpc_member *m, struct mrpc_operation *op,
			       const struct mrpc_sqe *sqe, struct mrpc_refusal *r)
{
	struct mrpc_session *session = m->session;
	struct mrpc_schedule_config c;
	enum mrpc_schedule_fault fault;

	op->algorithm = sqe->algorithm;
	op->schedule.c = (struct mrpc_schedule_config){
		.collective = sqe->collective,
		.in_place = mrpc_sqe_is_in_place(m, sqe),
		.root = sqe->root_rank,
		.count = sqe->count,
		.elem_size = mrpc_elem_size(sqe->elem),
	};
	c = mrpc_operation_asked(m, op);
	/* For the checks: how much of the buffers is used does not depend on the strategy. */
	fault = mrpc_schedule_init(&op->schedule, &c);
	if (fault)
		return mrpc_refuse_schedule(r, m, sqe, fault);
	op->user_data = sqe->user_data;
	op->priority = sqe->priority;
	op->elem = sqe->elem;
	op->reduce = sqe->reduce;
	op->limit = mrpc_us_or(sqe->limit_us, m->limit);
	op->base[MRPC_BUF_SEND] = sqe->input;
	op->base[MRPC_BUF_RECV] = sqe->output;
	if (mrpc_check_buffers(session, sqe, &op->schedule, r))
		return -EINVAL;
	return mrpc_operation_prepare(m, op, r);
}

/* Makes an operation. Return: NULL: @r says why. */
static struct mrpc_operation *mrpc_operation_new(struct mrpc_member *m, const struct mrpc_sqe *sqe,
						 struct mrpc_refusal *r)
{
	struct mrpc_operation *op;

	if (mrpc_check_fields(sqe, r) || mrpc_check_reduction(sqe, r))
		return NULL;
	op = kzalloc(sizeof(*op), GFP_KERNEL_ACCOUNT);
	if (!op) {
		mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "no memory for the operation");
		return NULL;
	}
	if (!mrpc_operation_init(m, op, sqe, r))
		return op;
	mrpc_operation_free(m->session, op);
	return NULL;
}

/* Adds an operation to those of a rank, unless its group has ended. */
static int mrpc_operation_add(struct mrpc_member *m, struct mrpc_operation *op,
			      struct mrpc_refusal *r)
{
	int err = 0;

	spin_lock_bh(&m->lock);
	if (m->status != MRPC_OK)
		err = mrpc_refuse(r, m->status, "the group has ended: %s", m->detail);
	else if (m->nr_operations == MRPC_GROUP_PENDING)
		err = mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
				  "%u operations of the group are not complete, the most there may be",
				  MRPC_GROUP_PENDING);
	if (!err) {
		list_add_tail(&op->list, &m->operations);
		m->nr_operations++;
	}
	spin_unlock_bh(&m->lock);
	return err;
}

static int mrpc_operation_try(struct mrpc_session *session, const struct mrpc_sqe *sqe,
			      struct mrpc_qp *qp, struct mrpc_refusal *r)
{
	struct mrpc_member *m = mrpc_member_find(session, sqe->group);
	struct mrpc_operation *op;
	int err = -EINVAL;

	if (!m)
		return mrpc_refuse(r, MRPC_NOT_FOUND, "no group %u", sqe->group);
	op = mrpc_operation_new(m, sqe, r);
	if (op) {
		op->qp = qp;
		err = mrpc_operation_add(m, op, r);
		if (err)
			mrpc_operation_free(session, op);
		else
			mrpc_member_run(m);
	}
	mrpc_member_put(m);
	return err;
}

static void mrpc_collective_post(struct mrpc_session *session, struct mrpc_qp *qp,
				 struct mrpc_cqe *cqe, const char *detail)
{
	if (cqe->status != MRPC_OK)
		mrpc_cqe_explain(session, cqe, detail);
	mrpc_qp_post(qp, cqe);
}

/**
 * mrpc_operation_submit() - begin a collective operation: MRPC_OP_COLLECTIVE
 * @session: the session
 * @sqe: private copy of the descriptor
 * @qp: queue pair of its completion, with 1 entry reserved
 *
 * One that is refused completes at once, and the group goes on. Operations run in the order of their
 * submission. Context: process; may sleep.
 */
void mrpc_operation_submit(struct mrpc_session *session, const struct mrpc_sqe *sqe,
			   struct mrpc_qp *qp)
{
	struct mrpc_refusal r __uninitialized;
	struct mrpc_cqe cqe = {
		.user_data = sqe->user_data,
		.type = MRPC_CQE_COLLECTIVE,
		.conn = sqe->group,
	};

	if (!mrpc_operation_try(session, sqe, qp, &r))
		return;
	cqe.status = r.status;
	mrpc_collective_post(session, qp, &cqe, r.detail);
}

/**
 * mrpc_operation_complete() - tell the application that an operation is over, and free it
 * @m: the rank; the caller owns its claim
 * @op: the operation, on no list
 * @seq: its number
 * @status: enum mrpc_status; if it is not OK, the group has ended
 *
 * Context: process.
 */
void mrpc_operation_complete(struct mrpc_member *m, struct mrpc_operation *op, u64 seq, u16 status)
{
	struct mrpc_cqe cqe = {
		.user_data = op->user_data,
		.type = MRPC_CQE_COLLECTIVE,
		.status = status,
		.conn = m->id,
		.call = seq,
		.priority = op->priority,
	};

	mrpc_collective_post(m->session, op->qp, &cqe, m->detail);
	mrpc_operation_free(m->session, op);
}
