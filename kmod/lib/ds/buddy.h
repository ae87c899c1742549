/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocator of blocks in one receive region. Its records are kernel memory,
 * outside the region: nothing an application does can touch them.
 *
 * Binary buddies of MRPC_BUDDY_UNIT << order bytes. Freed blocks of small
 * orders rest unmerged in a bounded per-order stack, so the steady state of
 * calls that come and go costs no splitting and merging.
 *
 * Not locked: the heap's lock protects it.
 */
#ifndef MRPC_LIB_DS_BUDDY_H
#define MRPC_LIB_DS_BUDDY_H

#include "lib/ds/types.h"

#define MRPC_BUDDY_SHIFT	8
#define MRPC_BUDDY_UNIT		(1U << MRPC_BUDDY_SHIFT)
#define MRPC_BUDDY_ORDERS	23	/* up to 1 GiB, MRPC_REGION_MAX */
#define MRPC_BUDDY_REST		128	/* blocks resting, half as many with each order */
#define MRPC_BUDDY_REST_ORDERS	6	/* orders that rest */

enum mrpc_buddy_state {
	MRPC_BUDDY_INSIDE = 0,	/* not the first unit of a block */
	MRPC_BUDDY_FREE,	/* first unit, in the free list of its order */
	MRPC_BUDDY_RESTING,	/* first unit, in the stack of its order */
	MRPC_BUDDY_USED,	/* first unit, the application's */
};

/* One per unit; meaningful for the first unit of a block. */
struct mrpc_buddy_unit {
	u32 next;	/* free list, or stack of those that rest, where their number ends it */
	u32 prev;	/* free list; U32_MAX begins, and ends */
	u8 order;
	u8 state;	/* enum mrpc_buddy_state */
};

struct mrpc_buddy {
	struct mrpc_buddy_unit *units;
	u32 nr_units;
	u32 free_units;		/* resting ones included */
	u32 heads[MRPC_BUDDY_ORDERS];
	u32 rest[MRPC_BUDDY_REST_ORDERS];	/* what came to rest last */
	u8 nr_rest[MRPC_BUDDY_REST_ORDERS];
};

/**
 * mrpc_buddy_init() - @units: array of @bytes / MRPC_BUDDY_UNIT, owned by the
 * caller. @bytes: a multiple of MRPC_BUDDY_UNIT, not necessarily a power of two.
 */
void mrpc_buddy_init(struct mrpc_buddy *b, struct mrpc_buddy_unit *units, u32 bytes);

/* Order of the block that mrpc_buddy_alloc() makes for @bytes; it may be no order of a region. */
static inline u32 mrpc_buddy_order(u32 bytes)
{
	u32 units = bytes ? ((bytes - 1) >> MRPC_BUDDY_SHIFT) + 1 : 1;
	u32 order = 0;

	while (1U << order < units)
		order++;
	return order;
}

/**
 * mrpc_buddy_largest() - Return: number of orders that mrpc_buddy_alloc() has a block of now: it
 * succeeds for each order below this, and fails for the others. It merges the blocks that rest.
 */
u32 mrpc_buddy_largest(struct mrpc_buddy *b);

/**
 * mrpc_buddy_alloc() - Return: offset in the region, or -ENOSPC (also for
 * sizes beyond the region; 0 is rounded up to one unit). @taken: out: bytes
 * of the block
 */
s64 mrpc_buddy_alloc(struct mrpc_buddy *b, u32 bytes, u32 *taken);

/**
 * mrpc_buddy_free() - @off comes from the application: anything is possible
 * Return: bytes of the freed block, or -EINVAL if no used block starts there.
 */
s64 mrpc_buddy_free(struct mrpc_buddy *b, u32 off);

#endif /* MRPC_LIB_DS_BUDDY_H */
