// SPDX-License-Identifier: GPL-2.0
/*
 * Received messages among the engines.
 *
 * The engines judge a message when its head has arrived and is verified. A message that passes at
 * once is placed as if there were no engines. If an engine keeps it, or looks at its byte section,
 * it is staged in kernel memory. Its block in the receive heap is reserved meanwhile. After the
 * verdict the block gets its content, or is freed unwritten.
 */
#include <linux/slab.h>

#include "call/arrival.h"
#include "call/carry.h"
#include "call/flow.h"
#include "call/receive.h"
#include "call/receive_staged.h"
#include "chain/chain.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/engine.h"
#include "core/large.h"
#include "core/rpc.h"
#include "core/rx.h"
#include "exec/kick.h"
#include "exec/recv_free.h"
#include "lib/message/message.h"
#include "lib/message/wire.h"

static struct mrpc_rx *mrpc_rpc_rx(struct mrpc_rpc *rpc)
{
	return container_of(rpc, struct mrpc_rx, rpc);
}

/* Returns the bytes of a staged message, as it was on the wire. */
static u64 mrpc_rx_len(const struct mrpc_rx *rx)
{
	return sizeof(struct mrpc_wire_hdr) + mrpc_frame_head(&rx->a.frame) +
	       rx->a.frame.msg.bytes;
}

/*
 * Returns an object that shows the sink's message to the engines. It stays the connection's spare
 * object, and the sink keeps its contents, until mrpc_rx_begin(). Return: NULL without memory.
 */
static __always_inline struct mrpc_rx *mrpc_rx_show(struct mrpc_conn *conn, const u8 *prefix)
{
	const struct mrpc_arrival *a = &conn->receive.sink.a;
	struct mrpc_rx *rx = conn->receive.spare ?: mrpc_rx_new(conn);

	if (unlikely(!rx))
		return NULL;
	/* mrpc_rx_new() or mrpc_rx_begin() sets all other fields. */
	rx->rpc.call = a->call;
	rx->rpc.frame = a->frame;
	rx->rpc.deadline = a->call->deadline.when;
	rx->rpc.have_bytes = !a->frame.msg.bytes;
	rx->rpc.data = (u8 *)prefix - sizeof(struct mrpc_wire_hdr);
	return rx;
}

/* Frees a message that has left the engines, after its contents were passed on or freed. */
static void mrpc_rx_free(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	if (rx->staged) {
		conn->dp.path[MRPC_RX].held_bytes -= mrpc_rx_len(rx);
		if (rx->rpc.data != rx->rpc.inl)
			kvfree(rx->rpc.data);
	}
	rx->rpc.born = 0;
	if (conn->receive.spare)
		mrpc_rx_put(rx);
	else
		conn->receive.spare = rx;
	mrpc_chain_room(conn);
}

/* Copies the head into kernel memory, where the byte section follows. */
static int mrpc_rx_stage(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	u64 len = mrpc_rx_len(rx);
	u32 head = len - rx->a.frame.msg.bytes;
	u8 *data = rx->rpc.inl;

	if (len > sizeof(rx->rpc.inl))
		data = mrpc_large_alloc(len);
	if (!data)
		return -ENOMEM;
	memcpy(data, rx->rpc.data, head);
	rx->rpc.data = data;
	rx->staged = true;
	conn->dp.path[MRPC_RX].held_bytes += len;
	conn->receive.sink.addr = data + head;
	conn->receive.sink.left = rx->a.frame.msg.bytes;
	return 0;
}

/* Gives up the block and the call of a message. */
static void mrpc_rx_abandon(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	if (rx->a.base)
		mrpc_recv_cancel(conn->session, rx->a.block, 0);
	rx->a.base = NULL;
	if (rx->a.call)
		mrpc_call_put(rx->a.call);
	rx->a.call = NULL;
}

