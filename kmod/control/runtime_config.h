/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CONTROL_RUNTIME_CONFIG_H
#define MRPC_CONTROL_RUNTIME_CONFIG_H

#include <linux/types.h>

struct mrpc_runtime;
struct mrpc_runtime_args;
struct netlink_ext_ack;

int mrpc_runtime_add(const struct mrpc_runtime_args *args, struct netlink_ext_ack *extack);
int mrpc_runtime_set(struct mrpc_runtime *rt, const struct mrpc_runtime_args *args,
		     struct netlink_ext_ack *extack);
int mrpc_runtime_del(const char *name, struct netlink_ext_ack *extack);

#endif /* MRPC_CONTROL_RUNTIME_CONFIG_H */
