// SPDX-License-Identifier: GPL-2.0
/* What engines count: as attributes, summed, and kept when an instance ends. */
#include <linux/mrpc_netlink.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/netlink.h>

#include "core/engine.h"
#include "core/engine_count.h"
#include "core/placement.h"

/**
 * mrpc_engine_put_u64() - for mrpc_engine_ops.dump: one counter
 * @skb: where to
 * @name: what it counts; at most 63 bytes
 * @value: how much. Values of the same name are summed over instances
 *
 * Return: 0 or -EMSGSIZE: that is what dump() returns then.
 */
int mrpc_engine_put_u64(struct sk_buff *skb, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, MRPC_A_ENGINE_COUNTER);

	if (!nest || nla_put_string(skb, MRPC_A_COUNTER_NAME, name) ||
	    nla_put_uint(skb, MRPC_A_COUNTER_VALUE, value))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
EXPORT_SYMBOL_GPL(mrpc_engine_put_u64);

/**
 * mrpc_count_add() - add to the number of that name
 * @counts: numbers
 * @nr: how many; raised for a new name
 * @max: room in @counts
 * @name: the name
 * @value: what to add
 * @hint: where it may be: instances of one type mostly put the same names in one order
 */
void mrpc_count_add(struct mrpc_count *counts, u32 *nr, u32 max, const char *name,
			   u64 value, u32 hint)
{
	u32 i = hint;

	if (i >= *nr || strcmp(counts[i].name, name))
		for (i = 0; i < *nr && strcmp(counts[i].name, name); i++)
			;
	if (i == max)
		return;
	if (i == *nr) {
		strscpy(counts[i].name, name, MRPC_COUNT_NAME);
		counts[i].value = 0;
		(*nr)++;
	}
	counts[i].value += value;
}

/**
 * mrpc_count_add_all() - add what a type has put into a buffer
 * @counts: numbers
 * @nr: how many; raised for new names
 * @max: room in @counts
 * @skb: filled by mrpc_engine_ops.dump()
 */
void mrpc_count_add_all(struct mrpc_count *counts, u32 *nr, u32 max, const struct sk_buff *skb)
{
	struct nlattr *nest, *name, *value;
	u32 at = 0;
	int left;

	nla_for_each_attr(nest, (struct nlattr *)skb->data, skb->len, left) {
		name = nla_find_nested(nest, MRPC_A_COUNTER_NAME);
		value = nla_find_nested(nest, MRPC_A_COUNTER_VALUE);
		if (name && value)
			mrpc_count_add(counts, nr, max, nla_data(name), nla_get_uint(value), at++);
	}
}

/**
 * mrpc_stats_add() - add the statistics of an instance, which may be counting
 * @to: sums
 * @stats: of the instance
 */
void mrpc_stats_add(struct mrpc_engine_stats *to, const struct mrpc_engine_stats *stats)
{
	to->rpcs += READ_ONCE(stats->rpcs);
	to->bytes += READ_ONCE(stats->bytes);
	to->rejected += READ_ONCE(stats->rejected);
	to->turns += READ_ONCE(stats->turns);
	to->slow += READ_ONCE(stats->slow);
}

/**
 * mrpc_engine_keep_counts() - an instance ends: its placement keeps what it has counted
 * @e: the instance, out of its chain
 *
 * Context: process; may sleep.
 */
void mrpc_engine_keep_counts(struct mrpc_engine *e)
{
	struct mrpc_past *past = &e->placement->past;
	struct sk_buff *skb = NULL;
	int dir;

	if (e->ops->flags & MRPC_ENGINE_COUNTS)
		skb = alloc_skb(NLMSG_GOODSIZE, GFP_KERNEL);
	if (skb)
		e->ops->dump(e, e->group, skb);
	spin_lock(&past->lock);
	for (dir = 0; dir < MRPC_DIRS; dir++)
		mrpc_stats_add(&past->stats[dir], &e->stats[dir]);
	if (skb)
		mrpc_count_add_all(past->counts, &past->nr, MRPC_PAST_COUNTS, skb);
	spin_unlock(&past->lock);
	kfree_skb(skb);
}
