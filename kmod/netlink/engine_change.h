/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_ENGINE_CHANGE_H
#define MRPC_NETLINK_ENGINE_CHANGE_H

#include <linux/types.h>

struct genl_info;
struct sk_buff;

int mrpc_nl_engine_add(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_engine_set(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_engine_del(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_engine_step(struct sk_buff *request, struct genl_info *info);

#endif /* MRPC_NETLINK_ENGINE_CHANGE_H */
