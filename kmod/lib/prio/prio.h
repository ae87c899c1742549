/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol of the prio transport. It transfers messages of 0 bytes to 1 GiB between endpoints
 * that exchange datagrams. It delivers each message once, the most urgent first. This is the
 * whole protocol except sockets, clocks and payload. Events go in: a packet came, time passed, a
 * message is to be sent. Things to do come out. The module, the native tests and the simulator
 * use the same code. Packets: lib/prio/wire.h; rules of the protocol:
 * Documentation/prio-protocol.rst.
 *
 *  struct mrpc_prio	an endpoint, or one shard of it: all peers whose packets come
 *			here; all memory that it allocates comes from its ops
 *  struct mrpc_prio_peer an association with one remote endpoint
 *  struct mrpc_prio_tx	a message being sent, until the peer has all of it
 *  struct mrpc_prio_rx	a message being received, until all of it is received
 *
 * The caller embeds these in its own objects and gives them to the core. The core gives each
 * back once: see "Ownership" at each. The core never touches payload. It says which bytes of
 * which message go into the next packet, and where received bytes belong.
 *
 * After any event the caller empties these, in this order:
 *
 *	mrpc_prio_peer_event()	associations that were made, broke, or ended
 *	mrpc_prio_tx_ended()	messages sent or failed
 *	mrpc_prio_rx_ended()	incoming messages that will not be completed
 *	mrpc_prio_control_next() packets for the peers, to be sent at once
 *	mrpc_prio_tx_next()	data, as long as the layer below takes chunks
 *
 * The caller also has its timer call mrpc_prio_timeout() at mrpc_prio_deadline(). A caller that
 * handles packets in batches does all this once after each batch. Then the grants and
 * acknowledgements of a batch share packets.
 *
 * Locking: one lock per endpoint. The caller holds it for every function that takes a struct
 * mrpc_prio or an object that belongs to it. No function sleeps, waits, or calls back, except
 * into struct mrpc_prio_ops. Times are nanoseconds of one clock and never decrease.
 */
#ifndef MRPC_LIB_PRIO_PRIO_H
#define MRPC_LIB_PRIO_PRIO_H

#include "lib/prio/types.h"

/* -- the endpoint -------------------------------------------------------------- */

/**
 * mrpc_prio_init() - initialise an endpoint
 * @hash: array of @buckets, a power of two from 2: twice the expected number of messages of one
 *	direction
 * @key: random and secret; a new one each time
 *
 * Return: 0, or -EINVAL if the rule or @buckets is out of range.
 */
int mrpc_prio_init(struct mrpc_prio *ep, const struct mrpc_prio_rule *rule,
		   const struct mrpc_prio_ops *ops, void *ctx, struct mrpc_order_link *hash,
		   u32 buckets, const u64 key[2], u64 now);

/** mrpc_prio_set() - change the settings, at any time; grants stay. Return: 0 or -EINVAL */
int mrpc_prio_set(struct mrpc_prio *ep, const struct mrpc_prio_rule *rule);

/** mrpc_prio_fini() - free what the ops allocated; the caller has removed all peers before */
void mrpc_prio_fini(struct mrpc_prio *ep);

/** mrpc_prio_deadline() - latest time to call mrpc_prio_timeout(), or U64_MAX */
u64 mrpc_prio_deadline(const struct mrpc_prio *ep);

/**
 * mrpc_prio_timeout() - do what is due at @now
 * The caller may call it at any time; it does nothing if nothing is due.
 *
 * Return: true if more is due. One call does a bounded amount, because the caller holds the lock.
 */
bool mrpc_prio_timeout(struct mrpc_prio *ep, u64 now);

/**
 * mrpc_prio_settled() - are all lists empty that the caller empties after any event?
 * Return: true if mrpc_prio_peer_event(), _tx_ended(), _rx_ended() and _tx_gates() would all
 * return NULL.
 */
