// SPDX-License-Identifier: GPL-2.0
/*
 * Datapaths: which thread runs them, and when.
 *
 * The owner of a claim runs that direction of a connection's datapath. It is the application's own
 * thread in enter or call, or a work item if no thread waits. Readiness (a socket callback, a
 * timer) only sets a flag and wakes a runner: a waiting thread if there is one, else the work item.
 */
#include <linux/list.h>

#include "call/carry.h"
#include "call/client.h"
#include "call/flow_tx.h"
#include "call/tx.h"
#include "chain/chain.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/net.h"
#include "core/rpc.h"
#include "core/session.h"
#include "core/trace.h"
#include "egress/domain.h"
#include "egress/port.h"
#include "exec/kick.h"
#include "exec/runtime.h"
#include "exec/submit.h"
#include "lib/ds/claim.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"

/**
 * mrpc_link_dress() - add to a message what the link needs
 * @conn: the connection
 * @rpc: an rpc that is put on the link's queue
 *
 * The message is changed here and not when it is sent, because sending may begin twice. A queued
 * message stays as it is, even if the peer's wishes change. Context: owner of the transmit claim.
 */
void mrpc_link_dress(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	if (rpc->frame.type <= MRPC_WIRE_HELLO_ACK)
		return;		/* nothing is agreed on before it has been read */
	if (conn->link.adds & MRPC_FEATURE_CRC) {
		rpc->frame.flags |= MRPC_WIRE_CRC;
		WRITE_ONCE(conn->stats.tx_summed, conn->stats.tx_summed + 1);
	}
}

/**
 * mrpc_tx_done() - release an rpc that is sent, or will not be
 * @conn: the connection
 * @rpc: an rpc on no queue
 */
void mrpc_tx_done(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = rpc->call;

	mrpc_tx_unreserve(conn);
	if (unlikely(call->role == MRPC_ROLE_MESSAGE))
		mrpc_flow_done(rpc);
	mrpc_call_sent_put(call);
	mrpc_call_put(call);
}

/**
 * mrpc_tx_push() - put an rpc on the queue of the link that carries it
 * @conn: the connection
 * @rpc: an rpc on no queue
 *
 * Context: owner of the transmit claim.
 */
void mrpc_tx_push(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	rpc->wired = true;
	if (unlikely(rpc->call->via && rpc->call->via != conn)) {
		mrpc_carry_send(conn, rpc);
		return;
	}
	if (unlikely(READ_ONCE(conn->link.adds)))
		mrpc_link_dress(conn, rpc);
	mrpc_queue_push(&conn->dp.path[MRPC_TX].out, rpc);
}

/**
 * mrpc_tx_out() - take an rpc that has passed the engines
 * @conn: the connection
 * @rpc: an rpc on no queue
 *
 * Context: owner of the transmit claim.
 */
void mrpc_tx_out(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	if (rpc->drop)
		mrpc_tx_done(conn, rpc);
	else if (unlikely(rpc->call->flow) && !rpc->wired)	/* else a link carries it */
		mrpc_flow_out(conn, rpc);
	else
		mrpc_tx_push(conn, rpc);
}

/* Frees the slot of a call that the peer never sees. Return: true: it was still waited for. */
static bool mrpc_tx_unstart(struct mrpc_call *call)
{
	bool mine = mrpc_call_give_up(call);

	if (call->via)
		mrpc_carry_undo(call);
	return mine;
}

/**
 * mrpc_tx_rejected() - handle an rpc that an engine has rejected on its way out
 * @conn: the connection
 * @rpc: an rpc on no queue
 */
void mrpc_tx_rejected(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = rpc->call;

	if (call->role == MRPC_ROLE_MESSAGE) {
		mrpc_flow_rejected(conn, rpc);
		return;
	}
	if (call->role == MRPC_ROLE_SERVER) {
		mrpc_rpc_to_status(rpc, rpc->status, rpc->detail);
		mrpc_tx_out(conn, rpc);
		return;
	}
	rpc->drop = true;
	if (mrpc_tx_unstart(call))
		mrpc_call_abort(call, rpc->status, rpc->detail);
	mrpc_tx_done(conn, rpc);
}

