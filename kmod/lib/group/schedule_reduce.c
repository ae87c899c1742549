// SPDX-License-Identifier: GPL-2.0
/* The steps of AllReduce, ReduceScatter and Reduce. schedule.h has the order of reduction. */
#include "lib/group/schedule_reduce.h"

/* A step that only copies the own part, where input and output are apart. */
static u32 copy_steps(const struct mrpc_schedule *s)
{
	return s->copies;
}

/* Of a single rank. For ReduceScatter the block is at the own rank. */
static void copy_own(const struct mrpc_schedule *s, struct mrpc_step *step)
{
	step_copy(step, s->in, s->out, s->bytes);
}

/* -- AllReduce, ring -------------------------------------------------------------- */

static u32 all_ring_steps(const struct mrpc_schedule *s)
{
	return s->c.ranks == 1 ? copy_steps(s) : 2 * (s->c.ranks - 1);
}

/* Sums go round first, and end at the place that their block has. Then the results go round. */
static void all_ring_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	const u32 n = s->c.ranks, turn = nr % (n - 1 ?: 1);
	const bool sums = nr < n - 1;
	const u32 give = ring_sub(s, s->place, sums ? turn + 1 : turn);
	const u32 take = ring_sub(s, give, 1);
	const u32 next = rank_at(s, ring_add(s, s->place, 1 % n));
	const u32 prev = rank_at(s, ring_sub(s, s->place, 1 % n));

	if (n == 1) {
		copy_own(s, step);
		return;
	}
	step_send(s, step, next, place_add(nr ? s->out : s->in, block_off(s, give)),
		  block_len(s, give));
	step->sent_after = nr;
	if (sums) {
		step_reduce(s, step, prev, place_add(s->in, block_off(s, take)),
			    place_add(s->out, block_off(s, take)), block_len(s, take));
	} else {
		step_store(s, step, prev, place_add(s->out, block_off(s, take)),
			   block_len(s, take));
		/* The sum of the block was sent in the same turn. */
		step->recv_after = turn + 1;
	}
}

/* -- AllReduce, recursive ---------------------------------------------------------- */

/* How many blocks a round of distance @dist sends and receives. */
static u32 round_blocks(const struct mrpc_schedule *s, u32 dist)
{
	return min(dist, s->c.ranks - dist);
}

/*
 * The first round of sums fills the output for as many blocks as it receives. The others, of which
 * later rounds need the sums, are copied. There are none if the number of ranks is a power of two.
 */
static u32 recursive_copies(const struct mrpc_schedule *s)
{
	return s->copies && s->c.ranks & (s->c.ranks - 1) ? 2 : 0;
}

static u32 all_recursive_steps(const struct mrpc_schedule *s)
{
	return s->c.ranks == 1 ? copy_steps(s) : recursive_copies(s) + 4 * s->levels;
}

/* Round @round of @dist, in two parts: gives away the blocks behind its own @dist ones. */
static void all_recursive_sums(const struct mrpc_schedule *s, u32 round, u32 part,
			       struct mrpc_step *step)
{
	const u32 dist = 1U << (s->levels - 1 - round), nr = round_blocks(s, dist);
	const u32 up = ring_add(s, s->place, dist), down = ring_sub(s, s->place, dist);
	const struct mrpc_span give = block_span(s, up, nr, part);
	const struct mrpc_span take = block_span(s, s->place, nr, part);
	const struct mrpc_place from = round ? s->out : s->in;

	step_send(s, step, rank_at(s, up), place_add(from, give.off), give.len);
	step_reduce(s, step, rank_at(s, down), place_add(from, take.off),
		    place_add(s->out, take.off), take.len);
	step->sent_after = round ? recursive_copies(s) + 2 * round : 0;
}

/* Round @round of the results, with distance 2^@round. */
static void all_recursive_results(const struct mrpc_schedule *s, u32 round, u32 part,
				  struct mrpc_step *step)
{
	const u32 first = recursive_copies(s) + 2 * s->levels;
	const u32 dist = 1U << round, nr = round_blocks(s, dist);
	const u32 up = ring_add(s, s->place, dist), down = ring_sub(s, s->place, dist);
	const struct mrpc_span give = block_span(s, s->place, nr, part);
	const struct mrpc_span take = block_span(s, up, nr, part);

