/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_SUBMIT_H
#define MRPC_GROUP_SUBMIT_H

#include <linux/list.h>
#include <linux/types.h>

#include "core/heap.h"
#include "lib/group/schedule.h"

struct mrpc_member;
struct mrpc_qp;
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
 * @limit: ns that it may take
 * @schedule: what this rank does
 * @heap: of each enum mrpc_buffer
 * @base: where the buffer begins in the heap
 * @work: MRPC_BUF_WORK
 * @charged: bytes of @work
 */
struct mrpc_operation {
	struct list_head list;
	struct mrpc_qp *qp;
	u64 user_data;
	u8 priority;
	u8 elem;
	u8 reduce;
	u64 limit;
	struct mrpc_schedule schedule;
	struct mrpc_heap *heap[3];
	u32 base[3];
	struct mrpc_heap work;
	u64 charged;
};

/* The address of @len bytes of a buffer; the schedule stays inside what was checked. */
static inline void *mrpc_operation_at(const struct mrpc_operation *op, struct mrpc_place p, u32 len)
{
	return (void *)mrpc_heap_at(op->heap[p.buf], op->base[p.buf] + p.off, len);
}

void mrpc_operation_submit(struct mrpc_session *session, const struct mrpc_sqe *sqe,
			   struct mrpc_qp *qp);
void mrpc_operation_complete(struct mrpc_member *m, struct mrpc_operation *op, u64 seq, u16 status);

#endif /* MRPC_GROUP_SUBMIT_H */
