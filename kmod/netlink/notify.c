// SPDX-License-Identifier: GPL-2.0
/* Notifications of the netlink family. */
#include <linux/rcupdate.h>
#include <net/netlink.h>

#include "core/conn.h"
#include "core/engine.h"
#include "core/listener.h"
#include "core/placement.h"
#include "core/session.h"
#include "egress/domain.h"
#include "netlink/egress.h"
#include "netlink/engine.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/notify.h"
#include "netlink/policy.h"
#include "netlink/session.h"

static bool mrpc_nl_heard(struct net *net)
{
	return genl_has_listeners(&mrpc_nl_family, net, MRPC_NL_EVENTS);
}

/* Send what is in @skb, or, with @err, have the listeners learn of a loss. */
static void mrpc_nl_multicast(struct net *net, struct sk_buff *skb, int err)
{
	if (!err) {
		genlmsg_multicast_netns(&mrpc_nl_family, net, skb, 0, MRPC_NL_EVENTS, GFP_KERNEL);
		return;
	}
	nlmsg_free(skb);
	genl_set_err(&mrpc_nl_family, net, 0, MRPC_NL_EVENTS, -ENOBUFS);
}

/**
 * mrpc_nl_notify_session() - a session was set up, or has ended
 * @session: the session
 * @event: MRPC_EVENT_SESSION_*
 *
 * Context: process; may sleep.
 */
static void mrpc_nl_notify_session(struct mrpc_session *session, u8 event)
{
	struct genl_info info;
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (!mrpc_nl_heard(session->net))
		return;
	genl_info_init_ntf(&info, &mrpc_nl_family, event);
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_fill_session(skb, &info, session);
	mrpc_nl_multicast(session->net, skb, err);
}

/**
 * mrpc_nl_notify_conn() - a connection is ready, or has ended
 * @conn: the connection
 * @event: MRPC_EVENT_CONN_*
 *
 * Context: process; may sleep.
 */
static void mrpc_nl_notify_conn(struct mrpc_conn *conn, u8 event)
{
	struct genl_info info;
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (!mrpc_nl_heard(conn->session->net))
		return;
	genl_info_init_ntf(&info, &mrpc_nl_family, event);
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_fill_conn(skb, &info, conn);
	mrpc_nl_multicast(conn->session->net, skb, err);
}

/**
 * mrpc_nl_notify_listener() - services are offered, or no longer
 * @l: the listener; each of its services is told of
 * @event: MRPC_EVENT_LISTENER_*
 *
 * Context: process; may sleep.
 */
static void mrpc_nl_notify_listener(struct mrpc_listener *l, u8 event)
{
	struct genl_info info;
	struct sk_buff *skb;
	int err;
	u32 i;

	if (!mrpc_nl_heard(l->session->net))
		return;
	genl_info_init_ntf(&info, &mrpc_nl_family, event);
	for (i = 0; i < l->nr_services; i++) {
		skb = mrpc_nl_new(0);
		err = skb ? mrpc_nl_fill_served(skb, &info, l, i) : -ENOMEM;
		mrpc_nl_multicast(l->session->net, skb, err);
	}
}

/**
 * mrpc_nl_notify_engine() - an engine was placed, changed or removed
 * @net: the network namespace
 * @p: its placement
 * @event: MRPC_EVENT_ENGINE_*
 *
 * Context: process; may sleep.
 */
static void mrpc_nl_notify_engine(struct net *net, struct mrpc_placement *p, u8 event)
{
	struct genl_info info;
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (!mrpc_nl_heard(net))
		return;
	genl_info_init_ntf(&info, &mrpc_nl_family, event);
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_fill_engine(skb, &info, net, p);
	mrpc_nl_multicast(net, skb, err);
}

/**
 * mrpc_nl_notify_domain() - an egress domain was set or deleted, or its grants have expired
 * @d: the domain
 * @event: MRPC_EVENT_EGRESS_*
 *
 * Context: process; may sleep. The domain's network namespace must last meanwhile.
 */
