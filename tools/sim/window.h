/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages as streams of their own with a window of packets in flight: the models that
 * prio is compared with. window.c sends and receives, recovery.c reacts.
 */
#ifndef SIM_WINDOW_H
#define SIM_WINDOW_H

#include "sim.h"

enum window_kind {
	WINDOW_DCTCP,	/* the window follows marks and losses; selective acknowledgement */
	WINDOW_SR,	/* it stays; selective acknowledgement */
	WINDOW_GBN,	/* it stays; all from the lost packet on is sent again */
};

/* Packets: DCTCP's first window; how far one may be overtaken before it is lost. */
#define WINDOW_FIRST	10
#define WINDOW_REORDER	3
#define WINDOW_TIMEOUT	SIM_MS

/* What the sender knows of a packet. */
enum packet_state {
	PACKET_NEW,
	PACKET_SENT,
	PACKET_LOST,
	PACKET_AGAIN,	/* sent again */
	PACKET_ACKED,
};

/**
 * struct window - a stream: both ends of it
 * @m: the message; NULL once it has come
 * @sim, @number, @from, @to, @bytes, @packets: of the message
 * @refs: packets, acknowledgements and timers under way, and 1 until all is acknowledged.
 *	A packet that is lost keeps its stream until the end of the run
 * @next: sender: the first packet that was never sent (GBN: to send next)
 * @una: sender: the first that is not acknowledged
 * @flying: sender: sent, neither acknowledged nor lost
 * @lost: sender: to send again
 * @state: sender: enum packet_state of each packet; not GBN
 * @window, @threshold: sender: packets in flight, and where slow start ends
 * @alpha: sender: part of packets that are marked, DCTCP's average
 * @acked, @marked: sender: of this window
 * @until: sender: this window ends when this packet is acknowledged
 * @cut: sender: this window has cut @window
 * @rewinds: GBN: times that @next went back
 * @backoff: timeouts without progress
 * @deadline: of the timer
 * @timed: it is set, perhaps for an earlier time
 * @expected: receiver: the first that has not come
 * @came: receiver: packets that have
 * @got: receiver: which; not GBN
 * @listed: in the sender's list
 * @next_ready: in it
 * @before, @after: in the list of all
 */
struct window {
	struct sim_message *m;
	struct sim *sim;
	u64 number;
	u32 from;
	u32 to;
	u32 bytes;
	u32 packets;
	u32 refs;
	u32 next;
	u32 una;
	u32 flying;
	u32 lost;
	u8 *state;
	double window;
	double threshold;
	double alpha;
	u32 acked;
	u32 marked;
	u32 until;
	bool cut;
	u32 rewinds;
	u32 backoff;
	u64 deadline;
	bool timed;
	u32 expected;
	u32 came;
	u8 *got;
	bool listed;
	struct window *next_ready;
	struct window *before;
	struct window *after;
};

/**
 * struct window_host - a sender's streams that can send, in turn
 * @head, @tail: list
 */
struct window_host {
	struct window *head;
	struct window *tail;
};

/**
 * struct window_transport - sim->transport_state
 * @kind: enum window_kind
 * @hosts: each
 * @all: streams
 * @again: bytes sent again
 * @timeouts: of all streams
 */
struct window_transport {
	u8 kind;
	struct window_host *hosts;
	struct window *all;
	u64 again;
	u64 timeouts;
};

/** window_ready() - lists a stream if it can send */
void window_ready(struct window *w);
bool window_can_send(const struct window *w);

/** window_put() - drops a reference */
void window_put(struct window *w);

/* recovery.c */

/**
 * window_ack() - the sender hears that packet @number came, all before @expected did
 * @marked: the packet was
 */
void window_ack(struct window *w, u32 number, u32 expected, bool marked);

/** window_nack() - GBN: a packet sent after @rewinds came, but not @expected */
void window_nack(struct window *w, u32 expected, u32 rewinds);

/** window_arm() - (re)starts the timer */
void window_arm(struct window *w);

static inline struct window_transport *window_transport(const struct window *w)
{
	return w->sim->transport_state;
}

#endif /* SIM_WINDOW_H */
