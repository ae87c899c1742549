// SPDX-License-Identifier: GPL-2.0
/* Streams: the application grants what it has consumed, and the sender gets credit for it. */
#include "call/flow.h"
#include "call/flow_grant.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/flow.h"
#include "exec/control_frame.h"
#include "exec/kick.h"

/* Sends the CREDIT of a stream over the link that carries it. */
static void flow_send_credit(struct mrpc_call *call, struct mrpc_call *frame, u64 may)
{
	struct mrpc_conn *link = frame->conn;

	frame->rpc.frame.remaining_us = may;
	mrpc_control_submit(link, frame);
	if (link != call->conn)
		mrpc_kick_again(link, MRPC_CONN_TX_READY);
}

/* Grants @bytes. Return: false: these have not come, or there is no memory. */
static bool flow_grant(struct mrpc_call *call, u32 bytes)
{
	struct mrpc_conn *link = call->via ?: call->conn;
	struct mrpc_flow *flow = call->flow;
	struct mrpc_call *frame;
	u64 may;
	bool ok;

	frame = mrpc_control_new(link, MRPC_WIRE_CREDIT,
				 call->via ? call->rpc.frame.call_id : call->id, NULL, 0);
	if (!frame)
		return false;
	spin_lock(&flow->lock);
	ok = mrpc_credit_grant(&flow->rx, bytes);
	may = ok && !flow->rx_end ? mrpc_credit_due(&flow->rx) : 0;
	if (may)
		mrpc_credit_said(&flow->rx, may);
	spin_unlock(&flow->lock);
	if (may)
		flow_send_credit(call, frame, may);
	else
		mrpc_call_put(frame);
	return ok;
}

/**
 * mrpc_flow_grant() - the application has consumed messages: MRPC_OP_GRANT
 * @conn: the connection that @sqe->conn names
 * @sqe: private copy of the descriptor
 *
 * Context: process; may sleep. The caller runs the datapath next.
 * Return: false: no such stream, more than has come, or no memory.
 */
bool mrpc_flow_grant(struct mrpc_conn *conn, const struct mrpc_sqe *sqe)
{
	struct mrpc_call *call;
	bool known, ok;

	call = mrpc_flow_find(conn, sqe->call, &known);
	if (!call)
		return known;	/* it has ended: the sender needs no credit */
	ok = call->flow && flow_grant(call, sqe->max_reply);
	mrpc_call_put(call);
	return ok;
}