/*
 * Handles the CANCEL of a call. If the call is still among the engines, or comes later in the
 * queue, neither the call nor the CANCEL is sent. The call's blocks are then free at once, unless
 * an engine has them.
 */
static void mrpc_tx_cancel(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_rpc *target = &rpc->call->target->rpc;

	if (unlikely(target->call->flow))
		mrpc_flow_withdraw(conn, target->call);
	if (target->wired) {
		mrpc_carry_cancel(rpc->call);
		mrpc_tx_out(conn, rpc);
		return;
	}
	target->drop = true;
	mrpc_tx_unstart(target->call);
	if (mrpc_chain_withdraw(conn, target))
		mrpc_tx_done(conn, target);
	mrpc_tx_done(conn, rpc);
	mrpc_conn_drained(conn);
}

/* Sends a control frame, a status that the kernel gives, or a chunk. They bypass the engines. */
static void mrpc_tx_control(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_path *path = &conn->dp.path[MRPC_TX];

	if (rpc->frame.type == MRPC_WIRE_FEATURES_ACK) {
		mrpc_features_answer(&conn->link.features, rpc->frame.call_id);
		mrpc_link_agreed(&conn->link);
	} else if (rpc->frame.type == MRPC_WIRE_BYE && path->late) {
		mrpc_tx_done(conn, rpc);	/* one BYE is enough */
		return;
	} else if (rpc->frame.type == MRPC_WIRE_BYE && path->held) {
		path->late = rpc;	/* it must follow the calls submitted earlier */
		return;
	}
	mrpc_tx_out(conn, rpc);
}

static __always_inline void mrpc_tx_sort(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	if (rpc->frame.type == MRPC_WIRE_CANCEL)
		mrpc_tx_cancel(conn, rpc);
	else if (rpc->call->role >= MRPC_ROLE_CONTROL)
		mrpc_tx_control(conn, rpc);
	else if (rpc->drop || !mrpc_chain_wants(&conn->dp, MRPC_TX) ||
		 mrpc_chain_enter(conn, MRPC_TX, rpc))
		mrpc_tx_out(conn, rpc);
}

/* Takes the rpcs that were submitted since the last time, in their order. */
static __always_inline void mrpc_tx_take(struct mrpc_conn *conn)
{
	struct llist_node *node = llist_del_all(&conn->dp.submitted);

	if (node && node->next)
		node = llist_reverse_order(node);
	while (node) {
		struct mrpc_rpc *rpc = llist_entry(node, struct mrpc_rpc, node);

		node = node->next;
		mrpc_tx_sort(conn, rpc);
	}
}

/* Fills the queue of the link. Return: true: the engines want another turn. */
static bool mrpc_tx_fill(struct mrpc_conn *conn)
{
	struct mrpc_path *path = &conn->dp.path[MRPC_TX];
	bool again = false;

	if (!llist_empty(&conn->dp.submitted))
		mrpc_tx_take(conn);
	if (path->held)
		again = mrpc_chain_run(conn, MRPC_TX);
	if (path->late && !path->held) {
		mrpc_tx_out(conn, path->late);
		path->late = NULL;
	}
	return again;
}

void mrpc_tx_drop(struct mrpc_conn *conn)
{
	struct mrpc_path *path = &conn->dp.path[MRPC_TX];
	struct mrpc_rpc *rpc;

	mrpc_tx_take(conn);
	mrpc_chain_purge(conn, MRPC_TX);
	if (path->late)
		mrpc_tx_done(conn, path->late);
	path->late = NULL;
	while ((rpc = mrpc_queue_peek(&path->out))) {
		mrpc_queue_del(&path->out, rpc);
		mrpc_tx_done(conn, rpc);
	}
}

