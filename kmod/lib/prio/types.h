/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The prio transport: an endpoint, its peers, and messages in both directions. Contract: prio.h.
 */
#ifndef MRPC_LIB_PRIO_TYPES_H
#define MRPC_LIB_PRIO_TYPES_H

#include "lib/ds/lheap.h"
#include "lib/ds/wheel.h"
#include "lib/prio/rank.h"
#include "lib/prio/rule.h"
#include "lib/prio/wire.h"

#define MRPC_PRIO_MAX_ADDR	32
#define MRPC_PRIO_NR_RANGES	4	/* to send again, of one message */
#define MRPC_PRIO_NR_GAPS	30	/* received pieces beyond a gap, of one message */
#define MRPC_PRIO_NR_ACKS	4	/* groups of 65 numbers */
#define MRPC_PRIO_NR_NOTES	2
/* Payload of a packet that every path takes: a datagram of 1200 bytes, as RFC 8899 has it. */
#define MRPC_PRIO_BASE_PAYLOAD	(1200U - 64)
/* A CONTROL packet of fewer entries might have no room for what one message has to say. */
#define MRPC_PRIO_MIN_CONTROL						\
	(24 + 24 * (MRPC_PRIO_NR_RANGES + MRPC_PRIO_NR_ACKS + MRPC_PRIO_NR_NOTES + 2))

/**
 * struct mrpc_prio_ops - small memory
 * @alloc: @size bytes (that of struct mrpc_order_levels or of struct mrpc_prio_gaps), with
 *	any content, or NULL. Called under the lock: must not sleep
 * @free: what @alloc returned
 */
struct mrpc_prio_ops {
	void *(*alloc)(void *ctx, size_t size);
	void (*free)(void *ctx, void *p, size_t size);
};

/* Why a message or an association ended; tx->status, rx->status, peer->status. */
enum mrpc_prio_status {
	MRPC_PRIO_DONE,		/* tx: the peer has all of it */
	MRPC_PRIO_ABORTED,	/* tx: by mrpc_prio_tx_abort(); rx: by its sender */
	MRPC_PRIO_REFUSED,	/* tx: by the peer, tx->code says why; rx: by us, and it knows */
	MRPC_PRIO_RESTARTED,	/* the peer has lost its state: perhaps it was executed */
	MRPC_PRIO_SILENT,	/* the peer does not answer: perhaps it was executed */
	MRPC_PRIO_REMOVED,	/* by mrpc_prio_peer_remove() */
};

/* A range of a message's bytes, not empty unless said. */
struct mrpc_prio_range {
	u32 from;
	u32 to;
};

/**
 * struct mrpc_prio_gaps - what came beyond the first gap; exists only as long as there is one
 * @nr: pieces
 * @have: ascending, not adjacent; the first is beyond rx->next
 */
struct mrpc_prio_gaps {
	u32 nr;
	struct mrpc_prio_range have[MRPC_PRIO_NR_GAPS];
};

enum mrpc_prio_tx_state {
	MRPC_PRIO_TX_FRESH,	/* no packet was sent: no number */
	MRPC_PRIO_TX_ACTIVE,
	MRPC_PRIO_TX_ABORTING,	/* until the peer knows */
	MRPC_PRIO_TX_ENDED,	/* in the list of those ended, or given back */
};

/**
 * struct mrpc_prio_tx - a message being sent; embedded in the caller's object
 *
 * Ownership: the core's from mrpc_prio_submit() until mrpc_prio_tx_ended() returns it. Its
 * payload is wanted until then, or until mrpc_prio_tx_abort().
 *
 * All fields but those of the caller are the core's; the caller may read them.
 *
 * @conn: the caller's, set before mrpc_prio_submit(), as the next four
 * @total: bytes
 * @priority: 0 (least) to 255
 * @kind: enum mrpc_prio_kind
 * @urgent: have it acknowledged without delay. Without content, it is aborted when it has not been
 *	after twice the time for which a peer may be silent
 * @peer: to whom
 * @msg: its number, 0 while it is fresh
 * @sent: bytes from 0 that were sent, since it was last put off
 * @most: bytes from 0 that were sent, ever
 * @granted: bytes from 0 that may be sent
 * @unscheduled: as announced
 * @here: bytes from 0 that the peer is known to have
 * @debt: what it counts in peer->unscheduled_out
 * @again: ranges to send again, below @sent, @nr_again of them
 * @resent: bytes sent again, all in all
 * @stuck_from: first missing byte of which full packets were lost, if @stuck
 * @stuck: times that they were asked for
 * @stuck_at: when last
 * @state: enum mrpc_prio_tx_state
 * @status: enum mrpc_prio_status, when it has ended
 * @code: enum mrpc_prio_refusal, with MRPC_PRIO_REFUSED
 * @class: network priority of what is scheduled
 * @tries: announcements since the peer said something about it
 * @announce: its first packet, or an empty one, is to be sent
 * @seen: the peer knows it
 * @out: with the caller, between mrpc_prio_tx_next() or _turn() and mrpc_prio_tx_sent()
 * @gated: it sends payload by the caller's turns
 * @vain: it counts in mrpc_prio.tx_vain
 * @gate: among those of which mrpc_prio_tx_gates() is to tell
 * @of: lower half of peer->local when it began: of which association it is
 * @begun_at: when it began; ABORTING: to be that
 * @sent_at: when a packet of it was sent last; 0: none since it was put off
 * @say: ops to tell the peer, BIT(enum mrpc_prio_op)
 * @entity: in the order of those that can send
 * @since: among those of them that have begun, the one that has waited longest first
 * @wait: among @peer's messages that cannot begin
 * @hash: found by number
 * @of_peer: in @peer's list of all
 * @control: in @peer's list of those with @say; or in the list of those ended
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
	u32 of;
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
	MRPC_PRIO_RX_REFUSED,	/* until the sender knows */
	MRPC_PRIO_RX_ENDED,
};

