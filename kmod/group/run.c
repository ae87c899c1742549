// SPDX-License-Identifier: GPL-2.0
/*
 * Running a rank: the owner of its claim begins operations, sends their chunks, copies, and completes
 * them.
 *
 * Each event that lets a rank go on ends in mrpc_member_run(): an operation is submitted, a chunk has
 * come, the bytes of a chunk are read no more, a connection begins, it or the group ends, the strategy
 * changes. The owner of a claim
 * of a connection may call it: no thread waits for the claim of a rank, and a connection that gets a
 * chunk to send is only kicked.
 */
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/string.h>

#include "core/call.h"
#include "core/conn.h"
#include "core/globals.h"
#include "core/refusal.h"
#include "core/rpc.h"
#include "core/session.h"
#include "exec/kick.h"
#include "exec/submit.h"
#include "group/end.h"
#include "group/member.h"
#include "group/run.h"
#include "group/strategy.h"
#include "group/submit.h"
#include "lib/group/change.h"
#include "lib/group/operation.h"
#include "lib/message/wire.h"

#define MRPC_GROUP_TURNS	16	/* chunks that are sent or copied in one run */

/**
 * mrpc_operation_describe() - what the first chunk of an operation says
 * @m: the rank
 * @op: the operation
 * @form: out
 */
void mrpc_operation_describe(const struct mrpc_member *m, const struct mrpc_operation *op,
			     struct mrpc_operation_form *form)
{
	const struct mrpc_schedule_config *c = &op->schedule.c;

	*form = (struct mrpc_operation_form){
		.key = m->key,
		.count = c->count,
		.ranks = c->ranks,
		.rank = m->rank,
		.root = c->root,
		.chunk = MRPC_WIRE_CHUNK_BYTES,
		.collective = c->collective,
		.algorithm = c->algorithm,
		.elem = op->elem,
		.reduce = op->reduce,
		.strategy = m->change->version,
	};
}

/* Ends the group: an operation needs a rank that has left, or that has no connection here. */
static void mrpc_member_lacks(struct mrpc_member *m, u32 rank)
{
	if (READ_ONCE(m->links[rank].left))
		mrpc_member_fail(m, MRPC_CANCELLED, "rank %u has left the group", rank);
	else
		mrpc_member_fail(m, MRPC_FAILED_PRECONDITION,
				 "operation %llu: rank %u has no connection to rank %u", m->seq,
				 m->rank, rank);
}

/* -- sending ------------------------------------------------------------------------- */

/* Fills a chunk in: the body if it is the first one, and where its bytes are. */
static int mrpc_chunk_build(struct mrpc_member *m, struct mrpc_operation *op,
			    const struct mrpc_chunk *chunk, struct mrpc_call *call)
{
	struct mrpc_rpc *rpc = &call->rpc;
	struct mrpc_operation_form form;

	if (!rpc->frame.msg_no) {
		if (mrpc_rpc_prefix(rpc, sizeof(struct mrpc_wire_operation), 0))
			return -ENOMEM;
		mrpc_operation_describe(m, op, &form);
		mrpc_operation_encode(&form, (void *)(rpc->data + sizeof(struct mrpc_wire_hdr)));
	}
	if (!chunk->len)
		return 0;
	rpc->heap = mrpc_operation_heap(op, chunk->at.buf);
	rpc->have_bytes = false;
	rpc->buf.segs[0] = (struct mrpc_msg_seg){
		.src = op->base[chunk->at.buf] + chunk->at.off,
		.len = chunk->len,
	};
	rpc->buf.nr_segs = 1;
	rpc->buf.len.bytes = ALIGN(chunk->len, 8);
	rpc->frame.msg.bytes = rpc->buf.len.bytes;
	return 0;
}

/* The bytes of a chunk are read no more, or never were. */
static void mrpc_chunk_free_slot(struct mrpc_member *m, u8 slot)
{
	spin_lock_bh(&m->lock);
	mrpc_progress_freed(&m->progress, slot);
	spin_unlock_bh(&m->lock);
}

