/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The network: hosts in racks, a leaf switch for each rack, spine switches above them.
 * A port is one direction of a cable with the queue before it; each switch has an
 * output queue per port and level and no other.
 *
 * A transport gives packets to its host's port, sim_net_send(), and is given those that
 * arrive, net.receive. A port that pulls asks its host for more whenever less than
 * net.below bytes are in it: what is there cannot be overtaken by what comes later,
 * except by level.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "event.h"
#include "lib/ds/hist.h"

#define SIM_LEVELS	8	/* the highest number goes first */
#define SIM_FRAME	38	/* Ethernet: preamble, header, checksum and gap */

/**
 * struct sim_topology - what to build
 * @hosts: so many, dealt to racks evenly
 * @racks: so many leaf switches; 1: no spines
 * @spines: so many
 * @host_mbps: rate of a host's cable
 * @core_mbps: rate of a cable between leaf and spine
 * @wire_ns: what a packet takes along any cable and through the switch behind it
 * @host_ns: what it takes to reach the transport, in software, after that
 * @buffer: bytes of a port's queue; 0: no bound
 * @shared: bytes of a switch, for all its queues; 0: no bound
 * @mark: a packet is marked if so many bytes wait before it; 0: never
 * @below: bytes that a host's port takes before it stops asking
 * @fifo: one level only
 * @spray: a packet takes any spine, else its flow decides
 */
struct sim_topology {
	u32 hosts;
	u32 racks;
	u32 spines;
	u32 host_mbps;
	u32 core_mbps;
	u32 wire_ns;
	u32 host_ns;
	u32 buffer;
	u32 shared;
	u32 mark;
	u32 below;
	bool fifo;
	bool spray;
};

/**
 * struct sim_packet - a packet
 * @next: in a queue, or of those that are free
 * @from, @to: hosts
 * @flow: packets of one value take one path, unless they are sprayed
 * @bytes: on the wire, with SIM_FRAME
 * @level: of SIM_LEVELS
 * @marked: it met congestion
 * @left: bytes of its message that have not come: ports of an SRPT fabric serve the message
 *	with the fewest first. Outlives the packet
 * @message: whose that is, and a number of the transport's
 * @offset, @length: the part of the message, for transports without a header
 * @data: the header and perhaps the payload, for transports that have them
 * @bytes_of_data: so many
 */
struct sim_packet {
	struct sim_packet *next;
	u32 from;
	u32 to;
	u32 flow;
	u32 bytes;
	u8 level;
	bool marked;
	u16 bytes_of_data;
	u32 offset;
	u32 length;
	const u32 *left;
	u64 message;
	u8 data[];
};

#define SIM_PACKET_DATA	(2048 - sizeof(struct sim_packet))

/**
 * struct sim_fabric_message - what an SRPT port has of one message; see fabric.c
 */
struct sim_fabric_message;

/**
 * struct sim_port - one direction of a cable, and its queue
 * @net: the network
 * @mbps: its rate
 * @delay: from the last bit sent to the other end's having it
 * @device: at the other end: a host, or hosts + a switch
 * @owner: switch that has the queue, or U32_MAX: a host's
 * @pulls: asks @owner's transport for more
 * @waking: sim_port_wake() will be called
 * @free_at: when the packet that is being sent has left
 * @sending: its bytes
 * @queued: bytes that wait
 * @used: levels that are not empty, a bit each
 * @head, @tail: of each level
 * @messages, @nr_messages, @room: of an SRPT fabric, instead of levels
 * @sent: bytes, ever
 * @max: greatest @queued
 */
struct sim_port {
	struct sim_net *net;
	u32 mbps;
	u32 device;
	u32 owner;
	bool pulls;
	bool waking;
	u8 used;
	u64 delay;
	u64 free_at;
	u32 sending;
	u64 queued;
	struct sim_packet *head[SIM_LEVELS];
	struct sim_packet *tail[SIM_LEVELS];
	struct sim_fabric_message *messages;
	u32 nr_messages;
	u32 room;
	u64 sent;
	u64 max;
};

/**
 * struct sim_net - the network
 * @clock: of the run
 * @t: what was built
 * @srpt: ports serve the message with the least left
 * @random: which spine
 * @host_ports: of each host, towards its leaf
 * @down: of each host, towards it
 * @up: of leaf l towards spine s, at l * spines + s
 * @core: of spine s towards leaf l, at s * racks + l
 * @used: bytes in each switch's queues; leaves, then spines
 * @free: packets
 * @live: packets that are not
 * @room: a host's port wants packets; called with @context
 * @receive: one arrived; the callee frees it
 * @context: the run
 * @edge, @spine: what waited before a packet at a port to a host, at one in the core, in bytes
 * @dropped: packets for want of room
 * @marked: packets
 */
struct sim_net {
	struct sim_clock *clock;
	struct sim_topology t;
	bool srpt;
	u64 random;
	struct sim_port *host_ports;
	struct sim_port *down;
	struct sim_port *up;
	struct sim_port *core;
	u64 *used;
	struct sim_packet *free;
	u64 live;
	void (*room)(void *context, u32 host);
	void (*receive)(void *context, u32 host, struct sim_packet *p);
	void *context;
	struct mrpc_hist edge;
	struct mrpc_hist spine;
	u64 dropped;
	u64 marked;
};

/** sim_net_init() - builds; @room, @receive and @context are set by the caller after it */
void sim_net_init(struct sim_net *net, struct sim_clock *clock, const struct sim_topology *t,
		  u64 seed);

/** sim_net_fini() - frees all, packets that are queued included; the clock forgets the others */
void sim_net_fini(struct sim_net *net);

/** sim_packet_new() - an empty one; all but @data is 0 */
struct sim_packet *sim_packet_new(struct sim_net *net);
void sim_packet_free(struct sim_net *net, struct sim_packet *p);

/** sim_net_send() - puts a packet into its sender's port, which drops nothing */
void sim_net_send(struct sim_net *net, struct sim_packet *p);

/** sim_net_room() - bytes that @host's port wants now */
u32 sim_net_room(const struct sim_net *net, u32 host);

/** sim_net_poke() - @host has something to send again: its port asks, if it wants more */
void sim_net_poke(struct sim_net *net, u32 host);

/** sim_net_pull() - host's ports ask for packets from now on */
void sim_net_pull(struct sim_net *net);

/** sim_wire_time() - picoseconds that @bytes take at @mbps */
static inline u64 sim_wire_time(u64 bytes, u32 mbps)
{
	return bytes * 8 * SIM_US / mbps;
}

/** sim_net_rack() - of a host */
static inline u32 sim_net_rack(const struct sim_net *net, u32 host)
{
	return host / ((net->t.hosts + net->t.racks - 1) / net->t.racks);
}

/**
 * sim_net_alone() - picoseconds until the last packet of a message has arrived, if
 *	nothing else is under way
 * @full: bytes of a full packet on the wire
 * @last: of the last one
 * @packets: how many there are
 */
u64 sim_net_alone(const struct sim_net *net, u32 from, u32 to, u32 full, u32 last, u64 packets);

/* fabric.c: a port's queue when it serves the message with the least left */
void sim_fabric_put(struct sim_port *port, struct sim_packet *p);
struct sim_packet *sim_fabric_take(struct sim_port *port);
void sim_fabric_fini(struct sim_port *port);

#endif /* SIM_NET_H */
