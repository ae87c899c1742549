/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The types of the prio transport: endpoint, peers, messages in both directions. Contract: prio.h.
 */
#ifndef MRPC_LIB_PRIO_TYPES_H
#define MRPC_LIB_PRIO_TYPES_H

#include "lib/ds/lheap.h"
#include "lib/ds/wheel.h"
#include "lib/prio/rank.h"
#include "lib/prio/rule.h"
#include "lib/prio/wire.h"

#define MRPC_PRIO_MAX_ADDR	32
#define MRPC_PRIO_NR_RANGES	4	/* of one message, to be sent again */
#define MRPC_PRIO_NR_GAPS	30	/* received pieces beyond a gap, of one message */
#define MRPC_PRIO_NR_ACKS	4	/* groups of 65 numbers */
#define MRPC_PRIO_NR_NOTES	2
/* Payload of a packet that fits every path: a datagram of 1200 bytes, as in RFC 8899. */
#define MRPC_PRIO_BASE_PAYLOAD	(1200U - 64)
/* Smaller CONTROL packets might not have room for all entries of one message. */
#define MRPC_PRIO_MIN_CONTROL						\
	(24 + 24 * (MRPC_PRIO_NR_RANGES + MRPC_PRIO_NR_ACKS + MRPC_PRIO_NR_NOTES + 2))

/**
 * struct mrpc_prio_ops - allocation of small memory
 * @alloc: returns @size bytes with any content, or NULL. @size is that of struct
 *	mrpc_order_levels or of struct mrpc_prio_gaps. Called under the lock: must not sleep
 * @free: frees what @alloc returned
 */
struct mrpc_prio_ops {
	void *(*alloc)(void *ctx, size_t size);
	void (*free)(void *ctx, void *p, size_t size);
};

/* Why a message or an association ended; tx->status, rx->status, peer->status. */
enum mrpc_prio_status {
	MRPC_PRIO_DONE,		/* tx: the peer has all bytes */
	MRPC_PRIO_ABORTED,	/* tx: by mrpc_prio_tx_abort(); rx: by the peer */
	MRPC_PRIO_REFUSED,	/* tx: by the peer, tx->code says why; rx: by this end, and the peer knows */
	MRPC_PRIO_RESTARTED,	/* the peer has lost its state: the call may have been executed */
	MRPC_PRIO_SILENT,	/* the peer does not answer: the call may have been executed */
	MRPC_PRIO_REMOVED,	/* by mrpc_prio_peer_remove() */
};

/* A range of a message's bytes; not empty unless stated. */
struct mrpc_prio_range {
	u32 from;
	u32 to;
};

/**
 * struct mrpc_prio_gaps - pieces received beyond the first gap; exists only while there is a gap
 * @nr: number of pieces
 * @have: ascending, not adjacent; the first piece is beyond rx->next
 */
struct mrpc_prio_gaps {
	u32 nr;
	struct mrpc_prio_range have[MRPC_PRIO_NR_GAPS];
};

enum mrpc_prio_tx_state {
	MRPC_PRIO_TX_FRESH,	/* no packet was sent; it has no number */
	MRPC_PRIO_TX_ACTIVE,
	MRPC_PRIO_TX_ABORTING,	/* until the peer has acknowledged the abort */
	MRPC_PRIO_TX_ENDED,	/* in the list of ended ones, or given back */
};

