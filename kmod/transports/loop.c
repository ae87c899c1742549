// SPDX-License-Identifier: GPL-2.0
/*
 * The loop transport: calls between two sessions of one host, without the
 * network stack.
 *
 * A link is a pair of ends. A send puts the call on the input list of the
 * other end, with a reference to its rpc. The context of the receiving session
 * copies the call from the sender's heap straight to its place. Then it drops
 * the reference, and the sender's blocks become free. Nothing is allocated on
 * the way, so a send fails only if the link ends.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/net.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/un.h>
#include <net/net_namespace.h>
#include <net/netns/hash.h>

#include "call/pour.h"
#include "call/receive.h"
#include "core/call.h"
#include "core/heap.h"
#include "core/link.h"
#include "core/listener.h"
#include "core/receive.h"
#include "core/rpc.h"
#include "core/transport.h"
#include "egress/port.h"
#include "exec/kick.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"

#define MRPC_LOOP_INPUT_MAX	1024	/* messages that wait at one end */

#define MRPC_LOOP_FRAME		SZ_256K	/* bytes that count as one more frame */

/**
 * struct mrpc_loop_end - one end of a link
 *
 * Reference counted. The connection of the end holds one reference; before
 * there is a connection, the backlog holds it. The peer holds another one.
 *
 * A call in @input holds the sender's session. It belongs to the sender, which
 * takes it back when the sender's end is released. Only the call that the
 * receiver copies at that moment is not on the list.
 *
 * @ref: references
 * @lock: protects @link, @peer, @input, @nr, @bytes, @full, @eof, @closed. Taken in process
 *	context only. Two ends are never locked at once; no lock is taken under it
 * @link: the link; NULL after release
 * @peer: the other end; a reference until release. Only the release of this end
 *	clears it, when no send or receive runs
 * @input: calls from the peer, by mrpc_call.loop
 * @nr: calls in @input, plus the call that is being copied
 * @bytes: bytes of these calls
 * @full: the peer wants a kick when there is room
 * @eof: no more calls come: the peer was released
 * @closed: no more calls may be put on @input: this end was released
 * @unsaid: the peer was not kicked for the last message, because more were to follow.
 *	The owner of the transmit claim owns this field
 * @down: send and receive fail
 * @accept: entry of the listener's list until accepted; under its lock
 */
struct mrpc_loop_end {
	refcount_t ref;
	spinlock_t lock;
	struct mrpc_link *link;
	struct mrpc_loop_end *peer;
	struct list_head input;
	u32 nr;
	unsigned long bytes;
	bool full;
	bool eof;
	bool closed;
	bool unsaid;
	bool down;
	struct list_head accept;
};

/**
 * struct mrpc_loop_port - a listener's name
 *
 * Owned by its listener, from listen to unlisten; immutable except for the lists.
 *
 * @node: entry of mrpc_loop_ports; under mrpc_loop_lock
 * @net: the name is known in this namespace
 * @l: the listener
 * @addr: the name
 * @addr_len: bytes of @addr
 * @limit: highest @waiting
 * @waiting: ends that wait; under mrpc_loop_lock
 * @backlog: ends that wait to be accepted; under mrpc_loop_lock
 */
struct mrpc_loop_port {
	struct hlist_node node;
	struct net *net;
	struct mrpc_listener *l;
	struct sockaddr_un addr;
	u32 addr_len;
	u32 limit;
	u32 waiting;
	struct list_head backlog;
};

static DEFINE_SPINLOCK(mrpc_loop_lock);
static DEFINE_HASHTABLE(mrpc_loop_ports, 12);	/* by namespace and name; under mrpc_loop_lock */

/* Drops a call of an input list: the receiver no longer reads the sender's blocks. */
static void mrpc_loop_drop(struct mrpc_call *call)
{
	mrpc_call_sent_put(call);
	mrpc_call_put(call);
}

/* Drops all calls of a list that only the caller sees. */
static void mrpc_loop_drop_all(struct list_head *list)
{
	struct mrpc_call *call, *next;

	list_for_each_entry_safe(call, next, list, loop)
		mrpc_loop_drop(call);
}

