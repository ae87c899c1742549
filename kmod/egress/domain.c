// SPDX-License-Identifier: GPL-2.0
/*
 * Egress domains: the part for datapaths.
 *
 * The owner of a transmit claim tells the domain its head message. It takes a grant or leaves. A
 * grant for another datapath kicks it: its owner comes and takes the grant. So no context sends,
 * locks or allocates for another session.
 *
 * No wake-up is lost. A grant is made under the domain's lock, and mrpc_kick_tx() follows. A round
 * of the transmit chain begins by clearing what that sets. So an owner that leaves without a grant,
 * or just before it, is kicked again. An owner that leaves for lack of credit has called credit().
 * That registers for the link's next event and then checks again.
 *
 * The network does not report when bytes leave a device. below() tells how many bytes of a
 * connection are there now. The domain calls it whenever only the limit prevents a grant: by owners
 * in their turns, at acknowledgements, and otherwise by a timer, which runs at no other time.
 */
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/slab.h>

#include "chain/chain.h"
#include "core/conn.h"
#include "core/engine.h"
#include "core/net.h"
#include "core/session.h"
#include "egress/domain.h"
#include "egress/schedule.h"
#include "egress/unit.h"
#include "lib/ds/order.h"
#include "lib/egress.h"

struct mrpc_conn *mrpc_port_conn(struct mrpc_port *port)
{
	return container_of(port, struct mrpc_conn, port);
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
	if (d->sched)
		d->sched_ops->put(d->sched);
	kfree_rcu(d, rcu);
}

/* Gets the device that a link leaves by, as mrpc_domain.dev. */
static void mrpc_domain_dev(struct mrpc_conn *conn, char *dev)
{
	dev[0] = 0;
	if (conn->link.ops->device)
		conn->link.ops->device(&conn->link, dev);
}

/* The domain to which a datapath belongs, with a reference, or NULL. */
static struct mrpc_domain *mrpc_domain_of(struct mrpc_conn *conn)
{
	char dev[IFNAMSIZ];

	if (!(conn->link.ops->credit || conn->link.ops->sender) ||
	    !READ_ONCE(mrpc_net(conn->session->net)->nr_domains))
		return NULL;
	mrpc_domain_dev(conn, dev);
	if (conn->link.ops->device && !dev[0])
		return NULL;
	return mrpc_domain_find(conn->session->net, dev);
}

/**
 * mrpc_domain_fits() - is a datapath in the domain to which it belongs?
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
 * mrpc_domain_leave() - remove a datapath from its domain
 * @link: its link, on which no context sends
 *
 * If it has a grant, the grant goes to others. Context: process.
 */
void mrpc_domain_leave(struct mrpc_link *link)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	struct mrpc_domain *d = rcu_dereference_protected(conn->port.domain, true);
	struct mrpc_tenant *t;

	if (!d)
		return;
	spin_lock_bh(&d->lock);
	rcu_assign_pointer(conn->port.domain, NULL);
	if (conn->port.sender) {
		/* No message joins any more, and those in the domain leave. */
		spin_unlock_bh(&d->lock);
		conn->link.ops->egress(link, false);
		spin_lock_bh(&d->lock);
	}
	t = mrpc_domain_remove(d, &conn->port);
	mrpc_domain_share(d, NULL);
	spin_unlock_bh(&d->lock);
	kfree(t);
	mrpc_domain_put(d);
}
EXPORT_SYMBOL_GPL(mrpc_domain_leave);

/* The tenant of a datapath: set by the engine nearest to the wire, otherwise its user. */
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

/* Describes a datapath for programs that rank. */
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
		.server = conn->link.accepted,
	};
}

/* Return: false: the domain has been deleted meanwhile. */
static bool mrpc_domain_join(struct mrpc_conn *conn, struct mrpc_domain *d, const char *name,
			     u32 weight)
{
	struct mrpc_tenant *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	const struct mrpc_transport_ops *ops = conn->link.ops;
	struct mrpc_sender *sender = ops->sender ? ops->sender(&conn->link) : NULL;
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
		conn->link.ops->egress(&conn->link, true);
	return joined;
}

/* Does the tenant stay the same? Then it only gets the weight. */
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
 * mrpc_domain_follow() - move a datapath to the domain to which it belongs
 * @conn: the connection; both claims are held, or no call has passed it
 * @chain: its engines, or NULL; for a link of a replica those of its connection
 *
 * Without memory for a tenant, the datapath has none.
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
	mrpc_domain_leave(&conn->link);
	if (d && !mrpc_domain_join(conn, d, name, weight))
		mrpc_domain_put(d);
}

static const char *const mrpc_disciplines[] = {
	[MRPC_ORDER_FIFO] = "fifo",
	[MRPC_ORDER_STRICT] = "strict",
	[MRPC_ORDER_SMALL] = "small-first",
	[MRPC_ORDER_DEADLINE] = "deadline",
};

/* Name of a native discipline. */
const char *mrpc_discipline_name(u8 within)
{
	return mrpc_disciplines[within];
}

/**
 * mrpc_discipline_of() - find a native discipline, which needs no policy
 * @name: its name
 *
 * Return: enum mrpc_order_within, or -ENOENT.
 */
int mrpc_discipline_of(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mrpc_disciplines); i++)
		if (!strcmp(mrpc_disciplines[i], name))
			return i;
	return -ENOENT;
}

/* Under mn->lock. */
struct mrpc_domain *mrpc_domain_lookup(struct mrpc_net *mn, const char *dev)
{
	struct mrpc_domain *d;

	list_for_each_entry(d, &mn->domains, list)
		if (!strcmp(d->dev, dev))
			return d;
	return NULL;
}

/**
 * mrpc_domain_find() - find a domain
 * @net: the network namespace
 * @dev: the device, or "" for loop links
 *
 * Return: the domain with a reference, or NULL.
 */
struct mrpc_domain *mrpc_domain_find(struct net *net, const char *dev)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_domain *d;

	spin_lock(&mn->lock);
	d = mrpc_domain_lookup(mn, dev);
	if (d)
		refcount_inc(&d->ref);
	spin_unlock(&mn->lock);
	return d;
}

/**
 * mrpc_domain_next() - iterate over a namespace's domains, for dumps
 * @net: the network namespace
 * @after: id of the last one, 0 for the first
 *
 * Return: the domain with a reference, or NULL.
 */
struct mrpc_domain *mrpc_domain_next(struct net *net, u32 after)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_domain *d, *found = NULL;

	spin_lock(&mn->lock);
	list_for_each_entry(d, &mn->domains, list) {
		if (d->id <= after)
			continue;
		refcount_inc(&d->ref);
		found = d;
		break;
	}
	spin_unlock(&mn->lock);
	return found;
}
