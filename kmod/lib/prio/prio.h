/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The prio transport's protocol: messages of 0 bytes to 1 GiB between endpoints
 * that exchange datagrams, each delivered once, the most urgent first. This is all
 * of it but sockets, clocks and payload: events go in (a packet came, time passed,
 * a message is to be sent), what is to be done comes out. The module, the native
 * tests and the simulator drive the same code. Packets: lib/prio/wire.h; rules of the
 * protocol: Documentation/prio-protocol.rst.
 *
 *  struct mrpc_prio	an endpoint, or one shard of it: all peers whose packets come
 *			here; holds nothing that is allocated but by its ops
 *  struct mrpc_prio_peer an association with one remote endpoint
 *  struct mrpc_prio_tx	a message being sent, until the peer has all of it
 *  struct mrpc_prio_rx	a message being received, until all of it is here
 *
 * The caller embeds these in its own objects and gives them to the core; the core
 * gives each back once: see "Ownership" at each. Payload never passes through: the
 * core says which bytes of which message go into the next packet, and where those
 * that came belong.
 *
 * After any event the caller empties these, in this order:
 *
 *	mrpc_prio_peer_event()	associations that came about, broke, or ended
 *	mrpc_prio_tx_ended()	messages sent or failed
 *	mrpc_prio_rx_ended()	incoming messages that will not be completed
 *	mrpc_prio_control_next() packets for the peers, to be sent at once
 *	mrpc_prio_tx_next()	data, as long as the layer below takes chunks
 *
 * and has its timer call mrpc_prio_timeout() at mrpc_prio_deadline(). Who handles
 * packets in batches does it after each batch: grants and acknowledgements of a
 * batch share packets.
 *
 * Locking: one lock per endpoint, held by the caller of every function that takes a
 * struct mrpc_prio or what belongs to it. No function sleeps, waits, or calls back
 * but into struct mrpc_prio_ops. Times are nanoseconds of one clock and never less
 * than before.
 */
#ifndef MRPC_LIB_PRIO_PRIO_H
#define MRPC_LIB_PRIO_PRIO_H

#include "lib/prio/types.h"

/* -- the endpoint -------------------------------------------------------------- */

/**
 * mrpc_prio_init() - a new endpoint
 * @hash: array of @buckets, a power of two from 2: twice as many as there will be messages of one
 *	direction
 * @key: random, secret; another one each time
 *
 * Return: 0, or -EINVAL if the rule or @buckets is out of range.
 */
int mrpc_prio_init(struct mrpc_prio *ep, const struct mrpc_prio_rule *rule,
		   const struct mrpc_prio_ops *ops, void *ctx, struct mrpc_order_link *hash,
		   u32 buckets, const u64 key[2], u64 now);

/** mrpc_prio_set() - other settings, at any time: grants stay. Return: 0 or -EINVAL */
int mrpc_prio_set(struct mrpc_prio *ep, const struct mrpc_prio_rule *rule);

/** mrpc_prio_fini() - frees what its ops allocated; all peers are removed before */
void mrpc_prio_fini(struct mrpc_prio *ep);

/** mrpc_prio_deadline() - when to call mrpc_prio_timeout() at the latest, or U64_MAX */
u64 mrpc_prio_deadline(const struct mrpc_prio *ep);

/**
 * mrpc_prio_timeout() - it is @now; at any time, harmless if nothing is due
 *
 * Return: whether more is due: what one call does is bounded, as the lock is held meanwhile.
 */
bool mrpc_prio_timeout(struct mrpc_prio *ep, u64 now);

/**
 * mrpc_prio_settled() - has nothing come about since all lists were emptied
 * Of those that are emptied after any event: whether mrpc_prio_peer_event(), _tx_ended(), _rx_ended()
 * and _tx_gates() would all return NULL.
 */
static inline bool mrpc_prio_settled(const struct mrpc_prio *ep)
{
	return mrpc_link_empty(&ep->events) && mrpc_link_empty(&ep->tx_list) &&
	       mrpc_link_empty(&ep->rx_list) && mrpc_link_empty(&ep->gates);
}

/* -- peers --------------------------------------------------------------------- */