/* Sends a chunk that the owner of the claim has taken. @no: its number, @conn: with a reference. */
static void mrpc_chunk_send(struct mrpc_member *m, struct mrpc_operation *op,
			    const struct mrpc_chunk *chunk, struct mrpc_conn *conn, u32 no)
{
	struct mrpc_call *call = mrpc_call_new(conn, MRPC_ROLE_CHUNK, GFP_KERNEL);
	int err = -ENOMEM;

	if (call) {
		call->priority = op->priority;
		call->user_data = chunk->slot;
		call->rpc.frame.type = MRPC_WIRE_CHUNK;
		call->rpc.frame.call_id = m->seq;
		call->rpc.frame.msg_no = no;
		err = mrpc_chunk_build(m, op, chunk, call);
	}
	if (err) {
		if (call)
			mrpc_call_put(call);
		mrpc_chunk_free_slot(m, chunk->slot);
		mrpc_member_fail(m, MRPC_RESOURCE_EXHAUSTED,
				 "operation %llu: rank %u has no memory for a chunk", m->seq,
				 m->rank);
		return;
	}
	mrpc_call_by_ref(call);
	mrpc_tx_submit(conn, &call->rpc);
	/* In any case: the connection may have ended since, and forgotten an earlier kick. */
	mrpc_kick_again(conn, MRPC_CONN_TX_READY);
}

/* Sends the next chunk, if it may go. Return: true: look again. */
static bool mrpc_member_send(struct mrpc_member *m, struct mrpc_operation *op)
{
	struct mrpc_member_link *link;
	struct mrpc_conn *conn;
	struct mrpc_chunk chunk;
	u32 no = 0;

	spin_lock_bh(&m->lock);
	if (mrpc_progress_send(&m->progress, &chunk) != MRPC_NEXT_CHUNK) {
		spin_unlock_bh(&m->lock);
		return false;
	}
	link = mrpc_member_counts(m, chunk.peer);
	conn = link->left ? NULL : link->conn;
	if (conn) {
		mrpc_conn_get(conn);
		no = link->sent++;
		mrpc_trace_sent(m, chunk.len);
	}
	spin_unlock_bh(&m->lock);
	if (conn) {
		mrpc_chunk_send(m, op, &chunk, conn, no);
		mrpc_conn_put(conn);
		return true;
	}
	mrpc_chunk_free_slot(m, chunk.slot);
	mrpc_member_lacks(m, chunk.peer);
	return true;
}

/**
 * mrpc_member_sent() - the bytes of a chunk are read no more
 * @call: the chunk
 *
 * Context: any but hard interrupt.
 */
void mrpc_member_sent(struct mrpc_call *call)
{
	struct mrpc_member *m = call->conn->member;

	mrpc_chunk_free_slot(m, call->user_data);
	/* The caller may be in softirq, or hold locks of the network stack. */
	mrpc_kick_again(call->conn, MRPC_CONN_MEMBER);
}

/* -- receiving ------------------------------------------------------------------------ */

/*
 * Looks at the connection of the chunk that is received next. Under the lock. Return: the
 * connection, with a reference, if the chunk waits there. @missing: no chunk will come: there is no
 * connection, or the rank has left, which it says behind its last chunk.
 */
static struct mrpc_conn *mrpc_member_wake(struct mrpc_member *m, u32 rank, bool *missing)
{
	struct mrpc_member_link *link = &m->links[rank];

	*missing = !link->conn || link->left;
	if (*missing || !link->early)
		return NULL;
	link->early = false;
	mrpc_conn_get(link->conn);
	return link->conn;
}

/* Only the owner of the claim copies, and only it ends the operation. */
static void mrpc_member_copy(struct mrpc_member *m, struct mrpc_operation *op,
			     const struct mrpc_chunk *chunk)
{
	memcpy(mrpc_operation_at(op, chunk->at, chunk->len),
	       mrpc_operation_at(op, chunk->with, chunk->len), chunk->len);
	spin_lock_bh(&m->lock);
	mrpc_progress_received(&m->progress);
	mrpc_trace_in_place(m);
	spin_unlock_bh(&m->lock);
}

