// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks that arrive. A chunk that has its turn goes straight to its place, or to the scratch memory
 * of its rank, from where it is reduced. Any other one waits in the link, which is not read then.
 */
#include <linux/string.h>

#include "core/conn.h"
#include "exec/kick.h"
#include "group/end.h"
#include "group/link.h"
#include "group/member.h"
#include "group/receive.h"
#include "group/reduce.h"
#include "group/run.h"
#include "group/submit.h"
#include "lib/group/change.h"
#include "lib/group/operation.h"
#include "lib/message/wire.h"

/* What becomes of a chunk. */
enum mrpc_chunk_verdict {
	MRPC_CHUNK_TAKE,	/* it is received */
	MRPC_CHUNK_EARLY,	/* it waits */
	MRPC_CHUNK_SKIP,	/* it is thrown away: the group has ended */
	MRPC_CHUNK_WRONG,	/* the peer breaks the protocol */
	MRPC_CHUNK_AHEAD,	/* the peer has gone on without a chunk that this rank waits for */
};

static struct mrpc_operation *mrpc_member_first(struct mrpc_member *m)
{
	return list_first_entry(&m->operations, struct mrpc_operation, list);
}

/* Sets where a chunk that is taken goes to. */
static void mrpc_chunk_place(struct mrpc_member *m, struct mrpc_sink *sink,
			     const struct mrpc_chunk *chunk)
{
	sink->left = sink->a.frame.msg.bytes;
	/* The padding of an odd chunk would overwrite what follows. */
	if (chunk->action == MRPC_STEP_STORE && chunk->len == sink->left)
		sink->addr = mrpc_operation_at(mrpc_member_first(m), chunk->at, chunk->len);
	else
		sink->addr = m->scratch;
}

/* Decides about a chunk. Under the lock; sets @chunk for MRPC_CHUNK_TAKE. */
static enum mrpc_chunk_verdict mrpc_chunk_judge(struct mrpc_member *m, u32 rank,
						const struct mrpc_frame *f,
						struct mrpc_chunk *chunk)
{
	enum mrpc_progress_next next = MRPC_NEXT_NONE;

	if (m->status != MRPC_OK)
		return MRPC_CHUNK_SKIP;
	if (m->running)
		next = mrpc_progress_recv(&m->progress, chunk);
	/* A link has an order: what was to come first has not been sent. */
	if (f->call_id > m->seq)
		return next == MRPC_NEXT_CHUNK && chunk->peer == rank ? MRPC_CHUNK_AHEAD :
									MRPC_CHUNK_EARLY;
	if (f->call_id < m->seq || next == MRPC_NEXT_NONE || m->links[rank].left)
		return MRPC_CHUNK_WRONG;
	if (next == MRPC_NEXT_WAITS || chunk->peer != rank)
		return MRPC_CHUNK_EARLY;
	if (f->msg_no != mrpc_member_counts(m, rank)->received ||
	    f->msg.bytes != ALIGN(chunk->len, 8))
		return MRPC_CHUNK_WRONG;
	return MRPC_CHUNK_TAKE;
}

/*
 * Compares what the peer does with what this rank does, also if the chunk does not have its turn:
 * else ranks that disagree might wait for each other. Under the lock. Return: false: @why says how
 * they differ.
 */
static bool mrpc_chunk_agrees(struct mrpc_member *m, u32 rank, const struct mrpc_frame *f,
			      const u8 *prefix, char *why, size_t size)
{
	struct mrpc_operation_form form = {
		.key = m->key, .ranks = m->ranks, .chunk = MRPC_WIRE_CHUNK_BYTES,
	};
	const void *wire = prefix;

	if (!f->meta_len || m->status != MRPC_OK)
		return true;
	if (f->call_id != m->seq || !m->running)
		return mrpc_operation_same_group(&form, rank, wire, why, size);
	mrpc_operation_describe(m, mrpc_member_first(m), &form);
	return mrpc_operation_compare(&form, rank, wire, why, size);
}

/* The peer's group has ended. */
static void mrpc_member_peer_ends(struct mrpc_member *m, u32 rank, const struct mrpc_frame *f,
				  const u8 *detail)
{
	if (f->msg_no != MRPC_WIRE_LEFT) {
		mrpc_member_fail(m, f->status, "%.*s", (int)f->detail_len, detail);
		return;
	}
	spin_lock_bh(&m->lock);
	WRITE_ONCE(m->links[rank].left, true);
	spin_unlock_bh(&m->lock);
	mrpc_member_run(m);	/* the operation that runs may need that rank */
}

