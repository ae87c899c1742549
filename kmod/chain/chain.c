// SPDX-License-Identifier: GPL-2.0
/*
 * Chains: rpcs pass the engines of a datapath.
 *
 * The owner of the direction's claim owns all of it. Between two stages is the input queue of the
 * second one. An engine that wants to keep an rpc leaves it there.
 */
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "chain/chain.h"
#include "core/conn.h"
#include "core/engine.h"
#include "core/notify.h"
#include "core/rpc.h"
#include "exec/kick.h"
#include "lib/message/wire.h"

#define MRPC_ENGINE_BUDGET	256	/* rpcs in one turn of an engine */

/* One turn in 64 is measured: an engine that is slow is slow again. */
#define MRPC_MEASURE		64
#define MRPC_TURN_MAX		(5 * NSEC_PER_MSEC)
#define MRPC_SLOW_MAX		4	/* measured turns in a row */

/**
 * mrpc_chain_new() - make a chain
 * @engines: from application to wire
 * @nr: number of engines, not 0
 *
 * Return: the chain or NULL.
 */
struct mrpc_chain *mrpc_chain_new(struct mrpc_engine *const *engines, u32 nr)
{
	size_t size = struct_size_t(struct mrpc_chain, engines, nr);
	struct mrpc_chain *chain;

	chain = kzalloc(size + MRPC_DIRS * (nr + 1) * sizeof(struct mrpc_stage),
			GFP_KERNEL_ACCOUNT);
	if (!chain)
		return NULL;
	chain->nr = nr;
	memcpy(chain->engines, engines, nr * sizeof(*engines));
	chain->stages[MRPC_TX] = (void *)chain + size;
	chain->stages[MRPC_RX] = chain->stages[MRPC_TX] + nr + 1;
	mrpc_chain_sum_up(chain);
	return chain;
}

/* Pass function of an engine that is bypassed. */
static bool mrpc_stage_skip(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_rpc *rpc)
{
	return true;
}

static void mrpc_chain_add_stage(struct mrpc_chain *chain, enum mrpc_direction dir,
				 struct mrpc_engine *e)
{
	struct mrpc_stage *s = &chain->stages[dir][chain->nr_stages[dir]++];

	s->engine = e;
	s->pass = e->paused[dir] ? NULL : READ_ONCE(e->bypassed) ? mrpc_stage_skip : e->ops->pass;
}

/**
 * mrpc_chain_sum_up() - compute flags and stages, after engines changed their flags or directions
 * @chain: a chain that is not in use yet, or of a connection with both claims held
 */
void mrpc_chain_sum_up(struct mrpc_chain *chain)
{
	struct mrpc_engine *e;
	u32 i;

	chain->flags = 0;
	memset(chain->nr_stages, 0, sizeof(chain->nr_stages));
	memset(chain->stages[MRPC_TX], 0,
	       MRPC_DIRS * (chain->nr + 1) * sizeof(struct mrpc_stage));
	for (i = 0; i < chain->nr; i++) {
		e = chain->engines[i];
		chain->flags |= e->flags | (e->ops->call_end ? MRPC_CHAIN_ENDS : 0);
		if (mrpc_engine_stands(e, MRPC_TX))
			mrpc_chain_add_stage(chain, MRPC_TX, e);
		e = chain->engines[chain->nr - 1 - i];
		if (mrpc_engine_stands(e, MRPC_RX)) {
			mrpc_chain_add_stage(chain, MRPC_RX, e);
			chain->flags |= MRPC_CHAIN_RX;
		}
	}
}

/**
 * mrpc_chain_set() - give a datapath its chain
 * @dp: the datapath
 * @chain: the chain, or NULL. The caller frees the one before
 *
 * With both claims held, or before the connection is READY.
 */
void mrpc_chain_set(struct mrpc_datapath *dp, struct mrpc_chain *chain)
{
	rcu_assign_pointer(dp->chain, chain);
	WRITE_ONCE(dp->wants, chain ? chain->flags : 0);
}

/**
 * mrpc_chain_init() - a new datapath has no engines
 * @dp: the datapath
 */
