/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_ENGINE_TYPE_H
#define MRPC_NETLINK_ENGINE_TYPE_H

#include <linux/types.h>

struct genl_info;
struct netlink_callback;
struct sk_buff;

int mrpc_nl_type_get(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_type_start(struct netlink_callback *cb);
int mrpc_nl_type_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* MRPC_NETLINK_ENGINE_TYPE_H */