static inline bool mrpc_prio_settled(const struct mrpc_prio *ep)
{
	return mrpc_link_empty(&ep->events) && mrpc_link_empty(&ep->tx_list) &&
	       mrpc_link_empty(&ep->rx_list) && mrpc_link_empty(&ep->gates);
}

/* -- peers --------------------------------------------------------------------- */

/** mrpc_prio_peer_add() - add a peer to send to; mrpc_prio_submit() sends the first packet */
void mrpc_prio_peer_add(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 payload, u64 now);

/**
 * mrpc_prio_peer_remove() - remove @peer; its memory may be freed afterwards
 * Its messages go to the lists of ended messages, with @peer NULL. The caller must have returned
 * all chunks (mrpc_prio_tx_next()). The remote end is told when it sends something.
 */
void mrpc_prio_peer_remove(struct mrpc_prio *ep, struct mrpc_prio_peer *peer);

/** mrpc_prio_peer_give_up() - end the association and all messages, as if @peer were silent */
void mrpc_prio_peer_give_up(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);

/**
 * mrpc_prio_peer_payload() - set the payload of one packet for the path's MTU, 1 or more bytes
 * peer->payload is that, until the core finds that the path does not take so many. Then the core
 * makes it less. So the caller cuts packets by peer->payload, each time. The same number as
 * before changes nothing.
 */
void mrpc_prio_peer_payload(struct mrpc_prio_peer *peer, u32 payload);

/**
 * mrpc_prio_peer_near() - set whether @peer is on this machine; at first it is not
 * The bytes of a near peer do not use the way of other peers' bytes, and say nothing about it.
 * So a near peer never counts as slow. Other peers do not, either, while a near peer holds
 * something.
 */
void mrpc_prio_peer_near(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, bool near);

/**
 * mrpc_prio_peer_event() - the next peer whose state has changed, or NULL
 * MRPC_PRIO_PEER_UP: there is a new association. Other states: there is none now, and
 * peer->status says why the last one ended. Several changes may merge into one. A replaced
 * association shows as a change from UP to UP: all messages of the old one have ended.
 */
struct mrpc_prio_peer *mrpc_prio_peer_event(struct mrpc_prio *ep);

/* -- sending ------------------------------------------------------------------- */

/**
 * mrpc_prio_submit() - send a message
 * @tx: the caller has set its first fields; the others have any content
 *
 * Return: 0; -EMSGSIZE: larger than the peer or the protocol takes; -ENOMEM: no memory. On
 * failure the caller still owns @tx.
 */
int mrpc_prio_submit(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct mrpc_prio_tx *tx,
		     u64 now);

/**
 * mrpc_prio_tx_abort() - abort @tx, in any state
 * The core needs its payload no more, except for a chunk that the caller has. @tx comes back by
 * mrpc_prio_tx_ended(), as soon as the peer knows. Does nothing if @tx has ended.
 */
void mrpc_prio_tx_abort(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now);

/** mrpc_prio_tx_priority() - change the priority of the unsent part. Return: 0 or -ENOMEM */
int mrpc_prio_tx_priority(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u8 priority);

/** mrpc_prio_tx_ended() - give back the next message that has ended, or NULL */
struct mrpc_prio_tx *mrpc_prio_tx_ended(struct mrpc_prio *ep);

/**
 * struct mrpc_prio_chunk - what is to be sent next
 * @tx: the message
 * @peer: its receiver
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

/** mrpc_prio_tx_best() - the message that would be next, or NULL */
const struct mrpc_prio_tx *mrpc_prio_tx_best(const struct mrpc_prio *ep);

/**
 * mrpc_prio_tx_next() - get the next chunk
 * The message is out of the order until mrpc_prio_tx_sent(), which must follow. So the caller can
 * have several chunks at once, each of another message. It may release the lock in between.
 *
 * Return: true if there is a chunk.
 */
bool mrpc_prio_tx_next(struct mrpc_prio *ep, u64 now, struct mrpc_prio_chunk *chunk);

