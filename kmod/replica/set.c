// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of replicas: see replica.h.
 *
 * Picks, outcomes and ends of links change the state of replicas under the set's lock. The set's
 * work alone does everything that takes time. It applies the wanted plan, makes links without
 * waiting for them, and ends links that are not needed any more.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "call/carry.h"
#include "core/conn.h"
#include "core/engine.h"
#include "core/globals.h"
#include "core/placement.h"
#include "core/rpc.h"
#include "core/session.h"
#include "core/transport.h"
#include "exec/kick.h"
#include "lib/balance.h"
#include "replica/egress.h"
#include "replica/link.h"
#include "replica/replica.h"
#include "replica/set.h"

#define MRPC_REPLICA_PATIENCE	(3 * NSEC_PER_SEC)	/* for a link to be made */
#define MRPC_REPLICA_RETRY	(100 * NSEC_PER_MSEC)	/* when there was no memory */

static void mrpc_replicas_work(struct work_struct *work);

/* -- references ----------------------------------------------------------------- */

/**
 * mrpc_replica_plan_new() - make an empty plan, to be filled
 *
 * Return: the plan or NULL.
 */
struct mrpc_replica_plan *mrpc_replica_plan_new(void)
{
	struct mrpc_replica_plan *plan = kzalloc(sizeof(*plan), GFP_KERNEL_ACCOUNT);

	if (plan)
		refcount_set(&plan->ref, 1);
	return plan;
}
EXPORT_SYMBOL_GPL(mrpc_replica_plan_new);

/**
 * mrpc_replica_plan_put() - drop a reference
 * @plan: the plan, or NULL
 *
 * Context: process.
 */
void mrpc_replica_plan_put(struct mrpc_replica_plan *plan)
{
	u32 i;

	if (!plan || !refcount_dec_and_test(&plan->ref))
		return;
	for (i = 0; i < plan->nr; i++)
		mrpc_transport_put(plan->places[i].ops);
	kfree(plan);
}
EXPORT_SYMBOL_GPL(mrpc_replica_plan_put);

/**
 * mrpc_replicas_drop() - drop a reference to a set
 * @set: the set
 */
void mrpc_replicas_drop(struct mrpc_replicas *set)
{
	if (!refcount_dec_and_test(&set->ref))
		return;
	mrpc_replica_plan_put(set->applied);
	mrpc_replica_plan_put(set->plan);
	mrpc_conn_put(set->conn);
	kfree(set);
}

void mrpc_replica_put(struct mrpc_replica *replica)
{
	struct mrpc_replicas *set = replica->set;

	if (!refcount_dec_and_test(&replica->ref))
		return;
	mrpc_transport_put(replica->place.ops);
	kfree(replica);
	mrpc_replicas_drop(set);
}

/* Makes the set's work run now. */
void mrpc_replicas_queue(struct mrpc_replicas *set)
{
	refcount_inc(&set->ref);
	if (mod_delayed_work(mrpc_end_wq, &set->work, 0))
		mrpc_replicas_drop(set);
}

/* -- for engines ---------------------------------------------------------------- */

/* Under conn->lock. A set without users only finishes its calls, so it is not found. */
static struct mrpc_replicas *mrpc_replicas_find(struct mrpc_conn *conn,
						const struct mrpc_placement *p)
{
	struct mrpc_replicas *set;

	list_for_each_entry(set, &conn->replicas, list)
		if (set->placement == p && set->users)
			return set;
	return NULL;
}

static struct mrpc_replicas *mrpc_replicas_new(struct mrpc_engine *e)
{
	struct mrpc_replicas *set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);

	if (!set)
		return NULL;
	refcount_set(&set->ref, 2);	/* of the list and the caller */
	set->users = 1;
	set->placement = e->placement;
	strscpy(set->name, e->placement->name, sizeof(set->name));
	spin_lock_init(&set->lock);
	INIT_LIST_HEAD(&set->choosers);
	mutex_init(&set->chooser_lock);
	INIT_LIST_HEAD(&set->all);
	INIT_DELAYED_WORK(&set->work, mrpc_replicas_work);
	mrpc_conn_get(e->conn);
	set->conn = e->conn;
	return set;
}

