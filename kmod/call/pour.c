// SPDX-License-Identifier: GPL-2.0
/* Byte sections that are in memory already, on their way to the sink's place. */
#include <linux/sched.h>
#include <linux/sizes.h>

#include "call/pour.h"
#include "core/memcopy.h"
#include "core/receive.h"
#include "lib/message/message.h"

/* A message may have 1 GiB, in one piece or in many: yields the processor each 1 MiB. */
static void mrpc_sink_copy(struct mrpc_sink *sink, const u8 *from, u32 len, u32 *since)
{
	while (len) {
		u32 n = min_t(u32, len, SZ_1M - *since);

		mrpc_block_copy(sink->addr, from, n);
		sink->addr += n;
		from += n;
		len -= n;
		*since += n;
		if (*since == SZ_1M) {
			cond_resched();
			*since = 0;
		}
	}
}

/**
 * mrpc_sink_pour() - copy the byte section, which is in one piece
 * @sink: the sink, after mrpc_sink_head()
 * @from: the byte section
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_sink_pour(struct mrpc_sink *sink, const u8 *from)
{
	u32 since = 0;

	if (sink->addr)
		mrpc_sink_copy(sink, from, sink->left, &since);
	sink->left = 0;
}
EXPORT_SYMBOL_GPL(mrpc_sink_pour);

/**
 * mrpc_sink_pour_segs() - copy the blocks of the byte section, with zeros between
 * @sink: the sink, after mrpc_sink_head()
 * @segs: the blocks, which are all of the section
 * @nr: how many
 * @at: returns the address of a block, by its offset and length
 * @ctx: for @at
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_sink_pour_segs(struct mrpc_sink *sink, const struct mrpc_msg_seg *segs, u32 nr,
			 const void *(*at)(void *ctx, u64 off, u64 len), void *ctx)
{
	u32 i, since = 0;

	for (i = 0; i < nr && sink->addr; i++) {
		u32 padding = ALIGN(segs[i].len, 8) - segs[i].len;

		mrpc_sink_copy(sink, at(ctx, segs[i].src, segs[i].len), segs[i].len, &since);
		memset(sink->addr, 0, padding);
		sink->addr += padding;
	}
	sink->left = 0;
}
EXPORT_SYMBOL_GPL(mrpc_sink_pour_segs);
