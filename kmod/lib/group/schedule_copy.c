// SPDX-License-Identifier: GPL-2.0
/* The steps of AllGather, Broadcast, Gather, Scatter, AllToAll and Barrier. */
#include "lib/group/schedule_copy.h"

/* The block of @rank in the output or in the input. */
static struct mrpc_place out_block(const struct mrpc_schedule *s, u32 rank)
{
	return place_add(s->out, block_off(s, rank));
}

static struct mrpc_place in_block(const struct mrpc_schedule *s, u32 rank)
{
	return place_add(s->in, block_off(s, rank));
}

/* -- AllGather ---------------------------------------------------------------------- */

static u32 gather_all_steps(const struct mrpc_schedule *s)
{
	return s->copies + s->c.ranks - 1;
}

static void gather_copy_own(const struct mrpc_schedule *s, struct mrpc_step *step)
{
	step_copy(step, s->in, out_block(s, s->c.rank), s->bytes);
}

static void gather_ring_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	u32 turn, give, take;

	if (nr < s->copies) {
		gather_copy_own(s, step);
		return;
	}
	turn = nr - s->copies;
	give = rank_at(s, ring_sub(s, s->place, turn));
	take = rank_at(s, ring_sub(s, s->place, turn + 1));
	step_send(s, step, rank_at(s, ring_add(s, s->place, 1)),
		  turn ? out_block(s, give) : s->in, s->bytes);
	step->sent_after = turn ? nr : 0;
	step_store(s, step, rank_at(s, ring_sub(s, s->place, 1)), out_block(s, take), s->bytes);
}

static void gather_all_direct_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	u32 dist, from;

	if (nr < s->copies) {
		gather_copy_own(s, step);
		return;
	}
	dist = nr - s->copies + 1;
	from = rank_at(s, ring_sub(s, s->place, dist));
	step_send(s, step, rank_at(s, ring_add(s, s->place, dist)), s->in, s->bytes);
	step_store(s, step, from, out_block(s, from), s->bytes);
}

static u32 gather_recursive_steps(const struct mrpc_schedule *s)
{
	return s->copies + 2 * s->levels;
}

/* In a round of distance d each rank has the d blocks from its own on, and gets as many more. */
static void gather_recursive_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	struct mrpc_span give, take;
	u32 turn, dist, blocks, up;

	if (nr < s->copies) {
		gather_copy_own(s, step);
		return;
	}
	turn = nr - s->copies;
	dist = 1U << turn / 2;
	blocks = min(dist, s->c.ranks - dist);
	up = ring_add(s, s->place, dist);
	give = block_span(s, s->place, blocks, turn % 2);
	take = block_span(s, up, blocks, turn % 2);
	step_send(s, step, ring_sub(s, s->place, dist), place_add(s->out, give.off), give.len);
	step->sent_after = s->copies + turn / 2 * 2;
	step_store(s, step, up, place_add(s->out, take.off), take.len);
}

/* -- Broadcast ---------------------------------------------------------------------- */

/* The root's copy, or the receive of another rank: before a rank sends. */
static u32 broadcast_first(const struct mrpc_schedule *s)
{
	return s->virt ? 1 : s->copies;
}

/* The first step of Broadcast. @from: place that a rank which is not the root receives from. */
static void broadcast_get(const struct mrpc_schedule *s, u32 from, struct mrpc_step *step)
{
	if (s->virt)
		step_store(s, step, rank_of_virt(s, from), s->out, s->bytes);
	else
		step_copy(step, s->in, s->out, s->bytes);
}

static void broadcast_give(const struct mrpc_schedule *s, u32 to, struct mrpc_step *step)
{
	step_send(s, step, rank_of_virt(s, to), s->virt ? s->out : s->in, s->bytes);
	step->sent_after = s->virt ? 1 : 0;
}

static u32 broadcast_chain_steps(const struct mrpc_schedule *s)
{
	return broadcast_first(s) + (s->virt < s->c.ranks - 1);
}

static void broadcast_chain_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	if (nr < broadcast_first(s))
		broadcast_get(s, s->virt - 1, step);
	else
		broadcast_give(s, s->virt + 1, step);
}

static u32 broadcast_tree_steps(const struct mrpc_schedule *s)
{
	return broadcast_first(s) + tree_children(s, s->virt);
}