/*
 * Does a copy that has its turn, or kicks the connection where a chunk waits that has its turn.
 * Return: true: look again.
 */
static bool mrpc_member_receive(struct mrpc_member *m, struct mrpc_operation *op)
{
	bool next, missing = false, copies;
	struct mrpc_conn *conn = NULL;
	struct mrpc_chunk chunk;

	spin_lock_bh(&m->lock);
	next = !m->receiving && mrpc_progress_recv(&m->progress, &chunk) == MRPC_NEXT_CHUNK;
	copies = next && chunk.peer == MRPC_NO_RANK;
	if (next && !copies)
		conn = mrpc_member_wake(m, chunk.peer, &missing);
	spin_unlock_bh(&m->lock);
	if (conn) {
		mrpc_kick_again(conn, MRPC_CONN_RX_READY);
		mrpc_conn_put(conn);
	}
	if (missing)
		mrpc_member_lacks(m, chunk.peer);
	if (copies)
		mrpc_member_copy(m, op, &chunk);
	return copies;
}

/* -- begin and end ---------------------------------------------------------------------- */

/* Takes the operation off the list, if it is over, or if the group has ended. */
static struct mrpc_operation *mrpc_member_take_over(struct mrpc_member *m, u16 *status)
{
	struct mrpc_operation *op;

	op = list_first_entry_or_null(&m->operations, struct mrpc_operation, list);
	*status = m->status;
	if (!op)
		return NULL;
	if (m->running && (m->receiving || m->progress.busy))
		return NULL;
	if (m->running && mrpc_progress_over(&m->progress))
		*status = MRPC_OK;
	else if (m->status == MRPC_OK)
		return NULL;
	if (!m->running)
		m->seq++;	/* it never began */
	mrpc_trace_end(m, op, m->running, *status);
	m->running = false;
	list_del(&op->list);
	m->nr_operations--;
	return op;
}

/* Completes what is over. Return: true: look again. */
static bool mrpc_member_complete(struct mrpc_member *m)
{
	struct mrpc_operation *op;
	u16 status;
	u64 seq;

	spin_lock_bh(&m->lock);
	op = mrpc_member_take_over(m, &status);
	seq = m->seq;
	spin_unlock_bh(&m->lock);
	if (op)
		mrpc_operation_complete(m, op, seq, status);
	return op;
}

/*
 * Returns the operation that runs, or the next one, if it may begin; or NULL. Under the lock. @late:
 * a change of the strategy holds the next one for ever, because rank @late has left; or MRPC_NO_RANK.
 */
static struct mrpc_operation *mrpc_member_current(struct mrpc_member *m, u32 *late)
{
	struct mrpc_operation *op;

	*late = MRPC_NO_RANK;
	op = list_first_entry_or_null(&m->operations, struct mrpc_operation, list);
	if (!op || m->status != MRPC_OK)
		return NULL;
	if (m->running || mrpc_change_allows(m->change, m->seq + 1))
		return op;
	*late = mrpc_strategy_lacks(m);
	if (!m->held) {
		m->held = true;
		m->until = ktime_get_ns() + op->limit;
		mrpc_member_expect(m);
	}
	return NULL;
}

/* Begins an operation that is ready. Under the lock. */
static void mrpc_member_start(struct mrpc_member *m, struct mrpc_operation *op)
{
	u64 now = ktime_get_ns();

	m->running = true;
	m->held = false;
	m->seq++;
	mrpc_progress_init(&m->progress, &op->schedule, MRPC_WIRE_CHUNK_BYTES);
	m->until = now + op->limit;
	mrpc_trace_begin(m, op, now);
	mrpc_member_expect(m);
}

