/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_MSG_H
#define MRPC_NETLINK_MSG_H

#include <linux/types.h>

struct genl_info;
struct sk_buff;

/* netlink/family.c */
struct sk_buff *mrpc_nl_new(u32 more);
int mrpc_nl_reply(struct sk_buff *skb, struct genl_info *info, int err);

#endif /* MRPC_NETLINK_MSG_H */
