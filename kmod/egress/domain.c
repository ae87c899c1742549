// SPDX-License-Identifier: GPL-2.0
/*
 * Egress domains, as datapaths see them.
 *
 * The owner of a transmit claim says what its head message is, and takes a grant
 * or leaves. A grant for somebody else kicks him: his owner comes and takes it. So
 * nobody sends, locks or allocates for another session.
 *
 * No wake-up is lost. A grant is made under the domain's lock and followed by
 * mrpc_kick_tx(), and a round of the transmit chain begins with clearing what that
 * sets: who leaves without a grant, or just before it, is kicked for it. Who
 * leaves for want of credit has had credit() register for the link's next event
 * and look again after that.
 *
 * The network does not tell when bytes leave a device. below() says how many of a
 * connection's are there now; it is asked whenever somebody could have a grant but
 * for the limit: by owners in their turns, at acknowledgements, and else by a
 * timer, which runs at no other time.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "chain/chain.h"
#include "egress/domain.h"
#include "core/notify.h"
#include "core/placement.h"
#include "policy/rank.h"
#include "core/session.h"

#define MRPC_DOMAIN_LOOKS	64	/* datapaths whose bytes are looked for at once */
#define MRPC_POLL_MIN		(50 * NSEC_PER_USEC)
#define MRPC_POLL_MAX		NSEC_PER_MSEC
#define MRPC_PACE_MAX		(10 * NSEC_PER_MSEC)	/* grants expire meanwhile */
#define MRPC_DOMAIN_TELL	NSEC_PER_SEC	/* between two notifications of expired grants */
#define MRPC_DOMAIN_STUCK	(100 * NSEC_PER_MSEC)	/* bytes that do not move are nowhere near */

static struct mrpc_conn *mrpc_port_conn(struct mrpc_port *port)
{
	return container_of(port, struct mrpc_conn, port);
}

/* -- grants: under d->lock --------------------------------------------------------- */

/*
 * Of what a sender has below, as of other queues, some has gone. It tells in memory, of which
 * bytes take more or less: what is gone of the one is gone of the other.
 */
static bool mrpc_domain_look_pool(struct mrpc_domain *d, bool all)
{
	u64 queued, below, gone, size;

	if (!d->pool.below)
		return false;
	/* In this order: what is counted in @queued is counted below, too, or has gone. */
	queued = smp_load_acquire(&d->sender->queued);
	below = d->sender->below(d->sender);
	d->pool_stuck = all ? below : min(d->pool_stuck, below);
	gone = queued - min(queued, below - d->pool_stuck);
	size = d->pool_mark - min(d->pool_mark, gone);
	if (size >= d->pool_size)
		return false;
	below = mul_u64_u64_div_u64(d->pool.below, size, d->pool_size);
	mrpc_egress_gone(&d->core, &d->pool, d->pool.below - below);
	d->pool_size = size;
	return true;
}

/* At those that were not looked at for longest. @all: nothing of theirs counts any more. */
static bool mrpc_domain_look_some(struct mrpc_domain *d, bool all)
{
	u32 i, nr = min(d->nr_below, MRPC_DOMAIN_LOOKS);
	bool gone = mrpc_domain_look_pool(d, all);

	for (i = 0; i < nr; i++) {
		struct mrpc_port *port = list_first_entry(&d->below, struct mrpc_port, below);
		struct mrpc_conn *conn = mrpc_port_conn(port);
		u64 now = all ? 0 : conn->ops->below(conn);

		if (now < port->unit.queue.below) {
			mrpc_egress_gone(&d->core, &port->unit.queue,
					 port->unit.queue.below - now);
			gone = true;
		}
		if (port->unit.queue.below) {
			list_move_tail(&port->below, &d->below);
		} else {
			list_del_init(&port->below);
			d->nr_below--;
		}
	}
	return gone;
}

/**
 * mrpc_domain_look() - what has left the device since the last look?
 * @d: the domain; under its lock
 *
 * Where nothing moves for long the device is not what holds it: packets to a neighbour
 * that does not answer wait for seconds, and nobody else may wait for them.
 *
 * Return: something has.
 */
