// SPDX-License-Identifier: GPL-2.0
/*
 * What a rank has done: its last operations, and totals of all of them.
 *
 * Everything is written under the lock of the rank, which the caller holds anyway. The clock is read
 * at most four times for an operation.
 */
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "group/member.h"
#include "group/submit.h"
#include "group/trace.h"

static u64 mrpc_operation_bytes(const struct mrpc_operation *op)
{
	return op->schedule.c.count * op->schedule.c.elem_size;
}

/**
 * mrpc_trace_begin() - an operation begins
 * @m: the rank; the caller has its lock, and has set its number
 * @op: the operation
 * @now: ns
 */
void mrpc_trace_begin(struct mrpc_member *m, const struct mrpc_operation *op, u64 now)
{
	const struct mrpc_schedule_config *c = &op->schedule.c;

	m->trace.begun++;
	*mrpc_trace_last(&m->trace) = (struct mrpc_group_record){
		.seq = m->seq,
		.began = now,
		.count = c->count,
		.bytes = mrpc_operation_bytes(op),
		.root = c->root,
		.strategy = op->strategy,
		.collective = c->collective,
		.algorithm = c->algorithm,
		.elem = op->elem,
		.reduce = op->reduce,
		.priority = op->priority,
	};
}

/**
 * mrpc_trace_sent() - a chunk of the operation that runs was given to a connection
 * @m: the rank; the caller has its lock
 * @bytes: of the chunk
 */
void mrpc_trace_sent(struct mrpc_member *m, u32 bytes)
{
	struct mrpc_group_record *record = mrpc_trace_last(&m->trace);

	if (!record->tx_chunks++)
		record->first_sent = ktime_get_ns();
	record->tx_bytes += bytes;
	m->trace.tx_bytes += bytes;
}

/**
 * mrpc_trace_received() - a chunk of the operation that runs has come from another rank
 * @m: the rank; the caller has its lock
 * @bytes: of the chunk
 */
void mrpc_trace_received(struct mrpc_member *m, u32 bytes)
{
	struct mrpc_group_record *record = mrpc_trace_last(&m->trace);

	record->rx_chunks++;
	record->rx_bytes += bytes;
	m->trace.rx_bytes += bytes;
}

/**
 * mrpc_trace_in_place() - a chunk is where it belongs, or a copy is over
 * @m: the rank; the caller has its lock, and has called mrpc_progress_received()
 */
void mrpc_trace_in_place(struct mrpc_member *m)
{
	if (m->progress.recv.nr == m->progress.s->steps)
		mrpc_trace_last(&m->trace)->last_received = ktime_get_ns();
}

/**
 * mrpc_trace_end() - an operation is over
 * @m: the rank; the caller has its lock
 * @op: the operation
 * @ran: it is the one that ran; false: it never began
 * @status: enum mrpc_status
 */
void mrpc_trace_end(struct mrpc_member *m, const struct mrpc_operation *op, bool ran, u16 status)
{
	struct mrpc_group_total *total = &m->trace.totals[op->schedule.c.collective];
	struct mrpc_group_record *record = mrpc_trace_last(&m->trace);

	if (ran) {
		record->ended = ktime_get_ns();
		record->status = status;
	}
	if (status != MRPC_OK) {
		total->failed++;
		return;
	}
	total->completed++;
	total->bytes += record->bytes;
	total->ns += record->ended - record->began;
}

/**
 * mrpc_trace_copy() - the last operations of a rank, as they are at one moment
 * @m: the rank
 * @records: out: up to MRPC_GROUP_TRACE, the oldest first
 *
 * Context: process.
 * Return: how many there are.
 */
u32 mrpc_trace_copy(struct mrpc_member *m, struct mrpc_group_record *records)
{
	const struct mrpc_group_trace *t = &m->trace;
	u32 nr, i;

	spin_lock_bh(&m->lock);
	nr = min_t(u64, t->begun, MRPC_GROUP_TRACE);
	for (i = 0; i < nr; i++)
		records[i] = t->records[(t->begun - nr + i) % MRPC_GROUP_TRACE];
	spin_unlock_bh(&m->lock);
	return nr;
}