/*
 * Returns the operation that runs, beginning it if none does, or NULL. @stale: the next one was made
 * ready for an earlier strategy.
 */
static struct mrpc_operation *mrpc_member_begin(struct mrpc_member *m, bool *stale)
{
	struct mrpc_operation *op;
	u32 late;

	spin_lock_bh(&m->lock);
	op = mrpc_member_current(m, &late);
	*stale = op && !mrpc_operation_is_ready(op, m->change->version);
	if (op && !*stale && !m->running)
		mrpc_member_start(m, op);
	spin_unlock_bh(&m->lock);
	if (late != MRPC_NO_RANK)
		mrpc_member_lacks(m, late);
	return *stale ? NULL : op;
}

/* What a turn has done. */
enum mrpc_member_turn {
	MRPC_TURN_NOTHING,
	MRPC_TURN_MORE,		/* there may be more to do */
	MRPC_TURN_STALE,	/* the next operation has to be made ready again */
};

/* Does one thing that can be done now. */
static enum mrpc_member_turn mrpc_member_turn(struct mrpc_member *m)
{
	struct mrpc_operation *op;
	bool stale;

	/* A thread that opens a change runs the rank afterwards. */
	if (unlikely(READ_ONCE(m->change->open)))
		mrpc_strategy_go_on(m);
	op = mrpc_member_begin(m, &stale);
	if (unlikely(stale))
		return MRPC_TURN_STALE;
	/* Both sides have their turn. */
	if (op && (mrpc_member_send(m, op) | mrpc_member_receive(m, op)))
		return MRPC_TURN_MORE;
	return mrpc_member_complete(m) ? MRPC_TURN_MORE : MRPC_TURN_NOTHING;
}

/* Makes the next operation ready again: the strategy has changed since it was submitted. */
static void mrpc_member_prepare(struct mrpc_member *m)
{
	struct mrpc_operation *op;
	struct mrpc_refusal r;

	spin_lock_bh(&m->lock);
	op = list_first_entry(&m->operations, struct mrpc_operation, list);
	spin_unlock_bh(&m->lock);
	/* Only the owner of the claim, which the caller is, begins and frees it. */
	if (mrpc_operation_prepare(m, op, &r))
		mrpc_member_fail(m, r.status, "operation %llu: rank %u: %s", m->seq + 1, m->rank,
				 r.detail);
}

/* @prepares: the caller can wait for memory. */
static void mrpc_member_go(struct mrpc_member *m, bool prepares)
{
	enum mrpc_member_turn turn;
	u32 turns = MRPC_GROUP_TURNS;

	if (!mrpc_claim_begin(&m->run))
		return;
	do {
		while ((turn = mrpc_member_turn(m)) != MRPC_TURN_NOTHING) {
			if (turn == MRPC_TURN_STALE && prepares)
				mrpc_member_prepare(m);
			else if (turn == MRPC_TURN_STALE || !--turns)
				goto later;
		}
	} while (mrpc_claim_end(&m->run));
	return;
later:
	mrpc_claim_yield(&m->run);
	kref_get(&m->ref);
	if (!queue_work(mrpc_wq, &m->run_work))
		mrpc_member_put(m);
}

/**
 * mrpc_member_run() - do all that a rank can do now
 * @m: the rank
 *
 * If another thread does it, that one looks again. A work item goes on with a long run, and with one
 * that needs work memory, because the caller may own the claim of a connection. Context: process; may
 * sleep.
 */
void mrpc_member_run(struct mrpc_member *m)
{
	mrpc_member_go(m, false);
}

/**
 * mrpc_member_run_work() - the work item that goes on
 * @work: of a rank, with a reference
 */
void mrpc_member_run_work(struct work_struct *work)
{
	struct mrpc_member *m = container_of(work, struct mrpc_member, run_work);
	struct mem_cgroup *old = set_active_memcg(m->session->memcg);

	mrpc_member_go(m, true);
	set_active_memcg(old);
	mrpc_member_put(m);
}