/**
 * struct mrpc_prio_tx - a message being sent; embedded in the caller's object
 *
 * Ownership: the core owns it from mrpc_prio_submit() until mrpc_prio_tx_ended() returns it. The
 * caller keeps its payload until then, or until mrpc_prio_tx_abort().
 *
 * Only the core writes the fields, except those of the caller. The caller may read all.
 *
 * @conn: set by the caller before mrpc_prio_submit(), as are the next four
 * @total: bytes
 * @priority: 0 (least) to 255
 * @kind: enum mrpc_prio_kind
 * @urgent: the peer is to acknowledge it without delay. If it has no content and is not
 *	acknowledged within twice the silence that a peer is allowed, it is aborted
 * @peer: the receiver
 * @msg: its number, 0 while it is fresh
 * @sent: bytes from 0 that were sent, since it was last put off
 * @most: bytes from 0 that were ever sent
 * @granted: bytes from 0 that may be sent
 * @unscheduled: as announced
 * @here: bytes from 0 that the peer is known to have
 * @debt: its share of peer->unscheduled_out
 * @again: ranges to send again, below @sent, @nr_again of them
 * @resent: total of bytes sent again
 * @stuck_from: first missing byte, if full packets from there were lost and @stuck is set
 * @stuck: number of times that the peer asked for them
 * @stuck_at: time of the last one
 * @state: enum mrpc_prio_tx_state
 * @status: enum mrpc_prio_status, when it has ended
 * @code: enum mrpc_prio_refusal, with MRPC_PRIO_REFUSED
 * @class: network priority of its scheduled bytes
 * @tries: announcements since the peer last answered about it
 * @announce: its first packet, or an empty one, is to be sent
 * @seen: the peer knows it
 * @out: with the caller, between mrpc_prio_tx_next() or _turn() and mrpc_prio_tx_sent()
 * @gated: it sends payload by the caller's turns
 * @vain: it counts in mrpc_prio.tx_vain
 * @gate: among those of which mrpc_prio_tx_gates() is to tell
 * @association: lower half of peer->local when it began
 * @begun_at: when it began; ABORTING: to be that
 * @sent_at: when a packet of it was sent last; 0: none since it was put off
 * @say: ops to tell the peer, BIT(enum mrpc_prio_op)
 * @entity: in the order of messages that can send
 * @since: in the list of those that have begun as well; the longest waiting first
 * @wait: in the heap of @peer's messages that cannot begin
 * @hash: in the hash table by number
 * @of_peer: in @peer's list of all messages
 * @control: in @peer's list of messages with @say, or in the list of ended messages
 * @timer: until it is announced again
 */
struct mrpc_prio_tx {
	u64 conn;
	u32 total;
	u8 priority;
	u8 kind;
	bool urgent;

	u8 state;
	struct mrpc_prio_peer *peer;
	u64 msg;
	u32 sent;
	u32 most;
	u32 granted;
	u32 unscheduled;
	u32 here;
	u32 debt;
	u32 resent;
	u32 stuck_from;
	u64 stuck_at;
	struct mrpc_prio_range again[MRPC_PRIO_NR_RANGES];
	u8 nr_again;
	u8 stuck;
	u8 status;
	u8 code;
	u8 class;
	u8 tries;
	bool announce;
	bool seen;
	bool out;
	bool gated;
	bool vain;
	u16 say;
	u32 association;
	u64 begun_at;
	u64 sent_at;
	struct mrpc_prio_ranked entity;
	struct mrpc_order_link since;
	struct mrpc_lheap_node wait;
	struct mrpc_order_link hash;
	struct mrpc_order_link of_peer;
	struct mrpc_order_link control;
	struct mrpc_order_link gate;
	struct mrpc_timer timer;
};

enum mrpc_prio_rx_state {
	MRPC_PRIO_RX_ACTIVE,
	MRPC_PRIO_RX_REFUSED,	/* until the sender knows of the refusal */
	MRPC_PRIO_RX_ENDED,
};