/* Places a message that left the engines, with its byte section (if any) in staging memory. */
static void mrpc_rx_place(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	const u8 *prefix = rx->rpc.data + sizeof(struct mrpc_wire_hdr);
	const struct mrpc_frame *f = &rx->a.frame;

	if (rx->a.base) {
		mrpc_arrival_place(&rx->a, prefix);
		memcpy(rx->a.base + mrpc_msg_head_len(&f->msg), prefix + mrpc_frame_head(f),
		       f->msg.bytes);
	}
	mrpc_arrival_done(conn, &rx->a);
	mrpc_rx_free(conn, rx);
}

/**
 * mrpc_rx_out() - take a received rpc that has passed the engines
 * @conn: the connection
 * @rpc: the rpc
 *
 * Context: owner of the receive claim.
 */
void mrpc_rx_out(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_rx *rx = mrpc_rpc_rx(rpc);

	if (unlikely(rx->cut)) {
		mrpc_rx_drop(conn, rpc);
		return;
	}
	rx->passed = true;
	if (!rx->sink)	/* else the function that has its bytes goes on */
		mrpc_rx_place(conn, rx);
}

/**
 * mrpc_rx_rejected() - answer a received rpc that an engine has rejected
 * @conn: the connection
 * @rpc: the rpc
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_rx_rejected(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_rx *rx = mrpc_rpc_rx(rpc);
	int err = 0;

	if (rx->a.frame.type == MRPC_WIRE_MESSAGE)
		mrpc_flow_fail(rx->a.call, rpc->status, rpc->detail);
	else if (rx->a.call->role == MRPC_ROLE_SERVER)
		err = mrpc_sink_refuse(conn, rx->a.call, rpc->status, rpc->detail);
	else
		err = mrpc_sink_fail_reply(conn, rx->a.frame.call_id, rpc->status, rpc->detail);
	if (err == -ENOMEM)
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "no memory for a status", true);
	mrpc_rx_abandon(conn, rx);
	rx->refused = true;
	if (!rx->sink)
		mrpc_rx_free(conn, rx);
}

/**
 * mrpc_rx_drop() - drop a received rpc that will not be delivered
 * @conn: the connection
 * @rpc: the rpc; no engine has it
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_rx_drop(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_rx *rx = mrpc_rpc_rx(rpc);

	if (rx->sink)
		rx->sink->rx = NULL;
	mrpc_rx_abandon(conn, rx);
	mrpc_rx_free(conn, rx);
}

/* Returns true if an engine has the message, and cannot give it back now. */
static bool mrpc_rx_is_kept(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	bool among = !rx->carried && !rx->passed && !rx->refused && rx->rpc.born;

	return among && !mrpc_chain_withdraw(conn, &rx->rpc);
}

/**
 * mrpc_rx_cut() - drop a message: the rest of it will not come
 * @conn: the connection
 * @rx: the part that has come
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_rx_cut(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	rx->sink = NULL;
	/* An engine that keeps it passes it later, or loses it at the end of the connection. */
	if (mrpc_rx_is_kept(conn, rx))
		rx->cut = true;
	else
		mrpc_rx_drop(conn, &rx->rpc);
}

/* Runs the engines on what they hold. If they want another turn, kicks the connection. */
static void mrpc_rx_run(struct mrpc_conn *conn)
{
	if (conn->dp.path[MRPC_RX].held && mrpc_chain_run(conn, MRPC_RX))
		mrpc_kick_again(conn, MRPC_CONN_RX_READY);
}

/* Makes the sink's message, which @rx shows, one of the received messages of @conn. */
static void mrpc_rx_begin(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	struct mrpc_sink *sink = &conn->receive.sink;

	conn->receive.spare = NULL;
	rx->a = sink->a;
	rx->staged = false;
	rx->passed = false;
	rx->refused = false;
	rx->carried = false;
	rx->cut = false;
	sink->a.base = NULL;
	sink->a.call = NULL;
	sink->rx = rx;
	rx->sink = sink;
}

