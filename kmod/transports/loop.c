// SPDX-License-Identifier: GPL-2.0
/*
 * The loop transport: calls between two sessions of one host, without the
 * network stack.
 *
 * A link is a pair of ends. What one end sends is put on the other's input
 * list, with a reference to its rpc, and the receiving session's own context
 * copies it from the sender's heap straight to its place. The reference is
 * dropped then, and with it the sender's blocks become free.
 */
#include <linux/hash.h>
#include <linux/llist.h>
#include <linux/slab.h>
#include <linux/un.h>
#include <net/net_namespace.h>

#include "conn.h"
#include "session.h"
#include "transport.h"

#define MRPC_LOOP_INPUT_MAX	1024	/* messages that wait at one end */

/* One message under way; holds the sender's call until it is copied. */
struct mrpc_loop_item {
	struct llist_node node;
	struct list_head list;
	struct mrpc_call *call;
};

/**
 * struct mrpc_loop_end - one end of a link
 *
 * Reference counted: its own connection holds one, its peer one.
 *
 * @ref: references
 * @lock: @conn and @peer; taken in process and softirq context. Two ends are
 *	never locked at once
 * @conn: the connection; NULL after release
 * @peer: the other end; a reference until release
 * @input: items from the peer; any context
 * @queue: items taken from @input; owner of the receive claim
 * @nr: items in both
 * @full: the peer wants a kick when there is room
 * @eof: nothing more comes
 * @accept: entry of the listener's list until accepted; under its lock
 */
struct mrpc_loop_end {
	refcount_t ref;
	spinlock_t lock;
	struct mrpc_conn *conn;
	struct mrpc_loop_end *peer;
	struct llist_head input;
	struct list_head queue;
	atomic_t nr;
	bool full;
	bool eof;
	struct list_head accept;
};

/**
 * struct mrpc_loop_port - a listener's name
 *
 * Owned by its listener, from listen to unlisten; immutable but for the lists.
 *
 * @node: entry of mrpc_loop_ports; under mrpc_loop_lock
 * @net: the name is known in this namespace
 * @l: the listener
 * @addr: the name
 * @addr_len: its bytes
 * @limit: most ends that may wait
 * @waiting: ends that wait; under mrpc_loop_lock
 * @backlog: ends that wait to be accepted; under mrpc_loop_lock
 */
struct mrpc_loop_port {
	struct list_head node;
	struct net *net;
	struct mrpc_listener *l;
	struct sockaddr_un addr;
	u32 addr_len;
	u32 limit;
	u32 waiting;
	struct list_head backlog;
};

static DEFINE_SPINLOCK(mrpc_loop_lock);
static LIST_HEAD(mrpc_loop_ports);	/* under mrpc_loop_lock */

static void mrpc_loop_take(struct mrpc_loop_end *end)
{
	struct llist_node *node = llist_reverse_order(llist_del_all(&end->input));
	struct mrpc_loop_item *item, *next;

	llist_for_each_entry_safe(item, next, node, node)
		list_add_tail(&item->list, &end->queue);
}

/* The sender's blocks are no longer read. */
static void mrpc_loop_drop(struct mrpc_loop_item *item)
{
	list_del(&item->list);
	mrpc_call_sent_put(item->call);
	mrpc_call_put(item->call);
	kfree(item);
}

static void mrpc_loop_drop_all(struct mrpc_loop_end *end)
{
	struct mrpc_loop_item *item, *next;

	mrpc_loop_take(end);
	list_for_each_entry_safe(item, next, &end->queue, list)
		mrpc_loop_drop(item);
}

static void mrpc_loop_end_put(struct mrpc_loop_end *end)
{
	if (!refcount_dec_and_test(&end->ref))
		return;
	mrpc_loop_drop_all(end);
	kfree(end);
}

static struct mrpc_loop_end *mrpc_loop_end_new(void)
{
	struct mrpc_loop_end *end = kzalloc(sizeof(*end), GFP_KERNEL_ACCOUNT);