/**
 * struct mrpc_prio_rx - a message being received; embedded in the caller's object
 *
 * Ownership: the core owns it from mrpc_prio_accept() until mrpc_prio_taken() says that it is
 * complete, or mrpc_prio_rx_ended() returns it.
 *
 * @conn: as announced, as are the next four
 * @msg: its number
 * @total: bytes
 * @priority: 0 (least) to 255
 * @kind: enum mrpc_prio_kind
 * @peer: the sender
 * @next: all bytes before this are received
 * @got: number of bytes received
 * @granted: bytes from 0 that the sender may send
 * @limit: no grant goes beyond this: mrpc_prio_rx_limit()
 * @unscheduled: as announced
 * @unasked: its share of peer->rx_unasked
 * @counted: its share of peer->rx_granted
 * @left: its share of mrpc_prio.remaining
 * @gaps: pieces beyond the first gap; NULL: there is no gap
 * @state: enum mrpc_prio_rx_state
 * @status: enum mrpc_prio_status, when it has ended
 * @code: enum mrpc_prio_refusal, with MRPC_PRIO_REFUSED
 * @class: network priority that was granted last
 * @tries: times that something was asked for again since something came, or, while it is
 *	@stalled, since it got on: since a step came of it, an eighth of what was missing, or all
 *	that was asked for
 * @stalled: it does not get on: it holds no share of what may be outstanding, and no turn
 * @moved: something came since the timer fired
 * @got_on: since then it got on
 * @vain: it counts in mrpc_prio.rx_vain
 * @mark: bytes that were here when it got on last, or stalled
 * @mark_at: when it got on; or since when something is missing that could come; REFUSED: since then
 * @repeats: what it counts in peer->repeats
 * @cut: bytes before this came beyond @limit and were dropped; 0: none
 * @lost: missing bytes before this are lost, and wait for their turn to be asked for
 * @asked: but missing bytes before this were asked for
 * @told: the next CONTROL packet asks for the missing bytes from here to @asked
 * @urge: its sender wants an answer without delay
 * @say: ops to tell the peer, BIT(enum mrpc_prio_op)
 * @serial: order of arrival
 * @heap: in the heap of @peer's messages that can be granted more
 * @line: in the heap of @peer's messages with lost bytes to be asked for
 * @hash: in the hash table by peer and number
 * @of_peer: in @peer's list of all messages
 * @control: in @peer's list of messages with @say, or in the list of ended messages
 * @timer: until missing bytes are asked for
 */
struct mrpc_prio_rx {
	u64 conn;
	u64 msg;
	u32 total;
	u8 priority;
	u8 kind;

	u8 state;
	u8 status;
	struct mrpc_prio_peer *peer;
	u32 next;
	u32 got;
	u32 granted;
	u32 limit;
	u32 unscheduled;
	u32 unasked;
	u32 counted;
	u32 left;
	u32 repeats;
	u32 cut;
	u32 lost;
	u32 asked;
	u32 told;
	u8 code;
	u8 class;
	u8 tries;
	bool stalled;
	bool moved;
	bool got_on;
	bool vain;
	bool urge;
	u16 say;
	u32 mark;
	u64 mark_at;
	u64 serial;
	struct mrpc_prio_gaps *gaps;
	struct mrpc_lheap_node heap;
	struct mrpc_lheap_node line;
	struct mrpc_order_link hash;
	struct mrpc_order_link of_peer;
	struct mrpc_order_link control;
	struct mrpc_timer timer;
};

enum mrpc_prio_peer_state {
	MRPC_PRIO_PEER_IDLE,	/* no association; mrpc_prio_submit() asks for one */
	MRPC_PRIO_PEER_HELLO,	/* a HELLO is sent */
	MRPC_PRIO_PEER_UP,
};