bool mrpc_domain_look(struct mrpc_domain *d)
{
	u64 now = ktime_get_ns();
	bool gone = mrpc_domain_look_some(d, false);

	if (!gone && (d->nr_below || d->pool.below) && now - d->moved >= MRPC_DOMAIN_STUCK)
		return mrpc_domain_look_some(d, true);
	if (gone)
		d->moved = now;
	return gone;
}

/* Somebody waits for others' bytes to go, for a grant to be used, or for the rate. */
static void mrpc_domain_arm(struct mrpc_domain *d, bool gone)
{
	u64 now;

	if (d->core.paused || !d->core.order.listed || d->armed)
		return;
	d->poll = gone ? MRPC_POLL_MIN : min_t(u64, 2 * d->poll, MRPC_POLL_MAX);
	now = ktime_get_ns();
	if (d->core.paced > now)
		d->poll = min_t(u64, d->core.paced - now, MRPC_PACE_MAX);
	d->armed = true;
	hrtimer_start(&d->timer, ns_to_ktime(d->poll), HRTIMER_MODE_REL_SOFT);
}

/**
 * mrpc_domain_settle() - all that waits is in the order of the present discipline
 * @d: the domain; its lock is held at the beginning and at the end
 *
 * Ten thousands of messages may wait, each a miss of the cache or two, and a run of a program:
 * so the lock is held for a share of them at a time, and who waits for it, with bottom halves
 * off, waits for one share. That suffices, as a domain may be used between any two of them: what
 * comes is ordered by the new discipline, who asks for a grant has another share done, and what
 * is stale may leave. It ends, as nothing becomes stale meanwhile; then the lock has been held
 * since the last look.
 *
 * Context: process; may sleep.
 */
void mrpc_domain_settle(struct mrpc_domain *d)
	__must_hold(&d->lock)
{
	d->settling++;
	while (mrpc_order_settle(&d->core.order) && !d->dead) {
		spin_unlock_bh(&d->lock);
		cond_resched();
		spin_lock_bh(&d->lock);
	}
	d->settling--;
}

static void mrpc_domain_settle_work(struct work_struct *work)
{
	struct mrpc_domain *d = container_of(work, struct mrpc_domain, settle);

	spin_lock_bh(&d->lock);
	if (!d->dead)
		mrpc_domain_settle(d);
	spin_unlock_bh(&d->lock);
	mrpc_domain_put(d);
}

/* Under d->lock. While it is not dead the list has a reference: neither of these is the last. */
static void mrpc_domain_queue(struct mrpc_domain *d, struct work_struct *work)
{
	if (d->dead)
		return;
	refcount_inc(&d->ref);
	if (!queue_work(mrpc_end_wq, work))
		refcount_dec(&d->ref);
}

/**
 * mrpc_domain_rank() - programs may have come or gone: who waits is ranked by those there are
 * @d: the domain; under its lock
 *
 * Some at each grant, all soon. While others of its programs rank, later.
 */
void mrpc_domain_rank(struct mrpc_domain *d)
{
	u64 generation = d->sched ? mrpc_sched_generation(d->sched) : d->ranked_by;

	if (likely(generation == d->ranked_by) || d->settling || mrpc_egress_set(&d->core, &d->core.rule))
		return;
	d->ranked_by = generation;
	if (mrpc_order_settle(&d->core.order))
		mrpc_domain_queue(d, &d->settle);
}

static void mrpc_domain_granted(struct mrpc_domain *d, struct mrpc_unit *u)
{
	if (u->waits)
		u->port->ahead = max(u->port->ahead, d->granted - u->mark);
	u->waits = false;
	d->granted += u->queue.turn;
}