/* Finishes an rpc that the link has taken whole. */
static void mrpc_tx_complete(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = rpc->call;

	conn->stats.tx_frames++;
	conn->stats.tx_bytes += mrpc_rpc_total(rpc);
	if (unlikely(rpc->frame.type == MRPC_WIRE_FEATURES_ACK))
		mrpc_features_answered(&conn->link.features);
	if (call->stamped)
		WRITE_ONCE(call->times.transmit, ktime_get_ns());
	trace_mrpc_transmit(conn, call);
	mrpc_queue_del(&conn->dp.path[MRPC_TX].out, rpc);
	mrpc_tx_done(conn, rpc);
}

/*
 * Gives the link the first rpc, @rpc, and as many after it as it takes at once. In the domain @d
 * it gets a chunk of the first, if it has its turn. Return: 0: there may be more to do; -EAGAIN:
 * the link or the domain kicks; any other value: the link is dead.
 */
static int mrpc_tx_give(struct mrpc_conn *conn, struct mrpc_domain *d, struct mrpc_rpc *rpc)
{
	struct mrpc_queue *out = &conn->dp.path[MRPC_TX].out;
	u64 before = rpc->done, limit = U64_MAX, sent;
	int err;

	if (unlikely(d)) {
		limit = mrpc_domain_turn(conn, d, rpc);
		if (!limit)
			return -EAGAIN;
	}
	if (!before)
		mrpc_rpc_marshal(rpc);
	err = conn->link.ops->send(&conn->link, out, limit);
	sent = rpc->done - before;
	while (rpc && mrpc_rpc_sent(rpc)) {
		mrpc_tx_complete(conn, rpc);
		rpc = mrpc_queue_peek(out);
	}
	if (likely(!d))
		return err;
	mrpc_domain_sent(conn, d, sent, rpc);
	/* If the link took only a part, there may be another turn now. */
	return err == -EAGAIN && sent ? 0 : err;
}

/**
 * mrpc_tx_next() - return the rpc that the link gets after @rpc
 * @link: the link
 * @rpc: the first rpc of the queue, or the one that this function returned last
 * @bytes: bytes that the transport has gathered since ops->send was called
 *
 * For transports that send several rpcs at once. They add what they take of an rpc to its done
 * field.
 *
 * Context: owner of the transmit claim. Return: the rpc, marshalled; NULL: there is none, or other
 * connections have their turn.
 */
struct mrpc_rpc *mrpc_tx_next(struct mrpc_link *link, struct mrpc_rpc *rpc, u64 bytes)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);

	if (mrpc_queue_is_last(&conn->dp.path[MRPC_TX].out, rpc) ||
	    conn->stats.tx_bytes + bytes >= conn->dp.tx_until || mrpc_runtime_hurries(&conn->exec))
		return NULL;
	rpc = list_next_entry(rpc, list);
	mrpc_rpc_marshal(rpc);
	return rpc;
}
EXPORT_SYMBOL_GPL(mrpc_tx_next);

/*
 * Ends the connection because of its link, or of what came over it. @why is the text to report if
 * @err tells no more.
 */
void mrpc_link_failed(struct mrpc_conn *conn, int err, const char *why)
{
	if (err == -EBADMSG)
		atomic64_inc(&mrpc_net(conn->session->net)->checksum_errors);
	if (err == -EPROTO || err == -EBADMSG)	/* whatever the peer did then */
		WRITE_ONCE(conn->link.err, err);
	else
		err = cmpxchg(&conn->link.err, 0, err) ?: err;
	if (conn->link.why)
		why = conn->link.why;
	else if (err == -ESHUTDOWN || err == -EPIPE)
		why = "the peer closed the connection";
	else if (err == -ECONNRESET)
		why = "the peer reset the connection";
	else if (err == -ECONNREFUSED)
		why = "nobody serves this address";
	else if (err == -ETIMEDOUT)
		why = "the peer does not answer";
	else if (err == -EPROTO)
		why = "the peer broke the protocol";
	else if (err == -EBADMSG)
		why = "a checksum was wrong: what the peer sent is not what came";
	mrpc_conn_close(conn, MRPC_UNAVAILABLE, why, err != -ESHUTDOWN);
}

/*
 * Gives the link what waits for it. Return: 0: nothing waits any more; 1: the budget is used up; a
 * negative value: a kick will come, or the link is dead.
 */