/** mrpc_prio_peer_add() - somebody to send to; no packet is sent before mrpc_prio_submit() */
void mrpc_prio_peer_add(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 payload, u64 now);

/**
 * mrpc_prio_peer_remove() - @peer's memory may go
 * Its messages are in the lists of those ended, with @peer NULL. What is with the caller
 * (mrpc_prio_tx_next()) must be back. The remote end is told when it sends something.
 */
void mrpc_prio_peer_remove(struct mrpc_prio *ep, struct mrpc_prio_peer *peer);

/** mrpc_prio_peer_give_up() - its association ends, and all messages, as if it were silent */
void mrpc_prio_peer_give_up(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);

/**
 * mrpc_prio_peer_payload() - the path's MTU is known: bytes of payload in one packet, 1 or more
 * peer->payload is that, until it turns out that the path does not take so many: then the core
 * makes it less. So packets are cut by peer->payload, each time. The same number as before
 * changes nothing.
 */
void mrpc_prio_peer_payload(struct mrpc_prio_peer *peer, u32 payload);

/**
 * mrpc_prio_peer_near() - whether @peer is on this machine
 * Then what comes of it does not come by the way that others come by, and says nothing about it:
 * the peer is never taken to hold anybody up, nor is anybody as long as it holds something. It is
 * not, at first.
 */
void mrpc_prio_peer_near(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, bool near);

/**
 * mrpc_prio_peer_event() - the next peer whose state has changed, or NULL
 * MRPC_PRIO_PEER_UP: there is a new association. Else: there is none now, peer->status says
 * why the last one ended. Several changes may have become one, and an association that was
 * replaced shows as a change from UP to UP: all messages of the one before have ended.
 */
struct mrpc_prio_peer *mrpc_prio_peer_event(struct mrpc_prio *ep);

/* -- sending ------------------------------------------------------------------- */

/**
 * mrpc_prio_submit() - a message is to be sent
 * @tx: the caller has set its first fields; any content else
 *
 * Return: 0; -EMSGSIZE: larger than the peer or the protocol takes; -ENOMEM: none. Then
 * @tx is the caller's.
 */
int mrpc_prio_submit(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct mrpc_prio_tx *tx,
		     u64 now);

/**
 * mrpc_prio_tx_abort() - @tx is not wanted any more, wherever it is
 * Its payload is not wanted from now on, except for a chunk that is with the caller. It comes
 * back by mrpc_prio_tx_ended(), as soon as the peer knows. Harmless if it has ended.
 */
void mrpc_prio_tx_abort(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now);

/** mrpc_prio_tx_priority() - another priority for what is not sent. Return: 0 or -ENOMEM */
int mrpc_prio_tx_priority(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u8 priority);

/** mrpc_prio_tx_ended() - the next message that has ended, now the caller's, or NULL */
struct mrpc_prio_tx *mrpc_prio_tx_ended(struct mrpc_prio *ep);

/**
 * struct mrpc_prio_chunk - what is to be sent next
 * @tx: of which message
 * @peer: to whom
 * @offset: of the first byte of payload
 * @len: bytes, at most rule.chunk; 0: a packet without payload
 * @class: network priority, 0 to MRPC_PRIO_CLASSES - 2
 * @packet: header fields; mrpc_prio_chunk_header() completes them
 */
struct mrpc_prio_chunk {
	struct mrpc_prio_tx *tx;
	struct mrpc_prio_peer *peer;
	u32 offset;
	u32 len;
	u8 class;
	struct mrpc_prio_packet packet;
};

/** mrpc_prio_tx_best() - what would be next: NULL, or its message */
const struct mrpc_prio_tx *mrpc_prio_tx_best(const struct mrpc_prio *ep);

/**
 * mrpc_prio_tx_next() - the next chunk
 * The message is out of the order until mrpc_prio_tx_sent(), which must follow. So there can
 * be several chunks at once, each of another message; the lock may be released in between.
 *
 * Return: whether there is one.
 */
bool mrpc_prio_tx_next(struct mrpc_prio *ep, u64 now, struct mrpc_prio_chunk *chunk);

