/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_STRATEGY_H
#define MRPC_NETLINK_STRATEGY_H

#include <net/netlink.h>

struct genl_info;
struct mrpc_member;
struct sk_buff;

extern const struct nla_policy mrpc_nl_group_set_policy[];

int mrpc_nl_put_strategy(struct sk_buff *skb, struct mrpc_member *m);
int mrpc_nl_group_set(struct sk_buff *request, struct genl_info *info);

#endif /* MRPC_NETLINK_STRATEGY_H */
