// SPDX-License-Identifier: GPL-2.0
/* The peer's control frames: cancel, end, features, keepalive. */
#include "call/control.h"
#include "call/flow_tx.h"
#include "call/server.h"
#include "core/calls.h"
#include "core/conn.h"
#include "core/rpc.h"
#include "exec/control_frame.h"
#include "lib/message/calltable.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"

#define MRPC_PONG_QUEUE	512	/* answer no probes if more than this is queued */

/*
 * Handles a CANCEL of a call that is not being served. If the call has not come, the peer gave up
 * its request on the way. If the request comes all the same, it is not executed: this is its reply.
 */
static int mrpc_hear_skip(struct mrpc_conn *conn, u64 id)
{
	u32 slot = mrpc_call_slot(id);
	bool fresh;

	if (!mrpc_features_accept(&conn->link.features, MRPC_FEATURE_ABORT))
		return 0;
	/* Only the owner of the receive claim has the table grow. */
	if (slot >= conn->calls.server.nr && slot < conn->calls.server.limit &&
	    mrpc_calls_grow(conn, slot + 1))
		return -ENOMEM;
	spin_lock(&conn->lock);
	/* The entry is gone before any other thread sees that it is no call. */
	fresh = !mrpc_serve_start(&conn->calls.server, id, conn);
	if (fresh) {
		mrpc_serve_end(&conn->calls.server, id);
		conn->stats.calls++;
	}
	spin_unlock(&conn->lock);
	return fresh ? mrpc_serve_status(conn, id, MRPC_CANCELLED,
					 "cancelled by the caller before it came") : 0;
}

static int mrpc_hear_cancel(struct mrpc_conn *conn, u64 id)
{
	struct mrpc_call *call;
	int err = 0;

	spin_lock(&conn->lock);
	call = mrpc_calls_answer(conn, id);
	spin_unlock(&conn->lock);
	if (call)
		mrpc_serve_abort(call, MRPC_CANCELLED, "cancelled by the caller");
	else
		err = mrpc_hear_skip(conn, id);
	set_bit(MRPC_CONN_TX_READY, &conn->flags);
	return err;
}

/*
 * Handles a BYE. A server that drains sends BYE. The client then starts no more calls, and sends
 * BYE after all that it has sent. So the server knows when it has received everything, and the end
 * of the connection loses no call. A BYE instead of HELLO_ACK ends the connection. The link of a
 * replica sends no BYE. It is closed after its last call: see mrpc_conn_bye().
 */
static int mrpc_hear_bye(struct mrpc_conn *conn)
{
	if (test_and_set_bit(MRPC_CONN_BYE, &conn->flags))
		return 0;
	if (conn->link.accepted) {
		mrpc_conn_drained(conn);
		return 0;
	}
	if (READ_ONCE(conn->state) == MRPC_CONN_CONNECTING) {
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the peer is shutting down", false);
		return 0;
	}
	spin_lock(&conn->lock);
	if (conn->state == MRPC_CONN_READY) {
		WRITE_ONCE(conn->state, MRPC_CONN_DRAINING);
		conn->why = "the peer is shutting down";
	}
	spin_unlock(&conn->lock);
	if (!conn->replica)
		return mrpc_conn_send_control(conn, MRPC_WIRE_BYE, 0);
	mrpc_conn_drained(conn);
	return 0;
}

/* The place of the answer in the transmit queue decides which frames keep the old features. */
static int mrpc_hear_features(struct mrpc_conn *conn, u64 mask)
{
	u64 answer;
	int err = mrpc_features_hear(&conn->link.features, mask, &answer);

	return err ?: mrpc_conn_send_control(conn, MRPC_WIRE_FEATURES_ACK, answer);
}

/**
 * mrpc_conn_control() - handle a frame without content
 * @conn: the connection
 * @frame: the frame
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0, -EPROTO or -ENOMEM.
 */
int mrpc_conn_control(struct mrpc_conn *conn, const struct mrpc_frame *frame)
{
	switch (frame->type) {
	case MRPC_WIRE_PING:
		/* A full queue speaks for itself: anything we send is an answer. */
		if (atomic_read(&conn->dp.tx_queued) > MRPC_PONG_QUEUE)
			return 0;
		return mrpc_conn_send_control(conn, MRPC_WIRE_PONG, frame->call_id);
	case MRPC_WIRE_PONG:
		return 0;
	case MRPC_WIRE_CANCEL:
		return mrpc_hear_cancel(conn, frame->call_id);
	case MRPC_WIRE_CREDIT:
		return mrpc_flow_credit(conn, frame);
	case MRPC_WIRE_BYE:
		return mrpc_hear_bye(conn);
	case MRPC_WIRE_FEATURES:
		return mrpc_hear_features(conn, frame->call_id);
	case MRPC_WIRE_FEATURES_ACK:
		return mrpc_features_ack(&conn->link.features, frame->call_id) ?:
		       mrpc_conn_announce(conn);
	default:
		return -EPROTO;
	}
}