/**
 * mrpc_prio_tx_more() - messages that can share the datagram of a chunk
 * @chunks: the first one is from mrpc_prio_tx_next() just now; out: those behind it
 * @most: how many there can be, with the first
 *
 * Those whose turn it is next, in their order, if all of the first one and of each of them is
 * to be sent, for the first time, to the same peer in the same network priority, and one
 * datagram takes it. Each is a packet of its own in it, and needs its mrpc_prio_tx_sent().
 *
 * Return: how many there are, with the first.
 */
u32 mrpc_prio_tx_more(struct mrpc_prio *ep, u64 now, struct mrpc_prio_chunk *chunks, u32 most);

/**
 * mrpc_prio_chunk_header() - the header of one packet of @chunk
 * @at: byte of @chunk from which it has payload: packets can be of any size
 * @buf: MRPC_PRIO_DATA_HDR bytes. The caller sets the crc if it has one: mrpc_prio_has_crc()
 */
void mrpc_prio_chunk_header(const struct mrpc_prio_chunk *chunk, u32 at, void *buf);

/**
 * mrpc_prio_tx_sent() - the end of @chunk's turn
 * @sent: bytes of it that went out, whole packets from its beginning
 * @any: whether any packet did, be it without payload. If not, the chunk was not sent at all
 */
void mrpc_prio_tx_sent(struct mrpc_prio *ep, const struct mrpc_prio_chunk *chunk, u32 sent,
		       bool any, u64 now);

/*
 * The order of what leaves next can be somebody else's, for some messages or all: those that
 * are gated send payload only in the turns that they are given. What they say without payload
 * they say as ever. What waits for its turn here is not repeated for that, and the peer hears,
 * when it asks, that it is.
 */

/**
 * mrpc_prio_tx_gate() - @tx is gated from now on, or is not any more
 * After mrpc_prio_submit(), at any time. A chunk that is with the caller stays.
 */
void mrpc_prio_tx_gate(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, bool gated);

/** mrpc_prio_tx_gates() - the next gated message that may want more, or less, than before; or NULL */
struct mrpc_prio_tx *mrpc_prio_tx_gates(struct mrpc_prio *ep);

/** mrpc_prio_tx_wants() - bytes that @tx could send in a turn now; of one that begins, all of it */
u32 mrpc_prio_tx_wants(const struct mrpc_prio_tx *tx);

/** mrpc_prio_tx_left() - bytes of @tx that are to be sent, for the first time or again */
u64 mrpc_prio_tx_left(const struct mrpc_prio_tx *tx);

/**
 * mrpc_prio_tx_turn() - a chunk of a gated message
 * @tx: not with the caller
 * @bytes: of payload at most, not 0
 *
 * As mrpc_prio_tx_next(). A message that begins may find that it may not send any payload yet:
 * then that is announced. Return: false: it has nothing to send any more.
 */
bool mrpc_prio_tx_turn(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 bytes, u64 now,
		       struct mrpc_prio_chunk *chunk);

/* -- receiving ----------------------------------------------------------------- */

enum mrpc_prio_event_type {
	MRPC_PRIO_EVENT_NONE,		/* the packet is done with */
	MRPC_PRIO_EVENT_ANSWER,		/* send @answer back to where it came from */
	MRPC_PRIO_EVENT_PEER,		/* somebody new: mrpc_prio_welcome() */
	MRPC_PRIO_EVENT_MESSAGE,	/* a new one: mrpc_prio_accept() or mrpc_prio_refuse() */
	MRPC_PRIO_EVENT_DATA,		/* new bytes of a message: place them, mrpc_prio_taken() */
};

/**
 * struct mrpc_prio_event - what is to be done about a packet
 * @type: enum mrpc_prio_event_type
 * @rx: DATA: the message
 * @offset: DATA: where the new bytes belong
 * @len: DATA: how many, 0 only for an empty message
 * @each: DATA: bytes of each of @packets, of which the last may have fewer
 * @packets: that this is about: 1, or with so many - 1 of those of its train
 * @skip: DATA: bytes of the payload before the first new one
 * @answer_len: ANSWER: bytes of @answer, never more than the packet had
 * @answer: ANSWER: a packet; the caller sets its crc
 */
