/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows that share links fairly: max-min shares by progressive filling. All flows grow together
 * until a link is full. The flows of that link keep their rate, and the others go on.
 *
 * A stream of packets is not modelled, only its rate. When flows come or go, rates change at once.
 */
#ifndef SIM_SHARES_H
#define SIM_SHARES_H

#include "cluster.h"

/**
 * struct share_flow - equal flows over the same links, that begin together and so end together
 * @owner: the caller's number
 * @count: how many flows these are
 * @links: which they use
 * @nr_links: how many links
 * @left: bytes of each
 * @rate: bytes/s of each
 * @next, @prev: of the list of each link: flow * CLUSTER_WAY + position of the link in @links
 * @open: while shares are computed: its rate is not known yet
 */
struct share_flow {
	u32 owner;
	u32 count;
	u32 links[CLUSTER_WAY];
	u32 nr_links;
	double left;
	double rate;
	u32 next[CLUSTER_WAY];
	u32 prev[CLUSTER_WAY];
	bool open;
};

/**
 * struct share_link - a link
 * @capacity: bytes/s
 * @carried: bytes until now
 * @first: list of its flows
 * @rest: while shares are computed: capacity that is not used yet
 * @open: while shares are computed: number of flows with no rate yet
 * @changed: a flow came or went since the last computation
 * @seen: while shares are computed: it is one of the links concerned
 */
struct share_link {
	double capacity;
	double carried;
	u32 first;
	double rest;
	u32 open;
	bool changed;
	bool seen;
};

/**
 * struct shares - links and flows
 * @links, @nr_links: all links
 * @flows, @nr_flows, @room: flows, how many were ever used, and for how many there is room
 * @free: flows that are not used
 * @active, @nr_active: flows under way
 * @to_look: of @active: how many may have ended since time went on
 * @changed, @nr_changed: links with @changed
 * @concerned: while shares are computed: links
 */
struct shares {
	struct share_link *links;
	u32 nr_links;
	struct share_flow *flows;
	u32 nr_flows;
	u32 room;
	u32 free;
	u32 *active;
	u32 nr_active;
	u32 to_look;
	u32 *changed;
	u32 nr_changed;
	u32 *concerned;
};

/** shares_init() - @nr_links links of @capacity bytes/s; shares_fini() frees all */
void shares_init(struct shares *s, u32 nr_links, double capacity);
void shares_fini(struct shares *s);

/**
 * shares_add() - begin flows
 * @s: shares; shares_update() must follow before time goes on
 * @owner: any number
 * @count: how many equal flows
 * @links: their links, each once
 * @nr_links: 1 to CLUSTER_WAY
 * @bytes: of each flow
 */
void shares_add(struct shares *s, u32 owner, u32 count, const u32 *links, u32 nr_links,
		double bytes);

/** shares_update() - compute the rates of all flows that changes concern */
void shares_update(struct shares *s);

/** shares_next() - seconds until a flow ends; INFINITY: there is none */
double shares_next(const struct shares *s);

/** shares_advance() - let @seconds pass, at most shares_next() */
void shares_advance(struct shares *s, double seconds);

/**
 * shares_end() - take out one flow that has ended
 * @s: shares; shares_update() must follow before time goes on
 * @owner: out
 *
 * Return: true; or false: none has ended.
 */
bool shares_end(struct shares *s, u32 *owner);

#endif /* SIM_SHARES_H */
