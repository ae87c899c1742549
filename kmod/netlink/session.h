/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_SESSION_H
#define MRPC_NETLINK_SESSION_H

#include <linux/types.h>

struct genl_info;
struct mrpc_conn;
struct mrpc_listener;
struct mrpc_nl_schema;
struct mrpc_qp;
struct mrpc_schema;
struct mrpc_session;
struct net;
struct sk_buff;

/*
 * netlink/session.c: each adds one message to @skb, or nothing and returns
 * -EMSGSIZE.
 */
void *mrpc_nl_begin(struct sk_buff *skb, const struct genl_info *info);
int mrpc_nl_end(struct sk_buff *skb, void *hdr, int err);
u32 mrpc_nl_pid(const struct net *net, const struct genl_info *info, pid_t pid);
int mrpc_nl_fill_session(struct sk_buff *skb, const struct genl_info *info,
			 struct mrpc_session *session);
int mrpc_nl_fill_qp(struct sk_buff *skb, const struct genl_info *info, struct mrpc_qp *qp);
int mrpc_nl_fill_conn(struct sk_buff *skb, const struct genl_info *info,
		      struct mrpc_conn *conn);
int mrpc_nl_fill_datapath(struct sk_buff *skb, const struct genl_info *info,
			  struct mrpc_conn *conn);
int mrpc_nl_fill_served(struct sk_buff *skb, const struct genl_info *info,
			struct mrpc_listener *l, u32 index);
int mrpc_nl_fill_called(struct sk_buff *skb, const struct genl_info *info,
			struct mrpc_conn *conn, u32 index);
int mrpc_nl_fill_schema(struct sk_buff *skb, const struct genl_info *info,
			const struct mrpc_nl_schema *schema);
int mrpc_nl_fill_method(struct sk_buff *skb, const struct genl_info *info,
			const struct mrpc_schema *schema, u32 index);

#endif /* MRPC_NETLINK_SESSION_H */