struct mrpc_prio_event {
	u8 type;
	struct mrpc_prio_rx *rx;
	u32 offset;
	u32 len;
	u32 skip;
	u32 each;
	u32 packets;
	u32 answer_len;
	u8 answer[sizeof(struct mrpc_prio_hdr) + sizeof(struct mrpc_prio_body)];
};

/** mrpc_prio_count() - a packet was dropped before it came here: @drop of mrpc_prio_parse() */
void mrpc_prio_count(struct mrpc_prio *ep, u32 drop);

/**
 * mrpc_prio_receive() - a packet came
 * @peer: whose address it came from, or NULL: unknown
 * @addr: that address, as bytes that are always the same for it, at most MRPC_PRIO_MAX_ADDR
 * @p: from mrpc_prio_parse(), its sum checked
 * @ecn: congestion was experienced
 * @ev: out
 *
 * Of a train as many packets are taken with the first one, @ev->packets, as have all together the
 * effect that each would have by itself. What is left of it is received next.
 */
void mrpc_prio_receive(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, const void *addr,
		       u32 addr_len, const struct mrpc_prio_packet *p, bool ecn, u64 now,
		       struct mrpc_prio_event *ev);

/**
 * mrpc_prio_welcome() - after EVENT_PEER: the caller has a new object for it
 * Does what mrpc_prio_peer_add() does; the association stands. Not calling it: the remote end
 * will try again.
 */
void mrpc_prio_welcome(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 payload,
		       const struct mrpc_prio_packet *p, u64 now);

/**
 * mrpc_prio_accept() - after EVENT_MESSAGE: receive it
 * @rx: any content
 * @limit: no grant beyond this, until mrpc_prio_rx_limit(); U32_MAX for none
 * @ev: out: EVENT_DATA or EVENT_NONE
 */
void mrpc_prio_accept(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct mrpc_prio_rx *rx,
		      const struct mrpc_prio_packet *p, u32 limit, u64 now,
		      struct mrpc_prio_event *ev);

/** mrpc_prio_refuse() - after EVENT_MESSAGE: do not; @code: enum mrpc_prio_refusal but REJECTED */
void mrpc_prio_refuse(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		      const struct mrpc_prio_packet *p, u32 code);

/**
 * mrpc_prio_taken() - after EVENT_DATA: all @ev->len bytes have a place
 * Not calling it: they count as lost, and will be asked for. If other events come between, the
 * same bytes may come as new once more, and the message may end: then it is not called.
 *
 * Return: true: all of the message is here, and it is the caller's.
 */
bool mrpc_prio_taken(struct mrpc_prio *ep, const struct mrpc_prio_event *ev, u64 now);

/** mrpc_prio_rx_limit() - bytes from 0 that are wanted: no grant goes beyond, none goes back */
void mrpc_prio_rx_limit(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 limit, u64 now);

/**
 * mrpc_prio_rx_reject() - throw away an incoming message
 * Its bytes are not wanted from now on. @rx comes back by mrpc_prio_rx_ended(), as soon as the
 * sender knows: a repeated packet must not look like a completed message.
 */
void mrpc_prio_rx_reject(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now);

/** mrpc_prio_rx_ended() - the next message that has ended incomplete, now the caller's, or NULL */
struct mrpc_prio_rx *mrpc_prio_rx_ended(struct mrpc_prio *ep);

/**
 * mrpc_prio_control_next() - the next packet without payload
 * @buf: @size bytes, at least MRPC_PRIO_MIN_CONTROL; what the path takes in one packet is enough
 * @peer: out: to whom
 *
 * To be sent in MRPC_PRIO_CONTROL_CLASS. The caller sets the crc if it has one:
 * mrpc_prio_has_crc().
 *
 * Return: bytes, or 0: nobody is to get one.
 */
u32 mrpc_prio_control_next(struct mrpc_prio *ep, u64 now, void *buf, u32 size,
			   struct mrpc_prio_peer **peer);

#endif /* MRPC_LIB_PRIO_PRIO_H */