/* A message has a grant: its sender comes and takes it. Return: it is the caller. */
static bool mrpc_domain_call(struct mrpc_unit *u, const void *self)
{
	struct mrpc_sender *sender = u->port->sender;

	spin_lock(&sender->lock);
	if (list_empty(&u->turn))	/* or it has not come for the last one */
		list_add_tail(&u->turn, &sender->turns);
	spin_unlock(&sender->lock);
	if (sender == self)
		return true;
	sender->kick(sender);
	return false;
}

/*
 * Grant what can be granted. Return: whom to kick, with a reference, after which
 * this is to be called again; NULL: that is all. @self is the caller's own: his connection, or he
 * is a sender; @granted: out: he has a grant.
 */
static struct mrpc_conn *mrpc_domain_grant(struct mrpc_domain *d, const void *self, bool *granted)
{
	struct mrpc_egress_queue *q;
	struct mrpc_conn *conn;
	struct mrpc_unit *u;
	bool gone = false;

	mrpc_domain_rank(d);
	for (;;) {
		q = mrpc_egress_next(&d->core, ktime_get_ns());
		if (!q && d->core.order.listed && !d->core.paused && !d->core.paced &&
		    mrpc_domain_look(d)) {
			gone = true;
			continue;
		}
		if (!q)
			break;
		u = container_of(q, struct mrpc_unit, queue);
		mrpc_domain_granted(d, u);
		conn = mrpc_port_conn(u->port);
		if (u->port->sender) {
			*granted |= mrpc_domain_call(u, self);
		} else if (conn == self) {
			*granted = true;
		} else {
			mrpc_conn_get(conn);
			return conn;
		}
	}
	mrpc_domain_arm(d, gone);
	return NULL;
}

/**
 * mrpc_domain_share() - grant and kick
 * @d: the domain; its lock is held at the beginning and at the end
 * @self: who need not be kicked: the caller's connection, or his sender; or NULL
 *
 * Return: @self has a grant.
 */
bool mrpc_domain_share(struct mrpc_domain *d, const void *self)
	__must_hold(&d->lock)
{
	struct mrpc_conn *conn;
	bool granted = false;

	while ((conn = mrpc_domain_grant(d, self, &granted))) {
		spin_unlock_bh(&d->lock);
		mrpc_kick_tx(conn);
		mrpc_conn_put(conn);
		spin_lock_bh(&d->lock);
	}
	return granted;
}

/**
 * mrpc_domain_pump() - something has changed: grant what can be granted
 * @d: the domain; a reference, a datapath in it or RCU keeps it
 *
 * Context: any but hard interrupt.
 */
void mrpc_domain_pump(struct mrpc_domain *d)
{
	spin_lock_bh(&d->lock);
	mrpc_domain_share(d, NULL);
	spin_unlock_bh(&d->lock);
}

static void mrpc_domain_tell_work(struct work_struct *work)
{
	struct mrpc_domain *d = container_of(work, struct mrpc_domain, tell);

	mrpc_notify_domain(d, MRPC_EVENT_EGRESS_EXPIRE);
	mrpc_domain_put(d);
}

/* Under d->lock. What is not told now is told with what expires later. */
static void mrpc_domain_tell(struct mrpc_domain *d)
{
	u64 now = ktime_get_ns();

	if (d->core.nr_expired == d->told || d->dead ||
	    (d->told_at && now - d->told_at < MRPC_DOMAIN_TELL))
		return;
	d->told = d->core.nr_expired;
	d->told_at = now;
	mrpc_domain_queue(d, &d->tell);
}

/**
 * mrpc_domain_die() - nobody joins a domain any more, and operators are told nothing of it
 * @d: the domain, in no list, with the reference that the list had
 *
 * It is not paused any more: whoever cannot be moved out now sends, and ends, by itself.
 *
 * Context: process; waits.
 */
void mrpc_domain_die(struct mrpc_domain *d)
{
	spin_lock_bh(&d->lock);
	d->dead = true;
	mrpc_egress_pause(&d->core, false);
	spin_unlock_bh(&d->lock);
	if (cancel_work_sync(&d->tell))
		mrpc_domain_put(d);
	if (cancel_work_sync(&d->settle))
		mrpc_domain_put(d);
	mrpc_domain_pump(d);
}

