/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 256 lists and the set of those that are not empty: what orders, run queues and
 * timers are made of. All operations take constant time.
 *
 * Not locked: the owner's lock.
 */
#ifndef MRPC_LIB_DS_LEVELS_H
#define MRPC_LIB_DS_LEVELS_H

#include "lib/ds/types.h"

#define MRPC_ORDER_LEVELS	256

struct mrpc_order_link {
	struct mrpc_order_link *next;
	struct mrpc_order_link *prev;
};

/* Circular lists by their first members, and the set of those not empty. */
struct mrpc_order_levels {
	u64 map[MRPC_ORDER_LEVELS / 64];
	struct mrpc_order_link *first[MRPC_ORDER_LEVELS];
};

/* Lists with a head of their own. */
static inline void mrpc_link_init(struct mrpc_order_link *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool mrpc_link_empty(const struct mrpc_order_link *head)
{
	return head->next == head;
}

static inline void mrpc_link_add(struct mrpc_order_link *head, struct mrpc_order_link *l)
{
	l->next = head;
	l->prev = head->prev;
	head->prev->next = l;
	head->prev = l;
}

/* Harmless if @l is in no list, and was initialised. */
static inline void mrpc_link_del(struct mrpc_order_link *l)
{
	l->next->prev = l->prev;
	l->prev->next = l->next;
	mrpc_link_init(l);
}

/** mrpc_levels_add() - at the end of a list, or @head: at its beginning */
static inline void mrpc_levels_add(struct mrpc_order_levels *ls, struct mrpc_order_link *l,
				   u8 slot, bool head)
{
	struct mrpc_order_link *first = ls->first[slot];

	if (!first) {
		mrpc_link_init(l);
		ls->first[slot] = l;
		ls->map[slot / 64] |= 1ULL << slot % 64;
		return;
	}
	mrpc_link_add(first, l);
	if (head)
		ls->first[slot] = l;
}

static inline void mrpc_levels_del(struct mrpc_order_levels *ls, struct mrpc_order_link *l,
				   u8 slot)
{
	if (l->next == l) {
		ls->first[slot] = NULL;
		ls->map[slot / 64] &= ~(1ULL << slot % 64);
		return;
	}
	l->next->prev = l->prev;
	l->prev->next = l->next;
	if (ls->first[slot] == l)
		ls->first[slot] = l->next;
}

/* Return: the first bit that is set at or after @from, around the end; -1: none */
static inline int mrpc_levels_scan(const u64 map[MRPC_ORDER_LEVELS / 64], u8 from)
{
	u64 bits = map[from / 64] & ~0ULL << from % 64;
	u32 word = from / 64;
	u32 i;

	for (i = 0; i <= MRPC_ORDER_LEVELS / 64; i++) {
		if (bits)
			return word * 64 + __ffs64(bits);
		word = (word + 1) % (MRPC_ORDER_LEVELS / 64);
		bits = map[word];
	}
	return -1;
}

/* Return: the first slot at or after @from, around the end, with members; -1: none */
static inline int mrpc_levels_find(const struct mrpc_order_levels *ls, u8 from)
{
	return mrpc_levels_scan(ls->map, from);
}

/*
 * A size's level: eight for each power of two, exact below 16. The last is for
 * 15 << 30 and more.
 */
static inline u8 mrpc_levels_size(u64 left)
{
	int exponent = fls64(left) - 1;

	if (left < 8)
		return left;
	if (exponent > 33)
		return MRPC_ORDER_LEVELS - 1;
	return (exponent - 2) * 8 + (left >> (exponent - 3)) % 8;
}

#endif /* MRPC_LIB_DS_LEVELS_H */
