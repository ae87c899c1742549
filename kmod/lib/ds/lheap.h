/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A leftist heap. Its nodes are embedded in the objects that it orders. The least node is found
 * at once. Each change costs O(log n) comparisons in the worst case, and allocates nothing. From
 * any node the shorter way down is to the right. All work follows right children only, and no
 * such path is longer than log2(n + 1).
 *
 * Not locked: the owner's lock protects the heap.
 */
#ifndef MRPC_LIB_DS_LHEAP_H
#define MRPC_LIB_DS_LHEAP_H

#include "lib/ds/types.h"

/**
 * struct mrpc_lheap_node - a node; embedded in the object
 * @key: the node with the least key is first
 * @tie: of nodes with the same key, the least @tie is first
 * @dist: nodes on the path to the right, this one included; 0: the node is in no heap
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

/** mrpc_lheap_in() - is @n in a heap? The memory of @n must be zero at first */
static inline bool mrpc_lheap_in(const struct mrpc_lheap_node *n)
{
	return n->dist;
}

/** mrpc_lheap_first() - the least node, or NULL */
static inline struct mrpc_lheap_node *mrpc_lheap_first(const struct mrpc_lheap *h)
{
	return h->first;
}

/** mrpc_lheap_add() - add @n, which is in no heap; @tie: 0 if equals may be in any order */
void mrpc_lheap_add(struct mrpc_lheap *h, struct mrpc_lheap_node *n, u64 key, s64 tie);

/** mrpc_lheap_del() - remove @n; does nothing if it is in no heap */
void mrpc_lheap_del(struct mrpc_lheap *h, struct mrpc_lheap_node *n);

/** mrpc_lheap_move() - change the key of @n, which is in the heap */
void mrpc_lheap_move(struct mrpc_lheap *h, struct mrpc_lheap_node *n, u64 key);

#endif /* MRPC_LIB_DS_LHEAP_H */
