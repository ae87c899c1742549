// SPDX-License-Identifier: GPL-2.0
/* Set-up of the group layer when the module is loaded. */
#include "core/member.h"
#include "group/init.h"
#include "group/member.h"
#include "group/receive.h"
#include "group/run.h"
#include "group/strategy.h"

static const struct mrpc_member_ops mrpc_group_member_ops = {
	.head		= mrpc_member_head,
	.done		= mrpc_member_done,
	.strategy	= mrpc_strategy_head,
	.sent		= mrpc_member_sent,
	.put		= mrpc_member_put,
};

/**
 * mrpc_group_init() - lower layers tell the group layer of its connections from now on
 *
 * Context: module load, before the first session.
 */
void mrpc_group_init(void)
{
	mrpc_member_ops = &mrpc_group_member_ops;
}