	step_send(s, step, rank_at(s, down), place_add(s->out, give.off), give.len);
	step_store(s, step, rank_at(s, up), place_add(s->out, take.off), take.len);
	step->sent_after = first + 2 * round;
	/* The sums of these blocks were sent in the round of this distance. */
	step->recv_after = first - 2 * round;
}

static void all_recursive_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	const u32 copies = recursive_copies(s), half = 1U << s->levels >> 1;
	struct mrpc_span span;
	u32 got;

	if (s->c.ranks == 1) {
		copy_own(s, step);
	} else if (nr < copies) {
		got = round_blocks(s, half);
		span = block_span(s, ring_add(s, s->place, got), half - got, nr);
		step_copy(step, place_add(s->in, span.off), place_add(s->out, span.off), span.len);
	} else if (nr < copies + 2 * s->levels) {
		nr -= copies;
		all_recursive_sums(s, nr / 2, nr % 2, step);
	} else {
		nr -= copies + 2 * s->levels;
		all_recursive_results(s, nr / 2, nr % 2, step);
	}
}

/* -- Reduce, and AllReduce, binomial ------------------------------------------------ */

/* Where sums are: the result of the root, or of all; else work. */
static struct mrpc_place sums_of(const struct mrpc_schedule *s)
{
	return s->virt && s->c.collective == MRPC_REDUCE ? place_of(MRPC_BUF_WORK, 0) : s->out;
}

static u32 tree_steps(const struct mrpc_schedule *s)
{
	return s->c.ranks == 1 ? copy_steps(s) : tree_children(s, s->virt) + !!s->virt;
}

static u64 tree_work(const struct mrpc_schedule *s)
{
	return s->virt && tree_children(s, s->virt) ? s->bytes : 0;
}

static void tree_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	const struct mrpc_place with = nr ? sums_of(s) : s->in;

	if (s->c.ranks == 1) {
		copy_own(s, step);
	} else if (nr < tree_children(s, s->virt)) {
		step_reduce(s, step, rank_of_virt(s, s->virt + (1U << nr)), with, sums_of(s),
			    s->bytes);
	} else {
		step_send(s, step, rank_of_virt(s, tree_parent(s->virt)), with, s->bytes);
		step->sent_after = nr;
	}
}

static u32 all_tree_steps(const struct mrpc_schedule *s)
{
	u32 way = tree_children(s, s->virt) + !!s->virt;

	return s->c.ranks == 1 ? copy_steps(s) : 2 * way;
}

/* Sums go down to virtual place 0, results back. */
static void all_tree_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	const u32 sums = tree_steps(s);
	u32 child;

	if (nr < sums) {
		tree_step(s, nr, step);
	} else if (s->virt && nr == sums) {
		step_store(s, step, rank_of_virt(s, tree_parent(s->virt)), s->out, s->bytes);
		step->recv_after = nr;
	} else {
		child = 2 * sums - 1 - nr;
		step_send(s, step, rank_of_virt(s, s->virt + (1U << child)), s->out, s->bytes);
		step->sent_after = sums + !!s->virt;
	}
}

/* -- AllReduce, direct -------------------------------------------------------------- */

static u32 all_direct_steps(const struct mrpc_schedule *s)
{
	return s->c.ranks == 1 ? copy_steps(s) : 2 * (s->c.ranks - 1);
}

/* Each place reduces its block, and sends the result to all. */
static void all_direct_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	const u32 n = s->c.ranks, dist = nr % (n - 1 ?: 1) + 1;
	const bool sums = nr < n - 1;
	const u64 own = block_off(s, s->place), own_len = block_len(s, s->place);
	u32 to, from;

	if (n == 1) {
		copy_own(s, step);
		return;
	}
	to = ring_add(s, s->place, dist);
	from = ring_sub(s, s->place, dist);
	if (sums) {
		step_send(s, step, rank_at(s, to), place_add(s->in, block_off(s, to)),
			  block_len(s, to));
		step_reduce(s, step, rank_at(s, from), place_add(nr ? s->out : s->in, own),
			    place_add(s->out, own), own_len);
		return;
	}
	step_send(s, step, rank_at(s, to), place_add(s->out, own), own_len);
	step->sent_after = n - 1;
	step_store(s, step, rank_at(s, from), place_add(s->out, block_off(s, from)),
		   block_len(s, from));
	/* In place, what was given to @from for its sum is overwritten. */
	step->recv_after = s->c.in_place ? n - dist : 0;
}

