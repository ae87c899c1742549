// SPDX-License-Identifier: GPL-2.0
/*
 * null: lets everything pass. What having an engine costs at all; something
 * to practise changes with, so there are two versions of it.
 */
#include "core/engine.h"
#include "core/rpc.h"

#ifndef NULL_VERSION
#define NULL_VERSION 1
#endif

static u64 null_do_work(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *in,
			struct mrpc_queue *out, int budget)
{
	mrpc_queue_pass(in, out, budget);
	return 0;
}

static bool null_pass(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_rpc *rpc)
{
	return true;
}

static struct mrpc_engine_ops null_ops = {
	.name		= "null",
	.version	= NULL_VERSION,
	.oldest		= 1,
	.owner		= THIS_MODULE,
	.dirs		= BIT(MRPC_TX) | BIT(MRPC_RX),
	.doc		= "Lets everything pass.",
	.do_work	= null_do_work,
	.pass		= null_pass,
};

module_mrpc_engine(null_ops);
MODULE_ALIAS_MRPC_ENGINE("null");
MODULE_ALIAS_MRPC_ENGINE("null-" __stringify(NULL_VERSION));
MODULE_DESCRIPTION("mrpc engine that lets everything pass");
MODULE_LICENSE("GPL");
