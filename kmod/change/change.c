// SPDX-License-Identifier: GPL-2.0
/*
 * Changing datapaths while calls pass them.
 *
 * A change brings a datapath to what the placements say. It makes all new parts while the datapath
 * runs. Then it takes both claims, which waits until their owners are between two rpcs. It
 * configures engines, moves their state, or lets them leave. Then it gives the claims back. If
 * anything fails meanwhile, the datapath is as before. While the change waits for a claim it holds
 * no global lock, except the right to change the placements of this network namespace.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "chain/chain.h"
#include "change/change.h"
#include "change/link_version.h"
#include "change/plan.h"
#include "change/runtime_type.h"
#include "core/carrier.h"
#include "core/conn.h"
#include "core/engine.h"
#include "core/globals.h"
#include "core/net.h"
#include "core/notify.h"
#include "core/rpc.h"
#include "core/session.h"
#include "egress/domain.h"
#include "exec/pause.h"

/* -- doing it: both claims are held ------------------------------------------------ */

static int mrpc_change_restore(struct mrpc_item *item, struct netlink_ext_ack *extack)
{
	const struct mrpc_engine_ops *from = item->old->ops;
	void *state;
	int err;

	if (!mrpc_engine_takes(item->e->ops, from))
		return 0;
	state = from->decompose(item->old);
	if (IS_ERR(state))
		return PTR_ERR(state);
	err = item->e->ops->restore(item->e, from, from->state_version, state, extack);
	kvfree(state);
	return err;
}

static void mrpc_change_refused(struct mrpc_engine *e, int err)
{
	char detail[80];

	scnprintf(detail, sizeof(detail), "it cannot go back to what it had (%pe): it stays as it is",
		  ERR_PTR(err));
	mrpc_notify_fault(e, "error", detail);
}

static int mrpc_change_configure(struct mrpc_item *item, struct netlink_ext_ack *extack)
{
	int err;

	item->dirs = item->e->dirs;
	err = item->e->ops->configure(item->e, item->group, extack);
	item->configured = !err;
	if (err && !extack)
		mrpc_change_refused(item->e, err);
	return err;
}

/*
 * Keeps the new configuration, if an engine does not take the old one back. What the engine made is
 * in the memory of the new one. So it keeps that, and differs from its placement until the next
 * change. It may have rpcs in directions that it does not want any more.
 */
static void mrpc_change_keep(struct mrpc_item *item, int err)
{
	swap(item->e->group, item->group);	/* the old one is put later */
	item->e->dirs |= item->dirs;
	if (item->e->ops->settle)
		item->e->ops->settle(item->e);
	mrpc_change_refused(item->e, err);
}

/* Takes the configurations back. */
static void mrpc_change_undo(struct mrpc_change *c, u32 nr)
{
	struct mrpc_chain *now = mrpc_chain_of(&c->conn->dp);
	bool kept = false;
	int err;

	while (nr--) {
		struct mrpc_item *item = &c->items[nr];

		if (!item->configured)
			continue;
		err = item->e->ops->configure(item->e, item->e->group, NULL);
		if (err)
			mrpc_change_keep(item, err);
		kept |= err;
	}
	if (!kept)
		return;
	mrpc_chain_sum_up(now);
	mrpc_chain_set(&c->conn->dp, now);
	mrpc_runtime_follow(c->conn, now);
	mrpc_domain_follow(c->conn, now);
	mrpc_carrier_ops->parent_placed(c->conn);
}

/* Does all that can fail, the link last. Only configurations have to be taken back. */
static int mrpc_change_try(struct mrpc_change *c, struct netlink_ext_ack *extack)
{
	int err = 0;
	u32 i;

	for (i = 0; i < c->nr && !err; i++) {
		struct mrpc_item *item = &c->items[i];

		if (item->fresh) {
			if (item->old)
				err = mrpc_change_restore(item, extack);
		} else if (item->e->group != item->group && item->e->ops->configure) {
			err = mrpc_change_configure(item, extack);
		}
	}
	if (!err && !mrpc_link_follows(c->conn, &c->link))
		err = mrpc_link_change(c->conn, &c->link, extack);
	if (err)
		mrpc_change_undo(c, i);
	return err;
}