void mrpc_chain_init(struct mrpc_datapath *dp)
{
	int dir;

	for (dir = 0; dir < MRPC_DIRS; dir++) {
		mrpc_queue_init(&dp->path[dir].out);
		mrpc_queue_init(&dp->path[dir].rejected);
		INIT_LIST_HEAD(&dp->path[dir].all);
	}
	mutex_init(&dp->change_lock);
	INIT_LIST_HEAD(&dp->in_net);
}

/* Removes an rpc from the engines, in any of the possible ways. */
static void mrpc_chain_leave(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_path *path = &conn->dp.path[rpc->dir];

	list_del(&rpc->all);
	rpc->at = NULL;
	WRITE_ONCE(path->held, path->held - 1);
}

static void mrpc_chain_out(struct mrpc_conn *conn, enum mrpc_direction dir, struct mrpc_rpc *rpc)
{
	mrpc_chain_leave(conn, rpc);
	conn->dp.path[dir].ops->passed(conn, rpc);
}

/**
 * mrpc_chain_forward() - move rpcs to the next stage that they concern
 * @conn: the connection
 * @chain: its chain
 * @dir: direction
 * @from: index of the first stage that they have not passed
 * @q: the rpcs; empty afterwards
 */
void mrpc_chain_forward(struct mrpc_conn *conn, const struct mrpc_chain *chain, enum mrpc_direction dir,
			u32 from, struct mrpc_queue *q)
{
	struct mrpc_rpc *rpc;

	while ((rpc = mrpc_queue_peek(q))) {
		mrpc_queue_del(q, rpc);
		rpc->at = chain ? mrpc_chain_next(&conn->dp, chain, dir, from, rpc) : NULL;
		if (rpc->at)
			mrpc_queue_push(&rpc->at->in[dir], rpc);
		else
			mrpc_chain_out(conn, dir, rpc);
	}
}

/**
 * mrpc_chain_wait() - put an rpc into the queue of the first engine that it waits for
 * @conn: the connection
 * @dir: direction
 * @rpc: the rpc
 * @e: the engine
 *
 * The caller runs the chain afterwards. Context: as do_work().
 */
void mrpc_chain_wait(struct mrpc_conn *conn, enum mrpc_direction dir, struct mrpc_rpc *rpc,
		     struct mrpc_engine *e)
{
	struct mrpc_path *path = &conn->dp.path[dir];

	rpc->at = e;
	rpc->born = ktime_get_coarse_ns();
	list_add_tail(&rpc->all, &path->all);
	WRITE_ONCE(path->held, path->held + 1);
	mrpc_queue_push(&e->in[dir], rpc);
}

static void mrpc_chain_rejected(struct mrpc_conn *conn, enum mrpc_direction dir)
{
	struct mrpc_queue *q = &conn->dp.path[dir].rejected;
	struct mrpc_rpc *rpc;

	while ((rpc = mrpc_queue_peek(q))) {
		mrpc_queue_del(q, rpc);
		mrpc_chain_leave(conn, rpc);
		conn->dp.path[dir].ops->rejected(conn, rpc);
	}
}

/* Bypasses an engine: every rpc passes it from now on. The other direction may be in use. */
static void mrpc_engine_leave_out(struct mrpc_engine *e)
{
	const struct mrpc_chain *chain = mrpc_chain_of(&e->conn->dp);
	int dir;
	u32 i;

	WRITE_ONCE(e->bypassed, true);
	for (dir = 0; dir < MRPC_DIRS; dir++)
		for (i = 0; i < chain->nr_stages[dir]; i++)
			if (chain->stages[dir][i].engine == e && !e->paused[dir])
				WRITE_ONCE(chain->stages[dir][i].pass, mrpc_stage_skip);
}

/* Counts a turn that took too long. Sometimes the engine is not the cause. */
static void mrpc_engine_slow(struct mrpc_engine *e, enum mrpc_direction dir, u64 ns)
{
	char detail[64];

	e->stats[dir].slow++;
	if (++e->slow[dir] < MRPC_SLOW_MAX || READ_ONCE(e->bypassed))
		return;
	if (!(e->ops->flags & MRPC_ENGINE_MANDATORY))
		mrpc_engine_leave_out(e);
	scnprintf(detail, sizeof(detail), "a turn took %llu us, %lu are allowed",
		  div_u64(ns, NSEC_PER_USEC), MRPC_TURN_MAX / NSEC_PER_USEC);
	mrpc_notify_fault(e, "slow", detail);
	e->slow[dir] = 0;
}

