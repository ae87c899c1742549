/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_TRACE_H
#define MRPC_GROUP_TRACE_H

#include <linux/mrpc.h>
#include <linux/types.h>

struct mrpc_member;
struct mrpc_operation;

#define MRPC_GROUP_TRACE	64	/* operations of a rank that are remembered */

/**
 * struct mrpc_group_record - an operation that has begun
 * @seq: its number
 * @began: ns
 * @first_sent: ns; 0: no chunk was sent
 * @last_received: when the last chunk was in its place, ns; 0: not yet
 * @ended: ns; 0: it runs
 * @count: elements
 * @bytes: these elements, in bytes
 * @tx_bytes: of chunks given to connections
 * @rx_bytes: of chunks in their places
 * @tx_chunks: number of the first
 * @rx_chunks: number of the others
 * @root: see mrpc_collective_has_root()
 * @strategy: version of the strategy
 * @status: enum mrpc_status, once it has ended
 * @collective: enum mrpc_collective
 * @algorithm: enum mrpc_algorithm
 * @elem: enum mrpc_elem
 * @reduce: enum mrpc_reduce_op; see mrpc_collective_reduces()
 * @priority: of its chunks
 */
struct mrpc_group_record {
	u64 seq;
	u64 began;
	u64 first_sent;
	u64 last_received;
	u64 ended;
	u64 count;
	u64 bytes;
	u64 tx_bytes;
	u64 rx_bytes;
	u64 tx_chunks;
	u64 rx_chunks;
	u32 root;
	u32 strategy;
	u16 status;
	u8 collective;
	u8 algorithm;
	u8 elem;
	u8 reduce;
	u8 priority;
};

/**
 * struct mrpc_group_total - the operations of one collective
 * @completed: those that ended with OK
 * @failed: the others, also those that never began
 * @bytes: mrpc_group_record.bytes of those with OK
 * @ns: that these took
 */
struct mrpc_group_total {
	u64 completed;
	u64 failed;
	u64 bytes;
	u64 ns;
};

/**
 * struct mrpc_group_trace - what a rank has done; under mrpc_member.lock
 * @tx_bytes: of chunks of all operations, given to connections
 * @rx_bytes: of chunks of all operations, in their places
 * @totals: by enum mrpc_collective
 * @begun: operations that have begun
 * @records: of the last ones
 */
struct mrpc_group_trace {
	u64 tx_bytes;
	u64 rx_bytes;
	struct mrpc_group_total totals[MRPC_NR_COLLECTIVES];
	u64 begun;
	struct mrpc_group_record records[MRPC_GROUP_TRACE];
};

/** mrpc_trace_last() - return the record of the operation that runs, or ran last */
static inline struct mrpc_group_record *mrpc_trace_last(struct mrpc_group_trace *t)
{
	return &t->records[(t->begun - 1) % MRPC_GROUP_TRACE];
}

void mrpc_trace_begin(struct mrpc_member *m, const struct mrpc_operation *op, u64 now);
void mrpc_trace_sent(struct mrpc_member *m, u32 bytes);
void mrpc_trace_received(struct mrpc_member *m, u32 bytes);
void mrpc_trace_in_place(struct mrpc_member *m);
void mrpc_trace_end(struct mrpc_member *m, const struct mrpc_operation *op, bool ran, u16 status);
u32 mrpc_trace_copy(struct mrpc_member *m, struct mrpc_group_record *records);

#endif /* MRPC_GROUP_TRACE_H */