/* The child with the most ranks below it comes first. */
static void broadcast_tree_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	if (nr < broadcast_first(s))
		broadcast_get(s, tree_parent(s->virt), step);
	else
		broadcast_give(s, s->virt + (1U << (broadcast_tree_steps(s) - 1 - nr)), step);
}

static u32 broadcast_direct_steps(const struct mrpc_schedule *s)
{
	return broadcast_first(s) + (s->virt ? 0 : s->c.ranks - 1);
}

static void broadcast_direct_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	if (nr < broadcast_first(s))
		broadcast_get(s, 0, step);
	else
		broadcast_give(s, nr - s->copies + 1, step);
}

/* -- Gather and Scatter by trees ----------------------------------------------------- */

/*
 * The ranks below a place of the tree are consecutive, modulo the number of ranks. So in the root's
 * buffer their blocks are up to two ranges, and messages have two parts. Work has the blocks of a
 * place in between, from its own on.
 */
static struct mrpc_span tree_span(const struct mrpc_schedule *s, u32 virt, u32 part)
{
	return block_span(s, rank_of_virt(s, virt), tree_size(s, virt), part);
}

static u64 tree_work(const struct mrpc_schedule *s)
{
	return s->virt && tree_children(s, s->virt) ? tree_size(s, s->virt) * s->bytes : 0;
}

/* Where a part of the blocks of @virt is: @whole for the root, @own for a leaf, or in work. */
static struct mrpc_place tree_place(const struct mrpc_schedule *s, u32 virt, u32 part,
				    struct mrpc_place whole, struct mrpc_place own)
{
	const struct mrpc_span span = tree_span(s, virt, part);
	const u64 skip = part ? tree_size(s, virt) * s->bytes - span.len : 0;

	if (!s->virt)
		return place_add(whole, span.off);
	if (!tree_children(s, s->virt))
		return own;
	return place_of(MRPC_BUF_WORK, (virt - s->virt) * s->bytes + skip);
}

/* The root copies to its result; a place in between copies its block from or to work. */
static u32 tree_copies(const struct mrpc_schedule *s)
{
	return s->virt ? tree_children(s, s->virt) && s->bytes : s->copies;
}

static u32 tree_steps(const struct mrpc_schedule *s)
{
	return tree_copies(s) + 2 * (tree_children(s, s->virt) + !!s->virt);
}

static void gather_tree_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	u32 k, child, part;

	if (nr < tree_copies(s)) {
		step_copy(step, s->in, s->virt ? place_of(MRPC_BUF_WORK, 0) :
						 out_block(s, s->c.rank), s->bytes);
		return;
	}
	nr -= tree_copies(s);
	k = nr / 2;
	part = nr % 2;
	if (k < tree_children(s, s->virt)) {
		child = s->virt + (1U << k);
		step_store(s, step, rank_of_virt(s, child),
			   tree_place(s, child, part, s->out, s->in),
			   tree_span(s, child, part).len);
	} else {
		step_send(s, step, rank_of_virt(s, tree_parent(s->virt)),
			  tree_place(s, s->virt, part, s->out, s->in),
			  tree_span(s, s->virt, part).len);
		step->sent_after = tree_copies(s) + 2 * k;
	}
}

static void scatter_tree_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	const u32 gets = s->virt ? 2 : 0, copies = tree_copies(s);
	u32 child;

	if (nr < gets) {
		step_store(s, step, rank_of_virt(s, tree_parent(s->virt)),
			   tree_place(s, s->virt, nr, s->in, s->out),
			   tree_span(s, s->virt, nr).len);
	} else if (nr < gets + copies) {
		step_copy(step, s->virt ? place_of(MRPC_BUF_WORK, 0) : in_block(s, s->c.rank),
			  s->out, s->bytes);
	} else {
		nr -= gets + copies;
		child = s->virt + (1U << (tree_children(s, s->virt) - 1 - nr / 2));
		step_send(s, step, rank_of_virt(s, child),
			  tree_place(s, child, nr % 2, s->in, s->out),
			  tree_span(s, child, nr % 2).len);
		step->sent_after = gets;
	}
}

/* -- Gather and Scatter, direct ------------------------------------------------------ */

static u32 root_direct_steps(const struct mrpc_schedule *s)
{
	return s->virt ? 1 : s->copies + s->c.ranks - 1;
}

static void gather_direct_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	u32 from;

	if (s->virt) {
		step_send(s, step, rank_of_virt(s, 0), s->in, s->bytes);
	} else if (nr < s->copies) {
		gather_copy_own(s, step);
	} else {
		from = rank_of_virt(s, nr - s->copies + 1);
		step_store(s, step, from, out_block(s, from), s->bytes);
	}
}