	if (!end)
		return NULL;
	refcount_set(&end->ref, 1);
	spin_lock_init(&end->lock);
	init_llist_head(&end->input);
	INIT_LIST_HEAD(&end->queue);
	INIT_LIST_HEAD(&end->accept);
	return end;
}

/* The connection of an end, with a reference, or NULL. */
static struct mrpc_conn *mrpc_loop_conn(struct mrpc_loop_end *end)
{
	struct mrpc_conn *conn;

	spin_lock_bh(&end->lock);
	conn = end->conn;
	if (conn)
		mrpc_conn_get(conn);
	spin_unlock_bh(&end->lock);
	return conn;
}

static void mrpc_loop_kick_rx(struct mrpc_loop_end *end)
{
	struct mrpc_conn *conn = mrpc_loop_conn(end);

	if (conn) {
		mrpc_kick_rx(conn);
		mrpc_conn_put(conn);
	}
}

static int mrpc_loop_check(const void *addr, u32 addr_len, const char **why)
{
	const struct sockaddr_un *sun = addr;

	if (addr_len > offsetof(struct sockaddr_un, sun_path) + 1 &&
	    addr_len <= sizeof(*sun) && sun->sun_family == AF_UNIX && !sun->sun_path[0])
		return 0;
	*why = "a loop address is an abstract unix name";
	return -EINVAL;
}

/* Under mrpc_loop_lock. */
static struct mrpc_loop_port *mrpc_loop_find(struct net *net, const void *addr, u32 addr_len)
{
	struct mrpc_loop_port *port;

	list_for_each_entry(port, &mrpc_loop_ports, node)
		if (net_eq(port->net, net) && port->addr_len == addr_len &&
		    !memcmp(&port->addr, addr, addr_len))
			return port;
	return NULL;
}

static int mrpc_loop_connect(struct mrpc_conn *conn, const void *addr, u32 addr_len, u64 timeout,
			     const char **why)
{
	struct mrpc_loop_end *mine, *theirs;
	struct mrpc_listener *l = NULL;
	struct mrpc_loop_port *port;
	int err;

	err = mrpc_loop_check(addr, addr_len, why);
	if (err)
		return err;
	mine = mrpc_loop_end_new();
	theirs = mrpc_loop_end_new();
	err = -ENOMEM;
	if (!mine || !theirs)
		goto fail;
	mine->peer = theirs;
	theirs->peer = mine;
	mine->conn = conn;
	refcount_inc(&mine->ref);
	refcount_inc(&theirs->ref);	/* now one by the peer, one by the backlog */

	spin_lock_bh(&mrpc_loop_lock);
	port = mrpc_loop_find(conn->session->net, addr, addr_len);
	err = -ECONNREFUSED;
	if (port && port->waiting < port->limit) {
		list_add_tail(&theirs->accept, &port->backlog);
		port->waiting++;
		l = port->l;
		kref_get(&l->ref);
		err = 0;
	}
	spin_unlock_bh(&mrpc_loop_lock);
	if (err) {
		*why = "nobody serves this loop name";
		goto fail;
	}
	memcpy(&conn->peer, addr, addr_len);
	conn->link = mine;
	mrpc_kick_listener(l);
	mrpc_listener_put(l);
	return 0;
fail:
	kfree(mine);
	kfree(theirs);
	return err;
}

static int mrpc_loop_listen(struct mrpc_listener *l, const void *addr, u32 addr_len, u32 backlog,
			    const char **why)
{
	struct mrpc_loop_port *port;
	int err;

	err = mrpc_loop_check(addr, addr_len, why);
	if (err)
		return err;
	port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port)
		return -ENOMEM;
	port->net = l->session->net;
	port->l = l;
	port->limit = min(backlog, 4096U);
	port->addr_len = addr_len;
	memcpy(&port->addr, addr, addr_len);
	INIT_LIST_HEAD(&port->backlog);
	memcpy(&l->addr, addr, addr_len);
	l->addr_len = addr_len;
	l->link = port;
	spin_lock_bh(&mrpc_loop_lock);
	if (mrpc_loop_find(port->net, addr, addr_len))
		err = -EADDRINUSE;
	else
		list_add_tail(&port->node, &mrpc_loop_ports);
	spin_unlock_bh(&mrpc_loop_lock);
	if (err) {
		l->link = NULL;
		kfree(port);
		*why = "this loop name is taken";
	}
	return err;
}