/**
 * struct mrpc_prio_peer - one remote endpoint
 * Embedded in the caller's object, which holds its address.
 *
 * Ownership: the core owns it from mrpc_prio_peer_add() until mrpc_prio_peer_remove() returns.
 *
 * @payload: bytes of payload in one packet: those of @path, or fewer
 * @path: set by mrpc_prio_peer_payload()
 * @lost_full: full packets that were lost in a row while small ones came
 * @lost_at: time when the last such loss was found
 * @shrunk: time when @payload was made less than @path
 * @state: enum mrpc_prio_peer_state
 * @status: enum mrpc_prio_status: why the last association ended
 * @crc: packets to and from it have checksums
 * @ecn: its packets experienced congestion: it is to be told
 * @say: BIT(enum mrpc_prio_type or 16 + enum mrpc_prio_op) to be sent
 * @local: token of this end
 * @remote: its token; 0: not known
 * @cookie: to be returned to it, with @epoch; UP: stamp of its last HELLO
 * @epoch: see @cookie
 * @budget: bytes that may be under way to it without grants
 * @max_total: largest message that it takes
 * @offered: bytes that it was told it may have under way to here without grants
 * @rx_unasked: bytes that it announced as unscheduled and that are not here
 * @rx_granted: bytes that were granted to it and are not here
 * @rx_counted: what it counts in mrpc_prio.outstanding, or .slow_held: both, but no more than
 *	@offered of @rx_unasked, nothing of that if it is @fresh, and not more than U32_MAX
 * @repeats: bytes that it was asked to send again and that are not here
 * @vain: it was waited for in vain since all came that it was asked for: which time that was,
 *	counted over all peers; else 0
 * @host: which of MRPC_PRIO_HOSTS it counts as part of; the caller's, set before there are messages
 * @spare: it holds a step that is beyond rule.outstanding
 * @tardy: a message of it has stalled, or it is new and has sent nothing yet. It is granted after
 *	all others, until it has sent a step. The value is the part of that still to come, in 255ths
 * @slow: it kept others waiting and has not paid for it. Neither its place nor what it holds counts
 * @pays: it is @slow, and it has sent something since
 * @near: mrpc_prio_peer_near()
 * @wants: it counts in mrpc_prio.nr_wants
 * @fresh: it is @tardy because it has sent nothing yet: what it announces does not count
 * @owes: its debt: bytes that could have come while others waited and it held something. While it
 *	holds something and is not @slow: the value of mrpc_prio.lost when its debt was 0
 * @unscheduled_out: bytes under way to it without grants
 * @again_credit: bytes that may be sent to it again if it asks
 * @again_at: time when the clock last added to @again_credit
 * @tx_scale: part of @budget in use, in 1024ths: less after congestion on the way to it
 * @rx_scale: the same of the window of its messages
 * @tx_cut: time of the last change of @tx_scale
 * @rx_cut: time of the last change of @rx_scale
 * @srtt: smoothed round trip time, ns; 0: not known
 * @rttvar: its variation
 * @rtt_max: longest round trip in the present period, in units of 1024 ns; a period is 2.1 s
 * @rtt_max_before: the same in the period before
 * @rtt_while: number of the present period
 * @acked: time when it last acknowledged a message
 * @passed: latest sending time of the messages that it has acknowledged and that were sent once
 * @late: number of times that the allowed time was doubled since @srtt was last updated
 * @late_until: lateness before this time no longer counts
 * @heard: time of its last packet
 * @asked: time since when it owes an answer; 0: it does not
 * @ack_due: latest time to send @acks; 0: at once
 * @beat: time to ask whether it is alive, or to make an association; U64_MAX: never
 * @ping: stamp of the last HELLO or PING
 * @tries: HELLOs, or PINGs, since an answer
 * @next_msg: number of the next message to it
 * @tx_base: all messages to it before this are seen by it or abandoned
 * @rx_base: all messages from it before this are seen by this end or abandoned by it
 * @tx_seen: bit msg % MRPC_PRIO_WINDOW: seen or abandoned, for @tx_base and after
 * @rx_seen: the same for @rx_base and after
 * @acks: completed messages of which it has not been told: the first one, and which of the 64
 *	numbers after it
 * @nr_acks: number of @acks
 * @note_msg: answers about messages that this end does not have: the number of each
 * @note_code: why
 * @note_op: enum mrpc_prio_op
 * @nr_notes: number of these answers
 * @nr_tx: messages being sent to it
 * @nr_rx: messages being received from it
 * @rx_heap: messages that can be granted more, by rank
 * @rx_line: messages with lost bytes to be asked for, by rank
 * @tx_wait: fresh messages to it that cannot begin: no association, or its window is full
 * @tx_all: messages to it
 * @rx_all: messages from it
 * @tx_control: messages to it that have something to say
 * @rx_control: messages from it that have something to say
 * @entity: in the order of peers to be granted, if @rx_heap is not empty
 * @line: in the line of peers to be asked for lost bytes, if @rx_line is not empty
 * @holds: in the list of peers that hold something and are not @slow; or in the list of those that
 *	are @slow and could be granted something
 * @control: in the list of peers that are to get a packet
 * @events: in the list of peers with an event
 * @of_endpoint: in the list of all peers
 * @timer: until the handshake, a delayed acknowledgement or a PING is due
 */
