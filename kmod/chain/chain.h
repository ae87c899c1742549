/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engines of one datapath, and the rpcs that pass them.
 */
#ifndef MRPC_CHAIN_CHAIN_H
#define MRPC_CHAIN_CHAIN_H

#include <linux/list.h>
#include <linux/rcupdate.h>

#include "core/conn.h"
#include "core/engine.h"
#include "core/rpc.h"

/**
 * struct mrpc_stage - an engine in one direction
 * @engine: the engine; NULL behind the last
 * @pass: function that lets rpcs pass at once, or NULL: none pass. It changes when the engine is
 *	bypassed: then the owner of either claim sets one that lets all rpcs pass
 */
struct mrpc_stage {
	struct mrpc_engine *engine;
	bool (*pass)(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_rpc *rpc);
};

/**
 * struct mrpc_chain - the engines of a datapath, in order
 *
 * Immutable; replaced as a whole, freed after a grace period. It does not own the engines: an
 * engine can be in the next chain, too.
 *
 * @rcu: for the free
 * @flags: MRPC_ENGINE_* of all engines, and MRPC_CHAIN_*
 * @nr: number of engines
 * @stages: engines that have something to do in a direction, in the order in which rpcs pass
 * @nr_stages: number of @stages
 * @engines: from application to wire
 */
struct mrpc_chain {
	struct rcu_head rcu;
	u32 flags;
	u32 nr;
	u32 nr_stages[MRPC_DIRS];
	struct mrpc_stage *stages[MRPC_DIRS];
	struct mrpc_engine *engines[];
};

/* mrpc_chain.flags: an engine has call_end() */
#define MRPC_CHAIN_ENDS		BIT(31)

/* mrpc_chain.flags: an engine has something to do with received rpcs */
#define MRPC_CHAIN_RX		BIT(30)

/* Is the engine among the stages of a direction? A paused engine stays there until it resumes. */
static inline bool mrpc_engine_stands(const struct mrpc_engine *e, enum mrpc_direction dir)
{
	return READ_ONCE(e->dirs) & BIT(dir) || READ_ONCE(e->paused[dir]);
}

/* For the owner of a claim of the connection, and for the thread that changes it. */
static inline struct mrpc_chain *mrpc_chain_of(const struct mrpc_datapath *dp)
{
	return rcu_dereference_protected(dp->chain, true);
}

static inline bool mrpc_chain_wants(const struct mrpc_datapath *dp,
				    enum mrpc_direction dir)
{
	const struct mrpc_chain *chain = mrpc_chain_of(dp);

	return chain && chain->nr_stages[dir];
}

/*
 * Finds the engine that must queue an rpc. Return: the engine, or NULL: the rpc has passed all
 * from @from on. An engine with a queue lets nothing pass. No engine has one if no rpc is held.
 */
static __always_inline struct mrpc_engine *mrpc_chain_next(const struct mrpc_datapath *dp,
							   const struct mrpc_chain *chain,
							   enum mrpc_direction dir, u32 from,
							   struct mrpc_rpc *rpc)
{
	const struct mrpc_stage *s;
	struct mrpc_engine *e;

	for (s = &chain->stages[dir][from]; (e = s->engine); s++) {
		bool (*pass)(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_rpc *rpc);

		if (!(e->services & BIT(rpc->call->method >> 16)))
			continue;
		if (unlikely(dp->path[dir].held) &&
		    (!mrpc_queue_empty(&e->in[dir]) || e->kept[dir]))
			break;
		pass = READ_ONCE(s->pass);
		if (unlikely(!pass) || !pass(e, dir, rpc))
			break;
		e->stats[dir].rpcs++;
	}
	return e;
}

/* Has an engine asked for the stage time stamps of calls? Any context. */
static inline bool mrpc_chain_stamps(const struct mrpc_datapath *dp)
{
	return READ_ONCE(dp->wants) & MRPC_ENGINE_TIMES;
}

/* Has an engine asked to be told of the end of calls? Any context. */
static inline bool mrpc_chain_ends(const struct mrpc_datapath *dp)
{
	return READ_ONCE(dp->wants) & MRPC_CHAIN_ENDS;
}

/*
 * Must replies that another connection's link receives go through the engines? Yes, if there are
 * engines, or if earlier replies are still among former ones. Any context.
 */
static inline bool mrpc_chain_judges(const struct mrpc_datapath *dp)
{
	return READ_ONCE(dp->wants) & MRPC_CHAIN_RX || READ_ONCE(dp->path[MRPC_RX].held) ||
	       !llist_empty(&dp->from_links);
}

struct mrpc_chain *mrpc_chain_new(struct mrpc_engine *const *engines, u32 nr);
void mrpc_chain_sum_up(struct mrpc_chain *chain);
void mrpc_chain_set(struct mrpc_datapath *dp, struct mrpc_chain *chain);
void mrpc_chain_init(struct mrpc_datapath *dp);
void mrpc_chain_wait(struct mrpc_conn *conn, enum mrpc_direction dir, struct mrpc_rpc *rpc,
		     struct mrpc_engine *e);
bool mrpc_chain_run(struct mrpc_conn *conn, enum mrpc_direction dir);
void mrpc_chain_forward(struct mrpc_conn *conn, const struct mrpc_chain *chain, enum mrpc_direction dir,
			u32 from, struct mrpc_queue *q);
void mrpc_chain_room(struct mrpc_conn *conn);
void mrpc_chain_timeout(struct mrpc_conn *conn, u64 now, u64 *next);
bool mrpc_chain_withdraw(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_chain_purge(struct mrpc_conn *conn, enum mrpc_direction dir);
void mrpc_chain_call_end(struct mrpc_call *call, u32 received, u16 status, bool local);

/*
 * Lets an rpc enter the engines, of which there are some. The caller runs the chain afterwards,
 * unless the rpc has passed. Context: as do_work(). Return: true: it has passed them all at once,
 * and the caller still owns it.
 */
static __always_inline bool mrpc_chain_enter(struct mrpc_conn *conn, enum mrpc_direction dir,
					     struct mrpc_rpc *rpc)
{
	struct mrpc_engine *e = mrpc_chain_next(&conn->dp, mrpc_chain_of(&conn->dp), dir, 0, rpc);

	if (unlikely(e))
		mrpc_chain_wait(conn, dir, rpc, e);
	return !e;
}

#define MRPC_RX_HELD_MAX	1024	/* received rpcs among the engines */

#define MRPC_RX_HELD_BYTES	(32U << 20)	/* and the memory that they take */

/*
 * Must reception wait for the engines? If so, mrpc_chain_room() kicks it later. Context: owner of
 * the receive claim.
 */
static inline bool mrpc_chain_full(struct mrpc_conn *conn)
{
	struct mrpc_path *path = &conn->dp.path[MRPC_RX];

	if (likely(path->held < MRPC_RX_HELD_MAX && path->held_bytes < MRPC_RX_HELD_BYTES))
		return false;
	set_bit(MRPC_CONN_RX_FULL, &conn->flags);
	return true;
}


#endif /* MRPC_CHAIN_CHAIN_H */
