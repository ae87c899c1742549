// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "group_model.h"
#include "lib/group/reduce_fp.h"

static u32 rank_at(const struct world *w, u32 place)
{
	const bool ordered = w->is.c.algorithm != MRPC_RECURSIVE ||
			     w->is.c.collective == MRPC_ALLREDUCE;

	return w->is.c.order && ordered ? w->is.c.order[place % w->is.c.ranks] :
					  place % w->is.c.ranks;
}

static u32 place_of_rank(const struct world *w, u32 rank)
{
	u32 p = 0;

	while (rank_at(w, p) != rank)
		p++;
	return p;
}

/* -- reductions --------------------------------------------------------------------- */

/* A part of the input of all ranks, which is reduced to one place. */
struct part {
	const struct world *w;
	u64 off;
	u64 len;
	u32 at;
};

/* A copy of what @place has. */
static u8 *own(const struct part *p, u32 place)
{
	u8 *x = malloc(p->len ?: 1);

	memcpy(x, p->w->rank[rank_at(p->w, place)].input + p->off, p->len);
	return x;
}

/* @a + @b; both are used up. */
static u8 *plus(const struct part *p, u8 *a, u8 *b)
{
	mrpc_reduce_fp(p->w->is.elem, p->w->is.op, a, a, b,
		       p->len / mrpc_elem_size(p->w->is.elem));
	free(b);
	return a;
}

static u8 *ring_sum(const struct part *p)
{
	const u32 n = p->w->is.c.ranks;
	u8 *sum = own(p, p->at + 1);
	u32 i;

	for (i = 2; i <= n; i++)
		sum = plus(p, own(p, p->at + i), sum);
	return sum;
}

static u8 *direct_sum(const struct part *p)
{
	const u32 n = p->w->is.c.ranks;
	const bool up = p->w->is.c.collective == MRPC_REDUCE;
	u8 *sum = own(p, p->at);
	u32 i;

	for (i = 1; i < n; i++)
		sum = plus(p, sum, own(p, up ? p->at + i : p->at + n - i));
	return sum;
}

static u8 *tree_sum(const struct part *p, u32 virt)
{
	const u32 n = p->w->is.c.ranks;
	u8 *sum = own(p, p->at + virt);
	u32 k;

	for (k = 1; !(virt & k) && virt + k < n; k *= 2)
		sum = plus(p, sum, tree_sum(p, virt + k));
	return sum;
}

/* What @place has when the rounds down to distance @dist are over. */
static u8 *recursive_sum(const struct part *p, u32 place, u32 dist)
{
	const u32 n = p->w->is.c.ranks;
	u8 *sum;

	if (dist >= n)
		return own(p, place);
	sum = recursive_sum(p, place, 2 * dist);
	if ((p->at + n - place % n) % n < min(dist, n - dist))
		sum = plus(p, sum, recursive_sum(p, place + n - dist, 2 * dist));
	return sum;
}

static u8 *part_sum(const struct part *p)
{
	switch (p->w->is.c.algorithm) {
	case MRPC_RING:
		return ring_sum(p);
	case MRPC_RECURSIVE:
		return recursive_sum(p, p->at, 1);
	case MRPC_BINOMIAL:
		return tree_sum(p, 0);
	default:
		return direct_sum(p);
	}
}

/* Block by block, at the place of the block; a tree's is all at place 0. */
static void all_reduce(const struct world *w, u8 *out)
{
	const struct mrpc_schedule_config *c = &w->is.c;
	const u32 blocks = c->algorithm == MRPC_BINOMIAL ? 1 : c->ranks;
	struct part p = { .w = w };
	u8 *sum;

	for (; p.at < blocks; p.at++, p.off += p.len) {
		p.len = (c->count / blocks + (p.at < c->count % blocks)) * c->elem_size;
		sum = part_sum(&p);
		memcpy(out + p.off, sum, p.len);
		free(sum);
	}
}

/* -- outputs ------------------------------------------------------------------------ */

u8 *model_output(const struct world *w, u32 rank, u64 *len)
{
	const struct mrpc_schedule_config *c = &w->is.c;
	const u64 bytes = c->count * c->elem_size;
	struct part p = { .w = w, .len = bytes };
	u8 *out = calloc(bytes ?: 1, c->ranks);
	u32 i;

	*len = bytes;
	switch (c->collective) {
	case MRPC_ALLREDUCE:
		all_reduce(w, out);
		return out;
	case MRPC_REDUCE_SCATTER:
		free(out);
		p.off = rank * bytes;
		p.at = place_of_rank(w, rank);
		return part_sum(&p);
	case MRPC_REDUCE:
		free(out);
		*len = rank == c->root ? bytes : 0;
		p.at = place_of_rank(w, c->root);
		return part_sum(&p);
	case MRPC_BROADCAST:
		memcpy(out, w->rank[c->root].input, bytes);
		return out;
	case MRPC_SCATTER:
		memcpy(out, w->rank[c->root].input + rank * bytes, bytes);
		return out;
	case MRPC_BARRIER:
		*len = 0;
		return out;
	}
	for (i = 0; i < c->ranks; i++)
		memcpy(out + i * bytes,
		       w->rank[i].input + (c->collective == MRPC_ALLTOALL ? rank * bytes : 0), bytes);
	*len = c->collective == MRPC_GATHER && rank != c->root ? 0 : bytes * c->ranks;
	return out;
}

/* -- bytes -------------------------------------------------------------------------- */


/* Children of @virt in a binomial tree, or all places below it and itself. */
static u32 tree_count(u32 n, u32 virt, bool all)
{
	u32 k, nr = all;

	for (k = 1; !(virt & k) && virt + k < n; k *= 2)
		nr += all ? tree_count(n, virt + k, true) : 1;
	return nr;
}

static u64 tree_sent(const struct world *w, u32 virt)
{
	const struct mrpc_schedule_config *c = &w->is.c;
	const u32 n = c->ranks, children = tree_count(n, virt, false);

	switch (c->collective) {
	case MRPC_ALLREDUCE:
		return children + !!virt;
	case MRPC_BROADCAST:
		return children;
	case MRPC_REDUCE:
		return !!virt;
	case MRPC_GATHER:
		return virt ? tree_count(n, virt, true) : 0;
	default:
		return tree_count(n, virt, true) - 1;
	}
}

u64 model_sent(const struct world *w, u32 rank)
{
	const struct mrpc_schedule_config *c = &w->is.c;
	const u32 n = c->ranks;
	const u64 bytes = c->count * c->elem_size;
	u32 virt;

	if (c->algorithm == MRPC_BINOMIAL && c->collective == MRPC_ALLREDUCE)
		return tree_sent(w, place_of_rank(w, rank)) * bytes;
	/* The trees of Gather and Scatter do not follow the order. */
	virt = (place_of_rank(w, rank) + n - place_of_rank(w, c->root)) % n;
	if (c->algorithm == MRPC_BINOMIAL) {
		if (c->collective == MRPC_GATHER || c->collective == MRPC_SCATTER)
			virt = (rank + n - c->root) % n;
		return tree_sent(w, virt) * bytes;
	}
	switch (c->collective) {
	case MRPC_ALLREDUCE:
		return 2 * (n - 1) * (bytes / n);
	case MRPC_BROADCAST:
		return c->algorithm == MRPC_RING ? (virt < n - 1) * bytes :
						   (virt ? 0 : (n - 1) * bytes);
	case MRPC_REDUCE:
	case MRPC_GATHER:
		return virt ? bytes : 0;
	case MRPC_SCATTER:
		return virt ? 0 : (n - 1) * bytes;
	default:
		return (n - 1) * bytes;
	}
}
