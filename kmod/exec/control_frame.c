// SPDX-License-Identifier: GPL-2.0
/* Control frames: made and submitted like messages, without a call. */
#include "core/call.h"
#include "core/conn.h"
#include "core/rpc.h"
#include "exec/control_frame.h"
#include "exec/submit.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"

/**
 * mrpc_control_new() - a control frame
 * @conn: the connection
 * @type: enum mrpc_wire_type
 * @call_id: for its header
 * @body: of a hello, or NULL
 * @len: its bytes
 *
 * Context: process; may sleep.
 * Return: the frame, for mrpc_control_submit() or mrpc_call_put(); or NULL.
 */
struct mrpc_call *mrpc_control_new(struct mrpc_conn *conn, u8 type, u64 call_id, const void *body,
				   u32 len)
{
	struct mrpc_call *call = mrpc_call_new(conn, MRPC_ROLE_CONTROL, GFP_KERNEL);

	if (!call)
		return NULL;
	if (mrpc_rpc_prefix(&call->rpc, len, 0)) {
		mrpc_call_put(call);
		return NULL;
	}
	if (len)
		memcpy(call->rpc.data + sizeof(struct mrpc_wire_hdr), body, len);
	call->rpc.frame.type = type;
	call->rpc.frame.call_id = call_id;
	return call;
}

/**
 * mrpc_control_submit() - put a control frame on the datapath; the caller runs it
 * @conn: the connection
 * @call: the frame
 */
void mrpc_control_submit(struct mrpc_conn *conn, struct mrpc_call *call)
{
	mrpc_tx_submit(conn, &call->rpc);
	set_bit(MRPC_CONN_TX_READY, &conn->flags);
}

int mrpc_control_send(struct mrpc_conn *conn, u8 type, u64 call_id, const void *body,
			     u32 len)
{
	struct mrpc_call *call = mrpc_control_new(conn, type, call_id, body, len);

	if (!call)
		return -ENOMEM;
	mrpc_control_submit(conn, call);
	return 0;
}

/**
 * mrpc_conn_send_control() - queue a frame without content
 * @conn: the connection
 * @type: enum mrpc_wire_type
 * @call_id: for its header
 *
 * The caller runs the datapath. Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int mrpc_conn_send_control(struct mrpc_conn *conn, u8 type, u64 call_id)
{
	return mrpc_control_send(conn, type, call_id, NULL, 0);
}

/**
 * mrpc_conn_send_cancel() - tell the peer that a call is given up
 * @conn: the connection
 * @target: the call; the caller holds a reference
 *
 * If it has not been sent yet, neither is. The caller runs the datapath.
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int mrpc_conn_send_cancel(struct mrpc_conn *conn, struct mrpc_call *target)
{
	struct mrpc_call *call = mrpc_call_new(conn, MRPC_ROLE_CONTROL, GFP_KERNEL);

	if (!call)
		return -ENOMEM;
	mrpc_call_get(target);
	call->target = target;
	call->rpc.frame.type = MRPC_WIRE_CANCEL;
	call->rpc.frame.call_id = target->id;
	mrpc_control_submit(conn, call);
	return 0;
}

/**
 * mrpc_conn_announce() - tell the peer if what this end accepts has changed
 * @conn: the connection
 *
 * Context: owner of the receive claim; may sleep. The caller runs the datapath.
 * Return: 0 or -ENOMEM.
 */
int mrpc_conn_announce(struct mrpc_conn *conn)
{
	int err;

	if (!mrpc_features_due(&conn->link.features))
		return 0;
	err = mrpc_conn_send_control(conn, MRPC_WIRE_FEATURES,
				     mrpc_features_wanted(&conn->link.features));
	if (!err)
		mrpc_features_announced(&conn->link.features);
	return err;
}