/**
 * struct mrpc_prio_rx - a message being received; embedded in the caller's object
 *
 * Ownership: the core's from mrpc_prio_accept() until mrpc_prio_taken() says that it is
 * complete, or mrpc_prio_rx_ended() returns it.
 *
 * @conn: as announced, and the next four
 * @msg: its number
 * @total: bytes
 * @priority: 0 (least) to 255
 * @kind: enum mrpc_prio_kind
 * @peer: from whom
 * @next: all before this are here
 * @got: bytes that are here
 * @granted: bytes from 0 that the sender may send
 * @limit: no grant beyond this: mrpc_prio_rx_limit()
 * @unscheduled: as announced
 * @unasked: what it counts in peer->rx_unasked
 * @counted: what it counts in peer->rx_granted
 * @left: what it counts in mrpc_prio.remaining
 * @gaps: NULL: nothing is missing before what is here
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
 * @lost: what is missing before this is lost, and waits for its turn to be asked for,
 * @asked: but what is missing before this, which was asked for
 * @told: what is missing from here to @asked is asked for in the next CONTROL packet
 * @urge: its sender wants an answer without delay
 * @say: ops to tell the peer, BIT(enum mrpc_prio_op)
 * @serial: in the order in which they came
 * @heap: among the messages of @peer that can be granted more
 * @line: among those of @peer of which lost bytes are to be asked for
 * @hash: found by peer and number
 * @of_peer: in @peer's list of all
 * @control: in @peer's list of those with @say; or in the list of those ended
 * @timer: until what is missing is asked for
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
	MRPC_PRIO_PEER_HELLO,	/* asked */
	MRPC_PRIO_PEER_UP,
};

/**
 * struct mrpc_prio_peer - one remote endpoint; embedded in the caller's object, which knows
 * its address
 *
 * Ownership: the core's from mrpc_prio_peer_add() until mrpc_prio_peer_remove() returns.
 *
 * @payload: bytes of payload in one packet: those of @path, or fewer
 * @path: mrpc_prio_peer_payload()
 * @lost_full: full packets that were lost in a row while small ones came
 * @lost_at: when that was found last
 * @shrunk: when @payload was made less than @path
 * @state: enum mrpc_prio_peer_state
 * @status: enum mrpc_prio_status: why the last association ended
 * @crc: packets to and from it have checksums
 * @ecn: congestion was experienced by what it sent: it will be told
 * @say: BIT(enum mrpc_prio_type or 16 + enum mrpc_prio_op) to be sent
 * @local: our token
 * @remote: its token; 0: not known
 * @cookie: that it wants to have back, with @epoch; UP: stamp of its last HELLO
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
 * @tardy: a message of it has stalled, or it came to us and has sent nothing yet: it is granted
 *	after all others, until a step has come of it; how much of that is to come, in 255ths
 * @slow: it held others up and has not paid for it: its place does not count, nor what it holds
 * @pays: it is @slow, and something came of it since
 * @near: mrpc_prio_peer_near()
 * @wants: it counts in mrpc_prio.nr_wants
 * @fresh: it is @tardy as it has sent nothing yet: what it announces does not count
 * @owes: bytes that could have come while others waited and it held something. While it does
 *	and is not @slow: what mrpc_prio.lost was when it owed nothing
 * @unscheduled_out: bytes under way to it without grants
 * @again_credit: bytes that are sent to it again if it asks
 * @again_at: when time last added to @again_credit
 * @tx_scale: of @budget, in 1024ths: congestion on the way to it
 * @rx_scale: of the window of its messages, as @tx_scale
 * @tx_cut: when @tx_scale was changed last
 * @rx_cut: when @rx_scale was
 * @srtt: ns, smoothed; 0: not known
 * @rttvar: its variation
 * @rtt_max: the longest of this while, in units of 1024 ns; a while is 2.1 s
 * @rtt_max_before: of the while before
 * @rtt_while: which while that is
 * @acked: when it acknowledged a message last
 * @passed: when the latest of those was sent that it has acknowledged and that were sent once
 * @late: how often the time that a message may take was doubled since @srtt was last told
 * @late_until: what is late before then counts no more
 * @heard: when a packet came last
 * @asked: since when it owes an answer; 0: it does not
 * @ack_due: when @acks are sent at the latest; 0: at once
 * @beat: when it is asked whether it lives, or to make an association; U64_MAX: not
 * @ping: stamp of the last HELLO or PING
 * @tries: HELLOs, or PINGs, since an answer
 * @next_msg: number of the next message to it
 * @tx_base: all of ours before this are seen by it or abandoned
 * @rx_base: all of its before this are seen by us or abandoned by it
 * @tx_seen: bit msg % MRPC_PRIO_WINDOW: seen or abandoned, of @tx_base and after
 * @rx_seen: the same of @rx_base and after
 * @acks: completed messages that it has not been told: the first, and which of the 64
 *	numbers after it
 * @nr_acks: of @acks
 * @note_msg: answers about messages that are not there: of each which one, as of the next two
 * @note_code: why
 * @note_op: enum mrpc_prio_op
 * @nr_notes: of these
 * @nr_tx: messages being sent to it
 * @nr_rx: messages being received from it
 * @rx_heap: those that can be granted more, the first one first
 * @rx_line: those of which lost bytes are to be asked for, the first one first
 * @tx_wait: our fresh messages that cannot begin: no association, or its window is full
 * @tx_all: our messages to it
 * @rx_all: its messages to us
 * @tx_control: ours with something to say
 * @rx_control: its with something to say
 * @entity: in the order of those to be granted, if @rx_heap is not empty
 * @line: in the line of those to be asked for lost bytes, if @rx_line is not empty
 * @holds: in the list of those that hold something and are not @slow; or of those that are, and
 *	could be granted something
 * @control: in the list of those that are to get a packet
 * @events: in the list of those with an event
 * @of_endpoint: in the list of all
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
	u8 crc : 1;	/* no bool, of which sparse gives each a byte of its own */
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

