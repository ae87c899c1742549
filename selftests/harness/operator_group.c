// SPDX-License-Identifier: GPL-2.0
#include <linux/mrpc_netlink.h>

#include "operator.h"
#include "operator_group.h"
#include "ranks.h"

static void put_group(unsigned int rank)
{
	op_put_u32(MRPC_A_GROUP_SESSION, ranks[rank].s.setup.session);
	op_put_u32(MRPC_A_GROUP_ID, ranks[rank].group);
}

uint32_t op_strategy_begin(unsigned int rank)
{
	op_request(MRPC_CMD_GROUP_SET, 0);
	put_group(rank);
	return op_nest(MRPC_A_GROUP_STRATEGY);
}

void op_strategy_choice(uint32_t collective, uint32_t algorithm)
{
	uint32_t nest = op_nest(MRPC_A_GROUP_STRATEGY_CHOICE);

	op_put_u32(MRPC_A_GROUP_CHOICE_COLLECTIVE, collective);
	op_put_u32(MRPC_A_GROUP_CHOICE_ALGORITHM, algorithm);
	op_nest_end(nest);
}

int op_strategy_set(unsigned int rank, const uint32_t *order, unsigned int nr, int algorithm)
{
	uint32_t nest = op_strategy_begin(rank);

	if (order)
		op_put(MRPC_A_GROUP_STRATEGY_ORDER, order, nr * sizeof(*order));
	if (algorithm >= 0)
		op_strategy_choice(MRPC_ALLREDUCE, algorithm);
	op_nest_end(nest);
	return op_ask();
}

const struct nlattr *op_strategy_attr(unsigned int rank, unsigned int attr)
{
	op_request(MRPC_CMD_GROUP_GET, 0);
	put_group(rank);
	if (op_ask())
		raw_die("rank %u: %s", rank, op_why);
	return op_inside(op_find(op.buf, op.len, MRPC_A_GROUP_STRATEGY, NULL), attr);
}

int64_t op_strategy(unsigned int rank, unsigned int attr)
{
	return op_value(op_strategy_attr(rank, attr));
}
