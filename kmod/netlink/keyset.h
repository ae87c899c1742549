/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_KEYSET_H
#define MRPC_NETLINK_KEYSET_H

#include <linux/types.h>

struct genl_info;
struct netlink_callback;
struct sk_buff;

int mrpc_nl_keyset_new(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_keyset_del(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_keyset_insert(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_keyset_remove(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_keyset_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_key_start(struct netlink_callback *cb);
int mrpc_nl_key_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_key_done(struct netlink_callback *cb);

#endif /* MRPC_NETLINK_KEYSET_H */
