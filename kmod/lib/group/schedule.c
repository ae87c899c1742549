// SPDX-License-Identifier: GPL-2.0
/* Schedules: what is checked before the first step, and which file has the steps. */
#include "lib/group/schedule.h"
#include "lib/group/schedule_copy.h"
#include "lib/group/schedule_reduce.h"

/* NULL: there is none. */
static const struct mrpc_schedule_plan *find_plan(u32 collective, u32 algorithm)
{
	const struct mrpc_schedule_plan *plan = &mrpc_reducing_plans[collective][algorithm];

	if (!plan->step)
		plan = &mrpc_copying_plans[collective][algorithm];
	return plan->step ? plan : NULL;
}

bool mrpc_schedule_offers(u32 collective, u32 algorithm)
{
	return collective < MRPC_NR_COLLECTIVES && algorithm < MRPC_NR_ALGORITHMS &&
	       find_plan(collective, algorithm);
}

static bool has_root(u8 collective)
{
	return collective == MRPC_BROADCAST || collective == MRPC_REDUCE ||
	       collective == MRPC_GATHER || collective == MRPC_SCATTER;
}

static enum mrpc_schedule_fault check_config(const struct mrpc_schedule_config *c)
{
	if (c->collective >= MRPC_NR_COLLECTIVES)
		return MRPC_SCHEDULE_BAD_COLLECTIVE;
	if (c->algorithm >= MRPC_NR_ALGORITHMS)
		return MRPC_SCHEDULE_BAD_ALGORITHM;
	if (!find_plan(c->collective, c->algorithm))
		return MRPC_SCHEDULE_NOT_OFFERED;
	if (!c->ranks || c->ranks > MRPC_SCHEDULE_RANKS)
		return MRPC_SCHEDULE_BAD_RANKS;
	if (c->rank >= c->ranks)
		return MRPC_SCHEDULE_BAD_RANK;
	if (has_root(c->collective) && c->root >= c->ranks)
		return MRPC_SCHEDULE_BAD_ROOT;
	if (!c->elem_size && c->collective != MRPC_BARRIER)
		return MRPC_SCHEDULE_BAD_ELEMENT;
	return MRPC_SCHEDULE_OK;
}

/* The places of this rank and of the root, which is place 0 where there is none. */
static enum mrpc_schedule_fault find_places(struct mrpc_schedule *s)
{
	u32 root = has_root(s->c.collective) ? s->c.root : rank_at(s, 0);
	u32 root_place = s->c.ranks, p, rank;

	s->place = s->c.ranks;
	for (p = 0; p < s->c.ranks; p++) {
		rank = rank_at(s, p);
		if (rank >= s->c.ranks)
			return MRPC_SCHEDULE_BAD_ORDER;
		if (rank == s->c.rank)
			s->place = p;
		if (rank == root)
			root_place = p;
	}
	if (s->place == s->c.ranks || root_place == s->c.ranks)
		return MRPC_SCHEDULE_BAD_ORDER;
	s->virt = ring_sub(s, s->place, root_place);
	return MRPC_SCHEDULE_OK;
}

/* The input has a block for each rank, at this one. */
static bool in_is_blocks(const struct mrpc_schedule *s)
{
	return s->c.collective == MRPC_REDUCE_SCATTER || s->c.collective == MRPC_ALLTOALL ||
	       (s->c.collective == MRPC_SCATTER && !s->virt);
}

/* The same of the output. */
static bool out_is_blocks(const struct mrpc_schedule *s)
{
	return s->c.collective == MRPC_ALLGATHER || s->c.collective == MRPC_ALLTOALL ||
	       (s->c.collective == MRPC_GATHER && !s->virt);
}

static bool has_in(const struct mrpc_schedule *s)
{
	return (s->c.collective != MRPC_BROADCAST && s->c.collective != MRPC_SCATTER) || !s->virt;
}

static bool has_out(const struct mrpc_schedule *s)
{
	return (s->c.collective != MRPC_REDUCE && s->c.collective != MRPC_GATHER) || !s->virt;
}

static void find_buffers(struct mrpc_schedule *s)
{
	u64 own = s->c.rank * s->bytes;

	s->in = place_of(MRPC_BUF_SEND, 0);
	s->out = place_of(MRPC_BUF_RECV, 0);
	s->copies = has_in(s) && has_out(s) && !s->c.in_place && s->bytes;
	if (has_in(s))
		s->send_size = in_is_blocks(s) ? s->bytes * s->c.ranks : s->bytes;
	if (has_out(s))
		s->recv_size = out_is_blocks(s) ? s->bytes * s->c.ranks : s->bytes;
	if (!s->c.in_place || !has_in(s) || !has_out(s))
		return;
	/* One of the two buffers has both, the output or the larger one. */
	if (in_is_blocks(s) && !out_is_blocks(s)) {
		s->out = place_of(MRPC_BUF_SEND, own);
		s->recv_size = 0;
	} else {
		s->in = place_of(MRPC_BUF_RECV, in_is_blocks(s) || !out_is_blocks(s) ? 0 : own);
		s->send_size = 0;
	}
}

enum mrpc_schedule_fault mrpc_schedule_init(struct mrpc_schedule *s,
					    const struct mrpc_schedule_config *c)
{
	const struct mrpc_schedule_plan *plan;
	enum mrpc_schedule_fault fault = check_config(c);
	u64 all;

	if (fault)
		return fault;
	plan = find_plan(c->collective, c->algorithm);
	*s = (struct mrpc_schedule){ .c = *c };
	if (!plan->ordered)
		s->c.order = NULL;
	if (c->collective == MRPC_BARRIER)
		s->c.count = 0;
	if (check_mul_overflow(s->c.count, (u64)c->elem_size, &s->bytes) ||
	    check_mul_overflow(s->bytes, (u64)c->ranks, &all))
		return MRPC_SCHEDULE_TOO_LARGE;
	if (all > S64_MAX)
		return MRPC_SCHEDULE_TOO_LARGE;
	fault = find_places(s);
	if (fault)
		return fault;
	s->quot = div64_u64_rem(s->c.count, c->ranks, &s->rem);
	s->levels = fls64(c->ranks - 1);
	find_buffers(s);
	s->work_size = plan->work ? plan->work(s) : 0;
	s->steps = plan->steps(s);
	return MRPC_SCHEDULE_OK;
}

void mrpc_schedule_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step)
{
	*step = (struct mrpc_step){ .to = MRPC_NO_RANK, .from = MRPC_NO_RANK };
	find_plan(s->c.collective, s->c.algorithm)->step(s, nr, step);
}
