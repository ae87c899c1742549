/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_SUBMIT_H
#define MRPC_GROUP_SUBMIT_H

#include <linux/list.h>
#include <linux/types.h>

#include "core/heap.h"
#include "core/qp.h"
#include "lib/group/schedule.h"

struct mrpc_member;
struct mrpc_refusal;
struct mrpc_session;
struct mrpc_sqe;

/**
 * struct mrpc_operation - a collective operation of one rank
 *
 * Belongs to the member's list, and so to the owner of the member's claim, which frees it.
 *
 * @list: entry of mrpc_member.operations
 * @qp: queue pair of its completion, with an entry reserved
 * @user_data: value from the application
 * @priority: of its chunks
 * @elem: enum mrpc_elem
 * @reduce: enum mrpc_reduce_op
 * @algorithm: enum mrpc_algorithm that the application has named
 * @strategy: version of the strategy that @schedule and @work are of
 * @limit: ns that it may take
 * @schedule: what this rank does
 * @base: where each enum mrpc_buffer begins in its heap
 * @work: heap of MRPC_BUF_WORK, empty if there is no such buffer
 */
struct mrpc_operation {
	struct list_head list;
	struct mrpc_qp *qp;
	u64 user_data;
	u8 priority;
	u8 elem;
	u8 reduce;
	u8 algorithm;
	u32 strategy;
	u64 limit;
	struct mrpc_schedule schedule;
	u32 base[3];
	struct mrpc_heap work;
};

static inline struct mrpc_heap *mrpc_operation_heap(struct mrpc_operation *op, u8 buf)
{
	return buf == MRPC_BUF_WORK ? &op->work : &op->qp->session->send;
}

/* The address of @len bytes of a buffer; the schedule stays inside what was checked. */
static inline void *mrpc_operation_at(struct mrpc_operation *op, struct mrpc_place p, u32 len)
{
	return (void *)mrpc_heap_at(mrpc_operation_heap(op, p.buf), op->base[p.buf] + p.off, len);
}

/* Whether an operation can begin by strategy @version. */
static inline bool mrpc_operation_is_ready(const struct mrpc_operation *op, u32 version)
{
	return op->strategy == version;
}

int mrpc_operation_prepare(struct mrpc_member *m, struct mrpc_operation *op,
			   struct mrpc_refusal *r);
void mrpc_operation_submit(struct mrpc_session *session, const struct mrpc_sqe *sqe,
			   struct mrpc_qp *qp);
void mrpc_operation_complete(struct mrpc_member *m, struct mrpc_operation *op, u64 seq, u16 status);

#endif /* MRPC_GROUP_SUBMIT_H */
