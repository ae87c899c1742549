/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_EGRESS_H
#define MRPC_NETLINK_EGRESS_H

#include <linux/types.h>

struct genl_info;
struct mrpc_domain;
struct netlink_callback;
struct sk_buff;

int mrpc_nl_fill_egress(struct sk_buff *skb, const struct genl_info *info, struct mrpc_domain *d);
int mrpc_nl_egress_get(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_egress_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_egress_set(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_egress_del(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_egress_queue_start(struct netlink_callback *cb);
int mrpc_nl_egress_queue_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_egress_queue_done(struct netlink_callback *cb);

#endif /* MRPC_NETLINK_EGRESS_H */