/* Drops the sink's message, because there is no memory for it. */
static int mrpc_rx_give_up(struct mrpc_conn *conn)
{
	mrpc_sink_unalloc(conn);
	mrpc_call_put(conn->receive.sink.a.call);
	conn->receive.sink.a.call = NULL;
	return -ENOMEM;
}

/* Stages a message before any engine sees it. Return: 0 or -ENOMEM. */
static int mrpc_rx_stage_or_drop(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	int err = mrpc_rx_stage(conn, rx);

	if (err)
		mrpc_rx_drop(conn, &rx->rpc);
	return err;
}

/* Lets the engines judge a complete message. If the engines have gone meanwhile, it passes. */
static void mrpc_rx_judge(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	if (!mrpc_chain_wants(&conn->dp, MRPC_RX) || mrpc_chain_enter(conn, MRPC_RX, &rx->rpc))
		mrpc_rx_out(conn, &rx->rpc);
}

/* Handles a message that did not pass the engines at once. Return: as mrpc_rx_enter(). */
static int mrpc_rx_keep(struct mrpc_conn *conn, struct mrpc_rx *rx, const u8 *prefix)
{
	struct mrpc_sink *sink = &conn->receive.sink;

	mrpc_rx_run(conn);
	if (!rx->passed && !rx->refused)
		return rx->staged ? 0 : mrpc_rx_stage(conn, rx);
	sink->rx = NULL;
	rx->sink = NULL;
	if (rx->passed) {
		sink->a = rx->a;
		mrpc_sink_place(conn, prefix);
	} else {
		mrpc_sink_skip(&conn->receive);
	}
	mrpc_rx_free(conn, rx);
	return 0;
}

/* Enters a message that the engines want in kernel memory. Return: as mrpc_rx_enter(). */
static noinline int mrpc_rx_enter_staged(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	mrpc_rx_begin(conn, rx);
	if (mrpc_rx_stage_or_drop(conn, rx))
		return -ENOMEM;
	if (!rx->rpc.have_bytes)
		return 0;
	mrpc_rx_judge(conn, rx);
	return mrpc_rx_keep(conn, rx, rx->rpc.data + sizeof(struct mrpc_wire_hdr));
}

/* Handles a message that the engines keep in the spare object. Return: as mrpc_rx_enter(). */
static noinline int mrpc_rx_enter_kept(struct mrpc_conn *conn, const u8 *prefix)
{
	struct mrpc_rx *rx = conn->receive.spare;

	mrpc_rx_begin(conn, rx);
	return mrpc_rx_keep(conn, rx, prefix);
}

/**
 * mrpc_rx_enter() - have the engines judge a message with a complete head
 * @conn: the connection; its sink describes the message
 * @prefix: metadata, detail and head, in the transport's memory
 *
 * Afterwards conn->receive.sink says where the byte section goes.
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0 or -ENOMEM, after which the connection must end.
 */
int mrpc_rx_enter(struct mrpc_conn *conn, const u8 *prefix)
{
	struct mrpc_rx *rx = mrpc_rx_show(conn, prefix);
	u32 wants = mrpc_chain_of(&conn->dp)->flags;

	if (unlikely(!rx))
		return mrpc_rx_give_up(conn);
	if (unlikely(wants & (MRPC_ENGINE_RX_WRITES | MRPC_ENGINE_RX_BYTES)) &&
	    (wants & MRPC_ENGINE_RX_WRITES || !rx->rpc.have_bytes))
		return mrpc_rx_enter_staged(conn, rx);
	if (unlikely(!mrpc_chain_enter(conn, MRPC_RX, &rx->rpc)))
		return mrpc_rx_enter_kept(conn, prefix);
	mrpc_sink_place(conn, prefix);
	return 0;
}

/* -- replies that a link receives for the engines of another connection ------------ */

