// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of replicas: see replica.h.
 *
 * Picks, outcomes and the ends of links change the state of replicas under the
 * set's lock. Everything that takes time is done by the set's work, alone: it
 * brings the set to what is wanted, makes links, without waiting for them, and ends
 * those that are not needed any more.
 */
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "core/schema.h"
#include "chain/chain.h"
#include "policy/choose.h"
#include "core/conn.h"
#include "core/notify.h"
#include "core/placement.h"
#include "replica/replica.h"
#include "core/session.h"

#define MRPC_REPLICA_PATIENCE	(3 * NSEC_PER_SEC)	/* for a link to be made */
#define MRPC_REPLICA_RETRY	(100 * NSEC_PER_MSEC)	/* when there was no memory */

static void mrpc_replicas_work(struct work_struct *work);

/* -- references ----------------------------------------------------------------- */

/**
 * mrpc_replica_plan_new() - an empty plan, to be filled
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
 * mrpc_replicas_drop() - end of a reference to a set
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

static void mrpc_replica_put(struct mrpc_replica *replica)
{
	struct mrpc_replicas *set = replica->set;

	if (!refcount_dec_and_test(&replica->ref))
		return;
	mrpc_transport_put(replica->place.ops);
	kfree(replica);
	mrpc_replicas_drop(set);
}

/* Have the work look, now. */
static void mrpc_replicas_queue(struct mrpc_replicas *set)
{
	refcount_inc(&set->ref);
	if (mod_delayed_work(mrpc_end_wq, &set->work, 0))
		mrpc_replicas_drop(set);
}

/* -- for engines ---------------------------------------------------------------- */

/* Under conn->lock. One whose last user has gone finishes what it has. */
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
 * mrpc_replicas_get() - the set of an instance's placement on its datapath
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
 * mrpc_replicas_put() - an instance does not need its set any more
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
 * mrpc_replicas_follow() - this is what the operator wants
 * @set: the set
 * @plan: what is wanted
 *
 * It is done soon. Cheap if it is what was wanted already.
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
EXPORT_SYMBOL_GPL(mrpc_replicas_follow);

/**
 * mrpc_replicas_pick() - give a call to a replica
 * @set: the set
 * @rpc: its request, among the engines
 * @wish: index of the replica that a policy wishes for, or -1
 * @keyed: the policy can go by a key
 * @key: its hash
 * @wake: when to ask again at the latest, ns; 0: the datapath is kicked
 *
 * The one that is wished for gets it if it is fit, whatever the plan says.
 *
 * Context: owner of the transmit claim of the set's connection.
 * Return: 0; -EAGAIN: it has to wait; -EHOSTUNREACH: nobody is fit, nor soon will be.
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

/* -- what links say ------------------------------------------------------------- */

/* Under set->lock. Return: calls wait, and may go now: the caller kicks. */
static bool mrpc_replicas_stir(struct mrpc_replicas *set)
{
	bool waiting = set->waiting;

	set->waiting = false;
	return waiting;
}

/* Under set->lock. */
static u32 mrpc_replica_index(const struct mrpc_replicas *set, const struct mrpc_replica *replica)
{
	u32 i;

	for (i = 0; i < set->b.nr; i++)
		if (set->b.members[i] == &replica->m)
			return i;
	return MRPC_LB_CANDIDATES;
}

/**
 * mrpc_replica_outcome() - a call is no longer on a link
 * @link: the link
 * @call: the call
 * @sent: it was sent
 * @status: and ended with this
 *
 * UNAVAILABLE counts against the replica; any other status is an answer.
 *
 * Context: process; may sleep.
 */