static int mrpc_tx_send(struct mrpc_conn *conn, struct mrpc_domain *d, int *budget)
{
	struct mrpc_rpc *rpc;
	int err;

	while ((rpc = mrpc_queue_peek(&conn->dp.path[MRPC_TX].out))) {
		if (--*budget < 0 || conn->stats.tx_bytes >= conn->dp.tx_until ||
		    mrpc_runtime_hurries(&conn->exec)) {
			mrpc_tx_hint(conn, rpc);
			return 1;
		}
		if (test_bit(MRPC_CONN_CHANGING, &conn->flags))
			return -EBUSY;	/* the thread that changes it kicks */
		err = mrpc_tx_give(conn, d, rpc);
		if (err) {
			if (err != -EAGAIN)
				mrpc_link_failed(conn, err, "the link failed while sending");
			return err;
		}
	}
	return 0;
}

/* Has the link send what it keeps. Return: true: it wants another turn. */
static bool mrpc_tx_pump(struct mrpc_conn *conn)
{
	int err = conn->link.ops->pump(&conn->link);

	if (err < 0)
		mrpc_link_failed(conn, err, "the link failed while sending");
	return err > 0;
}

/* Runs one round of the transmit chain. Return: true: the budget is used up, work is left. */
static bool mrpc_tx_round(struct mrpc_conn *conn, int *budget)
{
	/* It may get its first one meanwhile. */
	struct mrpc_domain *d = conn->link.ops->credit ?
				rcu_dereference_check(conn->port.domain, true) : NULL;
	u32 turn = READ_ONCE(conn->exec.turn_bytes);
	bool again = false;
	int err = 0;

	conn->dp.tx_until = turn ? conn->stats.tx_bytes + turn : U64_MAX;
	if (test_bit(MRPC_CONN_TX_READY, &conn->flags))
		clear_bit(MRPC_CONN_TX_READY, &conn->flags);
	if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED) {
		if (d)
			mrpc_domain_idle(conn, d);
		mrpc_tx_drop(conn);
		return false;
	}
	if (d)
		smp_mb();	/* before the check for a grant */
	do {
		again |= mrpc_tx_fill(conn);
		if (mrpc_queue_empty(&conn->dp.path[MRPC_TX].out))
			break;
		err = mrpc_tx_send(conn, d, budget);
	} while (!err);
	if (err < 0)
		again = false;	/* a kick will come, or the link is dead */
	if (unlikely(conn->link.ops->pump) && (err >= 0 || err == -EAGAIN))
		again |= mrpc_tx_pump(conn);
	return again || err > 0;
}

static void mrpc_tx_own(struct mrpc_conn *conn)
{
	int budget = MRPC_TX_BUDGET;
	u64 frames;
	bool again;

	/* The budget is for the whole ownership: other threads may keep adding rpcs. */
	do {
		frames = conn->stats.tx_frames;
		again = mrpc_tx_round(conn, &budget);
		if (conn->link.ops->flush && conn->stats.tx_frames != frames)
			conn->link.ops->flush(&conn->link);
		if (again) {
			mrpc_claim_yield(&conn->exec.tx);
			mrpc_kick_again(conn, MRPC_CONN_TX_READY);
			return;
		}
	} while (mrpc_claim_end(&conn->exec.tx));
}

void mrpc_tx_run(struct mrpc_conn *conn)
{
	if (!mrpc_claim_begin(&conn->exec.tx))
		return;
	mrpc_tx_own(conn);
	/* Not while the claim is held: links have claims of their own. */
	if (unlikely(!llist_empty(&conn->dp.touched)))
		mrpc_carry_flush(conn);
}

/**
 * mrpc_datapath_tx() - run the transmit direction
 * @conn: the connection
 *
 * Its runtime runs it, if it has one. Otherwise it runs here, unless another context runs it.
 *
 * Context: process; may sleep.
 */
void mrpc_datapath_tx(struct mrpc_conn *conn)
{
	if (rcu_access_pointer(conn->exec.runtime))
		mrpc_kick_again(conn, MRPC_CONN_TX_READY);
	else
		mrpc_tx_run(conn);
}
