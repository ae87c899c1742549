// SPDX-License-Identifier: GPL-2.0
/* Netlink: the strategies of groups, and how operators change them. */
#include "core/refusal.h"
#include "group/member.h"
#include "group/strategy.h"
#include "lib/group/change.h"
#include "lib/group/operation.h"
#include "netlink/group.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/session.h"
#include "netlink/strategy.h"

static const struct nla_policy mrpc_nl_choice_policy[] = {
	[MRPC_A_GROUP_CHOICE_COLLECTIVE] = NLA_POLICY_MAX(NLA_U32, MRPC_NR_COLLECTIVES - 1),
	[MRPC_A_GROUP_CHOICE_ALGORITHM] = NLA_POLICY_MAX(NLA_U32, MRPC_NR_ALGORITHMS - 1),
};

static const struct nla_policy mrpc_nl_strategy_policy[] = {
	[MRPC_A_GROUP_STRATEGY_ORDER] = {
		.type = NLA_BINARY, .len = MRPC_GROUP_RANKS * sizeof(u32),
	},
	[MRPC_A_GROUP_STRATEGY_CHOICE] = NLA_POLICY_NESTED(mrpc_nl_choice_policy),
};

const struct nla_policy mrpc_nl_group_set_policy[] = {
	[MRPC_A_GROUP_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_GROUP_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_GROUP_STRATEGY] = NLA_POLICY_NESTED(mrpc_nl_strategy_policy),
};

/* -- show ------------------------------------------------------------------------------- */

static int mrpc_nl_put_choice(struct sk_buff *skb, u32 collective, u32 algorithm)
{
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_GROUP_STRATEGY_CHOICE);

	if (!nest ||
	    nla_put_u32(skb, MRPC_A_GROUP_CHOICE_COLLECTIVE, collective) ||
	    nla_put_u32(skb, MRPC_A_GROUP_CHOICE_ALGORITHM, algorithm))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int mrpc_nl_put_change(struct sk_buff *skb, const struct mrpc_strategy_view *view)
{
	return nla_put_u32(skb, MRPC_A_GROUP_STRATEGY_NEXT, view->version + 1) ||
	       (view->awaits != MRPC_NO_RANK &&
		nla_put_u32(skb, MRPC_A_GROUP_STRATEGY_AWAITS, view->awaits)) ||
	       nla_put_uint(skb, MRPC_A_GROUP_STRATEGY_LAST, view->last);
}

/* The strategy of a rank, in a message about the rank. */
int mrpc_nl_put_strategy(struct sk_buff *skb, struct mrpc_member *m)
{
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_GROUP_STRATEGY), *order;
	struct mrpc_strategy_view view;
	u32 i;

	if (!nest)
		return -EMSGSIZE;
	order = nla_reserve(skb, MRPC_A_GROUP_STRATEGY_ORDER, m->ranks * sizeof(u32));
	if (!order)
		return -EMSGSIZE;
	mrpc_strategy_view(m, &view, nla_data(order));
	if (nla_put_u32(skb, MRPC_A_GROUP_STRATEGY_VERSION, view.version) ||
	    (view.version && nla_put_u32(skb, MRPC_A_GROUP_STRATEGY_PROPOSER, view.proposer)) ||
	    (view.open && mrpc_nl_put_change(skb, &view)))
		return -EMSGSIZE;
	for (i = 0; i < MRPC_NR_COLLECTIVES; i++)
		if (view.algorithm[i] && mrpc_nl_put_choice(skb, i, view.algorithm[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* -- change ----------------------------------------------------------------------------- */

static int mrpc_nl_get_choice(struct mrpc_strategy_request *request, struct nlattr *attr,
			      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[MRPC_A_GROUP_CHOICE_MAX + 1];
	u32 collective;
	int err;

	err = nla_parse_nested(tb, MRPC_A_GROUP_CHOICE_MAX, attr, mrpc_nl_choice_policy, extack);
	if (err)
		return err;
	if (NL_REQ_ATTR_CHECK(extack, attr, tb, MRPC_A_GROUP_CHOICE_COLLECTIVE) ||
	    NL_REQ_ATTR_CHECK(extack, attr, tb, MRPC_A_GROUP_CHOICE_ALGORITHM)) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "a choice has a collective and an algorithm");
		return -EINVAL;
	}
	collective = nla_get_u32(tb[MRPC_A_GROUP_CHOICE_COLLECTIVE]);
	if (request->changes & BIT(collective)) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "%s has an algorithm twice",
					mrpc_collective_name(collective));
		return -EINVAL;
	}
	request->changes |= BIT(collective);
	request->algorithm[collective] = nla_get_u32(tb[MRPC_A_GROUP_CHOICE_ALGORITHM]);
	return 0;
}

static int mrpc_nl_get_strategy(struct mrpc_strategy_request *request, struct nlattr *strategy,
				struct netlink_ext_ack *extack)
{
	struct nlattr *attr;
	int left, err = 0;

	nla_for_each_nested(attr, strategy, left) {
		if (nla_type(attr) == MRPC_A_GROUP_STRATEGY_CHOICE) {
			err = mrpc_nl_get_choice(request, attr, extack);
		} else if (request->order) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "the order is given twice");
			err = -EINVAL;
		} else if (nla_len(attr) % sizeof(u32)) {
			NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
						"an order of %u bytes has no whole ranks of 4",
						nla_len(attr));
			err = -EINVAL;
		} else {
			request->order = nla_data(attr);
			request->nr = nla_len(attr) / sizeof(u32);
		}
		if (err)
			return err;
	}
	if (request->order || request->changes)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, strategy, "a strategy has an order or a choice");
	return -EINVAL;
}

static int mrpc_nl_set_reply(struct sk_buff *skb, struct genl_info *info, struct mrpc_member *m,
			     u32 version)
{
	struct nlattr *nest;
	void *hdr;
	int err;

	hdr = mrpc_nl_begin(skb, info);
	nest = hdr ? nla_nest_start(skb, MRPC_A_GROUP_STRATEGY) : NULL;
	err = !nest || nla_put_u32(skb, MRPC_A_GROUP_STRATEGY_VERSION, version);
	if (!err)
		nla_nest_end(skb, nest);
	err = err || nla_put_u32(skb, MRPC_A_GROUP_RANK, m->rank);
	return mrpc_nl_reply(skb, info, hdr ? mrpc_nl_end(skb, hdr, err) : -EMSGSIZE);
}

int mrpc_nl_group_set(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_strategy_request want = { 0 };
	struct mrpc_refusal r __uninitialized;
	struct mrpc_member *m;
	struct sk_buff *skb;
	u32 version;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_GROUP_STRATEGY)) {
		NL_SET_ERR_MSG(info->extack, "no strategy is given");
		return -EINVAL;
	}
	err = mrpc_nl_get_strategy(&want, info->attrs[MRPC_A_GROUP_STRATEGY], info->extack);
	if (err)
		return err;
	m = mrpc_nl_member(info, MRPC_A_GROUP_SESSION, MRPC_A_GROUP_ID);
	if (IS_ERR(m))
		return PTR_ERR(m);
	skb = mrpc_nl_new(0);	/* now: a change that is under way cannot be refused */
	err = skb ? mrpc_strategy_set(m, &want, &version, &r) : -ENOMEM;
	if (!err) {
		err = mrpc_nl_set_reply(skb, info, m, version);
	} else {
		nlmsg_free(skb);
		if (skb)
			NL_SET_ERR_MSG_FMT(info->extack, "%.79s", r.detail);
	}
	mrpc_member_put(m);
	return err;
}