static void scatter_direct_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	u32 to;

	if (s->virt) {
		step_store(s, step, rank_of_virt(s, 0), s->out, s->bytes);
	} else if (nr < s->copies) {
		step_copy(step, in_block(s, s->c.rank), s->out, s->bytes);
	} else {
		to = rank_of_virt(s, nr - s->copies + 1);
		step_send(s, step, to, in_block(s, to), s->bytes);
	}
}

/* -- AllToAll ------------------------------------------------------------------------ */

/*
 * In round r, the places p and q exchange blocks if p + q is r (mod n). So each place
 * meets each other one once, and itself. In place, the received block waits in work until the
 * block that it replaces was sent.
 */
static u32 exchange_steps(const struct mrpc_schedule *s)
{
	return s->c.in_place ? 2 * s->c.ranks : s->c.ranks;
}

static u64 exchange_work(const struct mrpc_schedule *s)
{
	return s->c.in_place && s->c.ranks > 1 ? s->bytes : 0;
}

static void exchange_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	const u32 round = s->c.in_place ? nr / 2 : nr;
	const u32 peer = rank_at(s, ring_sub(s, round, s->place));
	const bool own = peer == s->c.rank;

	if (!s->c.in_place && own) {
		step_copy(step, in_block(s, peer), out_block(s, peer), s->bytes);
	} else if (s->c.in_place && nr % 2) {
		step_copy(step, place_of(MRPC_BUF_WORK, 0), out_block(s, peer),
			  own ? 0 : s->bytes);
		step->recv_after = nr;
	} else if (!own) {
		step_send(s, step, peer, in_block(s, peer), s->bytes);
		step_store(s, step, peer, s->c.in_place ? place_of(MRPC_BUF_WORK, 0) :
							  out_block(s, peer), s->bytes);
	}
}

/* -- Barrier ------------------------------------------------------------------------- */

static u32 barrier_recursive_steps(const struct mrpc_schedule *s)
{
	return s->levels;
}

/* In each round a rank hears, through others, of twice as many ranks that have come. */
static void barrier_recursive_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	step_send(s, step, rank_at(s, ring_add(s, s->place, 1U << nr)), s->in, 0);
	step->sent_after = nr;
	step_store(s, step, rank_at(s, ring_sub(s, s->place, 1U << nr)), s->out, 0);
}

const struct mrpc_schedule_plan
mrpc_copying_plans[MRPC_NR_COLLECTIVES][MRPC_NR_ALGORITHMS] = {
	[MRPC_ALLGATHER] = {
		[MRPC_RING] = { gather_all_steps, gather_ring_step, NULL, true },
		[MRPC_RECURSIVE] = { gather_recursive_steps, gather_recursive_step, NULL, false },
		[MRPC_DIRECT] = { gather_all_steps, gather_all_direct_step, NULL, true },
	},
	[MRPC_BROADCAST] = {
		[MRPC_RING] = { broadcast_chain_steps, broadcast_chain_step, NULL, true },
		[MRPC_BINOMIAL] = { broadcast_tree_steps, broadcast_tree_step, NULL, true },
		[MRPC_DIRECT] = { broadcast_direct_steps, broadcast_direct_step, NULL, true },
	},
	[MRPC_GATHER] = {
		[MRPC_BINOMIAL] = { tree_steps, gather_tree_step, tree_work, false },
		[MRPC_DIRECT] = { root_direct_steps, gather_direct_step, NULL, true },
	},
	[MRPC_SCATTER] = {
		[MRPC_BINOMIAL] = { tree_steps, scatter_tree_step, tree_work, false },
		[MRPC_DIRECT] = { root_direct_steps, scatter_direct_step, NULL, true },
	},
	[MRPC_ALLTOALL] = {
		[MRPC_DIRECT] = { exchange_steps, exchange_step, exchange_work, true },
	},
	/* The first and the last are an AllGather of nothing. */
	[MRPC_BARRIER] = {
		[MRPC_RING] = { gather_all_steps, gather_ring_step, NULL, true },
		[MRPC_RECURSIVE] = { barrier_recursive_steps, barrier_recursive_step, NULL, true },
		[MRPC_DIRECT] = { gather_all_steps, gather_all_direct_step, NULL, true },
	},
};
