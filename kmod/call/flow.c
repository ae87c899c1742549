// SPDX-License-Identifier: GPL-2.0
/* Streams: how the calls that have messages are found, and how they end. */
#include "call/client.h"
#include "call/flow.h"
#include "call/flow_rx.h"
#include "call/flow_tx.h"
#include "call/server.h"
#include "call/tx.h"
#include "core/call.h"
#include "core/calls.h"
#include "core/conn.h"
#include "core/flow.h"
#include "exec/control_frame.h"
#include "exec/kick.h"
#include "lib/message/calltable.h"

/**
 * mrpc_flow_find() - find the call of a message
 * @conn: the connection that has the message
 * @id: id of the call on that connection
 * @known: out: there is such a call, or there was
 *
 * Context: process. Return: the call, with a reference; NULL: it has ended, or there was none.
 */
struct mrpc_call *mrpc_flow_find(struct mrpc_conn *conn, u64 id, bool *known)
{
	struct mrpc_call *call;

	spin_lock(&conn->lock);
	if (conn->link.accepted) {
		call = mrpc_serve_find(&conn->calls.server, id);
		*known = mrpc_serve_known(&conn->calls.server, id);
	} else {
		call = mrpc_call_find(&conn->calls.client, id);
		*known = mrpc_call_known(&conn->calls.client, id);
	}
	if (call)
		mrpc_call_get(call);
	spin_unlock(&conn->lock);
	return call;
}

/**
 * mrpc_flow_end() - drop the messages of a call that has ended
 * @call: a call that streams, taken out of its table
 *
 * Of those that the application sent, the ones on the queue of the link still go. Those that have
 * come, and were not delivered, disappear. Ending a flow again does nothing.
 *
 * Context: process; no lock held.
 */
void mrpc_flow_end(struct mrpc_call *call)
{
	mrpc_flow_cut(call->flow);
	mrpc_flow_close(call->flow);
}

/**
 * mrpc_flow_fail() - end a call because of a message of its stream
 * @call: a call that streams; the caller has a reference
 * @status: enum mrpc_status; if this is the client, the server learns that the call is cancelled
 * @detail: a sentence for the client
 *
 * Context: process; may sleep.
 */
void mrpc_flow_fail(struct mrpc_call *call, u16 status, const char *detail)
{
	struct mrpc_conn *conn = call->conn;
	bool ours;

	spin_lock(&conn->lock);
	ours = conn->link.accepted ? mrpc_calls_answer(conn, call->id) :
				     mrpc_calls_abandon(conn, call->id);
	spin_unlock(&conn->lock);
	if (!ours)	/* it ends meanwhile, for another reason */
		return;
	if (conn->link.accepted) {
		mrpc_serve_abort(call, status, detail);
	} else {
		mrpc_conn_send_cancel(conn, call);
		mrpc_call_abort(call, status, detail);
	}
	/* The caller may own a claim of this connection, or of another one that carries the call. */
	mrpc_kick_again(conn, MRPC_CONN_TX_READY);
}
