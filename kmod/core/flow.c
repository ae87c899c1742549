// SPDX-License-Identifier: GPL-2.0
/* Flows: their memory. */
#include <linux/slab.h>

#include "core/call.h"
#include "core/flow.h"

/**
 * mrpc_flow_new() - make the flow of a call
 * @call: a call that only the caller knows
 * @kinds: MRPC_METHOD_* of its method
 *
 * Context: process; may sleep. Return: 0 or -ENOMEM.
 */
int mrpc_flow_new(struct mrpc_call *call, u8 kinds)
{
	struct mrpc_flow *flow = kzalloc(sizeof(*flow), GFP_KERNEL_ACCOUNT);

	if (!flow)
		return -ENOMEM;
	spin_lock_init(&flow->lock);
	flow->call = call;
	flow->kinds = kinds;
	mrpc_credit_init(&flow->tx, &flow->rx);
	INIT_LIST_HEAD(&flow->held);
	INIT_LIST_HEAD(&flow->out);
	INIT_LIST_HEAD(&flow->early);
	INIT_LIST_HEAD(&flow->ready);
	INIT_LIST_HEAD(&flow->waiting);
	call->flow = flow;
	return 0;
}

/**
 * mrpc_flow_free() - free the flow of a call
 * @flow: the flow: no thread knows its call any more
 *
 * Completions are left only if the session closes. Its receive heap goes with it.
 *
 * Context: any but hard interrupt.
 */
void mrpc_flow_free(struct mrpc_flow *flow)
{
	struct mrpc_flow_item *item, *next;

	list_for_each_entry_safe(item, next, &flow->ready, list)
		if (item != &flow->end)
			kfree(item);
	kfree(flow);
}

/**
 * mrpc_flow_forget() - drop the references of a flow that will not be delivered any more
 * @flow: a flow that the caller has taken off the list of its queue pair, which no thread uses
 *
 * Context: process.
 */
void mrpc_flow_forget(struct mrpc_flow *flow)
{
	struct mrpc_call *call = flow->call;
	bool finish;

	spin_lock(&flow->lock);
	finish = flow->finish;
	flow->finish = false;
	flow->rx_end = true;
	spin_unlock(&flow->lock);
	mrpc_call_put_some(call, finish ? 2 : 1);
}