/* -- ReduceScatter ------------------------------------------------------------------ */

/* The block of the rank at @place, in the input. */
static struct mrpc_place in_block(const struct mrpc_schedule *s, u32 place)
{
	return place_add(s->in, block_off(s, rank_at(s, place)));
}

static void scatter_copy_own(const struct mrpc_schedule *s, struct mrpc_step *step)
{
	step_copy(step, in_block(s, s->place), s->out, s->bytes);
}

static u32 scatter_steps(const struct mrpc_schedule *s)
{
	return s->c.ranks == 1 ? copy_steps(s) : s->c.ranks - 1;
}

/* One sum is sent while the next one is received. */
static u64 scatter_ring_work(const struct mrpc_schedule *s)
{
	return s->c.ranks > 2 ? min_t(u64, s->c.ranks - 2, 2) * s->bytes : 0;
}

static struct mrpc_place ring_sum(const struct mrpc_schedule *s, u32 nr)
{
	return nr == s->c.ranks - 2 ? s->out : place_of(MRPC_BUF_WORK, nr % 2 * s->bytes);
}

static void scatter_ring_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	u32 give, take;

	if (s->c.ranks == 1) {
		scatter_copy_own(s, step);
		return;
	}
	give = ring_sub(s, s->place, nr + 1);
	take = ring_sub(s, give, 1);
	step_send(s, step, rank_at(s, ring_add(s, s->place, 1)),
		  nr ? ring_sum(s, nr - 1) : in_block(s, give), s->bytes);
	step->sent_after = nr;
	step_reduce(s, step, rank_at(s, ring_sub(s, s->place, 1)), in_block(s, take),
		    ring_sum(s, nr), s->bytes);
	/* The sum before the last one was in the same place. */
	step->recv_after = nr;
}

static void scatter_direct_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	u32 to;

	if (s->c.ranks == 1) {
		scatter_copy_own(s, step);
		return;
	}
	to = ring_add(s, s->place, nr + 1);
	step_send(s, step, rank_at(s, to), in_block(s, to), s->bytes);
	step_reduce(s, step, rank_at(s, ring_sub(s, s->place, nr + 1)),
		    nr ? s->out : in_block(s, s->place), s->out, s->bytes);
}

/* Copies as in AllReduce, but to work, so also in place. */
static u32 scatter_recursive_copies(const struct mrpc_schedule *s)
{
	return s->c.ranks & (s->c.ranks - 1) ? 2 : 0;
}

/* The first round has two parts. The others are ranges of work, where blocks begin with the own. */
static u32 scatter_recursive_steps(const struct mrpc_schedule *s)
{
	if (s->c.ranks == 1)
		return copy_steps(s);
	return scatter_recursive_copies(s) + 1 + s->levels;
}

static u64 scatter_recursive_work(const struct mrpc_schedule *s)
{
	return s->c.ranks > 2 ? (1ULL << s->levels >> 1) * s->bytes : 0;
}

/* Where sums of a round of @dist are: the last one has one block, the result. */
static struct mrpc_place recursive_sum(const struct mrpc_schedule *s, u32 dist, u64 off)
{
	return dist == 1 ? s->out : place_of(MRPC_BUF_WORK, off);
}

static void scatter_recursive_first(const struct mrpc_schedule *s, u32 part,
				    struct mrpc_step *step)
{
	const u32 dist = 1U << s->levels >> 1, nr = round_blocks(s, dist);
	const u32 up = ring_add(s, s->place, dist), down = ring_sub(s, s->place, dist);
	const struct mrpc_span give = block_span(s, up, nr, part);
	const struct mrpc_span take = block_span(s, s->place, nr, part);
	const u64 skip = part ? nr * s->bytes - take.len : 0;

	step_send(s, step, up, place_add(s->in, give.off), give.len);
	step_reduce(s, step, down, place_add(s->in, take.off), recursive_sum(s, dist, skip),
		    take.len);
}

