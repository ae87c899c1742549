// SPDX-License-Identifier: GPL-2.0
/*
 * Received messages among the engines.
 *
 * The engines judge a message when its head has arrived and been verified. One
 * that passes at once is placed as if there were none. One that an engine
 * keeps, or whose byte section an engine looks at, is staged in memory of the
 * kernel; its block in the receive heap is reserved meanwhile and gets its
 * content, or is freed unwritten, when the verdict has been given.
 */
#include <linux/slab.h>

#include "call/arrival.h"
#include "call/carry.h"
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

/* Bytes of a staged message, as it stood on the wire. */
static u64 mrpc_rx_len(const struct mrpc_rx *rx)
{
	return sizeof(struct mrpc_wire_hdr) + mrpc_frame_head(&rx->a.frame) +
	       rx->a.frame.msg.bytes;
}

/*
 * An object that shows the engines the sink's message. It stays the connection's spare one,
 * and the sink keeps what it has, until mrpc_rx_begin(). Return: NULL without memory.
 */
static __always_inline struct mrpc_rx *mrpc_rx_show(struct mrpc_conn *conn, const u8 *prefix)
{
	const struct mrpc_arrival *a = &conn->receive.sink.a;
	struct mrpc_rx *rx = conn->receive.spare ?: mrpc_rx_new(conn);

	if (unlikely(!rx))
		return NULL;
	/* All else is as mrpc_rx_new() made it, or mrpc_rx_begin() makes it. */
	rx->rpc.call = a->call;
	rx->rpc.frame = a->frame;
	rx->rpc.deadline = a->call->deadline.when;
	rx->rpc.have_bytes = !a->frame.msg.bytes;
	rx->rpc.data = (u8 *)prefix - sizeof(struct mrpc_wire_hdr);
	return rx;
}

/* The message has left the engines; what it held has been given on or freed. */
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

/* Take the head into memory of ours, and have the byte section follow. */
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

/* Let go of what the message was to become. */
static void mrpc_rx_abandon(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	if (rx->a.base)
		mrpc_recv_cancel(conn->session, rx->a.block, 0);
	rx->a.base = NULL;
	if (rx->a.call)
		mrpc_call_put(rx->a.call);
	rx->a.call = NULL;
}

/* It came out of the engines with its byte section in staging memory, or with none. */
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
 * mrpc_rx_out() - a received rpc has passed the engines
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
	if (!rx->sink)	/* else who has its bytes goes on */
		mrpc_rx_place(conn, rx);
}

/**
 * mrpc_rx_rejected() - an engine has rejected a received rpc
 * @conn: the connection
 * @rpc: the rpc
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_rx_rejected(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_rx *rx = mrpc_rpc_rx(rpc);
	int err;

	if (rx->a.call->role == MRPC_ROLE_SERVER)
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
 * mrpc_rx_drop() - a received rpc will not be delivered
 * @conn: the connection
 * @rpc: the rpc, no engine's
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

/* Is it an engine's, of which it cannot be had back now? */
static bool mrpc_rx_is_kept(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	bool among = !rx->carried && !rx->passed && !rx->refused && rx->rpc.born;

	return among && !mrpc_chain_withdraw(conn, &rx->rpc);
}

/**
 * mrpc_rx_cut() - the rest of a message will not come
 * @conn: the connection
 * @rx: what has come of it
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_rx_cut(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	rx->sink = NULL;
	/* Who keeps it lets it pass some time, or has it taken away with the connection. */
	if (mrpc_rx_is_kept(conn, rx))
		rx->cut = true;
	else
		mrpc_rx_drop(conn, &rx->rpc);
}

/* The engines get on with what they have; if they want another turn, somebody comes. */
static void mrpc_rx_run(struct mrpc_conn *conn)
{
	if (conn->dp.path[MRPC_RX].held && mrpc_chain_run(conn, MRPC_RX))
		mrpc_kick_again(conn, MRPC_CONN_RX_READY);
}

/* The sink's message, which @rx shows, becomes one of @conn's received messages. */
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

/* No memory for the sink's message: it has none any more. */
static int mrpc_rx_give_up(struct mrpc_conn *conn)
{
	mrpc_sink_unalloc(conn);
	mrpc_call_put(conn->receive.sink.a.call);
	conn->receive.sink.a.call = NULL;
	return -ENOMEM;
}

/* It is to be staged before anybody sees it. Return: 0 or -ENOMEM. */
static int mrpc_rx_stage_or_drop(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	int err = mrpc_rx_stage(conn, rx);

	if (err)
		mrpc_rx_drop(conn, &rx->rpc);
	return err;
}

/* All of it is here: the engines judge it. They may have gone since it began; then it is out. */
static void mrpc_rx_judge(struct mrpc_conn *conn, struct mrpc_rx *rx)
{
	if (!mrpc_chain_wants(&conn->dp, MRPC_RX) || mrpc_chain_enter(conn, MRPC_RX, &rx->rpc))
		mrpc_rx_out(conn, &rx->rpc);
}

/* The engines have a message that did not pass at once. Return: as mrpc_rx_enter(). */
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

/* The engines want it in memory of ours. Return: as mrpc_rx_enter(). */
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

/* They have it, by way of the connection's spare object. Return: as mrpc_rx_enter(). */
static noinline int mrpc_rx_enter_kept(struct mrpc_conn *conn, const u8 *prefix)
{
	struct mrpc_rx *rx = conn->receive.spare;

	mrpc_rx_begin(conn, rx);
	return mrpc_rx_keep(conn, rx, prefix);
}

/**
 * mrpc_rx_enter() - the head of a message is there: have the engines judge it
 * @conn: the connection; its sink says what it is
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
 * mrpc_rx_carry() - the head of a reply is there, to a call of another connection
 * @link: the link that carries the call; its sink says what it is
 * @prefix: metadata, detail and head, in the transport's memory
 *
 * It is staged, and given to that connection when it is complete. What is staged is
 * bounded by the receive heap, in which each reply has its block.
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

/* It is complete: its own connection's owner goes on. */
static void mrpc_rx_hand_over(struct mrpc_conn *link, struct mrpc_rx *rx)
{
	struct mrpc_call *call = rx->a.call;
	struct mrpc_conn *conn = call->conn;

	link->dp.path[MRPC_RX].held_bytes -= mrpc_rx_len(rx);
	mrpc_chain_room(link);
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
 * mrpc_rx_take() - replies have come over other links: the engines judge them
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
 * mrpc_rx_arrived() - the byte section of a staged message is complete
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
