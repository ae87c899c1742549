// SPDX-License-Identifier: GPL-2.0
/*
 * Incomplete messages in a sink: other messages come first, or the rest will not come.
 *
 * A transport that receives several messages at once parks them.
 */
#include <linux/string.h>

#include "call/arrival.h"
#include "call/client.h"
#include "call/control.h"
#include "call/receive_parked.h"
#include "call/receive_staged.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/rpc.h"
#include "exec/recv_free.h"
#include "lib/message/wire.h"

/* Moves a message from one sink to another. */
static void mrpc_sink_move(struct mrpc_sink *from, struct mrpc_sink *to)
{
	*to = *from;
	if (to->rx)
		to->rx->sink = to;
	memset(from, 0, sizeof(*from));
}

/**
 * mrpc_sink_park() - the bytes of another message come first
 * @in: of the connection; its sink has an active message
 * @to: keeps it, until mrpc_sink_resume() or mrpc_sink_drop()
 *
 * Context: owner of the receive claim.
 */
void mrpc_sink_park(struct mrpc_receive *in, struct mrpc_sink *to)
{
	mrpc_sink_move(&in->sink, to);
}
EXPORT_SYMBOL_GPL(mrpc_sink_park);

/**
 * mrpc_sink_resume() - go on with a message that was parked
 * @in: of the connection; its sink is not active
 * @from: from mrpc_sink_park(); empty afterwards
 *
 * Context: owner of the receive claim.
 */
void mrpc_sink_resume(struct mrpc_receive *in, struct mrpc_sink *from)
{
	mrpc_sink_move(from, &in->sink);
}
EXPORT_SYMBOL_GPL(mrpc_sink_resume);

/*
 * Frees the block of a message that was placed in part. The missing part, at the end of the byte
 * section, has not been written. Clearing it would take long: a few bytes announce a message.
 */
static void mrpc_sink_cancel(struct mrpc_conn *conn, struct mrpc_sink *sink)
{
	struct mrpc_arrival *a = &sink->a;
	u32 msg = mrpc_frame_msg_known(&a->frame);

	memset(a->base + msg, 0, a->block_len - msg);
	mrpc_recv_cancel(conn->session, a->block, msg - sink->left);
}

/**
 * mrpc_sink_drop() - drop an active message that will not be completed
 * @link: the link; the caller owns the receive claim
 * @sink: the sink of the connection, or a parked one; empty afterwards
 *
 * The call of a request stays in the serve table. Context: process; may sleep.
 */
void mrpc_sink_drop(struct mrpc_link *link, struct mrpc_sink *sink)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);

	if (sink->rx)
		mrpc_rx_cut(conn, sink->rx);
	if (sink->a.base)
		mrpc_sink_cancel(conn, sink);
	if (sink->a.call)
		mrpc_call_put(sink->a.call);
	memset(sink, 0, sizeof(*sink));
}
EXPORT_SYMBOL_GPL(mrpc_sink_drop);

/* Returns the call of a message. NULL: it was refused, or it belongs to no call. */
static struct mrpc_call *mrpc_sink_owner(const struct mrpc_sink *sink)
{
	return sink->rx ? sink->rx->a.call : sink->a.call;
}

/**
 * mrpc_sink_wanted() - return true if the rest of a message is still wanted
 * @sink: the sink of the connection, or a parked one; active
 *
 * Context: owner of the receive claim. Return: false: it was refused, or its call has ended.
 */
bool mrpc_sink_wanted(const struct mrpc_sink *sink)
{
	struct mrpc_call *call = mrpc_sink_owner(sink);

	if (!call)
		return false;
	return call->role == MRPC_ROLE_SERVER ? !test_bit(MRPC_CALL_ABORTED, &call->flags) :
						mrpc_call_wanted(call);
}
EXPORT_SYMBOL_GPL(mrpc_sink_wanted);

/**
 * mrpc_sink_give_up() - drop an unwanted message: the rest of it will not come
 * @link: the link; the transport has asked mrpc_sink_wanted() of the active message of its sink
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0 or -EPROTO, after which the connection must end.
 */
int mrpc_sink_give_up(struct mrpc_link *link)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	struct mrpc_call *call = mrpc_sink_owner(&conn->receive.sink);
	bool reply = call && conn->receive.sink.a.frame.type == MRPC_WIRE_REPLY;
	u64 id = conn->receive.sink.a.frame.call_id;
	u16 status = conn->receive.sink.a.frame.status;

	mrpc_sink_drop(link, &conn->receive.sink);
	/* It was the last of the call: its slot is free. */
	return reply ? mrpc_sink_fail_reply(conn, id, status, "given up") : 0;
}
EXPORT_SYMBOL_GPL(mrpc_sink_give_up);

/**
 * mrpc_sink_abort() - the peer has given up the request that the sink has
 * @link: the link; its sink has an active message
 *
 * No part of it has been delivered, or will be. Its call ends as after a CANCEL.
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0; -EPROTO: it is no request; -ENOMEM. After an error the connection must end.
 */
int mrpc_sink_abort(struct mrpc_link *link)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	const struct mrpc_frame cancel = {
		.type = MRPC_WIRE_CANCEL,
		.call_id = conn->receive.sink.a.frame.call_id,
	};

	if (conn->receive.sink.a.frame.type != MRPC_WIRE_CALL)
		return -EPROTO;
	mrpc_sink_drop(link, &conn->receive.sink);
	return mrpc_conn_control(conn, &cancel);
}
EXPORT_SYMBOL_GPL(mrpc_sink_abort);