/* This end ends: the peer sees it. */
static void mrpc_loop_hangup(struct mrpc_loop_end *end)
{
	struct mrpc_loop_end *peer;

	spin_lock_bh(&end->lock);
	peer = end->peer;
	end->peer = NULL;
	end->conn = NULL;
	spin_unlock_bh(&end->lock);
	if (!peer)
		return;
	WRITE_ONCE(peer->eof, true);
	mrpc_loop_kick_rx(peer);
	mrpc_loop_end_put(peer);
}

static bool mrpc_loop_waiting(struct mrpc_listener *l)
{
	struct mrpc_loop_port *port = l->link;

	return READ_ONCE(port->waiting);
}

static int mrpc_loop_accept(struct mrpc_listener *l, struct mrpc_conn *conn)
{
	struct mrpc_loop_port *port = l->link;
	struct mrpc_loop_end *end;

	spin_lock_bh(&mrpc_loop_lock);
	end = list_first_entry_or_null(&port->backlog, struct mrpc_loop_end, accept);
	if (end) {
		list_del_init(&end->accept);
		port->waiting--;
	}
	spin_unlock_bh(&mrpc_loop_lock);
	if (!end)
		return -EAGAIN;
	if (!conn) {
		mrpc_loop_hangup(end);
		mrpc_loop_end_put(end);
		return 0;
	}
	memcpy(&conn->local, &port->addr, port->addr_len);
	conn->peer.ss_family = AF_UNIX;
	conn->link = end;
	spin_lock_bh(&end->lock);
	end->conn = conn;
	spin_unlock_bh(&end->lock);
	return 0;
}

static void mrpc_loop_unlisten(struct mrpc_listener *l)
{
	struct mrpc_loop_port *port = l->link;
	struct mrpc_loop_end *end, *next;

	if (!port)
		return;
	spin_lock_bh(&mrpc_loop_lock);
	list_del(&port->node);
	spin_unlock_bh(&mrpc_loop_lock);
	list_for_each_entry_safe(end, next, &port->backlog, accept) {
		list_del_init(&end->accept);
		mrpc_loop_hangup(end);
		mrpc_loop_end_put(end);
	}
	kfree(port);
}

static int mrpc_loop_send(struct mrpc_conn *conn, struct mrpc_rpc *rpc, bool more)
{
	struct mrpc_loop_end *end = conn->link, *peer = end->peer;
	struct mrpc_call *call = mrpc_rpc_call(rpc);
	struct mrpc_loop_item *item;

	/* Only this connection's close work clears end->peer, when no send runs. */
	if (READ_ONCE(end->eof))
		return -EPIPE;
	if (atomic_read(&peer->nr) >= MRPC_LOOP_INPUT_MAX) {
		WRITE_ONCE(peer->full, true);
		smp_mb();	/* pairs with the one in mrpc_loop_consume() */
		if (atomic_read(&peer->nr) >= MRPC_LOOP_INPUT_MAX) {
			mrpc_loop_kick_rx(peer);
			return -EAGAIN;
		}
	}
	item = kmalloc(sizeof(*item), GFP_KERNEL_ACCOUNT);
	if (!item)
		return -ENOMEM;
	mrpc_call_get(call);
	refcount_inc(&call->ubuf.refcnt);
	item->call = call;
	rpc->done = mrpc_rpc_total(rpc);
	atomic_inc(&peer->nr);
	llist_add(&item->node, &peer->input);
	if (!more)
		mrpc_loop_kick_rx(peer);
	return 0;
}

