/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_ENGINE_CONFIG_H
#define MRPC_CORE_ENGINE_CONFIG_H

#include <linux/types.h>

struct mrpc_engine_ops;
struct mrpc_group;
struct net;
struct netlink_ext_ack;

struct mrpc_group *mrpc_group_alloc(struct net *net, const struct mrpc_engine_ops *ops);
void mrpc_group_put(struct mrpc_group *g);
int mrpc_group_set(struct mrpc_group *g, const char *param, const void *data, u32 len, u64 num,
		   bool is_num, struct netlink_ext_ack *extack);
int mrpc_group_ready(struct mrpc_group *g, const struct mrpc_group *prev,
		     struct netlink_ext_ack *extack);

#endif /* MRPC_CORE_ENGINE_CONFIG_H */
