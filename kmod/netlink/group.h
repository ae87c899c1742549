/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_GROUP_H
#define MRPC_NETLINK_GROUP_H

struct genl_info;
struct mrpc_member;
struct netlink_callback;
struct sk_buff;

struct mrpc_member *mrpc_nl_member(const struct genl_info *info, int attr_session, int attr);
int mrpc_nl_group_get(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_group_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_group_link_start(struct netlink_callback *cb);
int mrpc_nl_group_link_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_group_trace_start(struct netlink_callback *cb);
int mrpc_nl_group_trace_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_group_done(struct netlink_callback *cb);

#endif /* MRPC_NETLINK_GROUP_H */
