// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: the registered types of engines, and their parameters.
 */
#include <net/netlink.h>

#include "control/egress_config.h"
#include "core/engine.h"
#include "core/net.h"
#include "core/placement.h"
#include "core/rpc.h"
#include "egress/domain.h"
#include "netlink/engine.h"
#include "netlink/engine_type.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/policy.h"
#include "netlink/session.h"
#include "policy/policy.h"

const struct nla_policy mrpc_nl_type_policy[] = {
	[MRPC_A_ENGINE_TYPE_NAME] = { .type = NLA_NUL_STRING },
	[MRPC_A_ENGINE_TYPE_VERSION] = NLA_POLICY_MIN(NLA_U32, 1),
};

static u32 mrpc_nl_param_flags(const struct mrpc_param *p)
{
	return (p->flags & MRPC_PARAM_REQUIRED ? MRPC_PARAM_FLAGS_REQUIRED : 0) |
	       (p->flags & MRPC_PARAM_UNLIMITED ? MRPC_PARAM_FLAGS_UNLIMITED : 0);
}

static int mrpc_nl_put_range(struct sk_buff *skb, const struct mrpc_param *p)
{
	bool data = p->type == MRPC_PARAM_STRING || p->type == MRPC_PARAM_RULES;

	if ((p->type == MRPC_PARAM_U64 || data) &&
	    (nla_put_uint(skb, MRPC_A_PARAM_LEAST, p->min) ||
	     nla_put_uint(skb, MRPC_A_PARAM_MOST, p->max)))
		return -EMSGSIZE;
	if (data || p->flags & MRPC_PARAM_REQUIRED)
		return 0;
	return nla_put_uint(skb, MRPC_A_PARAM_DEFAULT, p->def);
}