static enum hrtimer_restart mrpc_domain_timer(struct hrtimer *timer)
{
	struct mrpc_domain *d = container_of(timer, struct mrpc_domain, timer);

	spin_lock_bh(&d->lock);
	d->armed = false;
	mrpc_egress_expire(&d->core, ktime_get_ns());
	mrpc_domain_tell(d);
	mrpc_domain_share(d, NULL);
	spin_unlock_bh(&d->lock);
	return HRTIMER_NORESTART;
}

/* -- the owner of a transmit claim ---------------------------------------------------- */

/* What programs that rank see of a message; the rest is as of each turn. */
static void mrpc_domain_show(struct mrpc_sched_queue *q, const struct mrpc_rpc *rpc)
{
	const struct mrpc_call *call = rpc->call;

	q->call = call->id;
	q->deadline = mrpc_rpc_deadline(rpc);
	q->size = mrpc_rpc_size(rpc);
	q->service = call->method >> 16;
	q->method = call->method & 0xffff;
	q->kind = mrpc_rpc_is_request(rpc) ? MRPC_POLICY_REQUEST : MRPC_POLICY_REPLY;
}

/**
 * mrpc_domain_came() - a unit has another message
 * @d: the domain; under its lock
 * @u: the unit
 * @rpc: the message, or NULL: it has none
 * @left: bytes of it to be sent
 */
void mrpc_domain_came(struct mrpc_domain *d, struct mrpc_unit *u, const struct mrpc_rpc *rpc,
		      u64 left)
{
	u64 deadline = U64_MAX;

	u->waits = rpc;
	u->mark = d->granted;
	if (rpc) {
		mrpc_domain_show(&u->seen, rpc);
		deadline = u->seen.deadline ?: U64_MAX;
	}
	mrpc_egress_work(&d->core, &u->queue, rpc ? mrpc_rpc_rank(rpc) : 0, deadline, left);
}

/* Under d->lock. @rpc: the head message, or NULL. */
static void mrpc_domain_announce(struct mrpc_domain *d, struct mrpc_port *port,
				 const struct mrpc_rpc *rpc)
{
	if (port->head == rpc)
		return;
	port->head = rpc;
	mrpc_domain_came(d, &port->unit, rpc, rpc ? mrpc_rpc_total(rpc) - rpc->done : 0);
}

/**
 * mrpc_domain_turn() - may the head message be sent now?
 * @conn: the connection
 * @d: its domain
 * @rpc: the head message, of which something is left
 *
 * Context: owner of the transmit claim.
 * Return: how many bytes of it, to be followed by mrpc_domain_sent(); 0: none,
 * mrpc_kick_tx() will be called.
 */
u32 mrpc_domain_turn(struct mrpc_conn *conn, struct mrpc_domain *d, const struct mrpc_rpc *rpc)
{
	struct mrpc_port *port = &conn->port;
	u32 bytes;

	spin_lock_bh(&d->lock);
	mrpc_domain_announce(d, port, rpc);
	bytes = mrpc_egress_take(&d->core, &port->unit.queue);
	if (!bytes) {
		if (port->unit.queue.state == MRPC_EGRESS_IDLE && !port->unit.queue.credit)
			mrpc_egress_credit(&d->core, &port->unit.queue,
					   conn->ops->credit(conn, d->core.rule.chunk));
		mrpc_domain_share(d, conn);
		bytes = mrpc_egress_take(&d->core, &port->unit.queue);
	}
	spin_unlock_bh(&d->lock);
	return bytes;
}

/**
 * mrpc_domain_sent() - the end of a turn
 * @conn: the connection
 * @d: its domain
 * @sent: bytes, at most what mrpc_domain_turn() said; 0: the link took nothing, so
 *	its event is waited for, and mrpc_kick_tx() will be called
 * @next: the head message from now on, or NULL
 *
 * Context: owner of the transmit claim.
 */
