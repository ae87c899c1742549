/* SPDX-License-Identifier: GPL-2.0 */
/* The world of a run with faults: world.c builds and breaks it, faults.c judges it. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "endpoint.h"
#include "faults.h"

#define WORLD_HOSTS	6
#define WORLD_MESSAGES	192	/* requests, replies, probes */
#define WORLD_PRIORITIES 4	/* different ones */

/**
 * struct world_message - half a call
 * @world: whose
 * @from, @to: hosts
 * @bytes: its length
 * @priority: of it
 * @reply: it answers another
 * @begun: it was submitted
 * @ended: its sender was told the end
 * @status: which, enum mrpc_prio_status
 * @came: times that it came completely
 * @aborted: it was given up by its sender: it may end as MRPC_PRIO_ABORTED
 * @rejected: it was thrown away by its receiver: it may end as MRPC_PRIO_REFUSED
 * @probe: it is sent when the faults have ended, and must come
 * @tx: while it is being sent
 * @granted: what its sender could send of it when that was last looked at
 */
struct world_message {
	struct world *world;
	u32 from;
	u32 to;
	u32 bytes;
	u8 priority;
	bool reply;
	bool begun;
	bool ended;
	u8 status;
	u32 came;
	bool aborted;
	bool rejected;
	bool probe;
	struct endpoint_tx *tx;
	u32 granted;
};

/**
 * struct world - of one seed
 * @clock, @net: time and network
 * @random: what happens
 * @verbose: tells of it
 * @report: of what has happened
 * @hosts: so many
 * @endpoints: theirs
 * @rule: of all
 * @calm: picoseconds from which no new fault happens
 * @lose, @repeat, @delay, @damage: packets of a million, until then
 * @no_place, @no_memory: attempts of a million, until then
 * @later: announcements of a million that are told to come later, until then
 * @limited: messages of a million that may be granted only a part at first
 * @excused: pairs of hosts whose messages may fail: one has lost what it knew of the other
 * @cut: until when nothing passes from one host to another
 * @held: packets that wait for a host that stands still
 * @nr_messages: of @messages
 * @messages: conn is the index plus 1
 */
struct world {
	struct sim_clock clock;
	struct sim_net net;
	u64 random;
	bool verbose;
	struct fault_report *report;
	u32 hosts;
	struct endpoint endpoints[WORLD_HOSTS];
	struct mrpc_prio_rule rule;
	u64 calm;
	u32 lose;
	u32 repeat;
	u32 delay;
	u32 damage;
	u32 no_place;
	u32 no_memory;
	u32 later;
	u32 limited;
	bool excused[WORLD_HOSTS][WORLD_HOSTS];
	u64 cut[WORLD_HOSTS][WORLD_HOSTS];
	u32 held[WORLD_HOSTS];
	u32 nr_messages;
	struct world_message messages[WORLD_MESSAGES];
};

/** world_init() - builds it, and plans what is to happen; messages are submitted by it */
void world_init(struct world *w, u64 seed, struct fault_report *report, bool verbose);
void world_fini(struct world *w);

/** world_fail() - something does not hold; the first reason counts */
void world_fail(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** world_say() - if it is verbose */
void world_say(const struct world *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** world_submit() - sends a message that was planned */
void world_submit(struct world *w, struct world_message *m);

/** world_excuse() - from now on messages between two hosts may fail */
void world_excuse(struct world *w, u32 a, u32 b);

/** world_look() - at what must hold of a host after each packet */
void world_look(struct world *w, struct endpoint *e);

/* plan.c: what happens when */
void world_plan(struct world *w);

/* faults.c: what the endpoints are told to do */
extern const struct endpoint_user world_user;

/* network.c: what packets suffer */
void world_receive(void *context, u32 host, struct sim_packet *p);
void world_room(void *context, u32 host);
void world_free_late(struct world *w);	/* packets that only the clock knows */

#endif /* SIM_WORLD_H */