/* With the address and a hash table's link it is 960 bytes in the kernel: 17 in four pages. */
static_assert(sizeof(struct mrpc_prio_peer) <= 856);
static_assert(MRPC_PRIO_NR_NOTES < 16 && MRPC_PRIO_NR_ACKS < 16);
static_assert(MRPC_PRIO_REFUSAL_MAX <= U8_MAX);

/**
 * struct mrpc_prio_stats - counters; only grow
 * @packets: received and valid
 * @data_bytes: payload that was new
 * @resent: payload bytes sent again
 * @resends: ranges asked for again
 * @grants: entries
 * @acks: entries
 * @timeouts: announcements and requests that had to be repeated
 * @wasted: turns of the sender that sent nothing
 * @marks: DATA packets with congestion experienced
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
 * @buckets: of @hash
 * @hash: messages by peer and number: half of it ours, half of it the peers'
 * @nr_peers: associations, of any state
 * @nr_tx: messages being sent
 * @nr_rx: messages being received
 * @nr_gaps: struct mrpc_prio_gaps that exist
 * @outstanding: bytes granted, or announced as unscheduled, and not here: the sum of
 *	peer->rx_counted of those that are not slow
 * @slow_held: the same of those that are
 * @nr_spare: peers with peer->spare
 * @repeats: bytes asked for again and not here: the sum of peer->repeats
 * @nr_asked: peers with peer->repeats
 * @vain: times that a peer was waited for in vain, see peer->vain
 * @tx_vain: messages being sent that their peers do not answer, whatever is repeated
 * @rx_vain: messages of which nothing comes, or whose refusal their peers do not answer
 * @remaining: bytes that are to come, of the messages that can be granted more
 * @tx: messages that can send
 * @tx_since: those of them that have begun, the one that has waited longest for a turn first
 * @turns: that there were
 * @rx: peers with messages that can be granted more
 * @line: peers to be asked for lost bytes, the first one first
 * @nr_wants: peers with messages that can be granted more that were granted nothing, and are not slow
 * @nr_near: peers that are near and hold something
 * @holders: peers that hold something and are neither slow nor near, the one looked at longest ago
 *	first
 * @slow: peers that are, and have messages that can be granted more, in turn
 * @lost: bytes that could have come while a peer waited for what others hold, divided by
 *	rule.overcommit
 * @came: payload that was new, of peers that are not near
 * @pace: bytes in 2^20 ns that came when most came in this while, a while is 0.27 s; of any two
 *	measurements in a row the lesser counts
 * @pace_before: in the last while before in which it was measured
 * @pace_while: which while that is
 * @pace_last: what was measured last; and how:
 * @pace_at: since then
 * @pace_bytes: and since so many had come
 * @places: the next look at how much comes while a peer waits
 * @look_at: and the last one
 * @look_bytes: and what had come then
 * @look_drops: and how many packets had been dropped as there was no memory
 * @waits: a peer waits for what others hold
 * @lacks: and when that was looked at last, less came than could
 * @grants_due: something has changed that matters for grants
 * @timers: of messages and peers
 * @peers: all
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
