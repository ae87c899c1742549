/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_POLICY_H
#define MRPC_NETLINK_POLICY_H

#include <linux/types.h>

struct genl_info;
struct mrpc_engine_ops;
struct net;
struct sk_buff;

/* netlink/policy.c */
int mrpc_nl_put_policy(struct sk_buff *skb, const struct net *net,
		       const struct mrpc_engine_ops *ops);
int mrpc_nl_fill_policy(struct sk_buff *skb, const struct genl_info *info,
			const struct mrpc_engine_ops *ops);

#endif /* MRPC_NETLINK_POLICY_H */
