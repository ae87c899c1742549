// SPDX-License-Identifier: GPL-2.0
/*
 * Egress domains for operators: making, changing, showing and deleting them.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "control/egress_config.h"
#include "control/rollout.h"
#include "core/conn.h"
#include "core/engine.h"
#include "core/net.h"
#include "core/notify.h"
#include "core/session.h"
#include "egress/domain.h"
#include "egress/schedule.h"
#include "lib/ds/bucket.h"
#include "lib/ds/order.h"
#include "lib/egress.h"
#include "policy/class_rank.h"
#include "policy/policy.h"
#include "policy/rank.h"

/* After this time an unused grant no longer keeps other datapaths from theirs. */
#define MRPC_PATIENCE	(10 * NSEC_PER_MSEC)
#define MRPC_DOMAIN_WALK	256	/* turns of a walk, with the lock held */

/* A discipline that is not native is the name of the domain's policy. */
static struct mrpc_egress_rule mrpc_domain_rule(const struct mrpc_domain_args *args)
{
	int within = mrpc_discipline_of(args->discipline);

	return (struct mrpc_egress_rule) {
		.within = within < 0 ? MRPC_ORDER_RANKED : within,
		.ranker = within < 0 ? &mrpc_sched_ranker : NULL,
		.fair = args->fair,
		.chunk = args->chunk,
		.limit = args->limit,
		.rate = args->rate,
		.patience = MRPC_PATIENCE,
	};
}

static const char *mrpc_domain_name(const char *dev)
{
	return *dev ? dev : "loop links";
}

/* -- changes: under mn->change ------------------------------------------------------ */

/* Merges @said into the settings of @d, or of a new domain. Needs mn->change to know them. */
static struct mrpc_domain_args mrpc_domain_merge(struct mrpc_domain *d,
						 const struct mrpc_domain_args *said)
{
	struct mrpc_domain_state state = {
		.args = {
			.discipline = "fifo",
			.chunk = MRPC_EGRESS_CHUNK,
			.limit = MRPC_EGRESS_LIMIT,
		},
	};
	struct mrpc_domain_args args;

	if (d)
		mrpc_domain_state(d, &state);
	args = state.args;
	strscpy(args.dev, said->dev, sizeof(args.dev));
	if (said->given & MRPC_DOMAIN_DISCIPLINE)
		strscpy(args.discipline, said->discipline);
	if (said->given & MRPC_DOMAIN_FAIR)
		args.fair = said->fair;
	if (said->given & MRPC_DOMAIN_PAUSED)
		args.paused = said->paused;
	if (said->given & MRPC_DOMAIN_CHUNK)
		args.chunk = said->chunk;
	if (said->given & MRPC_DOMAIN_LIMIT)
		args.limit = said->limit;
	else if (said->given & MRPC_DOMAIN_CHUNK && !d)
		args.limit = min_t(u64, 2ULL * args.chunk, U32_MAX);
	if (said->given & MRPC_DOMAIN_RATE)
		args.rate = said->rate;
	return args;
}

static int mrpc_domain_check(struct net *net, const struct mrpc_domain_args *args, bool fresh,
			     struct netlink_ext_ack *extack)
{
	struct net_device *dev;

	if (args->chunk < MRPC_CHUNK_MIN || args->chunk > MRPC_CHUNK_MAX) {
		NL_SET_ERR_MSG_FMT(extack, "a chunk of %u bytes; %u to %u are allowed",
				   args->chunk, MRPC_CHUNK_MIN, MRPC_CHUNK_MAX);
		return -ERANGE;
	}
	if (args->limit < args->chunk || args->limit > MRPC_LIMIT_MAX) {
		NL_SET_ERR_MSG_FMT(extack, "a limit of %u bytes; a chunk (%u) to %u are allowed",
				   args->limit, args->chunk, MRPC_LIMIT_MAX);
		return -ERANGE;
	}
	if (args->rate && (args->rate < MRPC_PACE_MIN || args->rate > MRPC_BUCKET_MAX_RATE)) {
		NL_SET_ERR_MSG_FMT(extack, "rate %llu bytes/s: %u to %llu are allowed, 0 is none",
				   args->rate, MRPC_PACE_MIN, MRPC_BUCKET_MAX_RATE);
		return -ERANGE;
	}
	if (!fresh || !args->dev[0])
		return 0;
	dev = dev_get_by_name(net, args->dev);
	if (!dev) {
		NL_SET_ERR_MSG_FMT(extack, "there is no device '%s' in this network namespace",
				   args->dev);
		return -ENODEV;
	}
	dev_put(dev);
	return 0;
}

