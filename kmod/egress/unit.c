// SPDX-License-Identifier: GPL-2.0
/*
 * Egress domains: the part for senders. A sender is a transport that has messages of many
 * connections at once, and sends of each when it likes. Each message is ordered by itself, and a
 * grant is for a chunk of that message.
 *
 * A sender calls these functions under a lock of its own, which is taken before the domain's. A
 * grant puts the message among the sender's turns and kicks the sender. The context that runs the
 * sender then takes them with mrpc_unit_turn().
 */
#include <linux/list.h>
#include <linux/rcupdate.h>

#include "core/conn.h"
#include "core/rpc.h"
#include "egress/domain.h"
#include "egress/port.h"
#include "egress/schedule.h"
#include "egress/unit.h"
#include "lib/egress.h"

/**
 * mrpc_unit_init() - initialise a unit that has nothing to send
 * @u: the unit, any content
 * @d: its domain; under its lock
 * @port: its port, with its tenant
 */
void mrpc_unit_init(struct mrpc_unit *u, struct mrpc_domain *d, struct mrpc_port *port)
{
	u->domain = d;
	u->port = port;
	INIT_LIST_HEAD(&u->list);
	INIT_LIST_HEAD(&u->turn);
	u->waits = false;
	u->left = 0;
	mrpc_egress_add(&d->core, &u->queue, port->tenant ? &port->tenant->order : NULL);
}

/* Under the domain's lock: updates the bytes of a message, and of its datapath. */
static void mrpc_unit_count(struct mrpc_unit *u, u64 left)
{
	u->port->left += left - u->left;
	u->left = left;
}

/**
 * mrpc_unit_join() - add a message to its connection's domain, if it has one
 * @link: the link
 * @u: of the message; u->domain is NULL, the rest of any content
 * @rpc: the message
 *
 * It gets no grant before mrpc_unit_offer(). Context: any but hard interrupt; the sender's lock.
 * Return: it is in a domain.
 */
bool mrpc_unit_join(struct mrpc_link *link, struct mrpc_unit *u, const struct mrpc_rpc *rpc)
{
	struct mrpc_port *port = &mrpc_link_conn(link)->port;
	struct mrpc_domain *d;

	rcu_read_lock();
	d = rcu_dereference(port->domain);
	if (d) {
		spin_lock_bh(&d->lock);
		if (rcu_access_pointer(port->domain) == d) {
			mrpc_unit_init(u, d, port);
			list_add_tail(&u->list, &port->units);
			u->seen = port->unit.seen;
			mrpc_domain_came(d, u, rpc, mrpc_rpc_total(rpc));
			mrpc_unit_count(u, mrpc_rpc_total(rpc));
		}
		spin_unlock_bh(&d->lock);
	}
	rcu_read_unlock();
	return u->domain;
}
EXPORT_SYMBOL_GPL(mrpc_unit_join);

/**
 * mrpc_unit_leave() - remove a message from its domain; does nothing if it is in none
 * @u: of the message
 *
 * Its bytes below still count. Context: as mrpc_unit_join().
 */
void mrpc_unit_leave(struct mrpc_unit *u)
{
	struct mrpc_domain *d = u->domain;
	struct mrpc_sender *sender;
	bool held;

	if (!d)
		return;
	spin_lock_bh(&d->lock);
	sender = u->port->sender;
	held = u->queue.held;
	mrpc_unit_count(u, 0);
	mrpc_egress_remove(&d->core, &u->queue);
	list_del(&u->list);
	spin_lock(&sender->lock);
	list_del_init(&u->turn);
	spin_unlock(&sender->lock);
	u->domain = NULL;
	/* Kicks messages that it kept waiting, the caller's too: the caller need not look again. */
	if (held)
		mrpc_domain_share(d, NULL);
	spin_unlock_bh(&d->lock);
}
EXPORT_SYMBOL_GPL(mrpc_unit_leave);

/* Under the domain's lock. */
static void mrpc_unit_has(struct mrpc_unit *u, u64 left, u32 credit)
{
	struct mrpc_domain *d = u->domain;

	if (credit && !u->queue.credit)
		u->mark = d->granted;
	mrpc_egress_offer(&d->core, &u->queue, left, credit);
	mrpc_unit_count(u, left);
}

/**
 * mrpc_unit_offer() - set the bytes that a message has to send
 * @u: of the message; nothing happens if it is in no domain
 * @left: bytes, those to be sent again included
 * @credit: bytes that may be sent now
 *
 * The caller must call mrpc_unit_share() afterwards, for the last one of several of a domain.
 * Context: as mrpc_unit_join().
 */