void mrpc_replica_outcome(struct mrpc_conn *link, const struct mrpc_call *call, bool sent,
			  u16 status)
{
	struct mrpc_replica *replica = link->replica;
	struct mrpc_replicas *set = replica->set;
	struct mrpc_lb_done end = { .key = replica->m.key, .status = status, .sent = sent };
	bool tell = READ_ONCE(set->chooser) && READ_ONCE(set->outcomes), kick;

	spin_lock(&set->lock);
	if (call->given)
		end.latency = ktime_get_ns() - call->given;
	if (!sent)
		mrpc_member_take_back(&replica->m);
	else if (status == MRPC_UNAVAILABLE)
		mrpc_member_bad(&set->b, &replica->m, ktime_get_ns());
	else
		mrpc_member_good(&replica->m);
	if (call->given && sent && status != MRPC_UNAVAILABLE)
		mrpc_member_took(&replica->m, end.latency);
	if (tell)
		end.index = mrpc_replica_index(set, replica);
	kick = mrpc_replicas_stir(set);
	spin_unlock(&set->lock);
	if (tell)
		mrpc_chooser_done(set, call, &end);
	if (kick)
		mrpc_kick_again(set->conn, MRPC_CONN_TX_READY);
}

/**
 * mrpc_replica_up() - a link may be given calls
 * @link: the link; it has shaken hands, and its end has not been told
 *
 * Once. Context: process.
 */
void mrpc_replica_up(struct mrpc_conn *link)
{
	struct mrpc_replica *replica = link->replica;
	struct mrpc_replicas *set = replica->set;
	bool kick;

	spin_lock(&set->lock);
	mrpc_member_up(&replica->m);
	replica->why = NULL;
	kick = mrpc_replicas_stir(set);
	spin_unlock(&set->lock);
	mrpc_notify_conn(link, MRPC_EVENT_CONN_OPEN);
	if (kick)
		mrpc_kick_again(set->conn, MRPC_CONN_TX_READY);
}

/* It has no link, and will not have one at once. */
static void mrpc_replica_fail(struct mrpc_replica *replica, const char *why)
{
	struct mrpc_replicas *set = replica->set;
	struct mrpc_conn *link;
	bool kick;

	spin_lock(&set->lock);
	link = replica->conn;
	replica->conn = NULL;
	replica->why = why;
	mrpc_member_down(&set->b, &replica->m, ktime_get_ns());
	kick = mrpc_replicas_stir(set);
	spin_unlock(&set->lock);
	if (link)
		mrpc_conn_put(link);
	if (kick)
		mrpc_kick_again(set->conn, MRPC_CONN_TX_READY);
}

/**
 * mrpc_replica_down() - a link has ended
 * @link: the link; its close work calls this
 */
void mrpc_replica_down(struct mrpc_conn *link)
{
	struct mrpc_replica *replica = link->replica;

	mrpc_conn_forget(link);
	mrpc_replica_fail(replica, link->why);
	mrpc_replicas_queue(replica->set);
}

/**
 * mrpc_replica_parent() - the number of the connection whose calls a link carries
 * @link: the link
 */
u32 mrpc_replica_parent(const struct mrpc_conn *link)
{
	return link->replica->set->conn->id;
}

/**
 * mrpc_replica_free() - the last reference to a link is gone
 * @link: the link
 */
void mrpc_replica_free(struct mrpc_conn *link)
{
	mrpc_replica_put(link->replica);
}

/* -- the work: bring the set to what is wanted ------------------------------------ */

/* A name can mean another address than before: of an interface that was made anew. */
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

/* Those that are not in @next leave. Under set->lock. */
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

/* Return: 0 or -ENOMEM: nothing has changed but for new ones, which are found again. */
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

/* Nobody uses the set any more, or its connection has ended: all leave. */
static void mrpc_replicas_dissolve(struct mrpc_replicas *set)
{
	struct mrpc_balance none = { .max_bad = 1 };

	spin_lock(&set->lock);
	mrpc_replicas_leave(set, &none);
	set->b = none;
	spin_unlock(&set->lock);
}

