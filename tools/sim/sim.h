/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run: calls between hosts, carried by one transport over the network, and what is
 * measured of them. A call is a request and a reply, two messages: the reply begins when
 * the request has come.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "net.h"
#include "workload.h"

struct sim;

enum sim_pattern {
	SIM_RANDOM,	/* calls at random times between random hosts */
	SIM_INCAST,	/* many hosts to one, at once */
	SIM_ALL_TO_ALL,	/* each host to each other, at once */
	SIM_MIXED,	/* SIM_RANDOM, and an incast every millisecond */
};

/**
 * struct sim_prio_knobs - the settings of prio that experiments turn; 0: its own default
 * @unscheduled: bytes that a pair of hosts sends without a grant
 * @window: bytes of a message that are granted ahead
 * @overcommit: messages granted at a time
 * @chunk: bytes that the scheduler lets go at once
 */
struct sim_prio_knobs {
	u32 unscheduled;
	u32 window;
	u32 overcommit;
	u32 chunk;
};

/**
 * struct sim_config - what to run
 * @topology: the network
 * @transport: which
 * @pattern: enum sim_pattern
 * @workload: lengths, of SIM_RANDOM and SIM_MIXED
 * @load: part of the hosts' cables that requests and replies fill, with headers
 * @messages: to send, requests and replies
 * @size: of a burst's requests
 * @fan: hosts that send to one in a burst
 * @window: packets in flight of a message, for sr and gbn
 * @seed: of all that is random
 * @lose: packets of a million that are lost at the end of their way
 * @prio: settings
 * @drain: times the time in which messages begin that those left then may take to end
 */
struct sim_config {
	struct sim_topology topology;
	const struct sim_transport *transport;
	u8 pattern;
	const struct sim_workload *workload;
	double load;
	u32 messages;
	u32 size;
	u32 fan;
	u32 window;
	u64 seed;
	u32 lose;
	struct sim_prio_knobs prio;
	double drain;
};

/**
 * struct sim_message - half a call; from its beginning to the end of the call
 * @number: from 0
 * @from, @to: hosts
 * @bytes: its length
 * @counted: it is measured
 * @came: to its receiver
 * @begun: when
 * @other: the request of a reply; the reply of a request once that is there
 * @answer: bytes of the reply to a request
 * @state: the transport's
 * @before, @after: in the list of all
 */
struct sim_message {
	u64 number;
	u32 from;
	u32 to;
	u32 bytes;
	bool counted;
	bool came;
	u64 begun;
	struct sim_message *other;
	u32 answer;
	void *state;
	struct sim_message *before;
	struct sim_message *after;
};

/**
 * struct sim_sample - one message that was measured
 * @bytes: its length
 * @slowdown: its time from the beginning to its being there, over that time if it were alone
 */
struct sim_sample {
	u32 bytes;
	float slowdown;
};

/**
 * struct sim_counters - what transports count; 0 where there is no such thing
 * @grants, @resends: packets that ask for more, and for the same again
 * @again: bytes of data that were sent again
 * @timeouts: of any kind
 * @bitmaps, @max_bitmaps: that exist because packets are missing, at the end and at most
 * @memory: bytes of protocol state of the host that had most
 */
struct sim_counters {
	u64 grants;
	u64 resends;
	u64 again;
	u64 timeouts;
	u64 bitmaps;
	u64 max_bitmaps;
	u64 memory;
};

/**
 * struct sim_transport - a way to carry messages
 * @name: on the command line
 * @what: for the list of them
 * @srpt: its network serves by rank
 * @fifo: its network has one level
 * @mark: bytes in a queue from where its network marks, at 10 Gb/s
 * @below: bytes that a host's port takes beforehand
 * @create: Return: its state, sim->transport_state
 * @greet: two hosts will talk to each other; NULL: that makes no difference
 * @ready: all that greeted know each other
 * @start: the traffic begins
 * @begin: m->from has a message
 * @room: a host's port wants packets
 * @receive: a packet has come; the transport's now
 * @counters: fills in what it counts
 * @destroy: the end of the run
 */
struct sim_transport {
	const char *name;
	const char *what;
	bool srpt;
	bool fifo;
	u32 mark;
	u32 below;
	void *(*create)(struct sim *sim);
	void (*greet)(struct sim *sim, u32 from, u32 to);
	bool (*ready)(struct sim *sim);
	void (*start)(struct sim *sim);
	void (*begin)(struct sim *sim, struct sim_message *m);
	void (*room)(struct sim *sim, u32 host);
	void (*receive)(struct sim *sim, u32 host, struct sim_packet *p);
	void (*counters)(struct sim *sim, struct sim_counters *c);
	void (*destroy)(struct sim *sim);
};

/**
 * struct sim - a run
 * @clock, @net: time and network
 * @config: what was asked for
 * @traffic, @faults: random numbers
 * @transport_state: of config.transport
 * @start_time: the traffic's
 * @gap: mean picoseconds between calls
 * @warm_up: messages at the beginning that are not measured
 * @begun, @ended: messages
 * @samples, @nr_samples: of messages that were measured
 * @from_time, @to_time: of what is measured as a rate
 * @from_wire, @to_wire: bytes that the hosts' incoming cables had carried then
 * @payload: bytes of messages that came between
 * @lost: packets that config.lose took
 * @all: messages whose call has not ended
 * @unfinished: counted messages that had not come at the end; their slowdown is what it was
 *	by then, at least
 */
struct sim {
	struct sim_clock clock;
	struct sim_net net;
	struct sim_config config;
	u64 traffic;
	u64 faults;
	void *transport_state;
	u64 start_time;
	double gap;
	u32 warm_up;
	u32 begun;
	u32 ended;
	struct sim_sample *samples;
	u32 nr_samples;
	u64 from_time;
	u64 to_time;
	u64 from_wire;
	u64 to_wire;
	u64 payload;
	u64 lost;
	struct sim_message *all;
	u32 unfinished;
};

/* All transports cut messages alike, as prio does, so that they differ in order only. */
u32 sim_segment(void);			/* bytes of a message in a full packet */
u32 sim_packet_bytes(u32 payload);	/* on the wire, with all headers */

static inline u32 sim_packets(u32 bytes)
{
	return bytes ? (bytes + sim_segment() - 1) / sim_segment() : 1;
}

/** sim_packet_part() - bytes of a message in its packet number @i */
static inline u32 sim_packet_part(u32 bytes, u32 i)
{
	return min(bytes - i * sim_segment(), sim_segment());
}

/** sim_alone() - picoseconds that a message takes in an idle network */
u64 sim_alone(const struct sim *sim, u32 from, u32 to, u32 bytes);

/** sim_delivered() - by the transport: all of @m has come to m->to; it may be gone then */
void sim_delivered(struct sim *sim, struct sim_message *m);

/** sim_round_trip() - picoseconds of a full packet to the farthest host, and an answer */
u64 sim_round_trip(const struct sim *sim);

/** sim_run() - from the beginning to the end; sim_fini() frees what it measured */
void sim_run(struct sim *sim, const struct sim_config *config);
void sim_fini(struct sim *sim);

extern const struct sim_transport sim_prio, sim_dctcp, sim_srpt, sim_sr, sim_gbn;

/** sim_transport_find() - Return: the one of that name, or NULL */
const struct sim_transport *sim_transport_find(const char *name);

/** sim_transport_at() - Return: each one, from 0; then NULL */
const struct sim_transport *sim_transport_at(u32 i);

#endif /* SIM_SIM_H */
