// SPDX-License-Identifier: GPL-2.0
/*
 * The version of the transport below a connection, and its exchange.
 *
 * A link begins with version 1 of its transport. If placements choose another version, the link
 * changes to it with all its contents: unsent and unparsed data, pages under way. The peer has no
 * part in this. New abilities of the version are used as far as the peer has announced that it
 * accepts them (lib/message/feature.h).
 */
#include "change/link_version.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/engine_config.h"
#include "core/net.h"
#include "core/placement.h"
#include "core/session.h"
#include "egress/domain.h"
#include "exec/control_frame.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"

/**
 * mrpc_link_plan() - begin a plan, with the link of a connection without placements
 * @conn: the connection
 * @plan: out
 */
void mrpc_link_plan(const struct mrpc_conn *conn, struct mrpc_link_plan *plan)
{
	plan->ops = conn->link.home;
	plan->uses = 0;
}

/**
 * mrpc_link_plan_add() - add a configuration to a plan; the last one counts
 * @conn: the connection
 * @plan: the plan
 * @g: the configuration
 *
 * Return: false: the configuration is for a transport that is not the connection's, and so does not
 * concern its datapath.
 */
bool mrpc_link_plan_add(const struct mrpc_conn *conn, struct mrpc_link_plan *plan,
			const struct mrpc_group *g)
{
	const struct mrpc_transport_ops *ops = g->ops->transport;

	if (!ops)
		return true;
	if (strcmp(ops->name, conn->link.home->name))
		return false;
	plan->ops = ops;
	plan->uses = ops->uses ? ops->uses(g) : 0;
	return true;
}

/**
 * mrpc_link_follows() - is the link what a plan says?
 * @conn: the connection; the caller owns a claim, or holds conn->dp.change_lock
 * @plan: the plan
 */
bool mrpc_link_follows(const struct mrpc_conn *conn, const struct mrpc_link_plan *plan)
{
	return conn->link.ops == plan->ops && conn->link.uses == plan->uses;
}

/**
 * mrpc_link_change() - bring a link to what a plan says
 * @conn: the connection; both claims are held, or only the caller knows it
 * @plan: the plan; the caller keeps its module
 * @extack: out: the reason of a failure
 *
 * Queues an announcement to the peer if one is due; the caller kicks the datapath afterwards.
 *
 * Context: process; may sleep.
 * Return: 0, or a negative errno: nothing has changed.
 */
int mrpc_link_change(struct mrpc_conn *conn, const struct mrpc_link_plan *plan,
		     struct netlink_ext_ack *extack)
{
	const struct mrpc_transport_ops *from = conn->link.ops, *to = plan->ops;
	struct mrpc_call *announce = NULL;
	void *link;

	conn->link.features.want = to->features;
	if (mrpc_features_due(&conn->link.features)) {
		announce = mrpc_control_new(conn, MRPC_WIRE_FEATURES,
					    mrpc_features_wanted(&conn->link.features), NULL, 0);
		if (!announce) {
			conn->link.features.want = from->features;
			return -ENOMEM;
		}
	}
	link = to->restore(&conn->link, from, from->decompose(&conn->link), plan->uses, extack);
	if (IS_ERR(link)) {
		conn->link.features.want = from->features;
		if (announce)
			mrpc_call_put(announce);
		return PTR_ERR(link);
	}
	__module_get(to->owner);
	mrpc_domain_leave(&conn->link);	/* it uses @from; the caller has it join again */
	spin_lock(&conn->lock);		/* for dumps */
	WRITE_ONCE(conn->link.ops, to);	/* and for mrpc_conn_too_slow() */
	conn->link.priv = link;
	spin_unlock(&conn->lock);
	module_put(from->owner);
	conn->link.uses = plan->uses;
	mrpc_link_agreed(&conn->link);
	if (announce) {
		mrpc_features_announced(&conn->link.features);
		mrpc_control_submit(conn, announce);
	}
	return 0;
}

/* Plans what the placements want now. Return: a group (reference) that keeps the module, or NULL. */
static struct mrpc_group *mrpc_link_wanted(struct mrpc_conn *conn, struct mrpc_link_plan *plan)
{
	struct mrpc_net *mn = mrpc_net(conn->session->net);
	struct mrpc_group *g, *last = NULL;
	struct mrpc_placement *p;

	mrpc_link_plan(conn, plan);
	spin_lock(&mn->lock);
	list_for_each_entry(p, &mn->placements, list) {
		if (!mrpc_scope_matches(&p->scope, conn))
			continue;
		g = mrpc_placement_choose(p, conn);
		if (g && g->ops->transport && mrpc_link_plan_add(conn, plan, g))
			last = g;
	}
	if (last)
		mrpc_group_get(last);
	spin_unlock(&mn->lock);
	return last;
}

/**
 * mrpc_link_begin() - change a new link to the right version
 * @conn: the connection, its services known, not published yet
 *
 * So its handshake offers the abilities of that version. If this fails, or the placements change
 * before calls can pass, mrpc_datapath_join() makes up for it.
 *
 * Context: process; may sleep.
 */
void mrpc_link_begin(struct mrpc_conn *conn)
{
	struct mrpc_link_plan plan;
	struct mrpc_group *g = mrpc_link_wanted(conn, &plan);

	if (!g)
		return;
	if (!mrpc_link_follows(conn, &plan))
		mrpc_link_change(conn, &plan, NULL);
	mrpc_group_put(g);
}