/* Collects the rpcs of an engine that leaves, in their order of arrival. */
static void mrpc_change_drain(struct mrpc_change *c, struct mrpc_engine *e, enum mrpc_direction dir,
			      struct mrpc_queue *q)
{
	struct mrpc_path *path = &c->conn->dp.path[dir];
	struct mrpc_rpc *rpc;
	u32 lost = 0;

	if (e->ops->flush)
		e->ops->flush(e, dir, q);
	mrpc_queue_splice(&e->in[dir], q);
	list_for_each_entry(rpc, &q->list, list)
		rpc->at = NULL;
	list_for_each_entry(rpc, &path->all, all) {
		if (rpc->at != e)
			continue;
		rpc->at = NULL;
		INIT_LIST_HEAD(&rpc->list);
		mrpc_queue_push(q, rpc);
		lost++;
	}
	e->kept[dir] = 0;
	c->leaked += lost;
	if (lost) {
		char detail[64];

		scnprintf(detail, sizeof(detail), "it had lost %u calls, which go on", lost);
		mrpc_notify_fault(e, "leak", detail);
	}
}

/* Returns the index of the first stage behind the place between items @at - 1 and @at. */
static u32 mrpc_change_stage(const struct mrpc_change *c, enum mrpc_direction dir, u32 at)
{
	u32 i, n = 0;

	for (i = dir == MRPC_TX ? 0 : at; i < (dir == MRPC_TX ? at : c->nr); i++)
		n += mrpc_engine_stands(c->items[i].e, dir);
	return n;
}

/* Gives the rpcs of an engine to its successor, or past the place where it was. */
static void mrpc_change_pass(struct mrpc_change *c, struct mrpc_engine *e, enum mrpc_direction dir,
			     struct mrpc_engine *next, u32 at)
{
	struct mrpc_rpc *rpc;
	struct mrpc_queue q;

	mrpc_queue_init(&q);
	mrpc_change_drain(c, e, dir, &q);
	if (next && next->dirs & BIT(dir)) {
		list_for_each_entry(rpc, &q.list, list)
			rpc->at = next;
		mrpc_queue_splice(&q, &next->in[dir]);
	} else {
		mrpc_chain_forward(c->conn, c->chain, dir, mrpc_change_stage(c, dir, at), &q);
	}
}

static struct mrpc_item *mrpc_change_of(struct mrpc_change *c, const struct mrpc_engine *old)
{
	u32 i;

	for (i = 0; i < c->nr; i++)
		if (c->items[i].old == old)
			return &c->items[i];
	return NULL;
}

/* Returns the index of the item behind the place where engine @i of @now was. */
static u32 mrpc_change_place(struct mrpc_change *c, const struct mrpc_chain *now, u32 i)
{
	struct mrpc_item *item;

	for (;;) {
		item = mrpc_change_of(c, now->engines[i]);
		if (item)
			return item - c->items + 1;
		if (!i--)
			return 0;
	}
}

static void mrpc_change_leave(struct mrpc_change *c, const struct mrpc_chain *now, u32 i,
			      enum mrpc_direction dir)
{
	struct mrpc_item *item = mrpc_change_of(c, now->engines[i]);

	if (!item || item->fresh)
		mrpc_change_pass(c, now->engines[i], dir, item ? item->e : NULL,
				 mrpc_change_place(c, now, i));
	else if (!mrpc_engine_stands(item->e, dir))
		mrpc_change_pass(c, item->e, dir, NULL, mrpc_change_place(c, now, i));
}

/* A new instance that only replaces one for another configuration takes over its bypass state. */
static void mrpc_change_inherit(struct mrpc_change *c)
{
	struct mrpc_item *item;

	for (item = c->items; item < c->items + c->nr; item++) {
		if (!item->fresh || !item->old || item->old->ops != item->e->ops)
			continue;
		item->e->bypassed = item->old->bypassed;
		memcpy(item->e->slow, item->old->slow, sizeof(item->e->slow));
	}
}