/**
 * mrpc_member_head() - take the head of a CHUNK
 * @conn: the connection; its sink has the frame
 * @prefix: the body of a first chunk, or the detail of one that is not OK
 *
 * Context: owner of the receive claim; may sleep.
 * Return: as mrpc_sink_head().
 */
int mrpc_member_head(struct mrpc_conn *conn, const u8 *prefix)
{
	struct mrpc_member *m = mrpc_conn_member(conn);
	struct mrpc_sink *sink = &conn->receive.sink;
	const struct mrpc_frame *f = &sink->a.frame;
	enum mrpc_chunk_verdict verdict;
	struct mrpc_chunk chunk;
	u32 rank = conn->member_rank;
	bool agrees, more = false;
	u64 seq;
	char why[160];

	if (!m)
		return -EAGAIN;
	if (f->status != MRPC_OK) {
		mrpc_member_peer_ends(m, rank, f, prefix);
		return 0;
	}
	spin_lock_bh(&m->lock);
	seq = m->seq;
	agrees = mrpc_chunk_agrees(m, rank, f, prefix, why, sizeof(why));
	verdict = agrees ? mrpc_chunk_judge(m, rank, f, &chunk) : MRPC_CHUNK_SKIP;
	if (verdict == MRPC_CHUNK_TAKE) {
		m->receiving = conn;
		mrpc_chunk_place(m, sink, &chunk);
	}
	m->links[rank].early = verdict == MRPC_CHUNK_EARLY;
	if (agrees)
		more = mrpc_change_saw(m->change, rank, f->call_id);
	spin_unlock_bh(&m->lock);
	if (!agrees)
		mrpc_member_fail(m, MRPC_FAILED_PRECONDITION, "operation %llu: rank %u: %s",
				 f->call_id, m->rank, why);
	switch (verdict) {
	case MRPC_CHUNK_EARLY:
		set_bit(MRPC_CONN_EARLY, &conn->flags);
		if (more)	/* its operation may have been held */
			mrpc_member_run(m);
		return -EAGAIN;
	case MRPC_CHUNK_WRONG:
		return -EPROTO;
	case MRPC_CHUNK_AHEAD:
		mrpc_member_fail(m, MRPC_FAILED_PRECONDITION,
				 "operation %llu: rank %u waits for rank %u, which has sent nothing for it",
				 seq, m->rank, rank);
		fallthrough;
	case MRPC_CHUNK_SKIP:
		sink->left = f->msg.bytes;
		fallthrough;
	default:
		clear_bit(MRPC_CONN_EARLY, &conn->flags);
		return 0;
	}
}

/* Brings a chunk that has come to its place. */
static void mrpc_chunk_apply(struct mrpc_member *m, struct mrpc_operation *op,
			     const struct mrpc_chunk *chunk)
{
	u8 *to = mrpc_operation_at(op, chunk->at, chunk->len);

	if (chunk->action == MRPC_STEP_REDUCE)
		mrpc_reduce_chunk(op->elem, op->reduce, to,
				  mrpc_operation_at(op, chunk->with, chunk->len), m->scratch,
				  chunk->len);
	else if (!IS_ALIGNED(chunk->len, 8))
		memcpy(to, m->scratch, chunk->len);
}

/**
 * mrpc_member_done() - a CHUNK has arrived
 * @conn: the connection
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_member_done(struct mrpc_conn *conn)
{
	struct mrpc_member *m = conn->member;
	struct mrpc_operation *op;
	struct mrpc_chunk chunk;

	spin_lock_bh(&m->lock);
	if (m->receiving != conn) {	/* it was thrown away, or was the end of a group */
		spin_unlock_bh(&m->lock);
		return;
	}
	op = mrpc_member_first(m);
	mrpc_progress_recv(&m->progress, &chunk);
	spin_unlock_bh(&m->lock);
	/* While it receives, no thread completes the operation. */
	if (chunk.len)
		mrpc_chunk_apply(m, op, &chunk);
	spin_lock_bh(&m->lock);
	mrpc_member_counts(m, conn->member_rank)->received++;
	mrpc_progress_received(&m->progress);
	mrpc_trace_received(m, chunk.len);
	mrpc_trace_in_place(m);
	m->receiving = NULL;
	spin_unlock_bh(&m->lock);
	mrpc_member_run(m);
}