/**
 * mrpc_replicas_get() - get the set of an instance's placement on its datapath
 * @e: the instance; its create() calls this
 *
 * Context: process; may sleep.
 * Return: the set, to be given to mrpc_replicas_put(); or NULL without memory.
 */
struct mrpc_replicas *mrpc_replicas_get(struct mrpc_engine *e)
{
	struct mrpc_replicas *mine = mrpc_replicas_new(e), *set;
	struct mrpc_conn *conn = e->conn;

	if (!mine)
		return NULL;
	spin_lock(&conn->lock);
	set = mrpc_replicas_find(conn, e->placement);
	if (set) {
		set->users++;
		refcount_inc(&set->ref);
	} else {
		list_add_tail(&mine->list, &conn->replicas);
	}
	spin_unlock(&conn->lock);
	if (!set)
		return mine;
	mrpc_replicas_drop(mine);
	mrpc_replicas_drop(mine);
	return set;
}
EXPORT_SYMBOL_GPL(mrpc_replicas_get);

/**
 * mrpc_replicas_put() - drop an instance's use of its set
 * @set: the set
 *
 * Context: process.
 */
void mrpc_replicas_put(struct mrpc_replicas *set)
{
	struct mrpc_conn *conn = set->conn;
	bool last;

	spin_lock(&conn->lock);
	last = !--set->users;
	spin_unlock(&conn->lock);
	if (last)
		mrpc_replicas_queue(set);
	mrpc_replicas_drop(set);
}
EXPORT_SYMBOL_GPL(mrpc_replicas_put);

/**
 * mrpc_replicas_follow() - set the plan that the operator wants
 * @set: the set
 * @plan: the wanted plan
 *
 * It is applied soon. Cheap if it is already the wanted one.
 *
 * Context: owner of the transmit claim of the set's connection.
 */
void mrpc_replicas_follow(struct mrpc_replicas *set, struct mrpc_replica_plan *plan)
{
	struct mrpc_replica_plan *old;

	if (READ_ONCE(set->plan) == plan)
		return;
	refcount_inc(&plan->ref);
	spin_lock(&set->lock);
	old = set->plan;
	WRITE_ONCE(set->plan, plan);
	spin_unlock(&set->lock);
	mrpc_replica_plan_put(old);
	mrpc_replicas_queue(set);
}

/*
 * Is the applied plan not the wanted one? A setting confirmed to the operator must hold for every
 * later call. If the connection has ended, waiting calls are dropped. Under set->lock.
 */
bool mrpc_replicas_behind(const struct mrpc_replicas *set)
{
	return set->plan != set->applied || READ_ONCE(set->conn->state) == MRPC_CONN_CLOSED;
}
EXPORT_SYMBOL_GPL(mrpc_replicas_follow);

/**
 * mrpc_replicas_pick() - give a call to a replica
 * @set: the set
 * @rpc: its request, among the engines
 * @wish: index of the replica that a policy names, or -1
 * @keyed: the policy can use a key
 * @key: its hash
 * @wake: when to ask again at the latest, ns; 0: the datapath is kicked
 *
 * The named replica gets the call if it is fit, whatever the plan says.
 *
 * Context: owner of the transmit claim of the set's connection.
 * Return: 0; -EAGAIN: the call has to wait; -EHOSTUNREACH: no replica is fit, or will soon be.
 */
int mrpc_replicas_pick(struct mrpc_replicas *set, struct mrpc_rpc *rpc, int wish, bool keyed,
		       u64 key, u64 *wake)
{
	u64 now = ktime_get_ns();
	bool wait, full = false;
	u32 skip;
	int i = -1, err;

	spin_lock(&set->lock);
	wait = mrpc_replicas_behind(set);
	if (wish >= (int)set->b.nr)
		wish = -1;
	skip = wish < 0 ? 0 : ~BIT(wish);
	while (!wait) {
		struct mrpc_member *m;

		i = mrpc_balance_pick(&set->b, now, skip, keyed, key);
		if (i < 0 && wish < 0)
			break;
		if (i < 0) {
			wish = -1;
			skip = 0;
			continue;
		}
		m = set->b.members[i];
		err = mrpc_carry(rpc->call, mrpc_replica_of(m)->conn);
		if (!err) {
			mrpc_member_give(m);
			rpc->call->given = READ_ONCE(set->chooser) ? now : 0;
			break;
		}
		full |= err == -EBUSY;
		skip |= BIT(i);
	}
	if (i < 0) {
		wait |= full || mrpc_balance_hope(&set->b);
		set->waiting = wait;
		*wake = mrpc_balance_due(&set->b, now);
	}
	spin_unlock(&set->lock);
	if (i >= 0)
		return 0;
	return wait ? -EAGAIN : -EHOSTUNREACH;
}
EXPORT_SYMBOL_GPL(mrpc_replicas_pick);

