// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: what there is to know of engine types that are policies.
 */
#include <linux/rcupdate.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include <net/netlink.h>

#include "control/egress_config.h"
#include "core/net.h"
#include "core/placement.h"
#include "egress/domain.h"
#include "netlink/policy.h"
#include "netlink/session.h"
#include "policy/policy.h"
#include "policy/registry.h"

static u32 mrpc_nl_policy_flags(u32 flags)
{
	return (flags & MRPC_POLICY_WRITES ? MRPC_POLICY_FLAGS_WRITES : 0) |
	       (flags & MRPC_POLICY_RANKS ? MRPC_POLICY_FLAGS_RANKS : 0) |
	       (flags & MRPC_POLICY_AGES ? MRPC_POLICY_FLAGS_AGES : 0);
}

/* What its present programs declare. */
static int mrpc_nl_put_prog(struct sk_buff *skb, const struct mrpc_policy_prog *prog)
{
	const struct mrpc_policy_decl *decl = prog->decl;
	int err;
	u32 i;

	err = nla_put_u32(skb, MRPC_A_POLICY_HOOKS, prog->hooks) ||
	      nla_put_u32(skb, MRPC_A_POLICY_FLAGS, mrpc_nl_policy_flags(decl->flags)) ||
	      (prog->tick && nla_put_uint(skb, MRPC_A_POLICY_PERIOD, decl->period));
	for (i = 0; i < prog->nr_fields && !err; i++)
		err = nla_put_string(skb, MRPC_A_POLICY_FIELD, decl->fields[i]);
	for (i = 0; i < prog->nr_counters && !err; i++)
		err = nla_put_string(skb, MRPC_A_POLICY_COUNTER, decl->counters[i]);
	return err;
}

static u32 mrpc_nl_count_users(struct net *net, const struct mrpc_engine_ops *ops)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_placement *p;
	struct mrpc_domain *d;
	u32 nr = 0;

	spin_lock(&mn->lock);
	list_for_each_entry(p, &mn->placements, list)
		nr += mrpc_placement_uses(p, ops);
	list_for_each_entry(d, &mn->domains, list)
		nr += mrpc_domain_ranks_by(d, ops);
	spin_unlock(&mn->lock);
	return nr;
}

/* Policies are the host's: engines of other network namespaces use them too. */
static u32 mrpc_nl_count_elsewhere(const struct net *net, const struct mrpc_engine_ops *ops)
{
	struct net *other;
	u32 nr = 0;

	rcu_read_lock();
	for_each_net_rcu(other)
		if (!net_eq(net, other))
			nr += mrpc_nl_count_users(other, ops);
	rcu_read_unlock();
	return nr;
}

static u32 mrpc_nl_policy_state(const struct mrpc_policy_look *look)
{
	if (look->prog)
		return MRPC_POLICY_STATE_ATTACHED;
	return look->thrown ? MRPC_POLICY_STATE_EVICTED : MRPC_POLICY_STATE_DETACHED;
}

/**
 * mrpc_nl_put_policy() - add what is known of a policy to a message about its type
 * @skb: the message
 * @net: the reader's network namespace; NULL: readers of all of them
 * @ops: an engine type that is a policy, referenced
 *
 * Context: process; may sleep. Return: 0 or -EMSGSIZE.
 */
int mrpc_nl_put_policy(struct sk_buff *skb, const struct net *net,
		       const struct mrpc_engine_ops *ops)
{
	/* The link, and its use elsewhere, are the host's: no root of a user namespace sees them. */
	bool host = !net || net->user_ns == &init_user_ns;
	struct mrpc_policy *policy = mrpc_policy_of(ops);
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_ENGINE_TYPE_POLICY);
	struct mrpc_policy_look look;
	int err;

	if (!nest)
		return -EMSGSIZE;
	mrpc_policy_look(policy, &look);
	err = nla_put_u32(skb, MRPC_A_POLICY_TYPE, policy->class->type) ||
	      nla_put_u32(skb, MRPC_A_POLICY_STATE, mrpc_nl_policy_state(&look)) ||
	      (host && look.link && nla_put_u32(skb, MRPC_A_POLICY_LINK, look.link)) ||
	      nla_put_uint(skb, MRPC_A_POLICY_GENERATION, look.generation) ||
	      nla_put_u32(skb, MRPC_A_POLICY_EVICTED, READ_ONCE(policy->evicted)) ||
	      (*look.why && nla_put_string(skb, MRPC_A_POLICY_WHY, look.why)) ||
	      nla_put_u32(skb, MRPC_A_POLICY_STORAGE, policy->storage) ||
	      (net && host && nla_put_u32(skb, MRPC_A_POLICY_ELSEWHERE,
				  mrpc_nl_count_elsewhere(net, ops)));
	if (look.prog) {
		err = err || mrpc_nl_put_prog(skb, look.prog);
		mrpc_policy_prog_put(look.prog);
	}
	if (err)
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* What has become of a policy, for all network namespaces. */
int mrpc_nl_fill_policy(struct sk_buff *skb, const struct genl_info *info,
			const struct mrpc_engine_ops *ops)
{
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_string(skb, MRPC_A_ENGINE_TYPE_NAME, ops->name) ||
	      nla_put_u32(skb, MRPC_A_ENGINE_TYPE_VERSION, ops->version) ||
	      mrpc_nl_put_policy(skb, NULL, ops);
	return mrpc_nl_end(skb, hdr, err);
}
