// SPDX-License-Identifier: GPL-2.0
/* The schedule of an egress domain: which port or unit sends next, and when. */
#include <linux/hrtimer.h>
#include <linux/list.h>

#include "core/conn.h"
#include "core/globals.h"
#include "core/notify.h"
#include "egress/domain.h"
#include "egress/schedule.h"
#include "exec/kick.h"
#include "lib/ds/order.h"
#include "lib/egress.h"

#define MRPC_DOMAIN_LOOKS	64	/* datapaths that one look checks */
#define MRPC_POLL_MIN		(50 * NSEC_PER_USEC)
#define MRPC_POLL_MAX		NSEC_PER_MSEC
#define MRPC_PACE_MAX		(10 * NSEC_PER_MSEC)	/* grants expire meanwhile */
#define MRPC_DOMAIN_TELL	NSEC_PER_SEC	/* between two notifications of expired grants */
#define MRPC_DOMAIN_STUCK	(100 * NSEC_PER_MSEC)	/* after that, unmoved bytes do not count */

/*
 * Some of the sender's bytes below have gone. The sender reports memory, which differs from bytes.
 * So the part that is gone is taken to be the same of both.
 */
static bool mrpc_domain_look_pool(struct mrpc_domain *d, bool all)
{
	u64 queued, below, gone, size;

	if (!d->pool.below)
		return false;
	/* In this order: bytes counted in @queued are also counted below, or have gone. */
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

/* Checks those not checked for longest. @all: none of their bytes count any more. */
static bool mrpc_domain_look_some(struct mrpc_domain *d, bool all)
{
	u32 i, nr = min(d->nr_below, MRPC_DOMAIN_LOOKS);
	bool gone = mrpc_domain_look_pool(d, all);

	for (i = 0; i < nr; i++) {
		struct mrpc_port *port = list_first_entry(&d->below, struct mrpc_port, below);
		struct mrpc_conn *conn = mrpc_port_conn(port);
		u64 now = all ? 0 : conn->link.ops->below(&conn->link);

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
 * mrpc_domain_look() - find bytes that have left the device since the last look
 * @d: the domain; under its lock
 *
 * If nothing moves for long, the device is not the cause. Packets to a neighbour that does not
 * answer wait for seconds, and no other datapath may wait for them.
 *
 * Return: true if bytes have left.
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

/* Arms the timer if a datapath waits for others' bytes to go, a grant to be used, or the rate. */
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
 * mrpc_domain_settle() - move all waiting messages into the order of the present discipline
 * @d: the domain; its lock is held at the beginning and at the end
 *
 * Tens of thousands of messages may wait. Each costs a cache miss or two, and a run of a program.
 * So the lock is held for a share of them at a time. A context that waits for the lock, with bottom
 * halves off, waits for one share.
 *
 * The domain may be used between two shares. A new message is ordered by the new discipline. A
 * request for a grant does another share. A stale message may leave. The loop ends, because nothing
 * becomes stale meanwhile. At its end the lock has been held since the last check.
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

/* Under d->lock. While the domain is not dead, the list has a reference, so none is the last. */
static void mrpc_domain_queue(struct mrpc_domain *d, struct work_struct *work)
{
	if (d->dead)
		return;
	refcount_inc(&d->ref);
	if (!queue_work(mrpc_end_wq, work))
		refcount_dec(&d->ref);
}

/**
 * mrpc_domain_rank() - rank waiting messages again if programs were attached or detached
 * @d: the domain; under its lock
 *
 * Some are ranked at each grant, and all of them soon. While an earlier change goes on, it is done
 * later.
 */
void mrpc_domain_rank(struct mrpc_domain *d)
{
	u64 generation = d->sched ? d->sched_ops->generation(d->sched) : d->ranked_by;

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

/* Tells the sender that a message has a grant. Return: the sender is the caller. */
static bool mrpc_domain_call(struct mrpc_unit *u, const void *self)
{
	struct mrpc_sender *sender = u->port->sender;

	spin_lock(&sender->lock);
	if (list_empty(&u->turn))	/* otherwise the last turn is still listed */
		list_add_tail(&u->turn, &sender->turns);
	spin_unlock(&sender->lock);
	if (sender == self)
		return true;
	sender->kick(sender);
	return false;
}

/*
 * Grants what can be granted. Return: the connection to kick, with a reference; the caller then
 * calls this again. NULL: nothing more can be granted. @self: the caller's connection, or its
 * sender;
 * @granted: out: it has a grant.
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
 * mrpc_domain_share() - grant what can be granted, and kick
 * @d: the domain; its lock is held at the beginning and at the end
 * @self: not kicked: the caller's connection, or its sender; or NULL
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
 * mrpc_domain_pump() - grant what can be granted, after a change
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

/* Under d->lock. A notification may be left out: the next one includes it. */
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
 * mrpc_domain_die() - end a domain: no datapath joins, and operators get no notifications
 * @d: the domain, in no list, with the reference that the list had
 *
 * It is no longer paused. A datapath that cannot be moved out still sends, and leaves at its end.
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

/**
 * mrpc_domain_init() - initialise a new domain, except its settings
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