/**
 * mrpc_prio_tx_more() - get messages that can share the datagram of a chunk
 * @chunks: the first one is from mrpc_prio_tx_next() just now; out: those behind it
 * @most: maximum number of chunks, the first included
 *
 * Takes the messages that are next in the order. All of the first message and of each of these
 * must be sent for the first time, to the same peer in the same network priority. One datagram
 * must take them all. Each is a packet of its own in it, and needs its mrpc_prio_tx_sent().
 *
 * Return: number of chunks, the first included.
 */
u32 mrpc_prio_tx_more(struct mrpc_prio *ep, u64 now, struct mrpc_prio_chunk *chunks, u32 most);

/**
 * mrpc_prio_chunk_header() - make the header of one packet of @chunk
 * @at: first byte of @chunk in the packet; packets can be of any size
 * @buf: MRPC_PRIO_DATA_HDR bytes. The caller sets the crc if it has one: mrpc_prio_has_crc()
 */
void mrpc_prio_chunk_header(const struct mrpc_prio_chunk *chunk, u32 at, void *buf);

/**
 * mrpc_prio_tx_sent() - end @chunk's turn
 * @sent: bytes of it that were sent, in whole packets from its beginning
 * @any: true if any packet was sent, even without payload. Otherwise the chunk was not sent at all
 */
void mrpc_prio_tx_sent(struct mrpc_prio *ep, const struct mrpc_prio_chunk *chunk, u32 sent,
		       bool any, u64 now);

/*
 * The caller can decide the order of what leaves next, for some messages or all. Such messages are
 * gated: they send payload only in the turns that the caller gives them. They still send packets
 * without payload by themselves. While a message waits for its turn here, it is not repeated. If
 * the peer asks, it is told that the message waits.
 */

/**
 * mrpc_prio_tx_gate() - make @tx gated, or end that
 * At any time after mrpc_prio_submit(). Does not affect a chunk that the caller has.
 */
void mrpc_prio_tx_gate(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, bool gated);

/** mrpc_prio_tx_gates() - the next gated message whose wants may have changed, or NULL */
struct mrpc_prio_tx *mrpc_prio_tx_gates(struct mrpc_prio *ep);

/** mrpc_prio_tx_wants() - bytes that @tx could send in a turn now; all, if it has not begun */
u32 mrpc_prio_tx_wants(const struct mrpc_prio_tx *tx);

/** mrpc_prio_tx_left() - bytes of @tx still to be sent, for the first time or again */
u64 mrpc_prio_tx_left(const struct mrpc_prio_tx *tx);

/**
 * mrpc_prio_tx_turn() - get a chunk of a gated message
 * @tx: the caller has no chunk of it
 * @bytes: of payload at most, not 0
 *
 * As mrpc_prio_tx_next(). A message that has not begun may find that it may not send payload yet.
 * Then the chunk announces it. Return: false: it has nothing to send any more.
 */
bool mrpc_prio_tx_turn(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 bytes, u64 now,
		       struct mrpc_prio_chunk *chunk);

/* -- receiving ----------------------------------------------------------------- */

enum mrpc_prio_event_type {
	MRPC_PRIO_EVENT_NONE,		/* nothing to do */
	MRPC_PRIO_EVENT_ANSWER,		/* send @answer to the packet's source */
	MRPC_PRIO_EVENT_PEER,		/* a new peer: mrpc_prio_welcome() */
	MRPC_PRIO_EVENT_MESSAGE,	/* a new message: mrpc_prio_accept() or mrpc_prio_refuse() */
	MRPC_PRIO_EVENT_DATA,		/* new bytes of a message: place them, mrpc_prio_taken() */
};