struct mrpc_prio_peer {
	u16 payload;
	u16 path;
	u32 owes;
	u64 lost_at;
	u64 shrunk;
	u8 state;
	u8 status;
	u8 crc : 1;	/* not bool: sparse gives each bool a byte of its own */
	u8 ecn : 1;
	u8 spare : 1;
	u8 slow : 1;
	u8 pays : 1;
	u8 near : 1;
	u8 wants : 1;
	u8 fresh : 1;
	u8 tardy;
	u8 tries;
	u8 lost_full;
	u8 late;
	u8 nr_notes : 4;
	u8 nr_acks : 4;
	u32 say;
	u32 rtt_while;
	u64 local;
	u64 remote;
	u64 cookie;
	u32 epoch;
	u32 budget;
	u32 max_total;
	u32 offered;
	u64 rx_unasked;
	u64 rx_granted;
	u32 rx_counted;
	u32 repeats;
	u32 vain;
	u32 unscheduled_out;
	u32 again_credit;
	u32 rtt_max_before;
	u64 again_at;
	u16 tx_scale;
	u16 rx_scale;
	u32 rtt_max;
	u64 tx_cut;
	u64 rx_cut;
	u64 srtt;
	u64 rttvar;
	u64 acked;
	u64 passed;
	u64 late_until;
	u64 heard;
	u64 asked;
	u64 ack_due;
	u64 beat;
	u64 ping;
	u64 next_msg;
	u64 tx_base;
	u64 rx_base;
	u64 tx_seen[MRPC_PRIO_WINDOW / 64];
	u64 rx_seen[MRPC_PRIO_WINDOW / 64];
	struct {
		u64 msg;
		u64 more;
	} acks[MRPC_PRIO_NR_ACKS];
	u64 note_msg[MRPC_PRIO_NR_NOTES];
	u8 note_code[MRPC_PRIO_NR_NOTES];
	u8 note_op[MRPC_PRIO_NR_NOTES];
	u8 host;
	u32 nr_tx;
	u32 nr_rx;
	struct mrpc_lheap rx_heap;
	struct mrpc_lheap rx_line;
	struct mrpc_lheap tx_wait;
	struct mrpc_order_link tx_all;
	struct mrpc_order_link rx_all;
	struct mrpc_order_link tx_control;
	struct mrpc_order_link rx_control;
	struct mrpc_prio_ranked entity;
	struct mrpc_lheap_node line;
	struct mrpc_order_link holds;
	struct mrpc_order_link control;
	struct mrpc_order_link events;
	struct mrpc_order_link of_endpoint;
	struct mrpc_timer timer;
};

/* With its address and a hash link it takes 960 bytes in the kernel: 17 in four pages. */
static_assert(sizeof(struct mrpc_prio_peer) <= 856);
static_assert(MRPC_PRIO_NR_NOTES < 16 && MRPC_PRIO_NR_ACKS < 16);
static_assert(MRPC_PRIO_REFUSAL_MAX <= U8_MAX);

/**
 * struct mrpc_prio_stats - counters; they only grow
 * @packets: valid packets received
 * @data_bytes: payload received for the first time
 * @resent: payload bytes sent again
 * @resends: ranges asked for again
 * @grants: grants sent
 * @acks: acknowledgements sent
 * @timeouts: announcements and requests that had to be repeated
 * @wasted: turns of the sender that sent nothing
 * @marks: DATA packets that experienced congestion
 * @shrinks: paths that do not take packets as large as they should
 * @joined: messages that went in the datagram of another one
 * @drops: by enum mrpc_prio_drop
 */
struct mrpc_prio_stats {
	u64 packets;
	u64 data_bytes;
	u64 resent;
	u64 resends;
	u64 grants;
	u64 acks;
	u64 timeouts;
	u64 wasted;
	u64 marks;
	u64 shrinks;
	u64 joined;
	u64 drops[MRPC_PRIO_NR_DROPS];
};

#define MRPC_PRIO_HOSTS	256	/* that hosts are hashed to */

/**
 * struct mrpc_prio_vain - messages whose repeats are in vain
 * @hosts: with such messages
 * @messages: of each host
 */
struct mrpc_prio_vain {
	u32 hosts;
	u32 messages[MRPC_PRIO_HOSTS];
};

