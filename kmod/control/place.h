/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CONTROL_PLACE_H
#define MRPC_CONTROL_PLACE_H

#include <linux/types.h>

struct mrpc_change_result;
struct mrpc_group;
struct mrpc_placement_args;
struct net;
struct netlink_ext_ack;

int mrpc_placement_add(struct net *net, const struct mrpc_placement_args *args,
		       struct mrpc_group *group, struct mrpc_change_result *result, u32 *id,
		       struct netlink_ext_ack *extack);
int mrpc_placement_set(struct net *net, const char *name, const struct mrpc_group *from,
		       struct mrpc_group *group, u8 percent,
		       struct mrpc_change_result *result, struct netlink_ext_ack *extack);
int mrpc_placement_del(struct net *net, const char *name, u8 percent,
		       struct mrpc_change_result *result, struct netlink_ext_ack *extack);
int mrpc_placement_step(struct net *net, const char *name, u8 percent,
			struct mrpc_change_result *result, struct netlink_ext_ack *extack);
struct mrpc_group *mrpc_placement_group(struct net *net, const char *name,
					struct netlink_ext_ack *extack);

#endif /* MRPC_CONTROL_PLACE_H */
