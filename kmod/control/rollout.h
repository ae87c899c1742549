/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CONTROL_ROLLOUT_H
#define MRPC_CONTROL_ROLLOUT_H

#include <linux/types.h>

struct mrpc_change_result;
struct mrpc_scope;
struct net;
struct netlink_ext_ack;

/* control/rollout.c */
int mrpc_change_apply(struct net *net, const struct mrpc_scope *scope,
		      struct mrpc_change_result *result, struct netlink_ext_ack *extack);
int mrpc_datapaths_follow(struct net *net);

#endif /* MRPC_CONTROL_ROLLOUT_H */
