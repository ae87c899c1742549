/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_QUEUE_H
#define MRPC_NETLINK_QUEUE_H

#include <linux/types.h>

struct genl_info;
struct mrpc_chain;
struct mrpc_conn;
struct mrpc_engine;
struct net;
struct netlink_callback;
struct sk_buff;

struct mrpc_engine *mrpc_nl_engine_of(const struct mrpc_chain *chain, const char *name);
int mrpc_nl_queue_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_queue_set(struct sk_buff *request, struct genl_info *info);
struct mrpc_conn *mrpc_nl_datapath(struct net *net, u32 id);
int mrpc_nl_rpc_start(struct netlink_callback *cb);
int mrpc_nl_rpc_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_rpc_done(struct netlink_callback *cb);

#endif /* MRPC_NETLINK_QUEUE_H */
