// SPDX-License-Identifier: GPL-2.0
/* A connection's port in its egress domain: turns, what was sent, room. */
#include <linux/list.h>
#include <linux/rcupdate.h>

#include "core/conn.h"
#include "core/engine.h"
#include "core/rpc.h"
#include "egress/domain.h"
#include "egress/port.h"
#include "egress/schedule.h"
#include "exec/kick.h"
#include "lib/egress.h"

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
					   conn->link.ops->credit(&conn->link, d->core.rule.chunk));
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
			     sent ? conn->link.ops->credit(&conn->link, d->core.rule.chunk) : 0);
	port->grants++;
	port->sent += sent;
	d->sent += sent;
	if (!conn->link.ops->below)
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
		credit = conn->link.ops->credit(&conn->link, d->core.rule.chunk);
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

/**
 * mrpc_link_kick_room() - mrpc_link_kick_tx() for links that may be in an egress domain
 * @link: the link
 *
 * There others may go first. Context: any but hard interrupt.
 */
void mrpc_link_kick_room(struct mrpc_link *link)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	struct mrpc_domain *d;

	rcu_read_lock();
	d = rcu_dereference(conn->port.domain);
	if (!d || !mrpc_domain_event(conn, d))
		mrpc_kick_tx(conn);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(mrpc_link_kick_room);

/**
 * mrpc_link_in_domain() - return true if a link is in an egress domain
 * @link: the link
 *
 * Context: any. It may join one or leave it meanwhile, unless the caller owns a claim.
 */
bool mrpc_link_in_domain(struct mrpc_link *link)
{
	return rcu_access_pointer(mrpc_link_conn(link)->port.domain);
}
EXPORT_SYMBOL_GPL(mrpc_link_in_domain);
