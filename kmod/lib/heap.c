// SPDX-License-Identifier: GPL-2.0
/*
 * Pairing heap: see heap.h for the contract.
 */
#include "heap.h"

/* Two heaps to one. Return: its first node, which has no sibling. */
static struct mrpc_heap_node *heap_meld(struct mrpc_heap_node *a, struct mrpc_heap_node *b)
{
	struct mrpc_heap_node *t;

	if (b->key < a->key) {
		t = a;
		a = b;
		b = t;
	}
	b->next = a->child;
	if (b->next)
		b->next->prev = b;
	b->prev = a;
	a->child = b;
	a->next = NULL;
	a->prev = NULL;
	return a;
}

/* Siblings to one heap: in pairs from the left, then all from the right. */
static struct mrpc_heap_node *heap_merge(struct mrpc_heap_node *n)
{
	struct mrpc_heap_node *pairs = NULL, *all = NULL, *next;

	for (; n; n = next) {
		struct mrpc_heap_node *pair = n;

		next = n->next;
		if (next) {
			struct mrpc_heap_node *after = next->next;

			pair = heap_meld(n, next);
			next = after;
		}
		pair->next = pairs;
		pairs = pair;
	}
	for (; pairs; pairs = next) {
		next = pairs->next;
		pairs->next = NULL;
		pairs->prev = NULL;
		all = all ? heap_meld(all, pairs) : pairs;
	}
	return all;
}

void mrpc_heap_add(struct mrpc_heap *h, struct mrpc_heap_node *n, u64 key)
{
	n->key = key;
	n->child = NULL;
	n->next = NULL;
	n->prev = NULL;
	n->in = true;
	h->first = h->first ? heap_meld(h->first, n) : n;
}

/* Takes @n, which is not the first, with all below it out of the heap. */
static void heap_cut(struct mrpc_heap_node *n)
{
	if (n->prev->child == n)
		n->prev->child = n->next;
	else
		n->prev->next = n->next;
	if (n->next)
		n->next->prev = n->prev;
	n->next = NULL;
	n->prev = NULL;
}

void mrpc_heap_del(struct mrpc_heap *h, struct mrpc_heap_node *n)
{
	struct mrpc_heap_node *below;

	if (!n->in)
		return;
	n->in = false;
	below = heap_merge(n->child);
	n->child = NULL;
	if (h->first == n) {
		h->first = below;
		return;
	}
	heap_cut(n);
	if (below)
		h->first = heap_meld(h->first, below);
}

void mrpc_heap_move(struct mrpc_heap *h, struct mrpc_heap_node *n, u64 key)
{
	if (key > n->key) {
		mrpc_heap_del(h, n);
		mrpc_heap_add(h, n, key);
		return;
	}
	n->key = key;
	if (h->first == n)
		return;
	heap_cut(n);
	h->first = heap_meld(h->first, n);
}
