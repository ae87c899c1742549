/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines: an instance of an engine type (core/engine_type.h) on a datapath, and what it can ask
 * of the messages that pass it. Engines see neither connections nor sessions: what they may know of
 * theirs is in struct mrpc_engine.
 */
#ifndef MRPC_CORE_ENGINE_H
#define MRPC_CORE_ENGINE_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/engine_type.h"
#include "core/rpc.h"
#include "core/services.h"
#include "lib/message/message.h"
#include "lib/message/wire.h"

struct mem_cgroup;
struct mrpc_conn;

/**
 * struct mrpc_engine_stats - counters of one instance in one direction
 * @rpcs: rpcs that came out of it
 * @bytes: bytes of these rpcs
 * @rejected: rejected rpcs
 * @turns: calls of do_work()
 * @slow: measured turns that took longer than allowed
 */
struct mrpc_engine_stats {
	u64 rpcs;
	u64 bytes;
	u64 rejected;
	u64 turns;
	u64 slow;
};

/**
 * struct mrpc_engine - an instance of an engine type on one datapath
 *
 * The thread that changes the datapath (change.c) makes, changes and ends it, under
 * conn->dp.change_lock and with both claims held, or before the datapath runs. It is freed
 * after a grace period.
 *
 * @ops: the type; the group keeps its module
 * @placement: the placement that put it here; a reference
 * @group: the configuration; a reference. Changes with both claims held
 * @conn: connection of its datapath, for the core; not a reference
 * @offered: the connection's services; by index as in @services and in mrpc_call.method
 * @requests: direction in which requests pass: out of clients, into servers
 * @memcg: control group that pays for the datapath's memory; the session keeps it
 * @priv: data of the type
 * @flags: MRPC_ENGINE_*: the type's; create() and configure() may set or clear
 *	MRPC_ENGINE_RX_BYTES, and create() may set RX_WRITES, RANKS and TIMES
 * @dirs: directions in which it has something to do: the type's; create() and
 *	configure() may leave some out. Rpcs of other directions go past it, at no cost
 * @tenant: name of the tenant that the datapath belongs to, where links are shared. create()
 *	and configure() may set it to memory of the instance or its group. The engine
 *	nearest to the wire that sets it counts
 * @weight: weight of that tenant, 1 to MRPC_ORDER_MAX_WEIGHT
 * @in: input queue of each direction; of the owner of its claim
 * @kept: rpcs that the engine has taken out of @in and not yet given back
 * @paused: the operator holds the queue; both claims held to change
 * @bypassed: rpcs go past it: it misbehaved; set by the owner of a claim
 * @services: bit mask of the connection's services that it sees the calls of
 * @slow: turns in a row that took too long, in each direction; of the owner of its claim
 * @wake: time when it wants to be called, ns; 0: when something arrives
 * @stats: counters; of the owner of the direction's claim
 * @free_work: ends it, after a grace period
 */
struct mrpc_engine {
	const struct mrpc_engine_ops *ops;
	struct mrpc_placement *placement;
	struct mrpc_group *group;
	struct mrpc_conn *conn;
	const struct mrpc_conn_services *offered;
	enum mrpc_direction requests;
	struct mem_cgroup *memcg;
	void *priv;
	u32 flags;
	u32 dirs;
	const char *tenant;
	u32 weight;
	struct mrpc_queue in[MRPC_DIRS];
	u32 kept[MRPC_DIRS];
	bool paused[MRPC_DIRS];
	bool bypassed;
	u32 services;
	u32 slow[MRPC_DIRS];
	u64 wake[MRPC_DIRS];
	struct mrpc_engine_stats stats[MRPC_DIRS];
	struct rcu_work free_work;
};

/* -- functions of engines for rpcs ---------------------------------------------- */

/* For do_work(): lets everything pass. */
static inline void mrpc_queue_pass(struct mrpc_queue *in, struct mrpc_queue *out, u32 budget)
{
	if (likely(in->len <= budget)) {
		mrpc_queue_splice(in, out);
		return;
	}
	while (budget--)
		mrpc_queue_move(in, mrpc_queue_peek(in), out);
}

/* Returns the bytes of the message, without metadata. */
static inline u32 mrpc_rpc_size(const struct mrpc_rpc *rpc)
{
	return mrpc_msg_total(&rpc->frame.msg);
}

/* Returns true for what goes from client to server, on both sides: requests, and their streams. */
static inline bool mrpc_rpc_is_request(const struct mrpc_rpc *rpc)
{
	if (unlikely(rpc->frame.type == MRPC_WIRE_MESSAGE))
		return rpc->dir == MRPC_TX ? rpc->call->target->role == MRPC_ROLE_CLIENT :
					     rpc->call->role == MRPC_ROLE_SERVER;
	return rpc->frame.type == MRPC_WIRE_CALL;
}

/* Returns the index of the method in it. */
static inline u32 mrpc_rpc_method(const struct mrpc_rpc *rpc)
{
	return rpc->call->method & 0xffff;
}

/* Returns the metadata: mrpc_rpc.frame.meta_len bytes, checked by mrpc_meta_valid(). */
static inline const u8 *mrpc_rpc_meta(const struct mrpc_rpc *rpc)
{
	return rpc->data + sizeof(struct mrpc_wire_hdr);
}

/* Returns the message's head: struct and text sections, verified; frame.msg has the lengths. */
static inline const u8 *mrpc_rpc_head(const struct mrpc_rpc *rpc)
{
	return rpc->data + sizeof(struct mrpc_wire_hdr) + mrpc_frame_prefix(&rpc->frame);
}

/* Returns its byte section, or NULL while not in kernel memory: see mrpc_rpc_own_bytes(). */
static inline const u8 *mrpc_rpc_bytes(const struct mrpc_rpc *rpc)
{
	return rpc->have_bytes ? mrpc_rpc_head(rpc) + mrpc_msg_head_len(&rpc->frame.msg) : NULL;
}

void mrpc_engine_reject(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *from,
			struct mrpc_rpc *rpc, u16 status, const char *detail);
void mrpc_engine_hint(const struct mrpc_engine *e, u8 rank);

#endif /* MRPC_CORE_ENGINE_H */
