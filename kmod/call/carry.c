// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that the link of another connection carries: see replica.h.
 *
 * Such a call is in two tables. The table of its own connection decides which thread completes it:
 * the one that takes it out there, once. The table of the link gives the call its id on the wire,
 * and counts the outstanding calls. The call leaves it when the reply has come, when the link has
 * ended, or when the request will not be sent after all. Each table holds a reference. The locks of
 * the two are never held together.
 *
 * The owner of the connection's transmit claim gives a request to the queue of one link and never
 * to another: so it runs at most once. No thread holds two claims: the link runs only after the
 * claim of the connection has been given back.
 */
#include "call/carry.h"
#include "call/client.h"
#include "call/tx.h"
#include "core/call.h"
#include "core/calls.h"
#include "core/carrier.h"
#include "core/conn.h"
#include "core/rpc.h"
#include "exec/submit.h"
#include "lib/message/calltable.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"

/**
 * mrpc_carry() - make a link carry a call
 * @call: a call whose request is among the engines of its connection
 * @link: the link; its replica keeps it alive
 *
 * The request goes to the link when it leaves the engines.
 *
 * Context: owner of the transmit claim of the call's connection, holds the lock of the replica
 * set.
 * Return: 0; -ENOTCONN: the link takes no more calls, or none of this kind; -EBUSY: not now.
 */
int mrpc_carry(struct mrpc_call *call, struct mrpc_conn *link)
{
	int err = -ENOTCONN;
	u64 id;

	spin_lock(&link->lock);
	if (link->state == MRPC_CONN_READY &&
	    (!call->flow || link->link.features.may & MRPC_FEATURE_STREAM)) {
		err = -EBUSY;
		id = mrpc_call_start(&link->calls.client, call);
		if (id) {
			err = 0;
			mrpc_call_get(call);
			link->stats.calls++;
			mrpc_conn_get(link);
			WRITE_ONCE(call->via, link);
			call->rpc.frame.call_id = id;
		}
	}
	spin_unlock(&link->lock);
	return err;
}

/* Takes a call out of the link's table. Return: true: the caller gets the table's reference. */
static bool mrpc_carry_take(struct mrpc_conn *link, u64 id, u16 status)
{
	struct mrpc_call *mine;
	bool known;

	spin_lock(&link->lock);
	mine = mrpc_calls_finish(link, id, status, &known);
	spin_unlock(&link->lock);
	return mine;
}

/**
 * mrpc_carry_undo() - take back a request that a link was to carry: it will not be sent
 * @call: the call
 *
 * Context: owner of the transmit claim of the call's connection.
 */
void mrpc_carry_undo(struct mrpc_call *call)
{
	struct mrpc_conn *link = call->via;

	if (!mrpc_carry_take(link, call->rpc.frame.call_id, MRPC_CANCELLED))
		return;
	mrpc_carrier_ops->outcome(link, call, false, MRPC_CANCELLED);
	mrpc_conn_drained(link);
	mrpc_call_put(call);
}

/**
 * mrpc_carry_send() - give an rpc to the link that carries its call
 * @conn: the connection
 * @rpc: an rpc on no queue
 *
 * The owner of the claim calls mrpc_carry_flush() after it has given the claim back.
 * Context: owner of the transmit claim of @conn.
 */
void mrpc_carry_send(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_conn *link = rpc->call->via;

	mrpc_conn_get(link);
	mrpc_tx_submit(link, rpc);
	if (test_and_set_bit(MRPC_CONN_TOUCHED, &link->flags))
		mrpc_conn_put(link);
	else
		llist_add(&link->dp.touch, &conn->dp.touched);
	mrpc_tx_unreserve(conn);
}

/**
 * mrpc_carry_cancel() - send a CANCEL over the same link as its call
 * @cancel: the CANCEL
 *
 * Context: owner of the transmit claim that has the CANCEL.
 */
void mrpc_carry_cancel(struct mrpc_call *cancel)
{
	struct mrpc_call *target = cancel->target;

	if (!target->via || cancel->via)
		return;
	mrpc_conn_get(target->via);
	cancel->via = target->via;
	cancel->rpc.frame.call_id = target->rpc.frame.call_id;
}

/**
 * mrpc_carry_flush() - run the links that have new rpcs
 * @conn: the connection
 *
 * Context: process; may sleep; no claim held.
 */
void mrpc_carry_flush(struct mrpc_conn *conn)
{
	struct llist_node *node = llist_del_all(&conn->dp.touched);

	while (node) {
		struct mrpc_conn *link = llist_entry(node, struct mrpc_conn, dp.touch);

		node = node->next;
		/* A thread that adds an rpc from now on lists the link again, after the read of
		 * node->next. The claim's barrier orders this before the check of the queue.
		 */
		clear_bit_unlock(MRPC_CONN_TOUCHED, &link->flags);
		mrpc_datapath_tx(link);
		mrpc_conn_put(link);
	}
}

/**
 * mrpc_carry_done() - note that a link has received the reply of a call
 * @link: the link
 * @call: the call; the caller has a reference, and completes it
 * @status: status of the reply
 *
 * Context: owner of the link's receive claim.
 */
void mrpc_carry_done(struct mrpc_conn *link, struct mrpc_call *call, u16 status)
{
	if (!mrpc_carry_take(link, call->rpc.frame.call_id, status))
		return;
	mrpc_carrier_ops->outcome(link, call, true, status);
	mrpc_conn_drained(link);
	mrpc_call_put(call);
}

/**
 * mrpc_carry_fail() - end a call because its link failed
 * @link: the link
 * @call: taken out of the link's table, with that table's reference
 * @status: enum mrpc_status
 * @detail: a sentence
 * @unsent: the link has not taken all of the request, and will not
 *
 * Context: process.
 */
void mrpc_carry_fail(struct mrpc_conn *link, struct mrpc_call *call, u16 status,
		     const char *detail, bool unsent)
{
	mrpc_carrier_ops->outcome(link, call, true, status);
	if (mrpc_call_give_up(call)) {
		call->unsent = unsent;
		mrpc_call_abort(call, status, detail);
	} else {
		mrpc_conn_drained(call->conn);
	}
	mrpc_conn_drained(link);
	mrpc_call_put(call);
}

/**
 * mrpc_carry_fail_all() - end the calls of a link that has ended
 * @link: the link; CLOSED, the caller owns its claims
 */
void mrpc_carry_fail_all(struct mrpc_conn *link)
{
	struct mrpc_call *call;
	u32 pos = 0;
	u64 id;

	for (;;) {
		call = NULL;
		spin_lock(&link->lock);
		id = mrpc_call_next(&link->calls.client, &pos);
		if (id)
			call = mrpc_calls_abandon(link, id);
		spin_unlock(&link->lock);
		if (!id)
			return;
		mrpc_carry_fail(link, call, link->close_status, link->why,
				!mrpc_rpc_sent(&call->rpc));
	}
}
