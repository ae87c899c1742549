/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_SCHEMA_H
#define MRPC_NETLINK_SCHEMA_H

#include <linux/types.h>

struct mrpc_nl_schema;
struct net;
struct netlink_callback;
struct sk_buff;

/* netlink/schema.c */
int mrpc_nl_find_schema(struct net *net, u32 id, const u8 *hash, struct mrpc_nl_schema *found);
int mrpc_nl_schema_start(struct netlink_callback *cb);
int mrpc_nl_schema_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_schema_done(struct netlink_callback *cb);
int mrpc_nl_method_start(struct netlink_callback *cb);
int mrpc_nl_method_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* MRPC_NETLINK_SCHEMA_H */
