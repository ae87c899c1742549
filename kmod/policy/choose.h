/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Choosers: policies of type lb at work. An engine that balances asks one which replica of
 * its set gets a call; see replica.h, and uapi/linux/mrpc_policy.h for the programs.
 */
#ifndef MRPC_POLICY_CHOOSE_H
#define MRPC_POLICY_CHOOSE_H

#include <linux/list.h>
#include <linux/mrpc_policy.h>

struct mrpc_call;
struct mrpc_chooser;
struct mrpc_engine;
struct mrpc_group;
struct mrpc_lb_done;
struct mrpc_replicas;
struct mrpc_rpc;
struct netlink_ext_ack;
struct sk_buff;

#define MRPC_CHOOSER_NAME	(MRPC_POLICY_NAME + 10)	/* "NAME@VERSION", without NUL */

/* for engines */
int mrpc_chooser_use(struct mrpc_group *group, const struct mrpc_group *prev, u32 param,
		     struct netlink_ext_ack *extack);
struct mrpc_chooser *mrpc_chooser_get(struct mrpc_replicas *set, struct mrpc_engine *e,
				      struct netlink_ext_ack *extack);
void mrpc_chooser_put(struct mrpc_chooser *chooser);
int mrpc_chooser_pick(struct mrpc_chooser *chooser, struct mrpc_engine *e, struct mrpc_rpc *rpc);
int mrpc_chooser_dump(const struct mrpc_chooser *chooser, struct sk_buff *skb);
void mrpc_chooser_done(struct mrpc_replicas *set, const struct mrpc_call *call,
		       struct mrpc_lb_done *end);

#endif /* MRPC_POLICY_CHOOSE_H */
