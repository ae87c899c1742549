/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_INSTANCE_H
#define MRPC_POLICY_INSTANCE_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_engine;
struct mrpc_policy;
struct mrpc_policy_dp;
struct mrpc_policy_run;
struct netlink_ext_ack;

/* policy/instance.c */
int mrpc_policy_rebind(struct mrpc_policy_run *run);
void mrpc_policy_dp_free(struct mrpc_policy_dp *dp);
struct mrpc_policy_dp *mrpc_policy_dp_new(struct mrpc_policy *policy, struct mrpc_conn *conn,
					  u32 services);
int mrpc_policy_dp_begin(struct mrpc_policy_dp *dp, struct netlink_ext_ack *extack);
void mrpc_policy_dp_end(struct mrpc_policy_dp *dp);
int mrpc_policy_create(struct mrpc_engine *e, struct netlink_ext_ack *extack);
void mrpc_policy_destroy(struct mrpc_engine *e);

#endif /* MRPC_POLICY_INSTANCE_H */