static void mrpc_loop_end_put(struct mrpc_loop_end *end)
{
	if (refcount_dec_and_test(&end->ref))
		kfree(end);
}

static struct mrpc_loop_end *mrpc_loop_end_new(void)
{
	struct mrpc_loop_end *end = kzalloc(sizeof(*end), GFP_KERNEL_ACCOUNT);

	if (!end)
		return NULL;
	refcount_set(&end->ref, 1);
	spin_lock_init(&end->lock);
	INIT_LIST_HEAD(&end->input);
	INIT_LIST_HEAD(&end->accept);
	return end;
}

/* Returns the link of an end, with a reference, or NULL. */
static struct mrpc_link *mrpc_loop_link(struct mrpc_loop_end *end)
{
	struct mrpc_link *link;

	lockdep_assert(in_task());
	spin_lock(&end->lock);
	link = end->link;
	if (link)
		mrpc_link_get(link);
	spin_unlock(&end->lock);
	return link;
}

static void mrpc_loop_kick_rx(struct mrpc_loop_end *end)
{
	struct mrpc_link *link = mrpc_loop_link(end);

	if (link) {
		mrpc_link_kick_rx(link);
		mrpc_link_put(link);
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

/* Users choose the names. The seed keeps them from guessing which names share a bucket. */
static u32 mrpc_loop_hash(struct net *net, const void *addr, u32 addr_len)
{
	static u32 seed __read_mostly;

	net_get_random_once(&seed, sizeof(seed));
	return jhash(addr, addr_len, seed ^ net_hash_mix(net));
}

/* The caller holds mrpc_loop_lock. @hash: from mrpc_loop_hash() */
static struct mrpc_loop_port *mrpc_loop_find(struct net *net, const void *addr, u32 addr_len,
					     u32 hash)
{
	struct mrpc_loop_port *port;

	hash_for_each_possible(mrpc_loop_ports, port, node, hash)
		if (net_eq(port->net, net) && port->addr_len == addr_len &&
		    !memcmp(&port->addr, addr, addr_len))
			return port;
	return NULL;
}

static int mrpc_loop_connect(struct mrpc_link *link, const void *addr, u32 addr_len,
			     const char **why)
{
	struct mrpc_loop_end *mine, *theirs;
	struct net *net = link->net;
	struct mrpc_listener *l = NULL;
	struct mrpc_loop_port *port;
	u32 hash;
	int err;

	err = mrpc_loop_check(addr, addr_len, why);
	if (err)
		return err;
	hash = mrpc_loop_hash(net, addr, addr_len);
	mine = mrpc_loop_end_new();
	theirs = mrpc_loop_end_new();
	err = -ENOMEM;
	if (!mine || !theirs)
		goto fail;
	mine->peer = theirs;
	theirs->peer = mine;
	mine->link = link;
	refcount_inc(&mine->ref);
	refcount_inc(&theirs->ref);	/* now one by the peer, one by the backlog */
	/* Once in the backlog our end may be hung up, and the connection run, at any time. */
	memcpy(&link->peer, addr, addr_len);
	link->priv = mine;

	spin_lock_bh(&mrpc_loop_lock);
	port = mrpc_loop_find(net, addr, addr_len, hash);
	err = -ECONNREFUSED;
	if (port && port->waiting < port->limit) {
		list_add_tail(&theirs->accept, &port->backlog);
		WRITE_ONCE(port->waiting, port->waiting + 1);
		l = port->l;
		kref_get(&l->ref);
		err = 0;
	}
	spin_unlock_bh(&mrpc_loop_lock);
	if (err) {
		*why = port ? "too many wait for this loop name's server to accept them" :
			      "nobody serves this loop name";
		goto fail;
	}
	mrpc_kick_listener(l);
	mrpc_listener_put(l);
	return 0;
fail:
	link->priv = NULL;
	kfree(mine);
	kfree(theirs);
	return err;
}

static int mrpc_loop_listen(struct mrpc_listener *l, const void *addr, u32 addr_len, u32 backlog,
			    const char **why)
{
	struct mrpc_loop_port *port;
	u32 hash;
	int err;

	err = mrpc_loop_check(addr, addr_len, why);
	if (err)
		return err;
	port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port)
		return -ENOMEM;
	port->net = l->net;
	port->l = l;
	port->limit = min(backlog, 4096U);
	port->addr_len = addr_len;
	memcpy(&port->addr, addr, addr_len);
	INIT_LIST_HEAD(&port->backlog);
	memcpy(&l->addr, addr, addr_len);
	l->addr_len = addr_len;
	l->priv = port;
	hash = mrpc_loop_hash(port->net, addr, addr_len);
	spin_lock_bh(&mrpc_loop_lock);
	if (mrpc_loop_find(port->net, addr, addr_len, hash))
		err = -EADDRINUSE;
	else
		hash_add(mrpc_loop_ports, &port->node, hash);
	spin_unlock_bh(&mrpc_loop_lock);
	if (err) {
		l->priv = NULL;
		kfree(port);
		*why = "this loop name is taken";
	}
	return err;
}

/*
 * Ends this end and tells the peer. Drops the calls that wait at both ends.
 * The calls of the peer are of no more use. The calls of this end would keep
 * its session for as long as the peer does not read.
 */
static void mrpc_loop_hangup(struct mrpc_loop_end *end)
{
	struct mrpc_loop_end *peer;
	LIST_HEAD(theirs);
	LIST_HEAD(mine);

	spin_lock(&end->lock);
	peer = end->peer;
	end->peer = NULL;
	end->link = NULL;
	end->closed = true;
	list_splice_init(&end->input, &theirs);
	spin_unlock(&end->lock);
	mrpc_loop_drop_all(&theirs);
	if (!peer)
		return;
	spin_lock(&peer->lock);
	WRITE_ONCE(peer->eof, true);
	list_splice_init(&peer->input, &mine);
	spin_unlock(&peer->lock);
	mrpc_loop_drop_all(&mine);
	mrpc_loop_kick_rx(peer);
	mrpc_loop_end_put(peer);
}

static bool mrpc_loop_waiting(struct mrpc_listener *l)
{
	struct mrpc_loop_port *port = l->priv;

	return READ_ONCE(port->waiting);
}

static int mrpc_loop_accept(struct mrpc_listener *l, struct mrpc_link *link)
{
	struct mrpc_loop_port *port = l->priv;
	struct mrpc_loop_end *end;

	spin_lock_bh(&mrpc_loop_lock);
	end = list_first_entry_or_null(&port->backlog, struct mrpc_loop_end, accept);
	if (end) {
		list_del_init(&end->accept);
		WRITE_ONCE(port->waiting, port->waiting - 1);
	}
	spin_unlock_bh(&mrpc_loop_lock);
	if (!end)
		return -EAGAIN;
	if (!link) {
		mrpc_loop_hangup(end);
		mrpc_loop_end_put(end);
		return 0;
	}
	memcpy(&link->local, &port->addr, port->addr_len);
	link->peer.ss_family = AF_UNIX;
	link->priv = end;
	spin_lock(&end->lock);
	end->link = link;
	spin_unlock(&end->lock);
	return 0;
}

static void mrpc_loop_unlisten(struct mrpc_listener *l)
{
	struct mrpc_loop_port *port = l->priv;
	struct mrpc_loop_end *end, *next;

	if (!port)
		return;
	spin_lock_bh(&mrpc_loop_lock);
	hash_del(&port->node);
	spin_unlock_bh(&mrpc_loop_lock);
	list_for_each_entry_safe(end, next, &port->backlog, accept) {
		list_del_init(&end->accept);
		mrpc_loop_hangup(end);
		mrpc_loop_end_put(end);
	}
	kfree(port);
}

/* Puts a message on the peer's input. @more: another one follows at once, the kick waits for it. */
static int mrpc_loop_give(struct mrpc_link *link, struct mrpc_rpc *rpc, bool more)
{
	struct mrpc_loop_end *end = link->priv, *peer = end->peer;
	struct mrpc_call *call = mrpc_rpc_call(rpc);
	u64 total = mrpc_rpc_total(rpc);
	struct mrpc_link *to = NULL;
	int err = 0;

	if (READ_ONCE(end->down))
		return -EPIPE;
	lockdep_assert(in_task());
	spin_lock(&peer->lock);
	if (peer->closed) {
		err = -EPIPE;
	} else if (peer->nr >= MRPC_LOOP_INPUT_MAX) {
		WRITE_ONCE(peer->full, true);
		err = -EAGAIN;
	} else {
		/* Takes the references before the receiver can drop them. */
		mrpc_call_get(call);
		mrpc_call_sent_get(call);
		list_add_tail(&call->loop, &peer->input);
		WRITE_ONCE(peer->nr, peer->nr + 1);
		WRITE_ONCE(peer->bytes, peer->bytes + total);
	}
	if (err ? err == -EAGAIN : !more)
		to = peer->link;
	if (to)
		mrpc_link_get(to);
	spin_unlock(&peer->lock);
	if (!err)
		rpc->done = total;
	end->unsaid = !err && more;
	if (to) {
		mrpc_link_kick_rx(to);
		mrpc_link_put(to);
	}
	return err;
}

/* Ends a round. Kicks the peer if the last send left this to a message that did not follow. */
static void mrpc_loop_flush(struct mrpc_link *link)
{
	struct mrpc_loop_end *end = link->priv;

	if (likely(!end->unsaid))
		return;
	end->unsaid = false;
	mrpc_loop_kick_rx(end->peer);
}

/*
 * Sends a message whole, with its last chunk. The bytes before the last chunk only count
 * as sent, so that other calls have their turns meanwhile.
 */
static int mrpc_loop_send(struct mrpc_link *link, struct mrpc_queue *q, u64 limit)
{
	struct mrpc_rpc *rpc = mrpc_queue_peek(q);

	if (unlikely(limit != U64_MAX) && limit < mrpc_rpc_total(rpc) - rpc->done) {
		rpc->done += limit;
		return 0;
	}
	return mrpc_loop_give(link, rpc, limit == U64_MAX && !mrpc_queue_is_last(q, rpc));
}

/* No credit while the peer is asked to kick this end when there is room. */
static u32 mrpc_loop_credit(struct mrpc_link *link, u32 chunk)
{
	struct mrpc_loop_end *end = link->priv;

	return READ_ONCE(end->peer->full) ? 0 : U32_MAX;
}

/* Takes the next message off the input, to copy it. NULL: none; with @eof: none will come. */
static struct mrpc_call *mrpc_loop_take(struct mrpc_loop_end *end, bool *eof)
{
	struct mrpc_call *call;

	spin_lock(&end->lock);
	call = list_first_entry_or_null(&end->input, struct mrpc_call, loop);
	if (call)
		list_del(&call->loop);
	*eof = end->eof;
	spin_unlock(&end->lock);
	return call;
}

/* Puts a taken message back, for later. Return: false: the sender has gone, do not copy it. */
static bool mrpc_loop_untake(struct mrpc_loop_end *end, struct mrpc_call *call)
{
	bool eof;

	spin_lock(&end->lock);
	eof = end->eof;
	if (!eof)
		list_add(&call->loop, &end->input);
	spin_unlock(&end->lock);
	return !eof;
}

/* Drops a taken message and kicks the peer if it waits for room. */
static void mrpc_loop_consume(struct mrpc_loop_end *end, struct mrpc_call *call)
{
	u64 total = mrpc_rpc_total(&call->rpc);
	struct mrpc_link *link;
	bool full;

	mrpc_loop_drop(call);
	spin_lock(&end->lock);
	WRITE_ONCE(end->nr, end->nr - 1);
	WRITE_ONCE(end->bytes, end->bytes - total);
	full = end->full;
	WRITE_ONCE(end->full, false);
	spin_unlock(&end->lock);
	if (!full)
		return;
	link = mrpc_loop_link(end->peer);
	if (link) {
		mrpc_link_kick_room(link);
		mrpc_link_put(link);
	}
}

/* Copies the byte section from the sender's copy or heap straight to its place. */
static void mrpc_loop_body(const struct mrpc_rpc *rpc, u32 head, struct mrpc_sink *sink)
{
	if (rpc->heap)
		mrpc_sink_pour_segs(sink, rpc->buf.segs, rpc->buf.nr_segs, mrpc_heap_at, rpc->heap);
	else
		mrpc_sink_pour(sink, rpc->data + sizeof(struct mrpc_wire_hdr) + head);
}

static int mrpc_loop_one(struct mrpc_link *link, const struct mrpc_rpc *rpc)
{
	const struct mrpc_wire_hdr *hdr = (const void *)rpc->data;
	struct mrpc_frame frame;
	const char *why;
	int err;

	err = mrpc_wire_decode(hdr, link->max_message, &frame, &why);
	if (err == -EMSGSIZE)
		return mrpc_sink_too_big(link, &frame);
	if (err)
		return err;
	err = mrpc_sink_head(link, &frame, rpc->data + sizeof(*hdr));
	if (err)
		return err;
	WRITE_ONCE(link->last_rx, get_jiffies_64());
	mrpc_loop_body(rpc, mrpc_frame_head_known(&frame), &link->receive->sink);
	mrpc_sink_done(link);
	return 0;
}

static int mrpc_loop_recv(struct mrpc_link *link, int budget)
{
	struct mrpc_loop_end *end = link->priv;
	struct mrpc_call *call;
	int frames = 0, err;
	bool eof;

	while (frames < budget) {
		if (mrpc_recv_stops(link, budget, &frames))
			return frames;
		if (READ_ONCE(end->down))
			return -ESHUTDOWN;
		/* Needs no lock. A writer of these fields kicks this end after the write,
		 * which sets RX_READY. The owner of the receive claim clears RX_READY before
		 * it looks here. Both have full barriers: either this sees what the writer
		 * wrote, or there is another round.
		 */
		if (!READ_ONCE(end->nr) && !READ_ONCE(end->eof))
			return frames;
		call = mrpc_loop_take(end, &eof);
		if (!call)
			return eof ? -ESHUTDOWN : frames;
		err = mrpc_loop_one(link, &call->rpc);
		if (err == -EAGAIN && mrpc_loop_untake(end, call))
			return err;
		frames += 1 + mrpc_rpc_total(&call->rpc) / MRPC_LOOP_FRAME;
		mrpc_loop_consume(end, call);
		if (err && err != -EAGAIN)
			return err;
	}
	return budget;
}

static void mrpc_loop_shutdown(struct mrpc_link *link, bool abort)
{
	struct mrpc_loop_end *end = link->priv;

	WRITE_ONCE(end->down, true);
}

/* Returns true if the peer still has messages to read. */
static bool mrpc_loop_busy(struct mrpc_link *link)
{
	struct mrpc_loop_end *end = link->priv;

	return !READ_ONCE(end->eof) && READ_ONCE(end->peer->nr);
}

static void mrpc_loop_release(struct mrpc_link *link)
{
	struct mrpc_loop_end *end = link->priv;

	link->priv = NULL;
	mrpc_loop_hangup(end);
	mrpc_loop_end_put(end);
}

static u64 mrpc_loop_backlog(struct mrpc_link *link)
{
	struct mrpc_loop_end *end = link->priv;

	return READ_ONCE(end->peer->bytes);
}

struct mrpc_transport_ops mrpc_loop_ops = {
	.name		= "loop",
	.version	= 1,
	.features	= MRPC_FEATURE_STREAM | MRPC_FEATURE_GROUP,
	.owner		= THIS_MODULE,
	.connect	= mrpc_loop_connect,
	.listen		= mrpc_loop_listen,
	.waiting	= mrpc_loop_waiting,
	.accept		= mrpc_loop_accept,
	.unlisten	= mrpc_loop_unlisten,
	.send		= mrpc_loop_send,
	.flush		= mrpc_loop_flush,
	.recv		= mrpc_loop_recv,
	.shutdown	= mrpc_loop_shutdown,
	.busy		= mrpc_loop_busy,
	.release	= mrpc_loop_release,
	.backlog	= mrpc_loop_backlog,
	.credit		= mrpc_loop_credit,
};
