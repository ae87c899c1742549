/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CONTROL_EGRESS_CONFIG_H
#define MRPC_CONTROL_EGRESS_CONFIG_H

#include <linux/types.h>


struct mrpc_domain;
struct mrpc_domain_args;
struct mrpc_domain_queue;
struct mrpc_domain_state;
struct mrpc_engine_ops;
struct net;
struct netlink_ext_ack;

int mrpc_domain_set(struct net *net, const struct mrpc_domain_args *said,
		    struct netlink_ext_ack *extack);
int mrpc_domain_del(struct net *net, const char *dev, struct netlink_ext_ack *extack);
int mrpc_egress_config_init(void);
void mrpc_egress_config_exit(void);
void mrpc_domain_state(struct mrpc_domain *d, struct mrpc_domain_state *state);
bool mrpc_domain_ranks_by(struct mrpc_domain *d, const struct mrpc_engine_ops *type);
u32 mrpc_domain_queues(struct mrpc_domain *d, struct mrpc_domain_queue *all, u32 cap);

#endif /* MRPC_CONTROL_EGRESS_CONFIG_H */