/* Pauses new instances where the operator has paused the old ones. */
static void mrpc_change_hold(struct mrpc_change *c)
{
	struct mrpc_item *item;
	int dir;

	for (item = c->items; item < c->items + c->nr; item++) {
		for (dir = 0; item->fresh && item->old && dir < MRPC_DIRS; dir++) {
			if (!item->old->paused[dir] || !(item->e->ops->dirs & BIT(dir)))
				continue;
			item->e->paused[dir] = true;
			item->e->dirs |= BIT(dir);
		}
	}
}

/* Does all that cannot fail. */
static void mrpc_change_commit(struct mrpc_change *c, struct mrpc_engine **gone, u32 *nr_gone)
{
	struct mrpc_chain *now = mrpc_chain_of(&c->conn->dp);
	struct mrpc_item *item;
	u32 i;

	mrpc_change_inherit(c);
	mrpc_change_hold(c);
	if (c->chain)
		mrpc_chain_sum_up(c->chain);
	mrpc_chain_set(&c->conn->dp, c->chain);
	for (i = 0; i < c->nr; i++) {
		item = &c->items[i];
		if (item->e->group != item->group)
			swap(item->e->group, item->group);	/* the old one is put later */
		else if (!item->fresh)
			continue;
		if (item->e->ops->settle)
			item->e->ops->settle(item->e);
	}
	/* The rpcs that are further on their way go on first. */
	for (i = 0; now && i < now->nr; i++) {
		mrpc_change_leave(c, now, now->nr - 1 - i, MRPC_TX);
		mrpc_change_leave(c, now, i, MRPC_RX);
		item = mrpc_change_of(c, now->engines[i]);
		if (!item || item->fresh)
			gone[(*nr_gone)++] = now->engines[i];
	}
	mrpc_runtime_follow(c->conn, c->chain);
	mrpc_domain_follow(c->conn, c->chain);
	mrpc_carrier_ops->parent_placed(c->conn);
	if (now)
		kfree_rcu(now, rcu);
}

/**
 * mrpc_datapath_change() - bring one datapath to what the placements say
 * @conn: the connection
 * @patient: no signal ends it
 * @pause: out: time that it stood still, ns
 * @leaked: raised by the number of rpcs that engines had lost
 * @extack: out: the reason of a failure; NULL: this call takes a change back
 *
 * Context: process; waits.
 * Return: 1: changed; 0: nothing to do, or the connection has ended; else a negative
 * errno, and nothing has changed.
 */
int mrpc_datapath_change(struct mrpc_conn *conn, bool patient, u64 *pause, u32 *leaked,
			 struct netlink_ext_ack *extack)
{
	struct mrpc_engine *gone[MRPC_PLACEMENTS_MAX];
	struct mrpc_change *c;
	u32 nr_gone = 0, i;
	u64 start;
	int err;

	/* Nothing passes a closed connection: without its engines it has not failed. */
	if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED)
		return 0;
	if (patient)
		mutex_lock(&conn->dp.change_lock);
	else if (mutex_lock_interruptible(&conn->dp.change_lock))
		return -EINTR;
	c = mrpc_change_prepare(conn, extack);
	if (IS_ERR(c)) {
		mutex_unlock(&conn->dp.change_lock);
		return PTR_ERR(c);
	}
	err = c->differs ? 1 : 0;
	if (!c->differs)
		goto out;
	start = ktime_get_ns();
	err = mrpc_datapath_pause(conn, patient);
	if (err)
		goto out;
	err = mrpc_change_try(c, extack);
	if (!err)
		mrpc_change_commit(c, gone, &nr_gone);
	mrpc_datapath_resume(conn, false);
	*pause = ktime_get_ns() - start;
	*leaked += c->leaked;
	err = err ?: 1;
out:
	mutex_unlock(&conn->dp.change_lock);
	for (i = 0; i < nr_gone; i++)
		mrpc_engine_free(gone[i]);
	mrpc_change_free(c, err != 1);
	return err == -ESHUTDOWN ? 0 : err;
}

/* -- begin and end of a datapath --------------------------------------------------- */

/**
 * mrpc_datapath_change_work() - the work that mrpc_datapath_change_later() queues
 * @work: the work of a connection; holds a reference
 */
