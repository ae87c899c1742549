/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_ENGINE_H
#define MRPC_NETLINK_ENGINE_H

#include <linux/types.h>

struct genl_info;
struct mrpc_conn;
struct mrpc_engine;
struct mrpc_placement;
struct net;
struct netlink_callback;
struct netlink_ext_ack;
struct nlattr;
struct sk_buff;

int mrpc_nl_fill_engine(struct sk_buff *skb, const struct genl_info *info, struct net *net,
			struct mrpc_placement *p);
int mrpc_nl_put_stages(struct sk_buff *skb, struct mrpc_conn *conn);
int mrpc_nl_check_name(const struct nlattr *attr, struct netlink_ext_ack *extack);
struct mrpc_placement *mrpc_nl_placement(const struct genl_info *info, int attr);
int mrpc_nl_engine_get(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_engine_start(struct netlink_callback *cb);
int mrpc_nl_engine_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_engine_done(struct netlink_callback *cb);

#endif /* MRPC_NETLINK_ENGINE_H */