/* -- events of links ------------------------------------------------------------ */

/* Under set->lock. Return: calls wait, and may go now: the caller kicks. */
bool mrpc_replicas_stir(struct mrpc_replicas *set)
{
	bool waiting = set->waiting;

	set->waiting = false;
	return waiting;
}

/* -- the work: apply the wanted plan ---------------------------------------------- */

/* Compares addresses, too: a name can mean another address if an interface was made again. */
static bool mrpc_replica_same(const struct mrpc_replica_place *a,
			      const struct mrpc_replica_place *b)
{
	return !strcmp(a->name, b->name) && a->addr_len == b->addr_len &&
	       !memcmp(&a->addr, &b->addr, a->addr_len);
}

static struct mrpc_replica *mrpc_replica_at(struct mrpc_replicas *set,
					    const struct mrpc_replica_place *place)
{
	struct mrpc_replica *replica;

	list_for_each_entry(replica, &set->all, list)
		if (!replica->leaving && mrpc_replica_same(&replica->place, place))
			return replica;
	return NULL;
}

static struct mrpc_replica *mrpc_replica_new(struct mrpc_replicas *set,
					     const struct mrpc_replica_place *place)
{
	struct mrpc_replica *replica = kzalloc(sizeof(*replica), GFP_KERNEL_ACCOUNT);

	if (!replica)
		return NULL;
	refcount_set(&replica->ref, 1);
	refcount_inc(&set->ref);
	replica->set = set;
	replica->place = *place;
	__module_get(place->ops->owner);
	replica->m.key = mrpc_member_key(place->name, strlen(place->name));
	replica->m.weight = place->weight;
	list_add_tail(&replica->list, &set->all);
	return replica;
}

/* Marks replicas that are not in @next as leaving. Under set->lock. */
static void mrpc_replicas_leave(struct mrpc_replicas *set, const struct mrpc_balance *next)
{
	struct mrpc_replica *replica;
	u32 i;

	list_for_each_entry(replica, &set->all, list) {
		for (i = 0; i < next->nr && next->members[i] != &replica->m; i++)
			;
		replica->leaving = i == next->nr;
	}
}

/* Return: 0; -ENOMEM: nothing has changed, except new replicas, which are found again. */
static int mrpc_replicas_apply(struct mrpc_replicas *set, struct mrpc_replica_plan *plan)
{
	struct mrpc_balance next = { .policy = plan->policy, .max_bad = plan->max_bad,
				     .backoff = plan->backoff, .nr = plan->nr };
	struct mrpc_replica *replica;
	bool kick;
	u32 i;

	for (i = 0; i < plan->nr; i++) {
		replica = mrpc_replica_at(set, &plan->places[i]);
		if (!replica)
			replica = mrpc_replica_new(set, &plan->places[i]);
		if (!replica)
			return -ENOMEM;
		next.members[i] = &replica->m;
	}
	spin_lock(&set->lock);
	for (i = 0; i < plan->nr; i++)
		next.members[i]->weight = plan->places[i].weight;
	mrpc_replicas_leave(set, &next);
	set->b = next;
	if (!set->applied)
		mrpc_balance_spin(&set->b, get_random_u32());
	swap(set->applied, plan);
	kick = mrpc_replicas_stir(set);
	spin_unlock(&set->lock);
	mrpc_replica_plan_put(plan);
	if (kick)
		mrpc_kick_again(set->conn, MRPC_CONN_TX_READY);
	return 0;
}

/* Return: 0 or -ENOMEM. */
static int mrpc_replicas_catch_up(struct mrpc_replicas *set)
{
	struct mrpc_replica_plan *plan;
	int err;

	spin_lock(&set->lock);
	plan = set->plan;
	if (plan == set->applied)
		plan = NULL;
	if (plan)
		refcount_inc(&plan->ref);
	spin_unlock(&set->lock);
	if (!plan)
		return 0;
	err = mrpc_replicas_apply(set, plan);
	if (err)
		mrpc_replica_plan_put(plan);
	return err;
}

