/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_RUNTIME_H
#define MRPC_NETLINK_RUNTIME_H

#include <linux/types.h>

struct genl_info;
struct netlink_callback;
struct sk_buff;

int mrpc_nl_runtime_get(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_runtime_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_runtime_add(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_runtime_set(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_runtime_del(struct sk_buff *request, struct genl_info *info);

#endif /* MRPC_NETLINK_RUNTIME_H */