/*
 * The policy that ranks for @args, with a reference; NULL: none does; or an ERR_PTR. If @d already
 * has this policy, it need not have programs.
 */
static struct mrpc_policy *mrpc_domain_sched(const struct mrpc_domain *d,
					     const struct mrpc_domain_args *args,
					     struct netlink_ext_ack *extack)
{
	if (mrpc_discipline_of(args->discipline) >= 0)
		return NULL;
	if (d && d->sched && !strcmp(d->sched->name, args->discipline) &&
	    mrpc_engine_hold(&d->sched->engine))
		return d->sched;
	return mrpc_sched_get(args->discipline, extack);
}

static int mrpc_domain_new(struct net *net, const struct mrpc_domain_args *args,
			   struct mrpc_policy *sched, struct netlink_ext_ack *extack)
{
	struct mrpc_egress_rule rule = mrpc_domain_rule(args);
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_domain *d;
	int err;

	if (mn->nr_domains >= MRPC_DOMAINS_MAX) {
		NL_SET_ERR_MSG_FMT(extack, "%u domains are in this network namespace, the most it takes",
				   mn->nr_domains);
		return -ENOSPC;
	}
	d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	if (!d)
		return -ENOMEM;
	mrpc_domain_init(d);
	d->net = net;
	strscpy(d->dev, args->dev, sizeof(d->dev));
	err = mrpc_egress_init(&d->core, &rule);
	if (err) {
		kfree(d);
		return err;
	}
	d->sched = sched;
	d->sched_ops = &mrpc_sched_discipline;
	mrpc_egress_pause(&d->core, args->paused);
	spin_lock(&mn->lock);
	d->id = ++mn->next_domain;
	list_add_tail(&d->list, &mn->domains);
	WRITE_ONCE(mn->nr_domains, mn->nr_domains + 1);
	spin_unlock(&mn->lock);
	return 0;
}

/* Under d->lock. Return: the policy that ranked before. */
static struct mrpc_policy *mrpc_domain_use(struct mrpc_domain *d, struct mrpc_policy *sched)
{
	struct mrpc_policy *old = d->sched;
	struct mrpc_port *port;

	d->sched = sched;
	d->sched_ops = &mrpc_sched_discipline;
	if (sched)
		d->ranked_by = mrpc_sched_generation(sched);
	if (sched == old)
		return old;
	d->runs = 0;
	d->measured = 0;
	d->ran = 0;
	list_for_each_entry(port, &d->queues, list)
		memset(port->own, 0, sizeof(port->own));
	return old;
}

/*
 * Applies checked @args. Takes over the reference to @sched. An earlier change is completed first.
 * This change is complete before a paused domain resumes.
 */
static void mrpc_domain_change(struct mrpc_domain *d, const struct mrpc_domain_args *args,
			       struct mrpc_policy *sched)
{
	struct mrpc_egress_rule rule = mrpc_domain_rule(args);
	struct mrpc_policy *old;

	spin_lock_bh(&d->lock);
	if (args->paused)	/* at once; only a resume has to wait for the order */
		mrpc_egress_pause(&d->core, true);
	mrpc_domain_settle(d);
	old = mrpc_domain_use(d, sched);
	WARN_ON_ONCE(mrpc_egress_set(&d->core, &rule));
	d->armed = false;	/* the rate may have changed, so the timer's time is wrong */
	mrpc_domain_settle(d);
	mrpc_egress_pause(&d->core, args->paused);
	spin_unlock_bh(&d->lock);
	mrpc_sched_put(old);
	mrpc_domain_pump(d);
}

/* Under mn->change: applies @args to @d, or makes a new domain if it is NULL. */
static int mrpc_domain_make(struct net *net, struct mrpc_domain *d,
			    const struct mrpc_domain_args *args, struct netlink_ext_ack *extack)
{
	struct mrpc_policy *sched;
	int err = mrpc_domain_check(net, args, !d, extack);

	if (err)
		return err;
	sched = mrpc_domain_sched(d, args, extack);
	if (IS_ERR(sched))
		return PTR_ERR(sched);
	if (d) {
		mrpc_domain_change(d, args, sched);
		return 0;
	}
	err = mrpc_domain_new(net, args, sched, extack);
	if (err)
		mrpc_sched_put(sched);
	return err;
}

/**
 * mrpc_domain_set() - make a domain, or change it
 * @net: the network namespace
 * @said: the operator's settings
 * @extack: why not
 *
 * When this returns, all its datapaths have joined. That includes those with a route that changed
 * since they began, and those for which there was no memory last time.
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno; -ENOMEM: it may still have been made, or changed.
 */