/* The set has no users, or its connection has ended: all replicas leave. */
static void mrpc_replicas_dissolve(struct mrpc_replicas *set)
{
	struct mrpc_balance none = { .max_bad = 1 };

	spin_lock(&set->lock);
	mrpc_replicas_leave(set, &none);
	set->b = none;
	spin_unlock(&set->lock);
}

/* Return: when to look again, ns; U64_MAX: at the next event. */
static u64 mrpc_replica_tend(struct mrpc_replica *replica, const struct mrpc_member *m,
			     struct mrpc_conn *link, u64 now)
{
	if (!link) {
		if (!m->weight)
			return U64_MAX;
		if (m->state == MRPC_MEMBER_EJECTED && now < m->until)
			return m->until;
		mrpc_replica_connect(replica);
		return now;
	}
	if (READ_ONCE(link->state) != MRPC_CONN_CONNECTING)
		return U64_MAX;
	if (now - replica->tried < MRPC_REPLICA_PATIENCE)
		return replica->tried + MRPC_REPLICA_PATIENCE;
	mrpc_conn_close(link, MRPC_UNAVAILABLE, "the replica does not answer", true);
	return U64_MAX;
}

/* Return: when to look again. */
static u64 mrpc_replicas_tend(struct mrpc_replicas *set, bool ending)
{
	u64 now = ktime_get_ns(), next = U64_MAX;
	struct mrpc_replica *replica, *tmp;
	struct mrpc_conn *link;
	struct mrpc_member m;

	list_for_each_entry_safe(replica, tmp, &set->all, list) {
		spin_lock(&set->lock);
		m = replica->m;
		link = replica->conn;
		if (link)
			mrpc_conn_get(link);
		spin_unlock(&set->lock);
		if (replica->leaving)
			mrpc_replica_drain(replica, link, ending);
		else
			next = min(next, mrpc_replica_tend(replica, &m, link, now));
		if (link)
			mrpc_conn_put(link);
	}
	return next;
}

/* Removes a set from its connection when it has no users and no replicas. */
static void mrpc_replicas_leave_conn(struct mrpc_replicas *set)
{
	struct mrpc_conn *conn = set->conn;
	bool mine;

	spin_lock(&conn->lock);
	mine = !set->users && !list_empty(&set->list);
	if (mine)
		list_del_init(&set->list);
	spin_unlock(&conn->lock);
	if (mine)
		mrpc_replicas_drop(set);
}

static void mrpc_replicas_work(struct work_struct *work)
{
	struct mrpc_replicas *set = container_of(to_delayed_work(work), struct mrpc_replicas, work);
	struct mem_cgroup *memcg = set_active_memcg(set->conn->session->memcg);
	bool ending = READ_ONCE(set->conn->state) == MRPC_CONN_CLOSED;
	u64 next = 0, now;

	if (ending || !READ_ONCE(set->users))
		mrpc_replicas_dissolve(set);
	else if (mrpc_replicas_catch_up(set))
		next = ktime_get_ns() + MRPC_REPLICA_RETRY;
	if (!next)
		next = mrpc_replicas_tend(set, ending);
	if (list_empty(&set->all))
		mrpc_replicas_leave_conn(set);
	if (next != U64_MAX) {
		now = ktime_get_ns();
		refcount_inc(&set->ref);
		if (!queue_delayed_work(mrpc_end_wq, &set->work,
					next > now ? nsecs_to_jiffies(next - now) + 1 : 0))
			mrpc_replicas_drop(set);
	}
	set_active_memcg(memcg);
	mrpc_replicas_drop(set);
}

/**
 * mrpc_replicas_end() - end the links of a connection's replicas
 * @conn: the connection; CLOSED
 *
 * Under conn->dp.change_lock, as its instances have left.
 */
void mrpc_replicas_end(struct mrpc_conn *conn)
{
	struct mrpc_replicas *set;

	spin_lock(&conn->lock);
	list_for_each_entry(set, &conn->replicas, list)
		mrpc_replicas_queue(set);
	spin_unlock(&conn->lock);
}
