// SPDX-License-Identifier: GPL-2.0
/*
 * Leftist heap: see lheap.h for the contract.
 */
#include "lib/ds/lheap.h"

static bool heap_before(const struct mrpc_lheap_node *a, const struct mrpc_lheap_node *b)
{
	return a->key < b->key || (a->key == b->key && a->tie < b->tie);
}

static u32 heap_dist(const struct mrpc_lheap_node *n)
{
	return n ? n->dist : 0;
}

/* Its children or their ways have changed. Return: its own way has. */
static bool heap_lean(struct mrpc_lheap_node *n)
{
	u32 dist;

	if (heap_dist(n->left) < heap_dist(n->right))
		swap(n->left, n->right);
	dist = heap_dist(n->right) + 1;
	if (n->dist == dist)
		return false;
	n->dist = dist;
	return true;
}

/*
 * Merges the right sides of two heaps, whose first nodes have no parents, from
 * above, and leans them from below.
 */
static struct mrpc_lheap_node *heap_merge(struct mrpc_lheap_node *a, struct mrpc_lheap_node *b)
{
	struct mrpc_lheap_node *first = NULL, **at = &first, *up = NULL;

	while (a && b) {
		if (heap_before(b, a))
			swap(a, b);
		*at = a;
		a->up = up;
		up = a;
		at = &a->right;
		a = a->right;
	}
	*at = a ? a : b;
	if (*at)
		(*at)->up = up;
	for (; up; up = up->up)
		heap_lean(up);
	return first;
}

void mrpc_lheap_add(struct mrpc_lheap *h, struct mrpc_lheap_node *n, u64 key, s64 tie)
{
	*n = (struct mrpc_lheap_node){ .key = key, .tie = tie, .dist = 1 };
	h->first = heap_merge(h->first, n);
}

void mrpc_lheap_del(struct mrpc_lheap *h, struct mrpc_lheap_node *n)
{
	struct mrpc_lheap_node *up = n->up, *rest;

	if (!mrpc_lheap_in(n))
		return;
	n->dist = 0;
	if (n->left)
		n->left->up = NULL;
	if (n->right)
		n->right->up = NULL;
	rest = heap_merge(n->left, n->right);
	if (rest)
		rest->up = up;
	if (!up)
		h->first = rest;
	else if (up->left == n)
		up->left = rest;
	else
		up->right = rest;
	while (up && heap_lean(up))
		up = up->up;
}

void mrpc_lheap_move(struct mrpc_lheap *h, struct mrpc_lheap_node *n, u64 key)
{
	mrpc_lheap_del(h, n);
	mrpc_lheap_add(h, n, key, n->tie);
}