int mrpc_domain_set(struct net *net, const struct mrpc_domain_args *said,
		    struct netlink_ext_ack *extack)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_domain_args args;
	struct mrpc_domain *d;
	int err;

	err = mutex_lock_interruptible(&mn->change);
	if (err)
		return err;
	d = mrpc_domain_find(net, said->dev);
	args = mrpc_domain_merge(d, said);
	err = mrpc_domain_make(net, d, &args, extack);
	if (!err) {
		err = mrpc_datapaths_follow(net);
		d = d ?: mrpc_domain_find(net, said->dev);
		mrpc_notify_domain(d, MRPC_EVENT_EGRESS_SET);
	}
	mutex_unlock(&mn->change);
	if (d)
		mrpc_domain_put(d);
	return err;
}

/* Under mn->lock, unless no other context can see the domain. */
static void mrpc_domain_unlist(struct mrpc_net *mn, struct mrpc_domain *d)
{
	list_del(&d->list);
	WRITE_ONCE(mn->nr_domains, mn->nr_domains - 1);
}

/**
 * mrpc_domain_del() - delete a domain; its datapaths then send without grants
 * @net: the network namespace
 * @dev: the device, or "" for loop links
 * @extack: why not
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno.
 */
int mrpc_domain_del(struct net *net, const char *dev, struct netlink_ext_ack *extack)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_domain *d;
	int err;

	err = mutex_lock_interruptible(&mn->change);
	if (err)
		return err;
	spin_lock(&mn->lock);
	d = mrpc_domain_lookup(mn, dev);
	if (d)
		mrpc_domain_unlist(mn, d);
	spin_unlock(&mn->lock);
	if (d) {
		mrpc_domain_die(d);
		/* A datapath that cannot be moved (no memory) still sends: the domain is dead. */
		mrpc_datapaths_follow(net);
		mrpc_notify_domain(d, MRPC_EVENT_EGRESS_DEL);
		mrpc_domain_put(d);
	} else {
		NL_SET_ERR_MSG_FMT(extack, "there is no domain of %s", mrpc_domain_name(dev));
		err = -ENOENT;
	}
	mutex_unlock(&mn->change);
	return err;
}

/* The namespace has no session any more, so no datapath is in a domain. */
static void __net_exit mrpc_domains_end(struct net *net)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_domain *d, *next;

	list_for_each_entry_safe(d, next, &mn->domains, list) {
		mrpc_domain_unlist(mn, d);
		mrpc_domain_die(d);
		mrpc_domain_put(d);
	}
}

static struct pernet_operations mrpc_egress_net_ops = {
	.exit	= mrpc_domains_end,
};

/**
 * mrpc_egress_config_init() - make domains of a network namespace end before its mrpc_net does
 *
 * Context: module load, after mrpc_net_init().
 *
 * Return: 0 or a negative errno.
 */
int __init mrpc_egress_config_init(void)
{
	return register_pernet_subsys(&mrpc_egress_net_ops);
}

/** mrpc_egress_config_exit() - end of mrpc_egress_config_init(); before mrpc_net_exit() */
void mrpc_egress_config_exit(void)
{
	unregister_pernet_subsys(&mrpc_egress_net_ops);
}

/* -- showing ------------------------------------------------------------------------ */

/**
 * mrpc_domain_state() - get the settings and counters of a domain
 * @d: the domain
 * @state: out
 */
void mrpc_domain_state(struct mrpc_domain *d, struct mrpc_domain_state *state)
{
	const struct mrpc_egress *core = &d->core;

	memset(state, 0, sizeof(*state));
	strscpy(state->args.dev, d->dev, sizeof(state->args.dev));
	spin_lock_bh(&d->lock);
	mrpc_domain_look(d);
	strscpy(state->args.discipline,
		d->sched ? d->sched->name : mrpc_discipline_name(core->rule.within));
	state->args.fair = core->rule.fair;
	state->args.paused = core->paused;
	state->args.chunk = core->rule.chunk;
	state->args.limit = core->rule.limit;
	state->args.rate = core->rule.rate;
	state->queues = d->nr_queues;
	state->tenants = d->nr_tenants;
	state->waiting = core->order.listed;
	state->out = core->out;
	state->grants = core->nr_grants;
	state->expired = core->nr_expired;
	state->wasted = core->nr_wasted;
	state->sent = d->sent;
	state->runs = d->runs;
	state->measured = d->measured;
	state->ran = d->ran;
	spin_unlock_bh(&d->lock);
}

