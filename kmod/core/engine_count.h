/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_ENGINE_COUNT_H
#define MRPC_CORE_ENGINE_COUNT_H

#include <linux/types.h>

struct mrpc_count;
struct mrpc_engine;
struct mrpc_engine_stats;
struct sk_buff;

int mrpc_engine_put_u64(struct sk_buff *skb, const char *name, u64 value);
void mrpc_count_add(struct mrpc_count *counts, u32 *nr, u32 max, const char *name, u64 value,
		    u32 hint);
void mrpc_count_add_all(struct mrpc_count *counts, u32 *nr, u32 max, const struct sk_buff *skb);
void mrpc_stats_add(struct mrpc_engine_stats *to, const struct mrpc_engine_stats *stats);
void mrpc_engine_keep_counts(struct mrpc_engine *e);

#endif /* MRPC_CORE_ENGINE_COUNT_H */