/**
 * struct mrpc_prio - an endpoint
 * @rule: settings
 * @ops: small memory
 * @ctx: for @ops
 * @key: secret: cookies, tokens
 * @multiplier: secret, made of @key, odd: spreads messages over @hash
 * @drawn: tokens drawn
 * @serial: messages that came
 * @buckets: number of buckets of @hash
 * @hash: messages by peer and number: half of it for messages to peers, half for those from peers
 * @nr_peers: associations, of any state
 * @nr_tx: messages being sent
 * @nr_rx: messages being received
 * @nr_gaps: struct mrpc_prio_gaps that exist
 * @outstanding: bytes granted, or announced as unscheduled, and not received: the sum of
 *	peer->rx_counted of the peers that are not slow
 * @slow_held: the same of the peers that are slow
 * @nr_spare: peers with peer->spare
 * @repeats: bytes asked for again and not received: the sum of peer->repeats
 * @nr_asked: peers with peer->repeats
 * @vain: times that a peer was waited for in vain, see peer->vain
 * @tx_vain: messages being sent that their peers do not answer, whatever is repeated
 * @rx_vain: messages of which nothing comes, and refused ones that their peers do not give up
 * @remaining: bytes that are to come, of the messages that can be granted more
 * @tx: messages that can send
 * @tx_since: those of them that have begun, the longest waiting first
 * @turns: number of turns so far
 * @rx: peers with messages that can be granted more
 * @line: peers to be asked for lost bytes, by rank
 * @nr_wants: peers with messages that can be granted more that hold no grant and are not slow
 * @nr_near: peers that are near and hold something
 * @holders: peers that hold something and are neither slow nor near; the next one to look at first
 * @slow: slow peers with messages that can be granted more, in turn
 * @lost: bytes that could have come while a peer waited for what others hold, divided by
 *	rule.overcommit
 * @came: new payload of peers that are not near
 * @pace: greatest number of bytes that came in 2^20 ns in the present period of 0.27 s; of any two
 *	measurements in a row the lesser counts
 * @pace_before: the same in the last period before in which it was measured
 * @pace_while: number of the present period
 * @pace_last: the last measurement
 * @pace_at: start time of the present measurement
 * @pace_bytes: @came at its start
 * @places: timer for the next look at how much comes while a peer waits
 * @look_at: time of the last look
 * @look_bytes: @came at the last look
 * @look_drops: packets dropped for lack of memory until the last look
 * @waits: a peer waits for what others hold
 * @lacks: at the last look less had come than could
 * @grants_due: something that matters for grants has changed
 * @timers: timers of messages and peers
 * @peers: all peers
 * @controls: peers that are to get a packet
 * @events: peers with an event
 * @tx_list: messages sent or failed
 * @gates: gated messages, see mrpc_prio_tx_gates()
 * @rx_list: messages that will not be completed
 * @stats: counters
 */
struct mrpc_prio {
	struct mrpc_prio_rule rule;
	const struct mrpc_prio_ops *ops;
	void *ctx;
	u64 key[2];
	u64 multiplier;
	u64 drawn;
	u64 serial;
	u32 buckets;
	struct mrpc_order_link *hash;
	u32 nr_peers;
	u32 nr_tx;
	u32 nr_rx;
	u32 nr_gaps;
	u64 outstanding;
	u32 nr_spare;
	u32 nr_asked;
	u32 vain;
	struct mrpc_prio_vain tx_vain;
	struct mrpc_prio_vain rx_vain;
	u64 repeats;
	u64 remaining;
	struct mrpc_prio_rank tx;
	struct mrpc_order_link tx_since;
	u32 turns;
	struct mrpc_prio_rank rx;
	struct mrpc_lheap line;
	u32 nr_wants;
	u32 nr_near;
	struct mrpc_order_link holders;
	struct mrpc_order_link slow;
	u64 slow_held;
	u32 lost;
	u64 came;
	u32 pace;
	u32 pace_before;
	u32 pace_while;
	u32 pace_last;
	u64 pace_at;
	u64 pace_bytes;
	struct mrpc_timer places;
	u64 look_at;
	u64 look_bytes;
	u64 look_drops;
	bool waits;
	bool lacks;
	bool grants_due;
	struct mrpc_wheel timers;
	struct mrpc_order_link peers;
	struct mrpc_order_link controls;
	struct mrpc_order_link events;
	struct mrpc_order_link tx_list;
	struct mrpc_order_link gates;
	struct mrpc_order_link rx_list;
	struct mrpc_prio_stats stats;
};

#endif /* MRPC_LIB_PRIO_TYPES_H */