void mrpc_domain_sent(struct mrpc_conn *conn, struct mrpc_domain *d, u32 sent,
		      const struct mrpc_rpc *next)
{
	struct mrpc_port *port = &conn->port;

	spin_lock_bh(&d->lock);
	/* A link that took nothing has registered for its event: leave that as it is. */
	mrpc_egress_dequeued(&d->core, &port->unit.queue, sent,
			     sent ? conn->ops->credit(conn, d->core.rule.chunk) : 0);
	port->grants++;
	port->sent += sent;
	d->sent += sent;
	if (!conn->ops->below)
		mrpc_egress_gone(&d->core, &port->unit.queue, U64_MAX);
	else if (sent)
		d->moved = ktime_get_ns();
	if (port->unit.queue.below && list_empty(&port->below)) {
		list_add_tail(&port->below, &d->below);
		d->nr_below++;
	}
	mrpc_domain_announce(d, port, next);
	mrpc_domain_share(d, sent ? conn : NULL);
	spin_unlock_bh(&d->lock);
}

/**
 * mrpc_domain_idle() - there is no head message any more
 * @conn: the connection
 * @d: its domain
 *
 * Context: owner of the transmit claim.
 */
void mrpc_domain_idle(struct mrpc_conn *conn, struct mrpc_domain *d)
{
	spin_lock_bh(&d->lock);
	mrpc_domain_announce(d, &conn->port, NULL);
	mrpc_domain_share(d, NULL);
	spin_unlock_bh(&d->lock);
}

/**
 * mrpc_domain_event() - the link may have room again, or bytes have left it
 * @conn: the connection
 * @d: the domain that it had a moment ago, under RCU
 *
 * Context: any but hard interrupt.
 * Return: false: the domain has no message of it, so mrpc_kick_tx() is called for.
 */
bool mrpc_domain_event(struct mrpc_conn *conn, struct mrpc_domain *d)
{
	struct mrpc_port *port = &conn->port;
	bool known = false;
	u32 credit;

	spin_lock_bh(&d->lock);
	if (rcu_access_pointer(port->domain) == d) {
		/* Also where nothing waits for it: so a link that has room is silent again. */
		credit = conn->ops->credit(conn, d->core.rule.chunk);
		known = port->head;
		if (known) {
			if (credit && !port->unit.queue.credit)
				port->unit.mark = d->granted;
			mrpc_egress_credit(&d->core, &port->unit.queue, credit);
			mrpc_domain_share(d, NULL);
		}
	}
	spin_unlock_bh(&d->lock);
	return known;
}

/* -- which domain ---------------------------------------------------------------------- */

/**
 * mrpc_domain_init() - what a new domain needs beyond its settings
 * @d: the domain
 */
