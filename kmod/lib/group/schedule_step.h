/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the schedules share: places, blocks, trees, and how a step is written. */
#ifndef MRPC_LIB_GROUP_SCHEDULE_STEP_H
#define MRPC_LIB_GROUP_SCHEDULE_STEP_H

#include "lib/group/schedule.h"

/**
 * struct mrpc_schedule_plan - one algorithm of one collective
 * @steps: the number of steps of this rank, which is one of several
 * @step: step @nr; all of @step is 0 before, and there are no peers
 * @work: bytes of MRPC_BUF_WORK; NULL: none
 * @ordered: ranks have the places of the caller's order
 */
struct mrpc_schedule_plan {
	u32 (*steps)(const struct mrpc_schedule *s);
	void (*step)(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step);
	u64 (*work)(const struct mrpc_schedule *s);
	bool ordered;
};

/* -- places ----------------------------------------------------------------------- */

/* @a + @b and @a - @b modulo the number of ranks; both are below it. */
static inline u32 ring_add(const struct mrpc_schedule *s, u32 a, u32 b)
{
	return a + b < s->c.ranks ? a + b : a + b - s->c.ranks;
}

static inline u32 ring_sub(const struct mrpc_schedule *s, u32 a, u32 b)
{
	return a >= b ? a - b : a + s->c.ranks - b;
}

static inline u32 rank_at(const struct mrpc_schedule *s, u32 place)
{
	return s->c.order ? s->c.order[place] : place;
}

/* The rank at place @virt, counted from the root's place. */
static inline u32 rank_of_virt(const struct mrpc_schedule *s, u32 virt)
{
	return rank_at(s, ring_add(s, ring_sub(s, s->place, s->virt), virt));
}

/* -- bytes ------------------------------------------------------------------------ */

static inline struct mrpc_place place_of(u8 buf, u64 off)
{
	return (struct mrpc_place){ .off = off, .buf = buf };
}

static inline struct mrpc_place place_add(struct mrpc_place p, u64 off)
{
	p.off += off;
	return p;
}

/*
 * Where block @b begins, up to the number of ranks. The blocks of AllReduce are equal parts of the
 * buffer. Those of other collectives are the ranks'.
 */
static inline u64 block_off(const struct mrpc_schedule *s, u32 b)
{
	if (s->c.collective != MRPC_ALLREDUCE)
		return b * s->bytes;
	return (b * s->quot + min_t(u64, b, s->rem)) * s->c.elem_size;
}

static inline u64 block_len(const struct mrpc_schedule *s, u32 b)
{
	return block_off(s, b + 1) - block_off(s, b);
}

/**
 * struct mrpc_span - consecutive blocks, modulo the number of ranks, as one range of bytes
 * @off: of the first block
 * @len: of all of them
 */
struct mrpc_span {
	u64 off;
	u64 len;
};

/*
 * The blocks @first to @first + @nr - 1, modulo the number of ranks. They are one range (@part 0),
 * or two, if they go beyond the last block: then @part 1 begins with block 0.
 */
static inline struct mrpc_span block_span(const struct mrpc_schedule *s, u32 first, u32 nr,
					  u32 part)
{
	u32 end = min(first + nr, s->c.ranks);
	struct mrpc_span span = { .off = block_off(s, first) };

	if (part) {
		end = first + nr - end;
		span.off = 0;
	}
	span.len = block_off(s, end) - span.off;
	return span;
}

/* -- trees -------------------------------------------------------------------------- */

/* The number of children of @virt in a binomial tree: they are @virt + 2^k. */
static inline u32 tree_children(const struct mrpc_schedule *s, u32 virt)
{
	/* 2^k is less than what is left of the ranks. */
	u32 fit = fls64(s->c.ranks - virt - 1);

	return virt ? min_t(u32, fit, __ffs64(virt)) : fit;
}

static inline u32 tree_parent(u32 virt)
{
	return virt & (virt - 1);
}

/* The ranks of the tree below @virt, and itself: @virt to @virt + the result - 1. */
static inline u32 tree_size(const struct mrpc_schedule *s, u32 virt)
{
	u32 left = s->c.ranks - virt;

	return virt ? min_t(u32, left, 1U << __ffs64(virt)) : left;
}

/* -- steps -------------------------------------------------------------------------- */

/* A message without bytes is sent in a barrier only. */
static inline bool has_message(const struct mrpc_schedule *s, u64 len)
{
	return len || s->c.collective == MRPC_BARRIER;
}

static inline void step_send(const struct mrpc_schedule *s, struct mrpc_step *step, u32 to,
			     struct mrpc_place at, u64 len)
{
	step->to = has_message(s, len) ? to : MRPC_NO_RANK;
	step->send = (struct mrpc_range){ .at = at, .len = len };
}

static inline void step_store(const struct mrpc_schedule *s, struct mrpc_step *step, u32 from,
			      struct mrpc_place at, u64 len)
{
	step->from = has_message(s, len) ? from : MRPC_NO_RANK;
	step->recv = (struct mrpc_range){ .at = at, .len = len };
}

static inline void step_reduce(const struct mrpc_schedule *s, struct mrpc_step *step, u32 from,
			       struct mrpc_place with, struct mrpc_place at, u64 len)
{
	step_store(s, step, from, at, len);
	step->action = len ? MRPC_STEP_REDUCE : MRPC_STEP_STORE;
	step->with = with;
}

static inline void step_copy(struct mrpc_step *step, struct mrpc_place with, struct mrpc_place at,
			     u64 len)
{
	step->action = MRPC_STEP_COPY;
	step->recv = (struct mrpc_range){ .at = at, .len = len };
	step->with = with;
}

#endif /* MRPC_LIB_GROUP_SCHEDULE_STEP_H */