/**
 * mrpc_domain_ranks_by() - does a policy rank the datapaths of a domain?
 * @d: the domain
 * @type: the policy, as an engine type
 */
bool mrpc_domain_ranks_by(struct mrpc_domain *d, const struct mrpc_engine_ops *type)
{
	bool does;

	spin_lock_bh(&d->lock);
	does = d->sched && &d->sched->engine == type;
	spin_unlock_bh(&d->lock);
	return does;
}

/* Notes a datapath. @u: its message that goes first, or that goes or has gone last. */
static void mrpc_domain_note(struct mrpc_domain_queue *q, const struct mrpc_unit *u, u32 position)
{
	const struct mrpc_port *port = u->port;
	const struct mrpc_conn *conn = container_of(port, struct mrpc_conn, port);

	*q = (struct mrpc_domain_queue) {
		.datapath = conn->dp_id,
		.session = conn->session->id,
		.conn = conn->id,
		.weight = port->tenant ? port->tenant->order.weight : MRPC_ORDER_WEIGHT,
		.state = u->queue.state,
		.priority = u->queue.order.priority,
		.credit = u->queue.credit,
		.position = position,
		.left = port->unit.queue.order.left + port->left,
		.below = port->unit.queue.below,
		.grants = port->grants,
		.sent = port->sent,
		.ahead = port->ahead,
	};
	if (port->tenant)
		strscpy(q->tenant, port->tenant->name, sizeof(q->tenant));
}

/* Under d->lock. Notes a datapath that is not in @all yet. Return: number of entries. */
static u32 mrpc_domain_note_new(struct mrpc_domain *d, struct mrpc_domain_queue *all, u32 nr,
				const struct mrpc_unit *u, bool waits)
{
	if (u->port->shown == d->shows)
		return nr;
	u->port->shown = d->shows;
	mrpc_domain_note(&all[nr], u, waits ? nr + 1 : 0);
	return nr + 1;
}

/* Under d->lock: notes datapaths by their next turns, then those with a grant, then the rest. */
static u32 mrpc_domain_note_all(struct mrpc_domain *d, struct mrpc_domain_queue *all)
{
	const struct mrpc_order_link *l;
	const struct mrpc_unit *u;
	struct mrpc_order_entity *e;
	struct mrpc_port *port;
	u32 nr = 0, grants = 0;

	d->shows++;
	e = mrpc_order_walk_begin(&d->core.order, MRPC_DOMAIN_WALK);
	for (; e; e = mrpc_order_walk_next(e)) {
		u = container_of(mrpc_egress_of(e), struct mrpc_unit, queue);
		nr = mrpc_domain_note_new(d, all, nr, u, true);
	}
	mrpc_order_walk_end(&d->core.order);
	for (l = d->core.grants.next; l != &d->core.grants; l = l->next) {
		u = container_of(l, struct mrpc_unit, queue.grant);
		nr = mrpc_domain_note_new(d, all, nr, u, false);
		if (++grants == MRPC_DOMAIN_WALK)
			break;
	}
	list_for_each_entry(port, &d->queues, list) {
		u = list_first_entry_or_null(&port->units, struct mrpc_unit, list);
		nr = mrpc_domain_note_new(d, all, nr, u ?: &port->unit, false);
	}
	return nr;
}

/**
 * mrpc_domain_queues() - get the datapaths of a domain, at one moment
 * @d: the domain
 * @all: out: waiting ones in the order of their next turns, then the others
 * @cap: room in @all
 *
 * If a sender has several messages of a datapath, the first waiting one is shown. With the lock
 * held it looks MRPC_DOMAIN_WALK turns ahead, and once at each datapath. A datapath with all
 * messages behind those turns is among the others. If the domain is deleted meanwhile, so is one
 * with stale messages only: settling them is not waited for.
 *
 * Context: process; may sleep.
 * Return: number of datapaths; if they have no room, @all is unchanged.
 */
u32 mrpc_domain_queues(struct mrpc_domain *d, struct mrpc_domain_queue *all, u32 cap)
{
	u32 nr;

	spin_lock_bh(&d->lock);
	mrpc_domain_settle(d);
	mrpc_domain_rank(d);
	mrpc_domain_settle(d);
	nr = d->nr_queues;
	if (nr <= cap) {
		mrpc_domain_look(d);
		nr = mrpc_domain_note_all(d, all);
	}
	spin_unlock_bh(&d->lock);
	return nr;
}