/**
 * struct mrpc_prio_event - what is to be done about a packet
 * @type: enum mrpc_prio_event_type
 * @rx: DATA: the message
 * @offset: DATA: where the new bytes belong
 * @len: DATA: number of new bytes, 0 only for an empty message
 * @each: DATA: bytes of each of @packets; the last may have fewer
 * @packets: packets that this event covers: 1, or more with those of its train
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

/** mrpc_prio_count() - count a packet dropped before it came here; @drop: of mrpc_prio_parse() */
void mrpc_prio_count(struct mrpc_prio *ep, u32 drop);

/**
 * mrpc_prio_receive() - handle a packet that came
 * @peer: the peer with the packet's source address, or NULL: unknown
 * @addr: that address, as bytes that are always the same for it, at most MRPC_PRIO_MAX_ADDR
 * @p: from mrpc_prio_parse(); the caller has checked its sum
 * @ecn: the packet experienced congestion
 * @ev: out
 *
 * Of a train, one call takes as many packets (@ev->packets) as have the same effect together as
 * one by one. The caller passes the rest of the train in the next call.
 */
void mrpc_prio_receive(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, const void *addr,
		       u32 addr_len, const struct mrpc_prio_packet *p, bool ecn, u64 now,
		       struct mrpc_prio_event *ev);

/**
 * mrpc_prio_welcome() - after EVENT_PEER: the caller has a new object for the peer
 * Does what mrpc_prio_peer_add() does, and the association is made. If the caller does not call
 * it, the remote end will try again.
 */
void mrpc_prio_welcome(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 payload,
		       const struct mrpc_prio_packet *p, u64 now);

/**
 * mrpc_prio_accept() - after EVENT_MESSAGE: receive the message
 * @rx: any content
 * @limit: no grant goes beyond this, until mrpc_prio_rx_limit(); U32_MAX for none
 * @ev: out: EVENT_DATA or EVENT_NONE
 */
void mrpc_prio_accept(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct mrpc_prio_rx *rx,
		      const struct mrpc_prio_packet *p, u32 limit, u64 now,
		      struct mrpc_prio_event *ev);

/** mrpc_prio_refuse() - after EVENT_MESSAGE: refuse it; @code: mrpc_prio_refusal, not REJECTED */
void mrpc_prio_refuse(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		      const struct mrpc_prio_packet *p, u32 code);

/**
 * mrpc_prio_taken() - after EVENT_DATA: the caller has placed all @ev->len bytes
 * If the caller does not call it, the bytes count as lost, and will be asked for. If other events
 * come in between, the same bytes may come as new once more, and the message may end. If it has
 * ended, the caller does not call this.
 *
 * Return: true: all of the message is received, and the caller owns it.
 */
bool mrpc_prio_taken(struct mrpc_prio *ep, const struct mrpc_prio_event *ev, u64 now);

/** mrpc_prio_rx_limit() - set the bytes from 0 that are wanted: no grant goes beyond or back */
void mrpc_prio_rx_limit(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 limit, u64 now);

/**
 * mrpc_prio_rx_reject() - reject an incoming message
 * Its bytes are not wanted any more. @rx comes back by mrpc_prio_rx_ended() only when the sender
 * knows: until then a repeated packet must not look like a completed message.
 */
void mrpc_prio_rx_reject(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now);

/** mrpc_prio_rx_ended() - give back the next message that has ended incomplete, or NULL */
struct mrpc_prio_rx *mrpc_prio_rx_ended(struct mrpc_prio *ep);

/**
 * mrpc_prio_control_next() - make the next packet without payload
 * @buf: @size bytes, at least MRPC_PRIO_MIN_CONTROL; one packet of the path is enough
 * @peer: out: the receiver
 *
 * The caller sends it in MRPC_PRIO_CONTROL_CLASS, and sets the crc if it has one:
 * mrpc_prio_has_crc().
 *
 * Return: bytes, or 0: no peer is to get a packet.
 */
u32 mrpc_prio_control_next(struct mrpc_prio *ep, u64 now, void *buf, u32 size,
			   struct mrpc_prio_peer **peer);

#endif /* MRPC_LIB_PRIO_PRIO_H */