static void mrpc_loop_consume(struct mrpc_loop_end *end, struct mrpc_loop_item *item)
{
	struct mrpc_loop_end *peer;
	struct mrpc_conn *conn = NULL;

	mrpc_loop_drop(item);
	atomic_dec(&end->nr);
	smp_mb();	/* pairs with the one in mrpc_loop_send() */
	if (!READ_ONCE(end->full))
		return;
	WRITE_ONCE(end->full, false);
	spin_lock_bh(&end->lock);
	peer = end->peer;
	if (peer)
		refcount_inc(&peer->ref);
	spin_unlock_bh(&end->lock);
	if (!peer)
		return;
	conn = mrpc_loop_conn(peer);
	if (conn) {
		mrpc_kick_tx(conn);
		mrpc_conn_put(conn);
	}
	mrpc_loop_end_put(peer);
}

/* The byte section: from the sender's copy or heap straight to its place. */
static void mrpc_loop_body(const struct mrpc_rpc *rpc, u32 head, struct mrpc_sink *sink)
{
	const u8 *copied = rpc->data + sizeof(struct mrpc_wire_hdr) + head;
	u32 i;

	if (sink->addr && !rpc->heap) {
		memcpy(sink->addr, copied, sink->left);
	} else if (sink->addr) {
		for (i = 0; i < rpc->buf.nr_segs; i++) {
			const struct mrpc_msg_seg *seg = &rpc->buf.segs[i];
			u32 padded = ALIGN(seg->len, 8);

			memcpy(sink->addr, mrpc_heap_at(rpc->heap, seg->src, seg->len), seg->len);
			memset(sink->addr + seg->len, 0, padded - seg->len);
			sink->addr += padded;
		}
	}
	sink->left = 0;
}

static int mrpc_loop_one(struct mrpc_conn *conn, struct mrpc_loop_item *item)
{
	const struct mrpc_rpc *rpc = &item->call->rpc;
	const struct mrpc_wire_hdr *hdr = (const void *)rpc->data;
	struct mrpc_frame frame;
	const char *why;
	int err;

	err = mrpc_wire_decode(hdr, conn->max_message, &frame, &why);
	if (err == -EMSGSIZE)
		return mrpc_sink_too_big(conn, &frame);
	if (err)
		return err;
	err = mrpc_sink_head(conn, &frame, rpc->data + sizeof(*hdr));
	if (err)
		return err;
	conn->last_rx = conn->sink.start;
	mrpc_loop_body(rpc, mrpc_frame_head(&frame), &conn->sink);
	mrpc_sink_done(conn);
	return 0;
}

static int mrpc_loop_recv(struct mrpc_conn *conn, int budget)
{
	struct mrpc_loop_end *end = conn->link;
	bool eof = READ_ONCE(end->eof);
	int frames = 0, err;

	smp_rmb();	/* what was sent before the end is seen */
	mrpc_loop_take(end);
	while (frames < budget) {
		struct mrpc_loop_item *item;

		item = list_first_entry_or_null(&end->queue, struct mrpc_loop_item, list);
		if (!item)
			return eof ? -ESHUTDOWN : frames;
		err = mrpc_loop_one(conn, item);
		if (err)
			return err;
		mrpc_loop_consume(end, item);
		frames++;
		if (list_empty(&end->queue))
			mrpc_loop_take(end);
	}
	return frames;
}

static void mrpc_loop_shutdown(struct mrpc_conn *conn, bool abort)
{
	/* Nothing lies below us that could hold or delay anything. */
}

static void mrpc_loop_release(struct mrpc_conn *conn)
{
	struct mrpc_loop_end *end = conn->link;

	mrpc_loop_hangup(end);
	conn->link = NULL;
	/* What is here goes now, as the sender waits for its blocks. The peer's
	 * send may still be adding until it has seen eof: that goes with the
	 * last reference, which is the peer's.
	 */
	mrpc_loop_drop_all(end);
	mrpc_loop_end_put(end);
}

struct mrpc_transport_ops mrpc_loop_ops = {
	.name		= "loop",
	.owner		= THIS_MODULE,
	.connect	= mrpc_loop_connect,
	.listen		= mrpc_loop_listen,
	.waiting	= mrpc_loop_waiting,
	.accept		= mrpc_loop_accept,
	.unlisten	= mrpc_loop_unlisten,
	.send		= mrpc_loop_send,
	.recv		= mrpc_loop_recv,
	.shutdown	= mrpc_loop_shutdown,
	.release	= mrpc_loop_release,
};