/* A link offers what its connection does, on the same terms. */
static int mrpc_link_like(struct mrpc_conn *link, const struct mrpc_conn *conn)
{
	u32 i;

	link->max_message = conn->max_message;
	link->keepalive = conn->keepalive;
	link->services = kcalloc(conn->nr_services, sizeof(*link->services), GFP_KERNEL_ACCOUNT);
	if (!link->services)
		return -ENOMEM;
	for (i = 0; i < conn->nr_services; i++) {
		link->services[i].schema = conn->services[i].schema;
		mrpc_schema_get(link->services[i].schema);
	}
	link->nr_services = conn->nr_services;
	/* It is given calls where nobody may sleep. */
	return mrpc_conn_grow(link, link->calls.limit);
}

/* From here on its close work tells of its end. */
static void mrpc_link_start(struct mrpc_replica *replica, struct mrpc_conn *link)
{
	struct mrpc_replicas *set = replica->set;

	mrpc_conn_get(link);
	replica->tried = ktime_get_ns();
	spin_lock(&set->lock);
	replica->conn = link;
	spin_unlock(&set->lock);
	if (mrpc_conn_publish(link) || mrpc_conn_send_hello(link))
		mrpc_conn_close(link, MRPC_UNAVAILABLE, "no handshake could be begun", true);
	else
		mrpc_datapath_tx(link);
}

/* Return: NULL, or why there is no link. */
static const char *mrpc_link_try(struct mrpc_replica *replica)
{
	const struct mrpc_replica_place *place = &replica->place;
	struct mrpc_conn *conn = replica->set->conn, *link;
	const char *why = NULL;
	int err;

	__module_get(place->ops->owner);
	link = mrpc_conn_new(conn->session, place->ops, NULL);
	if (IS_ERR(link)) {
		mrpc_transport_put(place->ops);
		return PTR_ERR(link) == -EDQUOT ? "this user has too many connections" :
						  "no memory for a connection";
	}
	refcount_inc(&replica->ref);
	link->replica = replica;
	err = mrpc_link_like(link, conn);
	if (!err)
		err = mrpc_session_reserve(conn->session, &link->id);
	if (err) {
		why = "no memory for a connection";
	} else {
		err = place->ops->connect(link, &place->addr, place->addr_len, 0, &why);
		if (err)
			mrpc_session_unreserve(conn->session, link->id);
		else
			mrpc_link_start(replica, link);
	}
	mrpc_conn_put(link);
	return err ? why ?: "no link can be made" : NULL;
}

/* In the name of the application, as far as that is possible from outside of it. */
static void mrpc_replica_connect(struct mrpc_replica *replica)
{
	const struct cred *cred = override_creds(replica->set->conn->session->cred);
	const char *why = mrpc_link_try(replica);

	revert_creds(cred);
	if (why)
		mrpc_replica_fail(replica, why);
}

/* One that leaves: its link finishes what it carries. */
static void mrpc_replica_drain(struct mrpc_replica *replica, struct mrpc_conn *link, bool ending)
{
	if (!link) {
		list_del(&replica->list);
		mrpc_replica_put(replica);
		return;
	}
	switch (READ_ONCE(link->state)) {
	case MRPC_CONN_CONNECTING:
		ending = true;
		break;
	case MRPC_CONN_READY:
		if (!ending)
			mrpc_conn_bye(link);
		break;
	}
	if (ending) {
		set_bit(MRPC_CONN_LEFT, &link->flags);	/* in order, if it is idle */
		mrpc_conn_close(link, MRPC_UNAVAILABLE, "the connection has ended", true);
	}
}

/* Return: when to look again, ns; U64_MAX: when something happens. */
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

/* Nobody uses it, and all its replicas are gone: so is the set. */
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
 * mrpc_replicas_end() - a connection has ended, and so do the links of its replicas
 * @conn: the connection; CLOSED
 *
 * Under conn->change_lock, as its instances have left.
 */
void mrpc_replicas_end(struct mrpc_conn *conn)
{
	struct mrpc_replicas *set;

	spin_lock(&conn->lock);
	list_for_each_entry(set, &conn->replicas, list)
		mrpc_replicas_queue(set);
	spin_unlock(&conn->lock);
}