void mrpc_datapath_change_work(struct work_struct *work)
{
	struct mrpc_conn *conn = container_of(work, struct mrpc_conn, dp.change_work);
	struct mem_cgroup *old = set_active_memcg(conn->session->memcg);
	struct netlink_ext_ack extack = {};
	u32 leaked = 0;
	u64 pause;
	int err = 0;

	if (conn->replica)
		mrpc_carrier_ops->place(conn);
	else
		err = mrpc_datapath_change(conn, true, &pause, &leaked, &extack);
	set_active_memcg(old);
	if (err < 0)
		pr_warn_ratelimited("mrpc: datapath %u cannot have its version of %s: %s (%pe)\n",
				    conn->dp_id, conn->link.home->name, extack._msg ?: "no memory",
				    ERR_PTR(err));
	mrpc_conn_put(conn);
}

/**
 * mrpc_datapath_change_later() - queue mrpc_datapath_change_work()
 * @conn: the connection
 *
 * A connection that joins holds a claim, but a link changes only with both held. Context: any but
 * hard interrupt.
 */
void mrpc_datapath_change_later(struct mrpc_conn *conn)
{
	mrpc_conn_get(conn);
	if (!queue_work(mrpc_end_wq, &conn->dp.change_work))
		mrpc_conn_put(conn);
}

/**
 * mrpc_datapath_join() - give a connection that will be READY its engines
 * @conn: the connection, its services known
 * @extack: out: the reason of a failure
 *
 * Context: owner of the receive claim; may sleep. No call has passed yet.
 * Return: 0 or a negative errno; then the connection must not become READY.
 */
int mrpc_datapath_join(struct mrpc_conn *conn, struct netlink_ext_ack *extack)
{
	struct mrpc_net *mn = mrpc_net(conn->session->net);
	struct mrpc_change *c;
	bool fresh;

	do {
		c = mrpc_change_prepare(conn, extack);
		if (IS_ERR(c))
			return PTR_ERR(c);
		spin_lock(&mn->lock);
		fresh = c->gen == mn->gen;
		if (fresh) {
			mrpc_chain_set(&conn->dp, c->chain);
			list_add_tail(&conn->dp.in_net, &mn->datapaths);
			mn->nr_datapaths++;
		}
		spin_unlock(&mn->lock);
		if (fresh) {	/* no change can run while this thread holds the claim */
			mrpc_runtime_follow(conn, c->chain);
			mrpc_domain_follow(conn, c->chain);
			if (!mrpc_link_follows(conn, &c->link))
				mrpc_datapath_change_later(conn);
		}
		mrpc_change_free(c, !fresh);
	} while (!fresh);
	return 0;
}

/**
 * mrpc_datapath_leave() - end the engines of a connection that has ended
 * @conn: the connection; purged, the caller owns its claims
 *
 * Under conn->dp.change_lock.
 */
void mrpc_datapath_leave(struct mrpc_conn *conn)
{
	struct mrpc_net *mn = mrpc_net(conn->session->net);
	struct mrpc_chain *chain = mrpc_chain_of(&conn->dp);
	u32 i;

	spin_lock(&mn->lock);
	if (!list_empty(&conn->dp.in_net)) {
		list_del_init(&conn->dp.in_net);
		if (conn->replica)
			mn->nr_links--;
		else
			mn->nr_datapaths--;
	}
	spin_unlock(&mn->lock);
	if (!chain)
		return;
	mrpc_runtime_follow(conn, NULL);
	mrpc_chain_set(&conn->dp, NULL);
	for (i = 0; i < chain->nr; i++)
		mrpc_engine_free(chain->engines[i]);
	kfree_rcu(chain, rcu);
}

/**
 * mrpc_datapath_place() - put a datapath into the domain where it belongs
 * @conn: the connection; under its change_lock
 * @chain: as in mrpc_domain_follow()
 *
 * Does nothing for a connection that ends. Context: process; waits.
 */
void mrpc_datapath_place(struct mrpc_conn *conn, const struct mrpc_chain *chain)
{
	if (!conn->link.priv || mrpc_datapath_pause(conn, true))
		return;
	mrpc_domain_follow(conn, chain);
	mrpc_datapath_resume(conn, false);
}