/* Moves all rpcs past a bypassed engine, first those that it has kept. */
static void mrpc_engine_bypass(struct mrpc_engine *e, enum mrpc_direction dir,
			       struct mrpc_queue *out)
{
	if (e->kept[dir] && e->ops->flush) {
		e->ops->flush(e, dir, out);
		e->kept[dir] -= out->len;
	}
	mrpc_queue_splice(&e->in[dir], out);
	e->wake[dir] = 0;
}

/* Return: true if the budget was used up. */
static bool mrpc_engine_turn(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *out)
{
	struct mrpc_engine_stats *stats = &e->stats[dir];
	struct mrpc_queue *in = &e->in[dir];
	u64 rejected = stats->rejected, start = 0, ns;
	u32 before = in->len, taken;
	bool measure;

	measure = !(stats->turns++ % MRPC_MEASURE) || e->slow[dir];
	if (measure)
		start = local_clock();
	/* No timer can be set to a later time: as a ktime_t it would have passed. */
	e->wake[dir] = min_t(u64, KTIME_MAX,
			     e->ops->do_work(e, dir, in, out, MRPC_ENGINE_BUDGET));
	if (measure) {
		ns = local_clock() - start;
		if (ns > MRPC_TURN_MAX)
			mrpc_engine_slow(e, dir, ns);
		else
			e->slow[dir] = 0;
	}
	taken = before - in->len;
	e->kept[dir] += taken - out->len - (u32)(stats->rejected - rejected);
	return taken >= MRPC_ENGINE_BUDGET && in->len;
}

static void mrpc_chain_arm(struct mrpc_conn *conn, enum mrpc_direction dir, u64 wake)
{
	struct mrpc_path *path = &conn->dp.path[dir];

	if (READ_ONCE(path->wake) == wake)
		return;
	/* The lock orders this with mrpc_chain_timeout(). */
	spin_lock(&conn->lock);
	path->wake = wake;
	spin_unlock(&conn->lock);
	if (wake)
		mrpc_conn_arm(conn, wake);
}

/**
 * mrpc_chain_run() - give a turn to every engine that has something to do
 * @conn: the connection
 * @dir: direction
 *
 * Calls mrpc_path_ops.passed() or rejected() for rpcs that leave the chain.
 *
 * Context: owner of the direction's claim; may sleep.
 * Return: true if a budget was used up and there is more to do.
 */
bool mrpc_chain_run(struct mrpc_conn *conn, enum mrpc_direction dir)
{
	const struct mrpc_chain *chain = mrpc_chain_of(&conn->dp);
	struct mrpc_path *path = &conn->dp.path[dir];
	struct mrpc_queue out;
	bool again = false;
	u64 wake = 0;
	u32 i;

	if (!chain || !path->held)
		return false;
	mrpc_queue_init(&out);
	for (i = 0; i < chain->nr_stages[dir]; i++) {
		struct mrpc_engine *e = chain->stages[dir][i].engine;

		if (e->paused[dir] || (mrpc_queue_empty(&e->in[dir]) && !e->kept[dir]))
			continue;
		if (READ_ONCE(e->bypassed))
			mrpc_engine_bypass(e, dir, &out);
		else
			again |= mrpc_engine_turn(e, dir, &out);
		e->stats[dir].rpcs += out.len;
		mrpc_chain_forward(conn, chain, dir, i + 1, &out);
		if (!mrpc_queue_empty(&path->rejected))
			mrpc_chain_rejected(conn, dir);
		if (e->wake[dir] && (!wake || e->wake[dir] < wake))
			wake = e->wake[dir];
	}
	mrpc_chain_arm(conn, dir, wake);
	return again;
}

/**
 * mrpc_chain_timeout() - handle the connection's timer: kick if an engine wants to run
 * @conn: the connection
 * @now: CLOCK_MONOTONIC ns
 * @next: when to look again; lowered
 */
void mrpc_chain_timeout(struct mrpc_conn *conn, u64 now, u64 *next)
{
	static const int flag[] = { MRPC_CONN_TX_READY, MRPC_CONN_RX_READY };
	int dir;

	for (dir = 0; dir < MRPC_DIRS; dir++) {
		u64 wake = READ_ONCE(conn->dp.path[dir].wake);

		if (!wake)
			continue;
		if (wake > now) {
			*next = min(*next, wake);
			continue;
		}
		spin_lock(&conn->lock);
		conn->dp.path[dir].wake = 0;
		spin_unlock(&conn->lock);
		set_bit(flag[dir], &conn->flags);
	}
}