static int mrpc_nl_put_param(struct sk_buff *skb, const struct mrpc_param *p)
{
	static const u32 types[] = {
		[MRPC_PARAM_U64] = MRPC_VALUE_TYPE_NUMBER,
		[MRPC_PARAM_BOOL] = MRPC_VALUE_TYPE_BOOL,
		[MRPC_PARAM_CHOICE] = MRPC_VALUE_TYPE_CHOICE,
		[MRPC_PARAM_STRING] = MRPC_VALUE_TYPE_STRING,
		[MRPC_PARAM_RULES] = MRPC_VALUE_TYPE_RULES,
	};
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_ENGINE_TYPE_PARAM);
	u32 i;

	if (!nest ||
	    nla_put_string(skb, MRPC_A_PARAM_NAME, p->name) ||
	    nla_put_u32(skb, MRPC_A_PARAM_TYPE, types[p->type]) ||
	    nla_put_u32(skb, MRPC_A_PARAM_FLAGS, mrpc_nl_param_flags(p)) ||
	    (p->unit && nla_put_string(skb, MRPC_A_PARAM_UNIT, p->unit)) ||
	    (p->doc && nla_put_string(skb, MRPC_A_PARAM_DOC, p->doc)) ||
	    mrpc_nl_put_range(skb, p))
		return -EMSGSIZE;
	for (i = 0; p->type == MRPC_PARAM_CHOICE && p->choices[i]; i++)
		if (nla_put_string(skb, MRPC_A_PARAM_CHOICE, p->choices[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u32 mrpc_nl_type_flags(const struct mrpc_engine_ops *ops)
{
	return (ops->flags & MRPC_ENGINE_RX_BYTES ? MRPC_ENGINE_FLAGS_READING : 0) |
	       (ops->flags & MRPC_ENGINE_TIMES ? MRPC_ENGINE_FLAGS_TIMING : 0) |
	       (ops->flags & MRPC_ENGINE_MANDATORY ? MRPC_ENGINE_FLAGS_MANDATORY : 0);
}

static int mrpc_nl_put_domain_user(struct sk_buff *skb, const struct mrpc_domain *d)
{
	char name[IFNAMSIZ + 12];

	if (d->dev[0])
		scnprintf(name, sizeof(name), "egress dev %s", d->dev);
	else
		strscpy(name, "egress loop");
	return nla_put_string(skb, MRPC_A_ENGINE_TYPE_USER, name);
}

/* The users of a type. While there are any, its module cannot be removed. */
static int mrpc_nl_put_users(struct sk_buff *skb, struct net *net,
			     const struct mrpc_engine_ops *ops)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_placement *p;
	struct mrpc_domain *d;
	int err = 0;

	spin_lock(&mn->lock);
	list_for_each_entry(p, &mn->placements, list)
		if (!err && mrpc_placement_uses(p, ops))
			err = nla_put_string(skb, MRPC_A_ENGINE_TYPE_USER, p->name);
	list_for_each_entry(d, &mn->domains, list)
		if (!err && mrpc_domain_ranks_by(d, ops))
			err = mrpc_nl_put_domain_user(skb, d);
	spin_unlock(&mn->lock);
	return err;
}

static u32 mrpc_nl_type_dirs(const struct mrpc_engine_ops *ops)
{
	return (ops->dirs & BIT(MRPC_TX) ? BIT(MRPC_QUEUE_DIR_TX) : 0) |
	       (ops->dirs & BIT(MRPC_RX) ? BIT(MRPC_QUEUE_DIR_RX) : 0);
}

static int mrpc_nl_fill_type(struct sk_buff *skb, const struct genl_info *info,
			     const struct mrpc_engine_ops *ops)
{
	void *hdr = mrpc_nl_begin(skb, info);
	const char *const *takes;
	int err;
	u32 i;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_string(skb, MRPC_A_ENGINE_TYPE_NAME, ops->name) ||
	      nla_put_u32(skb, MRPC_A_ENGINE_TYPE_VERSION, ops->version) ||
	      nla_put_u32(skb, MRPC_A_ENGINE_TYPE_OLDEST, ops->oldest) ||
	      nla_put_u32(skb, MRPC_A_ENGINE_TYPE_STATE_VERSION, ops->state_version) ||
	      nla_put_string(skb, MRPC_A_ENGINE_TYPE_MODULE, module_name(ops->owner)) ||
	      nla_put_u32(skb, MRPC_A_ENGINE_TYPE_DIRS, mrpc_nl_type_dirs(ops)) ||
	      nla_put_u32(skb, MRPC_A_ENGINE_TYPE_FLAGS, mrpc_nl_type_flags(ops)) ||
	      (ops->doc && nla_put_string(skb, MRPC_A_ENGINE_TYPE_DOC, ops->doc)) ||
	      mrpc_nl_put_users(skb, genl_info_net(info), ops);
	for (takes = ops->takes; !err && takes && *takes; takes++)
		err = nla_put_string(skb, MRPC_A_ENGINE_TYPE_TAKES, *takes);
	for (i = 0; !err && i < ops->nr_params; i++)
		err = mrpc_nl_put_param(skb, &ops->params[i]);
	if (!err && mrpc_engine_is_policy(ops))
		err = mrpc_nl_put_policy(skb, genl_info_net(info), ops);
	return mrpc_nl_end(skb, hdr, err);
}

int mrpc_nl_type_get(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *version = info->attrs[MRPC_A_ENGINE_TYPE_VERSION];
	const struct mrpc_engine_ops *ops;
	struct sk_buff *skb;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_ENGINE_TYPE_NAME))
		return -EINVAL;
	err = mrpc_nl_check_name(info->attrs[MRPC_A_ENGINE_TYPE_NAME], info->extack);
	if (err)
		return err;
	ops = mrpc_engine_get(nla_data(info->attrs[MRPC_A_ENGINE_TYPE_NAME]),
			      version ? nla_get_u32(version) : 0, info->extack);
	if (IS_ERR(ops))
		return PTR_ERR(ops);
	skb = mrpc_nl_new(0);
	err = skb ? mrpc_nl_reply(skb, info, mrpc_nl_fill_type(skb, info, ops)) : -ENOMEM;
	mrpc_engine_put(ops);
	return err;
}

/* -- dump: in order of names and versions ---------------------------------- */

/* The last type that the dump has, or none. */
struct mrpc_nl_type_cursor {
	char name[MRPC_PLACEMENT_NAME];
	u32 version;
};

int mrpc_nl_type_start(struct netlink_callback *cb)
{
	struct mrpc_nl_type_cursor *cur = (void *)cb->ctx;

	NL_ASSERT_DUMP_CTX_FITS(struct mrpc_nl_type_cursor);
	cb->min_dump_alloc = MRPC_NL_SIZE;
	memset(cur, 0, sizeof(*cur));
	return 0;
}

int mrpc_nl_type_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_type_cursor *cur = (void *)cb->ctx;
	const struct mrpc_engine_ops *ops;
	int err;

	while ((ops = mrpc_engine_next(cur->name, cur->version))) {
		err = mrpc_nl_fill_type(skb, genl_info_dump(cb), ops);
		if (!err) {
			strscpy(cur->name, ops->name, sizeof(cur->name));
			cur->version = ops->version;
		}
		mrpc_engine_put(ops);
		if (err)
			return err;
	}
	return 0;
}