void mrpc_domain_init(struct mrpc_domain *d)
{
	refcount_set(&d->ref, 1);
	spin_lock_init(&d->lock);
	INIT_LIST_HEAD(&d->tenants);
	INIT_LIST_HEAD(&d->queues);
	INIT_LIST_HEAD(&d->below);
	d->poll = MRPC_POLL_MIN;
	INIT_WORK(&d->tell, mrpc_domain_tell_work);
	INIT_WORK(&d->settle, mrpc_domain_settle_work);
	hrtimer_init(&d->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	d->timer.function = mrpc_domain_timer;
}

/**
 * mrpc_domain_put() - drop a reference
 * @d: the domain
 *
 * Context: process.
 */
void mrpc_domain_put(struct mrpc_domain *d)
{
	if (!refcount_dec_and_test(&d->ref))
		return;
	hrtimer_cancel(&d->timer);
	mrpc_sched_put(d->sched);
	kfree_rcu(d, rcu);
}

/* The device that a link leaves by, as mrpc_domain.dev. */
static void mrpc_domain_dev(struct mrpc_conn *conn, char *dev)
{
	dev[0] = 0;
	if (conn->ops->device)
		conn->ops->device(conn, dev);
}

/* With a reference, or NULL. */
static struct mrpc_domain *mrpc_domain_of(struct mrpc_conn *conn)
{
	char dev[IFNAMSIZ];

	if (!(conn->ops->send_chunk || conn->ops->sender) ||
	    !READ_ONCE(mrpc_net(conn->session->net)->nr_domains))
		return NULL;
	mrpc_domain_dev(conn, dev);
	if (conn->ops->device && !dev[0])
		return NULL;
	return mrpc_domain_find(conn->session->net, dev);
}

/**
 * mrpc_domain_fits() - is a datapath in the domain in which it belongs?
 * @conn: the connection; under its change_lock
 */
bool mrpc_domain_fits(struct mrpc_conn *conn)
{
	struct mrpc_domain *d = mrpc_domain_of(conn);

	if (d)
		mrpc_domain_put(d);
	return d == rcu_access_pointer(conn->port.domain);
}

/* Under d->lock. @spare: memory for a new one, or NULL. */
static struct mrpc_tenant *mrpc_tenant_get(struct mrpc_domain *d, const char *name, u32 weight,
					   struct mrpc_tenant **spare)
{
	struct mrpc_tenant *t;

	list_for_each_entry(t, &d->tenants, list) {
		if (strcmp(t->name, name))
			continue;
		if (weight)
			mrpc_order_tenant_weight(&d->core.order, &t->order, weight);
		return t;
	}
	t = *spare;
	if (!t)
		return NULL;
	*spare = NULL;
	strscpy(t->name, name, sizeof(t->name));
	mrpc_order_tenant_init(&d->core.order, &t->order, weight ?: MRPC_ORDER_WEIGHT);
	list_add_tail(&t->list, &d->tenants);
	d->nr_tenants++;
	return t;
}

/* Under d->lock. */
static void mrpc_domain_unuse(struct mrpc_domain *d)
{
	if (--d->nr_sending)
		return;
	d->sender = NULL;
	d->pool_size = 0;
	d->pool_stuck = 0;
	mrpc_egress_gone(&d->core, &d->pool, U64_MAX);
}

/* Under d->lock. Return: memory to be freed after it, or NULL. */
static struct mrpc_tenant *mrpc_domain_remove(struct mrpc_domain *d, struct mrpc_port *port)
{
	struct mrpc_tenant *t = port->tenant;

	mrpc_egress_remove(&d->core, &port->unit.queue);
	if (port->sender)
		mrpc_domain_unuse(d);
	port->sender = NULL;
	list_del_init(&port->list);
	d->nr_queues--;
	if (!list_empty(&port->below)) {
		list_del_init(&port->below);
		d->nr_below--;
	}
	port->tenant = NULL;
	port->head = NULL;
	if (!t || mrpc_order_tenant_fini(&t->order))
		return NULL;
	list_del(&t->list);
	d->nr_tenants--;
	return t;
}

/**
 * mrpc_domain_leave() - a datapath leaves its domain
 * @conn: the connection; nobody sends, and its link is still there
 *
 * A grant that it has goes to others. Context: process.
 */
void mrpc_domain_leave(struct mrpc_conn *conn)
{
	struct mrpc_domain *d = rcu_dereference_protected(conn->port.domain, true);
	struct mrpc_tenant *t;

	if (!d)
		return;
	spin_lock_bh(&d->lock);
	rcu_assign_pointer(conn->port.domain, NULL);
	if (conn->port.sender) {
		/* Nothing joins any more, and what is here leaves. */
		spin_unlock_bh(&d->lock);
		conn->ops->egress(conn, false);
		spin_lock_bh(&d->lock);
	}
	t = mrpc_domain_remove(d, &conn->port);
	mrpc_domain_share(d, NULL);
	spin_unlock_bh(&d->lock);
	kfree(t);
	mrpc_domain_put(d);
}
EXPORT_SYMBOL_GPL(mrpc_domain_leave);

/* Whose a datapath is, for whom: what the engine nearest to the wire says, or its user. */
static void mrpc_domain_tenant(const struct mrpc_conn *conn, const struct mrpc_chain *chain,
			       char *name, u32 *weight)
{
	u32 i;

	*weight = 0;
	scnprintf(name, MRPC_TENANT_NAME, "uid %u",
		  from_kuid_munged(conn->session->net->user_ns, conn->session->uid));
	for (i = 0; chain && i < chain->nr; i++) {
		const struct mrpc_engine *e = chain->engines[i];

		if (!e->tenant)
			continue;
		strscpy(name, e->tenant, MRPC_TENANT_NAME);
		*weight = e->weight;
	}
}

/* Whose datapath it is, for programs that rank. */
static void mrpc_domain_describe(struct mrpc_conn *conn, const struct mrpc_domain *d)
{
	const struct mrpc_session *session = conn->session;

	memset(conn->port.own, 0, sizeof(conn->port.own));
	conn->port.unit.seen = (struct mrpc_sched_queue) {
		.datapath = conn->dp_id,
		.netns = session->net->net_cookie,
		.cgroup = mrpc_session_cgroup(session),
		.domain = d->id,
		.uid = from_kuid_munged(&init_user_ns, session->uid),
		.pid = session->pid,
		.server = conn->accepted,
	};
}

/* Return: false: the domain has been deleted meanwhile. */
static bool mrpc_domain_join(struct mrpc_conn *conn, struct mrpc_domain *d, const char *name,
			     u32 weight)
{
	struct mrpc_tenant *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	struct mrpc_sender *sender = conn->ops->sender ? conn->ops->sender(conn) : NULL;
	struct mrpc_port *port = &conn->port;
	bool joined;

	spin_lock_bh(&d->lock);
	joined = !d->dead;
	if (joined) {
		port->tenant = mrpc_tenant_get(d, name, weight, &spare);
		mrpc_unit_init(&port->unit, d, port);
		INIT_LIST_HEAD(&port->units);
		port->left = 0;
		port->head = NULL;
		port->shown = 0;
		mrpc_domain_describe(conn, d);
		INIT_LIST_HEAD(&port->below);
		list_add_tail(&port->list, &d->queues);
		d->nr_queues++;
		port->sender = sender;
		if (sender) {
			d->sender = sender;
			d->nr_sending++;
		}
		rcu_assign_pointer(port->domain, d);
	}
	spin_unlock_bh(&d->lock);
	kfree(spare);
	if (joined && sender)
		conn->ops->egress(conn, true);
	return joined;
}

/* The same tenant as before, perhaps of another weight? */
static bool mrpc_domain_stays(struct mrpc_conn *conn, struct mrpc_domain *d, const char *name,
			      u32 weight)
{
	struct mrpc_tenant *t = conn->port.tenant;
	bool same;

	spin_lock_bh(&d->lock);
	same = t && !strcmp(t->name, name);
	if (same)
		mrpc_order_tenant_weight(&d->core.order, &t->order, weight ?: MRPC_ORDER_WEIGHT);
	spin_unlock_bh(&d->lock);
	return same;
}

/**
 * mrpc_domain_follow() - put a datapath in the domain in which it belongs
 * @conn: the connection; both claims are held, or no call has passed it
 * @chain: its engines, or NULL; of a link of a replica those of its connection
 *
 * Without memory for a tenant it is one of those that have none.
 *
 * Context: process; may sleep. The caller kicks the datapath afterwards.
 */
void mrpc_domain_follow(struct mrpc_conn *conn, const struct mrpc_chain *chain)
{
	struct mrpc_domain *now = rcu_dereference_protected(conn->port.domain, true);
	struct mrpc_domain *d = mrpc_domain_of(conn);
	char name[MRPC_TENANT_NAME];
	u32 weight;

	if (!d && !now)
		return;
	mrpc_domain_tenant(conn, chain, name, &weight);
	if (d && d == now && mrpc_domain_stays(conn, d, name, weight)) {
		mrpc_domain_put(d);
		return;
	}
	mrpc_domain_leave(conn);
	if (d && !mrpc_domain_join(conn, d, name, weight))
		mrpc_domain_put(d);
}