/**
 * mrpc_chain_room() - resume reception if there is room, after a received rpc left the engines
 * @conn: the connection
 *
 * Context: owner of the receive claim.
 */
void mrpc_chain_room(struct mrpc_conn *conn)
{
	struct mrpc_path *path = &conn->dp.path[MRPC_RX];

	if (!test_bit(MRPC_CONN_RX_FULL, &conn->flags) ||
	    path->held >= MRPC_RX_HELD_MAX / 2 || path->held_bytes >= MRPC_RX_HELD_BYTES / 2)
		return;
	clear_bit(MRPC_CONN_RX_FULL, &conn->flags);
	mrpc_kick_rx(conn);
}

/**
 * mrpc_chain_withdraw() - take an rpc out of the queue in which it waits
 * @conn: the connection
 * @rpc: an rpc that has not left the engines
 *
 * Context: owner of the direction's claim.
 * Return: false: it has not reached the engines yet, or an engine keeps it elsewhere.
 */
bool mrpc_chain_withdraw(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_engine *e = rpc->at;

	if (!e || (e->kept[rpc->dir] && !mrpc_queue_has(&e->in[rpc->dir], rpc)))
		return false;
	mrpc_queue_del(&e->in[rpc->dir], rpc);
	mrpc_chain_leave(conn, rpc);
	return true;
}

/* Empties a queue. Its rpcs stay on mrpc_path.all. */
static void mrpc_queue_scatter(struct mrpc_queue *q)
{
	struct mrpc_rpc *rpc;

	while ((rpc = mrpc_queue_peek(q))) {
		mrpc_queue_del(q, rpc);
		INIT_LIST_HEAD(&rpc->list);
		rpc->at = NULL;
	}
}

/**
 * mrpc_chain_purge() - drop every rpc among the engines of a direction
 * @conn: a CLOSED connection
 * @dir: direction; the caller owns its claim
 */
void mrpc_chain_purge(struct mrpc_conn *conn, enum mrpc_direction dir)
{
	const struct mrpc_chain *chain = mrpc_chain_of(&conn->dp);
	struct mrpc_rpc *rpc, *tmp;
	struct mrpc_queue q;
	u32 i;

	if (!chain || !conn->dp.path[dir].held)
		return;
	mrpc_queue_init(&q);
	for (i = 0; i < chain->nr_stages[dir]; i++) {
		struct mrpc_engine *e = chain->stages[dir][i].engine;

		mrpc_queue_scatter(&e->in[dir]);
		if (e->ops->flush)
			e->ops->flush(e, dir, &q);
		mrpc_queue_scatter(&q);
		e->kept[dir] = 0;
	}
	/* Those that an engine has forgotten are here all the same. */
	list_for_each_entry_safe(rpc, tmp, &conn->dp.path[dir].all, all) {
		mrpc_chain_leave(conn, rpc);
		conn->dp.path[dir].ops->dropped(conn, rpc);
	}
}

/**
 * mrpc_chain_call_end() - tell the engines that a call has ended
 * @call: the call, taken out of its table
 * @received: bytes of the message that came, 0 for none
 * @status: enum mrpc_status
 * @local: this host set the status
 *
 * Context: any but hard interrupt.
 */
void mrpc_chain_call_end(struct mrpc_call *call, u32 received, u16 status, bool local)
{
	struct mrpc_call_end end = {
		.call = call,
		.sent = mrpc_rpc_size(&call->rpc),
		.received = received,
		.status = status,
		.local = local,
	};
	const struct mrpc_chain *chain;
	u32 i;

	/* Engines use the method as an index. This one came from the wire, unchecked. */
	if (call->stray)
		return;
	rcu_read_lock();
	chain = rcu_dereference(call->conn->dp.chain);
	for (i = 0; chain && i < chain->nr; i++) {
		struct mrpc_engine *e = chain->engines[i];

		if (e->ops->call_end && e->services & BIT(call->method >> 16))
			e->ops->call_end(e, &end);
	}
	rcu_read_unlock();
}
