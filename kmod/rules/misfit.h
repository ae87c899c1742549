/* SPDX-License-Identifier: GPL-2.0 */
/* Rules that can match no call that is known when they are placed. */
#ifndef MRPC_RULES_MISFIT_H
#define MRPC_RULES_MISFIT_H

struct mrpc_group;
struct mrpc_rules;
struct netlink_ext_ack;

int mrpc_rules_check_names(const struct mrpc_rules *rules, const struct mrpc_group *g,
			   struct netlink_ext_ack *extack);

#endif /* MRPC_RULES_MISFIT_H */