/**
 * mrpc_rx_carry() - take the head of a reply to a call of another connection
 * @link: the link that carries the call; its sink describes the reply
 * @prefix: metadata, detail and head, in the transport's memory
 *
 * The reply is staged, and given to that connection when it is complete. The receive heap, where
 * each reply has its block, bounds the staged replies.
 *
 * Context: owner of the link's receive claim; may sleep.
 * Return: 0 or -ENOMEM, after which the link must end.
 */
int mrpc_rx_carry(struct mrpc_conn *link, const u8 *prefix)
{
	struct mrpc_rx *rx = mrpc_rx_show(link, prefix);

	if (!rx)
		return mrpc_rx_give_up(link);
	mrpc_rx_begin(link, rx);
	rx->carried = true;
	return mrpc_rx_stage_or_drop(link, rx);
}

/* Hands a complete reply over: the owner of its connection's claim goes on with it. */
static void mrpc_rx_hand_over(struct mrpc_conn *link, struct mrpc_rx *rx)
{
	struct mrpc_call *call = rx->a.call;
	struct mrpc_conn *conn = call->conn;

	link->dp.path[MRPC_RX].held_bytes -= mrpc_rx_len(rx);
	mrpc_chain_room(link);
	if (rx->a.frame.type == MRPC_WIRE_REPLY)
		mrpc_carry_done(link, call, rx->a.frame.status);
	rx->a.frame.call_id = call->id;
	rx->rpc.frame.call_id = call->id;
	rx->rpc.have_bytes = true;
	mrpc_conn_get(conn);
	llist_add(&rx->rpc.node, &conn->dp.from_links);
	/* Full barriers there: either its close work finds this, or we see it CLOSED. */
	if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED)
		mrpc_rx_purge(conn);
	else
		mrpc_kick_rx(conn);
	mrpc_conn_put(conn);
}

/**
 * mrpc_rx_take() - have the engines judge replies that came over other links
 * @conn: the connection
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_rx_take(struct mrpc_conn *conn)
{
	struct llist_node *node = llist_reverse_order(llist_del_all(&conn->dp.from_links));

	while (node) {
		struct mrpc_rx *rx = mrpc_rpc_rx(llist_entry(node, struct mrpc_rpc, node));

		node = node->next;
		conn->dp.path[MRPC_RX].held_bytes += mrpc_rx_len(rx);
		mrpc_rx_judge(conn, rx);
	}
	mrpc_rx_run(conn);
}

/**
 * mrpc_rx_purge() - drop the replies that have come over other links
 * @conn: a CLOSED connection
 *
 * Context: process.
 */
void mrpc_rx_purge(struct mrpc_conn *conn)
{
	struct llist_node *node = llist_del_all(&conn->dp.from_links);

	while (node) {
		struct mrpc_rx *rx = mrpc_rpc_rx(llist_entry(node, struct mrpc_rpc, node));

		node = node->next;
		mrpc_rx_abandon(conn, rx);
		if (rx->rpc.data != rx->rpc.inl)
			kvfree(rx->rpc.data);
		mrpc_rx_put(rx);
	}
}

/**
 * mrpc_rx_arrived() - go on with a staged message, after its byte section is complete
 * @conn: the connection; its sink has the message
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_rx_arrived(struct mrpc_conn *conn)
{
	struct mrpc_rx *rx = conn->receive.sink.rx;

	conn->receive.sink.rx = NULL;
	rx->sink = NULL;
	if (rx->carried) {
		mrpc_rx_hand_over(conn, rx);
		return;
	}
	if (rx->refused) {
		mrpc_rx_free(conn, rx);
		return;
	}
	if (rx->passed) {
		mrpc_rx_place(conn, rx);
		return;
	}
	if (rx->rpc.have_bytes)
		return;
	rx->rpc.have_bytes = true;
	if (!rx->rpc.born)
		mrpc_rx_judge(conn, rx);
	mrpc_rx_run(conn);
}