static void mrpc_nl_notify_domain(struct mrpc_domain *d, u8 event)
{
	struct genl_info info;
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (!mrpc_nl_heard(d->net))
		return;
	genl_info_init_ntf(&info, &mrpc_nl_family, event);
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_fill_egress(skb, &info, d);
	mrpc_nl_multicast(d->net, skb, err);
}

static int mrpc_nl_fill_fault(struct sk_buff *skb, const struct genl_info *info,
			      const struct mrpc_engine *e, const char *what, const char *detail)
{
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(skb, MRPC_A_FAULT_ID, e->placement->id) ||
	      nla_put_string(skb, MRPC_A_FAULT_ENGINE, e->placement->name) ||
	      nla_put_string(skb, MRPC_A_FAULT_TYPE, e->ops->name) ||
	      nla_put_u32(skb, MRPC_A_FAULT_VERSION, e->ops->version) ||
	      nla_put_u32(skb, MRPC_A_FAULT_DATAPATH, e->conn->dp_id) ||
	      nla_put_string(skb, MRPC_A_FAULT_WHAT, what) ||
	      nla_put_string(skb, MRPC_A_FAULT_DETAIL, detail) ||
	      (READ_ONCE(e->bypassed) && nla_put_flag(skb, MRPC_A_FAULT_BYPASSED));
	return mrpc_nl_end(skb, hdr, err);
}

/**
 * mrpc_nl_notify_fault() - an engine misbehaves
 * @e: the engine
 * @what: "slow", "leak" or "error"
 * @detail: a sentence
 *
 * Context: process; may sleep.
 */
static void mrpc_nl_notify_fault(struct mrpc_engine *e, const char *what, const char *detail)
{
	struct net *net = e->conn->session->net;
	struct genl_info info;
	struct sk_buff *skb;
	int err = -ENOMEM;

	pr_notice_ratelimited("mrpc: engine %s (%s version %u) of datapath %u: %s: %s%s\n",
			      e->placement->name, e->ops->name, e->ops->version, e->conn->dp_id,
			      what, detail, READ_ONCE(e->bypassed) ? "; it is bypassed" : "");
	if (!mrpc_nl_heard(net))
		return;
	genl_info_init_ntf(&info, &mrpc_nl_family, MRPC_CMD_ENGINE_FAULT_NTF);
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_fill_fault(skb, &info, e, what, detail);
	mrpc_nl_multicast(net, skb, err);
}

/**
 * mrpc_nl_notify_policy() - a policy has got programs, others, or has them no more
 * @ops: the type that it is
 * @event: MRPC_EVENT_POLICY_*
 *
 * Policies are the host's, so the network namespaces of the initial user namespace learn it.
 * The root of another user namespace does not: it may ask for the types that it can place.
 *
 * Context: process; may sleep.
 */
static void mrpc_nl_notify_policy(const struct mrpc_engine_ops *ops, u8 event)
{
	struct sk_buff *skb = mrpc_nl_new(0), *copy;
	struct genl_info info;
	struct net *net;

	genl_info_init_ntf(&info, &mrpc_nl_family, event);
	if (skb && mrpc_nl_fill_policy(skb, &info, ops)) {
		nlmsg_free(skb);
		skb = NULL;
	}
	rcu_read_lock();
	for_each_net_rcu(net) {
		if (net->user_ns != &init_user_ns || !mrpc_nl_heard(net))
			continue;
		copy = skb ? skb_clone(skb, GFP_ATOMIC) : NULL;
		if (copy)
			genlmsg_multicast_netns(&mrpc_nl_family, net, copy, 0, MRPC_NL_EVENTS,
						GFP_ATOMIC);
		else
			genl_set_err(&mrpc_nl_family, net, 0, MRPC_NL_EVENTS, -ENOBUFS);
	}
	rcu_read_unlock();
	nlmsg_free(skb);
}

const struct mrpc_notify_ops mrpc_nl_notify_ops = {
	.session	= mrpc_nl_notify_session,
	.conn		= mrpc_nl_notify_conn,
	.listener	= mrpc_nl_notify_listener,
	.engine		= mrpc_nl_notify_engine,
	.domain		= mrpc_nl_notify_domain,
	.fault		= mrpc_nl_notify_fault,
	.policy		= mrpc_nl_notify_policy,
};
