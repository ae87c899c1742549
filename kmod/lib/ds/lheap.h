/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A leftist heap whose nodes are embedded in what it orders: the least is at hand,
 * and each change costs O(log n) comparisons at worst, not only on average, and no
 * memory. The shorter way down from any node is to the right, so all work is along
 * right sides, of which none is longer than log2(n + 1).
 *
 * Not locked: the owner's lock.
 */
#ifndef MRPC_LIB_DS_LHEAP_H
#define MRPC_LIB_DS_LHEAP_H

#include "lib/ds/types.h"

/**
 * struct mrpc_lheap_node - embedded
 * @key: the least is the first
 * @tie: among those of the same key, likewise
 * @dist: nodes on the way to the right, this one included; 0: it is in no heap
 * @up: parent, or NULL
 * @left: child, or NULL
 * @right: child, or NULL
 */
struct mrpc_lheap_node {
	u64 key;
	s64 tie : 56;
	u64 dist : 8;
	struct mrpc_lheap_node *up;
	struct mrpc_lheap_node *left;
	struct mrpc_lheap_node *right;
};

struct mrpc_lheap {
	struct mrpc_lheap_node *first;
};

/** mrpc_lheap_in() - is @n in a heap? Its memory was zero at first */
static inline bool mrpc_lheap_in(const struct mrpc_lheap_node *n)
{
	return n->dist;
}

/** mrpc_lheap_first() - the least, or NULL */
static inline struct mrpc_lheap_node *mrpc_lheap_first(const struct mrpc_lheap *h)
{
	return h->first;
}

/** mrpc_lheap_add() - @n, which is in no heap, comes in; @tie: where equals may be in any order, 0 */
void mrpc_lheap_add(struct mrpc_lheap *h, struct mrpc_lheap_node *n, u64 key, s64 tie);

/** mrpc_lheap_del() - @n goes; harmless if it is in no heap */
void mrpc_lheap_del(struct mrpc_lheap *h, struct mrpc_lheap_node *n);

/** mrpc_lheap_move() - another key for @n, which is in the heap */
void mrpc_lheap_move(struct mrpc_lheap *h, struct mrpc_lheap_node *n, u64 key);

#endif /* MRPC_LIB_DS_LHEAP_H */
