// SPDX-License-Identifier: GPL-2.0
/*
 * Rpcs that an engine lets pass later; see chain/delay.h.
 */
#include <linux/list.h>

#include "chain/delay.h"
#include "core/rpc.h"

struct mrpc_late_rpc {
	struct list_head list;
	struct mrpc_rpc *rpc;
	u64 until;
};

/**
 * mrpc_late_keep() - an rpc is to pass later
 * @late: those that are
 * @in: the queue that it is in
 * @rpc: the rpc
 * @until: when, CLOCK_MONOTONIC ns
 *
 * Context: as do_work(). Return: false: there is no memory, it is still in @in.
 */
bool mrpc_late_keep(struct mrpc_late *late, struct mrpc_queue *in, struct mrpc_rpc *rpc, u64 until)
{
	struct mrpc_late_rpc *entry = kmalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT), *before;

	if (!entry)
		return false;
	entry->rpc = rpc;
	entry->until = until;
	mrpc_queue_del(in, rpc);
	/* Mostly the last one. */
	list_for_each_entry_reverse(before, &late->list, list)
		if (before->until <= until)
			break;
	list_add(&entry->list, &before->list);
	return true;
}
EXPORT_SYMBOL_GPL(mrpc_late_keep);

/**
 * mrpc_late_release() - let those pass whose time has come
 * @late: those that are late
 * @out: where to
 * @now: CLOCK_MONOTONIC ns; U64_MAX: all
 */
void mrpc_late_release(struct mrpc_late *late, struct mrpc_queue *out, u64 now)
{
	struct mrpc_late_rpc *entry, *next;

	list_for_each_entry_safe(entry, next, &late->list, list) {
		if (entry->until > now)
			break;
		list_del(&entry->list);
		mrpc_queue_push(out, entry->rpc);
		kfree(entry);
	}
}
EXPORT_SYMBOL_GPL(mrpc_late_release);

/**
 * mrpc_late_next() - when to come again
 * @late: those that are late
 *
 * Return: CLOCK_MONOTONIC ns; 0: there is none.
 */
u64 mrpc_late_next(const struct mrpc_late *late)
{
	return list_empty(&late->list) ? 0 :
	       list_first_entry(&late->list, struct mrpc_late_rpc, list)->until;
}
EXPORT_SYMBOL_GPL(mrpc_late_next);
