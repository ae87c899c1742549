/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CHAIN_DELAY_H
#define MRPC_CHAIN_DELAY_H

#include <linux/list.h>
#include <linux/types.h>

struct mrpc_queue;
struct mrpc_rpc;

/**
 * struct mrpc_late - rpcs that an engine lets pass later
 *
 * Of the owner of the direction's claim. They are neither in the input queue nor
 * out: the engine has a flush() that releases them all.
 *
 * @list: by time, the earliest first
 */
struct mrpc_late {
	struct list_head list;
};

static inline void mrpc_late_init(struct mrpc_late *late)
{
	INIT_LIST_HEAD(&late->list);
}

static inline bool mrpc_late_empty(const struct mrpc_late *late)
{
	return list_empty(&late->list);
}

bool mrpc_late_keep(struct mrpc_late *late, struct mrpc_queue *in, struct mrpc_rpc *rpc, u64 until);
void mrpc_late_release(struct mrpc_late *late, struct mrpc_queue *out, u64 now);
u64 mrpc_late_next(const struct mrpc_late *late);

#endif /* MRPC_CHAIN_DELAY_H */
