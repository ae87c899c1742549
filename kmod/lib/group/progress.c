// SPDX-License-Identifier: GPL-2.0
/*
 * Positions of a rank in a schedule: see progress.h for the contract.
 */
#include "lib/group/progress.h"

/* Goes to step @nr, or to the first one after it that has something for this side. */
static void side_begin(const struct mrpc_schedule *s, struct mrpc_progress_side *side, u32 nr,
		       bool (*has)(const struct mrpc_step *step))
{
	side->done = 0;
	for (side->nr = nr; side->nr < s->steps; side->nr++) {
		mrpc_schedule_step(s, side->nr, &side->step);
		if (has(&side->step))
			return;
	}
}

static bool step_sends(const struct mrpc_step *step)
{
	return step->to != MRPC_NO_RANK;
}

static bool step_receives(const struct mrpc_step *step)
{
	return step->from != MRPC_NO_RANK ||
	       (step->action == MRPC_STEP_COPY && step->recv.len);
}

/*
 * Makes @sent_after the step behind the last receive that the send waits for. Recursive algorithms
 * and trees often have an empty step there. The send would wait for all of the receive before it.
 */
static void send_begin(struct mrpc_progress *p, u32 nr)
{
	u32 *after = &p->send.step.sent_after;
	struct mrpc_step step;

	side_begin(p->s, &p->send, nr, step_sends);
	if (p->send.nr == p->s->steps)
		return;
	for (; *after; (*after)--) {
		mrpc_schedule_step(p->s, *after - 1, &step);
		if (step_receives(&step))
			return;
	}
}

void mrpc_progress_init(struct mrpc_progress *p, const struct mrpc_schedule *s, u32 chunk)
{
	*p = (struct mrpc_progress){ .s = s, .chunk = chunk };
	send_begin(p, 0);
	side_begin(s, &p->recv, 0, step_receives);
}

static u32 side_chunk(const struct mrpc_progress *p, const struct mrpc_progress_side *side,
		      const struct mrpc_range *range)
{
	return min_t(u64, range->len - side->done, p->chunk);
}

/* Whether the ranges of @a_len and @b_len bytes share a byte. */
static bool places_overlap(struct mrpc_place a, u64 a_len, struct mrpc_place b, u64 b_len)
{
	return a.buf == b.buf && a.off < b.off + b_len && b.off < a.off + a_len;
}

/*
 * Whether the receives are over that the @len bytes at @at depend on. Of the last one only the
 * bytes that are still to come count.
 */
static bool send_may_go(const struct mrpc_progress *p, struct mrpc_place at, u32 len)
{
	const struct mrpc_progress_side *recv = &p->recv;
	const struct mrpc_range *last = &recv->step.recv;
	struct mrpc_place missing = last->at;

	if (recv->nr >= p->send.step.sent_after)
		return true;
	if (recv->nr + 1 < p->send.step.sent_after || !len)
		return false;
	missing.off += recv->done;
	return !places_overlap(at, len, missing, last->len - recv->done);
}

enum mrpc_progress_next mrpc_progress_send(struct mrpc_progress *p, struct mrpc_chunk *chunk)
{
	struct mrpc_progress_side *send = &p->send;
	const struct mrpc_range *range = &send->step.send;
	u32 slot;

	if (send->nr == p->s->steps)
		return MRPC_NEXT_NONE;
	if (p->busy == BIT(MRPC_PROGRESS_SENDS) - 1)
		return MRPC_NEXT_WAITS;
	chunk->peer = send->step.to;
	chunk->at = range->at;
	chunk->at.off += send->done;
	chunk->len = side_chunk(p, send, range);
	if (!send_may_go(p, chunk->at, chunk->len))
		return MRPC_NEXT_WAITS;
	slot = __ffs64(~(u64)p->busy);
	p->busy |= BIT(slot);
	p->of[slot] = send->nr;
	chunk->slot = slot;
	send->done += chunk->len;
	if (send->done == range->len)
		send_begin(p, send->nr + 1);
	return MRPC_NEXT_CHUNK;
}

void mrpc_progress_freed(struct mrpc_progress *p, u8 slot)
{
	p->busy &= ~BIT(slot);
}

/* Whether all sends of the steps before @nr are over. */
static bool sends_are_over(const struct mrpc_progress *p, u32 nr)
{
	u32 busy;

	if (p->send.nr < nr)
		return false;
	for (busy = p->busy; busy; busy &= busy - 1)
		if (p->of[__ffs64(busy)] < nr)
			return false;
	return true;
}

enum mrpc_progress_next mrpc_progress_recv(const struct mrpc_progress *p, struct mrpc_chunk *chunk)
{
	const struct mrpc_progress_side *recv = &p->recv;
	const struct mrpc_step *step = &recv->step;

	if (recv->nr == p->s->steps)
		return MRPC_NEXT_NONE;
	if (!sends_are_over(p, step->recv_after))
		return MRPC_NEXT_WAITS;
	chunk->peer = step->from;
	chunk->action = step->action;
	chunk->at = step->recv.at;
	chunk->at.off += recv->done;
	chunk->with = step->with;
	chunk->with.off += recv->done;
	chunk->len = side_chunk(p, recv, &step->recv);
	return MRPC_NEXT_CHUNK;
}

void mrpc_progress_received(struct mrpc_progress *p)
{
	struct mrpc_progress_side *recv = &p->recv;

	recv->done += side_chunk(p, recv, &recv->step.recv);
	if (recv->done == recv->step.recv.len)
		side_begin(p->s, recv, recv->nr + 1, step_receives);
}
