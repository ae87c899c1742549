/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A heap whose nodes are embedded in what it orders: nothing is allocated. The first
 * one is found at once; making the first one's key smaller, and adding, take constant
 * time; removing takes logarithmic time on average (a pairing heap).
 *
 * Not locked: the owner's lock.
 */
#ifndef MRPC_LIB_HEAP_H
#define MRPC_LIB_HEAP_H

#include "types.h"

/**
 * struct mrpc_heap_node - embedded
 * @key: the least is the first; changed by mrpc_heap_move() only
 * @child: one of those below it
 * @next: its sibling
 * @prev: the sibling before it, or its parent; NULL: the first of all
 * @in: whether it is in a heap
 */
struct mrpc_heap_node {
	u64 key;
	struct mrpc_heap_node *child;
	struct mrpc_heap_node *next;
	struct mrpc_heap_node *prev;
	bool in;
};

struct mrpc_heap {
	struct mrpc_heap_node *first;
};

/** mrpc_heap_first() - the one with the least key, or NULL */
static inline struct mrpc_heap_node *mrpc_heap_first(const struct mrpc_heap *h)
{
	return h->first;
}

/** mrpc_heap_add() - @n is in no heap */
void mrpc_heap_add(struct mrpc_heap *h, struct mrpc_heap_node *n, u64 key);

/** mrpc_heap_del() - harmless if @n is in no heap */
void mrpc_heap_del(struct mrpc_heap *h, struct mrpc_heap_node *n);

/** mrpc_heap_move() - another key for @n, which is in the heap */
void mrpc_heap_move(struct mrpc_heap *h, struct mrpc_heap_node *n, u64 key);

#endif /* MRPC_LIB_HEAP_H */
