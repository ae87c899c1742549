/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_DUMP_H
#define MRPC_NETLINK_DUMP_H

#include <linux/types.h>

#include "netlink/netlink.h"

struct genl_info;
struct mrpc_conn;
struct mrpc_session;
struct net;
struct netlink_callback;
struct sk_buff;

/* netlink/dump.c */
struct mrpc_session *mrpc_nl_session(const struct genl_info *info, int attr);
struct mrpc_session *mrpc_nl_session_with(const struct genl_info *info, int attr_session, int attr,
					  u32 *id);
int mrpc_nl_start(struct netlink_callback *cb);
int mrpc_nl_dump(struct sk_buff *skb, struct netlink_callback *cb, mrpc_nl_each each);
int mrpc_nl_session_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_qp_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_conns(struct sk_buff *skb, const struct genl_info *info,
		  struct mrpc_session *session, struct mrpc_nl_cursor *cur,
		  int (*fill)(struct sk_buff *skb, const struct genl_info *info,
			      struct mrpc_conn *conn));
int mrpc_nl_conn_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_datapath_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_service_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_walk(struct net *net, int (*each)(struct mrpc_conn *conn, void *ctx), void *ctx);

#endif /* MRPC_NETLINK_DUMP_H */
