// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: the transports that are loaded, and what they know of the reader's network
 * namespace.
 */
#include <net/netlink.h>

#include "core/transport.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"
#include "netlink/netlink.h"
#include "netlink/session.h"
#include "netlink/transport.h"

const struct nla_policy mrpc_nl_transport_policy[] = {
	[MRPC_A_TRANSPORT_NAME] = { .type = NLA_NUL_STRING },
};

static u32 mrpc_nl_transport_features(const struct mrpc_transport_ops *ops)
{
	return (ops->features & MRPC_FEATURE_CRC ? MRPC_TRANSPORT_FEATURES_CHECKSUMS : 0) |
	       (ops->credit || ops->sender ? MRPC_TRANSPORT_FEATURES_EGRESS : 0) |
	       (ops->decompose ? MRPC_TRANSPORT_FEATURES_EXCHANGE : 0);
}

/* An mrpc_stat_emit; @ctx is the message. */
static int mrpc_nl_put_stat(void *ctx, enum mrpc_stat_kind kind, const char *name, u64 value)
{
	static const int attrs[] = {
		[MRPC_STAT_COUNTER] = MRPC_A_TRANSPORT_COUNTER,
		[MRPC_STAT_DROP] = MRPC_A_TRANSPORT_DROP,
		[MRPC_STAT_GAUGE] = MRPC_A_TRANSPORT_GAUGE,
		[MRPC_STAT_SETTING] = MRPC_A_TRANSPORT_SETTING,
	};
	struct sk_buff *skb = ctx;
	struct nlattr *nest = nla_nest_start(skb, attrs[kind]);

	if (!nest || nla_put_string(skb, MRPC_A_COUNTER_NAME, name) ||
	    nla_put_uint(skb, MRPC_A_COUNTER_VALUE, value))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* @ops: referenced, which is not counted. */
static int mrpc_nl_fill_transport(struct sk_buff *skb, const struct genl_info *info,
				  const struct mrpc_transport_ops *ops)
{
	void *hdr = mrpc_nl_begin(skb, info);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_string(skb, MRPC_A_TRANSPORT_NAME, ops->name) ||
	      nla_put_u32(skb, MRPC_A_TRANSPORT_VERSION, ops->version) ||
	      nla_put_string(skb, MRPC_A_TRANSPORT_MODULE, module_name(ops->owner)) ||
	      nla_put_u32(skb, MRPC_A_TRANSPORT_REFERENCES, module_refcount(ops->owner) - 1) ||
	      nla_put_u32(skb, MRPC_A_TRANSPORT_FEATURES, mrpc_nl_transport_features(ops)) ||
	      (ops->stats && ops->stats(genl_info_net(info), mrpc_nl_put_stat, skb));
	return mrpc_nl_end(skb, hdr, err);
}

/**
 * struct mrpc_nl_transport_cursor - where a dump is
 * @name: of the last transport that was put, or ""
 * @version: its
 */
struct mrpc_nl_transport_cursor {
	char name[MRPC_TRANSPORT_LEN];
	u32 version;
};

static bool mrpc_nl_transport_wanted(const struct genl_info *info,
				     const struct mrpc_transport_ops *ops)
{
	const struct nlattr *only = info->attrs[MRPC_A_TRANSPORT_NAME];

	return !only || !strcmp(nla_data(only), ops->name);
}

/* The next one that is wanted, with a module reference. */
static const struct mrpc_transport_ops *mrpc_nl_transport_next(const struct genl_info *info,
							       struct mrpc_nl_transport_cursor *cur)
{
	const struct mrpc_transport_ops *ops;

	while ((ops = mrpc_transport_next(cur->name, cur->version))) {
		if (mrpc_nl_transport_wanted(info, ops))
			break;
		strscpy(cur->name, ops->name, sizeof(cur->name));
		cur->version = ops->version;
		mrpc_transport_put(ops);
	}
	return ops;
}

int mrpc_nl_transport_start(struct netlink_callback *cb)
{
	struct mrpc_nl_transport_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	const struct nlattr *only = info->attrs[MRPC_A_TRANSPORT_NAME];
	const struct mrpc_transport_ops *ops;

	NL_ASSERT_DUMP_CTX_FITS(struct mrpc_nl_transport_cursor);
	cb->min_dump_alloc = MRPC_NL_SIZE;
	memset(cur, 0, sizeof(*cur));
	ops = mrpc_nl_transport_next(info, cur);
	if (!ops) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, only, "no transport '%.31s' is loaded",
					only ? (const char *)nla_data(only) : "");
		return -ENOENT;
	}
	mrpc_transport_put(ops);
	return 0;
}

int mrpc_nl_transport_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_transport_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	const struct mrpc_transport_ops *ops;
	int err;

	while ((ops = mrpc_nl_transport_next(info, cur))) {
		err = mrpc_nl_fill_transport(skb, info, ops);
		if (!err) {
			strscpy(cur->name, ops->name, sizeof(cur->name));
			cur->version = ops->version;
		}
		mrpc_transport_put(ops);
		if (err)
			return err;
	}
	return 0;
}