void mrpc_unit_offer(struct mrpc_unit *u, u64 left, u32 credit)
{
	struct mrpc_domain *d = u->domain;

	if (!d)
		return;
	spin_lock_bh(&d->lock);
	mrpc_unit_has(u, left, credit);
	spin_unlock_bh(&d->lock);
}
EXPORT_SYMBOL_GPL(mrpc_unit_offer);

/**
 * mrpc_unit_share() - grant what can be granted, after messages were offered
 * @u: of one of them; nothing happens if it is in no domain
 *
 * Context: as mrpc_unit_join(). Return: there are turns for the sender; it is not kicked for them.
 */
bool mrpc_unit_share(struct mrpc_unit *u)
{
	struct mrpc_domain *d = u->domain;
	bool turns;

	if (!d)
		return false;
	spin_lock_bh(&d->lock);
	turns = mrpc_domain_share(d, u->port->sender);
	spin_unlock_bh(&d->lock);
	return turns;
}
EXPORT_SYMBOL_GPL(mrpc_unit_share);

static struct mrpc_unit *mrpc_unit_next(struct mrpc_sender *sender)
{
	struct mrpc_unit *u;

	spin_lock_bh(&sender->lock);
	u = list_first_entry_or_null(&sender->turns, struct mrpc_unit, turn);
	if (u)
		list_del_init(&u->turn);
	spin_unlock_bh(&sender->lock);
	return u;
}

/**
 * mrpc_unit_turn() - get the next message that may send
 * @sender: the sender, which can send at once
 * @bytes: out: bytes that it may send; the caller must call mrpc_unit_sent()
 * @budget: a void turn costs one; at 0 no further turn is tried
 *
 * Context: as mrpc_unit_join(). Return: the message, or NULL: there is none.
 */
struct mrpc_unit *mrpc_unit_turn(struct mrpc_sender *sender, u32 *bytes, int *budget)
{
	struct mrpc_unit *u;

	while (--*budget >= 0 && (u = mrpc_unit_next(sender))) {
		struct mrpc_domain *d = u->domain;

		spin_lock_bh(&d->lock);
		*bytes = mrpc_egress_take(&d->core, &u->queue);
		if (!*bytes)	/* void; it may get another one, and is in the list then */
			mrpc_domain_share(d, sender);
		spin_unlock_bh(&d->lock);
		if (*bytes)
			return u;
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(mrpc_unit_turn);

/* Under the domain's lock: the bytes sent take @size bytes of memory below the sender. */
static void mrpc_unit_below(struct mrpc_domain *d, struct mrpc_unit *u, u32 size)
{
	if (!size) {
		mrpc_egress_gone(&d->core, &u->queue, U64_MAX);
		return;
	}
	if (!d->pool.below)
		d->pool_size = 0;
	mrpc_egress_hand_over(&u->queue, &d->pool);
	d->pool_size += size;
	d->pool_mark = u->port->sender->queued;
	d->moved = ktime_get_ns();
}

/**
 * mrpc_unit_sent() - end a message's turn
 * @u: of the message; nothing happens if it has left the domain
 * @sent: bytes, at most those of mrpc_unit_turn()
 * @size: bytes of memory that they take below; 0: they are not below
 * @left: as for mrpc_unit_offer()
 * @credit: as for mrpc_unit_offer()
 *
 * Context: as mrpc_unit_join(). Return: as mrpc_unit_share().
 */
bool mrpc_unit_sent(struct mrpc_unit *u, u32 sent, u32 size, u64 left, u32 credit)
{
	struct mrpc_domain *d = u->domain;
	bool turns;

	if (!d)
		return false;
	spin_lock_bh(&d->lock);
	/* False if it has left the domain of the grant meanwhile, and joined this one. */
	if (u->queue.state == MRPC_EGRESS_SENDING) {
		mrpc_egress_dequeued(&d->core, &u->queue, sent, 0);
		mrpc_unit_below(d, u, size);
		u->port->grants++;
		u->port->sent += sent;
		d->sent += sent;
	}
	mrpc_unit_has(u, left, credit);
	turns = mrpc_domain_share(d, u->port->sender);
	spin_unlock_bh(&d->lock);
	return turns;
}
EXPORT_SYMBOL_GPL(mrpc_unit_sent);
