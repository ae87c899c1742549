// SPDX-License-Identifier: GPL-2.0
/*
 * Buddy allocator of a receive region: see buddy.h for the contract.
 *
 * Every unit's state is kept true at all times: only the first unit of a used
 * block says USED, all that do not start a block say INSIDE. So an offset that
 * an application invents is judged by one look at one record.
 */
#include "lib/ds/buddy.h"

#define BUDDY_NONE	U32_MAX

static void buddy_push(struct mrpc_buddy *b, u32 u, u32 order)
{
	struct mrpc_buddy_unit *unit = &b->units[u];
	u32 head = b->heads[order];

	unit->order = order;
	unit->state = MRPC_BUDDY_FREE;
	unit->prev = BUDDY_NONE;
	unit->next = head;
	if (head != BUDDY_NONE)
		b->units[head].prev = u;
	b->heads[order] = u;
}

/* Takes a FREE block out of its list; its state is then the caller's to set. */
static void buddy_unlink(struct mrpc_buddy *b, u32 u)
{
	struct mrpc_buddy_unit *unit = &b->units[u];

	if (unit->prev == BUDDY_NONE)
		b->heads[unit->order] = unit->next;
	else
		b->units[unit->prev].next = unit->next;
	if (unit->next != BUDDY_NONE)
		b->units[unit->next].prev = unit->prev;
}

/* Frees a block that is in no list, merged with every free buddy it meets. */
static void buddy_merge(struct mrpc_buddy *b, u32 u, u32 order)
{
	b->units[u].state = MRPC_BUDDY_INSIDE;
	while (order < MRPC_BUDDY_ORDERS - 1) {
		u32 buddy = u ^ (1U << order);

		/* A FREE unit of this order lies wholly in the region, so the
		 * region's ragged end needs no further check.
		 */
		if (buddy >= b->nr_units || b->units[buddy].state != MRPC_BUDDY_FREE ||
		    b->units[buddy].order != order)
			break;
		buddy_unlink(b, buddy);
		b->units[buddy].state = MRPC_BUDDY_INSIDE;
		u &= ~(1U << order);
		order++;
	}
	buddy_push(b, u, order);
}

/* The block that came to rest last, of an order of which one rests; its state is the caller's. */
static u32 buddy_wake(struct mrpc_buddy *b, u32 order)
{
	u32 u = b->rest[order];

	b->rest[order] = b->units[u].next;
	b->nr_rest[order]--;
	return u;
}

/* At most 2 * MRPC_BUDDY_REST blocks, each of which has come to rest since the last time. */
static void buddy_wake_resting(struct mrpc_buddy *b)
{
	u32 order;

	for (order = 0; order < MRPC_BUDDY_REST_ORDERS; order++)
		while (b->nr_rest[order])
			buddy_merge(b, buddy_wake(b, order), order);
}

/* Takes a block of @order from the free lists. Return: its unit, or BUDDY_NONE. */
static u32 buddy_take(struct mrpc_buddy *b, u32 order)
{
	u32 have = order;
	u32 u;

	while (have < MRPC_BUDDY_ORDERS && b->heads[have] == BUDDY_NONE)
		have++;
	if (have == MRPC_BUDDY_ORDERS)
		return BUDDY_NONE;

	u = b->heads[have];
	buddy_unlink(b, u);
	while (have > order) {
		have--;
		buddy_push(b, u + (1U << have), have);
	}
	return u;
}

void mrpc_buddy_init(struct mrpc_buddy *b, struct mrpc_buddy_unit *units, u32 bytes)
{
	u32 order = MRPC_BUDDY_ORDERS - 1;
	u32 u;

	memset(b, 0, sizeof(*b));
	b->units = units;
	b->nr_units = bytes >> MRPC_BUDDY_SHIFT;
	b->free_units = b->nr_units;
	for (u = 0; u < MRPC_BUDDY_ORDERS; u++)
		b->heads[u] = BUDDY_NONE;
	for (u = 0; u < b->nr_units; u++)
		units[u] = (struct mrpc_buddy_unit){
			.next = BUDDY_NONE, .prev = BUDDY_NONE, .state = MRPC_BUDDY_INSIDE,
		};

	/* From the start, the largest block that still fits; the orders only
	 * fall, so each block is aligned to its size.
	 */
	for (u = 0; u < b->nr_units; u += 1U << order) {
		while (b->nr_units - u < 1U << order)
			order--;
		buddy_push(b, u, order);
	}
}

u32 mrpc_buddy_largest(struct mrpc_buddy *b)
{
	u32 orders = MRPC_BUDDY_ORDERS;

	buddy_wake_resting(b);
	while (orders && b->heads[orders - 1] == BUDDY_NONE)
		orders--;
	return orders;
}

s64 mrpc_buddy_alloc(struct mrpc_buddy *b, u32 bytes, u32 *taken)
{
	u32 order = mrpc_buddy_order(bytes);
	u32 u;

	if (order >= MRPC_BUDDY_ORDERS || 1U << order > b->free_units)
		return -ENOSPC;

	if (order < MRPC_BUDDY_REST_ORDERS && b->nr_rest[order]) {
		u = buddy_wake(b, order);
	} else {
		u = buddy_take(b, order);
		if (u == BUDDY_NONE) {
			/* Merged, the resting blocks may make a large one. */
			buddy_wake_resting(b);
			u = buddy_take(b, order);
		}
		if (u == BUDDY_NONE)
			return -ENOSPC;
	}

	b->units[u].order = order;
	b->units[u].state = MRPC_BUDDY_USED;
	b->free_units -= 1U << order;
	*taken = MRPC_BUDDY_UNIT << order;
	return (s64)u << MRPC_BUDDY_SHIFT;
}

/* The unit of the used block that starts at @off, or BUDDY_NONE. */
static u32 buddy_lookup(const struct mrpc_buddy *b, u32 off)
{
	u32 u = off >> MRPC_BUDDY_SHIFT;

	if (!IS_ALIGNED(off, MRPC_BUDDY_UNIT) || u >= b->nr_units ||
	    b->units[u].state != MRPC_BUDDY_USED)
		return BUDDY_NONE;
	return u;
}

s64 mrpc_buddy_free(struct mrpc_buddy *b, u32 off)
{
	u32 u = buddy_lookup(b, off);
	u32 order;

	if (u == BUDDY_NONE)
		return -EINVAL;

	order = b->units[u].order;
	b->free_units += 1U << order;
	if (order < MRPC_BUDDY_REST_ORDERS && b->nr_rest[order] < MRPC_BUDDY_REST >> order) {
		b->units[u].state = MRPC_BUDDY_RESTING;
		b->units[u].next = b->rest[order];
		b->rest[order] = u;
		b->nr_rest[order]++;
	} else {
		buddy_merge(b, u, order);
	}
	return (s64)MRPC_BUDDY_UNIT << order;
}