static void scatter_recursive_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	const u32 copies = scatter_recursive_copies(s), half = 1U << s->levels >> 1;
	const u32 got = round_blocks(s, half ?: 1);
	struct mrpc_span span;
	u32 dist;

	if (s->c.ranks == 1) {
		scatter_copy_own(s, step);
	} else if (nr < copies) {
		span = block_span(s, ring_add(s, s->place, got), half - got, nr);
		step_copy(step, place_add(s->in, span.off),
			  place_of(MRPC_BUF_WORK,
				   nr ? half * s->bytes - span.len : got * s->bytes), span.len);
	} else if (nr < copies + 2) {
		scatter_recursive_first(s, nr - copies, step);
	} else {
		dist = half >> (nr - copies - 1);
		step_send(s, step, ring_add(s, s->place, dist),
			  place_of(MRPC_BUF_WORK, dist * s->bytes), dist * s->bytes);
		step->sent_after = nr;
		step_reduce(s, step, ring_sub(s, s->place, dist), place_of(MRPC_BUF_WORK, 0),
			    recursive_sum(s, dist, 0), dist * s->bytes);
	}
}

/* -- Reduce ------------------------------------------------------------------------- */

/* Work is for places that receive and send. */
static u64 chain_work(const struct mrpc_schedule *s)
{
	return s->virt > 1 ? s->bytes : 0;
}

static u32 chain_steps(const struct mrpc_schedule *s)
{
	if (s->c.ranks == 1)
		return copy_steps(s);
	return s->virt > 1 ? 2 : 1;
}

/* From the root's next place round the ring to the root. */
static void chain_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	const u32 next = ring_add(s, s->place, 1 % s->c.ranks);
	const u32 prev = ring_sub(s, s->place, 1 % s->c.ranks);

	if (s->c.ranks == 1) {
		copy_own(s, step);
	} else if (s->virt == 1 || nr) {
		step_send(s, step, rank_at(s, next), nr ? sums_of(s) : s->in, s->bytes);
		step->sent_after = nr;
	} else {
		step_reduce(s, step, rank_at(s, prev), s->in, sums_of(s), s->bytes);
	}
}

static u32 reduce_direct_steps(const struct mrpc_schedule *s)
{
	if (s->c.ranks == 1)
		return copy_steps(s);
	return s->virt ? 1 : s->c.ranks - 1;
}

static void reduce_direct_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	if (s->c.ranks == 1)
		copy_own(s, step);
	else if (s->virt)
		step_send(s, step, rank_of_virt(s, 0), s->in, s->bytes);
	else
		step_reduce(s, step, rank_of_virt(s, nr + 1), nr ? s->out : s->in, s->out,
			    s->bytes);
}

const struct mrpc_schedule_plan
mrpc_reducing_plans[MRPC_NR_COLLECTIVES][MRPC_NR_ALGORITHMS] = {
	[MRPC_ALLREDUCE] = {
		[MRPC_RING] = { all_ring_steps, all_ring_step, NULL, true },
		[MRPC_RECURSIVE] = { all_recursive_steps, all_recursive_step, NULL, true },
		[MRPC_BINOMIAL] = { all_tree_steps, all_tree_step, NULL, true },
		[MRPC_DIRECT] = { all_direct_steps, all_direct_step, NULL, true },
	},
	[MRPC_REDUCE_SCATTER] = {
		[MRPC_RING] = { scatter_steps, scatter_ring_step, scatter_ring_work, true },
		[MRPC_RECURSIVE] = { scatter_recursive_steps, scatter_recursive_step,
				     scatter_recursive_work, false },
		[MRPC_DIRECT] = { scatter_steps, scatter_direct_step, NULL, true },
	},
	[MRPC_REDUCE] = {
		[MRPC_RING] = { chain_steps, chain_step, chain_work, true },
		[MRPC_BINOMIAL] = { tree_steps, tree_step, tree_work, true },
		[MRPC_DIRECT] = { reduce_direct_steps, reduce_direct_step, NULL, true },
	},
	/* An AllReduce of nothing. */
	[MRPC_BARRIER][MRPC_BINOMIAL] = { all_tree_steps, all_tree_step, NULL, true },
};
