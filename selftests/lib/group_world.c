// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "group_world.h"
#include "lib/group/reduce_fp.h"
#include "rnd.h"

static u64 buffer_size(const struct mrpc_schedule *s, u32 buf)
{
	return buf == MRPC_BUF_SEND ? s->send_size : buf == MRPC_BUF_RECV ? s->recv_size :
									     s->work_size;
}

static u8 *bytes_at(struct world_rank *r, struct mrpc_place p)
{
	return r->buf[p.buf] + p.off;
}

static bool overlap(u64 a, u64 a_len, u64 b, u64 b_len)
{
	return a < b + b_len && b < a + a_len;
}

/* -- what a step has to be ---------------------------------------------------------- */

static bool range_fits(const struct world *w, const struct mrpc_schedule *s, struct mrpc_place p,
		       u64 len)
{
	const u32 size = mrpc_elem_size(w->is.elem);

	return !len || (p.buf <= MRPC_BUF_WORK && p.off <= buffer_size(s, p.buf) &&
			len <= buffer_size(s, p.buf) - p.off && !(p.off % size) && !(len % size));
}

static const char *step_fault(const struct world *w, u32 rank, u32 nr, const struct mrpc_step *t)
{
	const struct mrpc_schedule *s = &w->rank[rank].s;
	const bool barrier = w->is.c.collective == MRPC_BARRIER;

	if (!range_fits(w, s, t->send.at, t->send.len))
		return "sends what is not in a buffer";
	if (!range_fits(w, s, t->recv.at, t->recv.len))
		return "receives into what is not in a buffer";
	if (t->action != MRPC_STEP_STORE && !range_fits(w, s, t->with, t->recv.len))
		return "takes an operand that is not in a buffer";
	if (t->send.at.buf == t->recv.at.buf &&
	    overlap(t->send.at.off, t->send.len, t->recv.at.off, t->recv.len))
		return "overwrites what it sends";
	if (t->to == rank || t->from == rank)
		return "is its own peer";
	if (t->to != MRPC_NO_RANK ? t->to >= w->is.c.ranks : t->send.len)
		return "has nobody to send to";
	if (t->action == MRPC_STEP_COPY ? t->from != MRPC_NO_RANK || t->to != MRPC_NO_RANK :
					  t->from == MRPC_NO_RANK && t->recv.len)
		return "has a wrong peer to receive from";
	if (!barrier && ((t->to != MRPC_NO_RANK && !t->send.len) ||
			 (t->action != MRPC_STEP_COPY && t->from != MRPC_NO_RANK && !t->recv.len)))
		return "has a message of nothing";
	if (t->sent_after > nr || t->recv_after > nr)
		return "waits for a later step";
	return NULL;
}

/* -- turns ------------------------------------------------------------------------ */

static bool try_send(struct world *w, u32 rank)
{
	struct world_rank *r = &w->rank[rank];
	const struct mrpc_step *t = &r->p.send.step;
	const u64 message = t->send.len;
	struct world_sent *sent;
	struct mrpc_chunk chunk;

	if (r->p.send.nr < r->s.steps && w->channel[rank][t->to])
		return false;
	if (mrpc_progress_send(&r->p, &chunk) != MRPC_NEXT_CHUNK)
		return false;
	sent = malloc(sizeof(*sent) + chunk.len);
	*sent = (struct world_sent){ .at = chunk.at, .len = chunk.len, .message = message };
	memcpy(sent->data, bytes_at(r, chunk.at), chunk.len);
	r->sent[chunk.slot] = sent;
	r->bytes += chunk.len;
	w->channel[rank][chunk.peer] = sent;
	return true;
}

/* One of the sends whose chunk has arrived is over. */
static bool try_end_send(struct world *w, u32 rank, u64 *rnd, const char **fault)
{
	struct world_rank *r = &w->rank[rank];
	u32 slot = rnd_below(rnd, MRPC_PROGRESS_SENDS), left = MRPC_PROGRESS_SENDS;
	struct world_sent *sent;

	for (; left; left--, slot = (slot + 1) % MRPC_PROGRESS_SENDS) {
		sent = r->sent[slot];
		if (!sent || !sent->arrived)
			continue;
		if (memcmp(bytes_at(r, sent->at), sent->data, sent->len))
			*fault = "overwrites what is being sent";
		free(sent);
		r->sent[slot] = NULL;
		mrpc_progress_freed(&r->p, slot);
		return true;
	}
	return false;
}

/* @data: what was received; not of a copy. */
static void take_chunk(struct world *w, struct world_rank *r, const struct mrpc_chunk *chunk,
		       const u8 *data)
{
	u8 *to = bytes_at(r, chunk->at);

	if (chunk->action == MRPC_STEP_STORE)
		memcpy(to, data, chunk->len);
	else if (chunk->action == MRPC_STEP_REDUCE)
		mrpc_reduce_fp(w->is.elem, w->is.op, to, bytes_at(r, chunk->with), data,
			       chunk->len / mrpc_elem_size(w->is.elem));
	else
		memmove(to, bytes_at(r, chunk->with), chunk->len);
}

/* *@fault is set if the message is not the one that the receiver expects. */
static bool try_recv(struct world *w, u32 rank, const char **fault)
{
	struct world_rank *r = &w->rank[rank];
	struct world_sent **from;
	struct mrpc_chunk chunk;

	if (mrpc_progress_recv(&r->p, &chunk) != MRPC_NEXT_CHUNK)
		return false;
	if (chunk.peer == MRPC_NO_RANK) {
		take_chunk(w, r, &chunk, NULL);
		mrpc_progress_received(&r->p);
		return true;
	}
	from = &w->channel[chunk.peer][rank];
	if (!*from)
		return false;
	if ((*from)->message != r->p.recv.step.recv.len || (*from)->len != chunk.len) {
		*fault = "gets a message of another length";
		return false;
	}
	take_chunk(w, r, &chunk, (*from)->data);
	mrpc_progress_received(&r->p);
	(*from)->arrived = true;
	*from = NULL;
	return true;
}

bool world_ready(const struct world *w, u32 rank)
{
	return mrpc_progress_over(&w->rank[rank].p);
}

/* -- beginning and end -------------------------------------------------------------- */

u64 world_input_size(const struct world *w, u32 rank)
{
	const struct mrpc_schedule_config *c = &w->is.c;
	const u64 bytes = c->count * c->elem_size;

	switch (c->collective) {
	case MRPC_REDUCE_SCATTER:
	case MRPC_ALLTOALL:
		return bytes * c->ranks;
	case MRPC_SCATTER:
		return rank == c->root ? bytes * c->ranks : 0;
	case MRPC_BROADCAST:
		return rank == c->root ? bytes : 0;
	case MRPC_BARRIER:
		return 0;
	default:
		return bytes;
	}
}

/* Where the application has its input: in place, as NCCL says it. */
static struct mrpc_place input_place(const struct world *w, u32 rank)
{
	const struct mrpc_schedule_config *c = &w->is.c;
	const u64 own = rank * c->count * c->elem_size;

	if (!c->in_place)
		return (struct mrpc_place){ .buf = MRPC_BUF_SEND };
	switch (c->collective) {
	case MRPC_ALLREDUCE:
	case MRPC_BROADCAST:
	case MRPC_ALLTOALL:
		return (struct mrpc_place){ .buf = MRPC_BUF_RECV };
	case MRPC_ALLGATHER:
		return (struct mrpc_place){ .buf = MRPC_BUF_RECV, .off = own };
	case MRPC_REDUCE:
		return (struct mrpc_place){ .buf = rank == c->root ? MRPC_BUF_RECV : MRPC_BUF_SEND };
	case MRPC_GATHER:
		if (rank == c->root)
			return (struct mrpc_place){ .buf = MRPC_BUF_RECV, .off = own };
		return (struct mrpc_place){ .buf = MRPC_BUF_SEND };
	default:
		return (struct mrpc_place){ .buf = MRPC_BUF_SEND };
	}
}

/* Fills in numbers with sums and products that round, and so depend on the order. */
static void fill_input(u32 elem, u8 *to, u64 bytes, u64 *rnd)
{
	const u32 size = mrpc_elem_size(elem);
	u64 i, bits;
	double d;
	float f;

	for (i = 0; i < bytes; i += size) {
		bits = (u64)rnd_next(rnd) << 32 | rnd_next(rnd);
		d = 1 + rnd_below(rnd, 1 << 30) / 1e9;
		f = d;
		if (elem == MRPC_ELEM_F64)
			memcpy(&bits, &d, sizeof(bits));
		else if (elem == MRPC_ELEM_F32)
			memcpy(&bits, &f, sizeof(f));
		else if (elem == MRPC_ELEM_F16)
			bits = 0x3400 + rnd_below(rnd, 0x800);
		else if (elem == MRPC_ELEM_BF16)
			bits = 0x3f00 + rnd_below(rnd, 0x100);
		memcpy(to + i, &bits, size);
	}
}

static bool begin_rank(struct world *w, u32 rank, u64 *rnd, const char **fault)
{
	struct world_rank *r = &w->rank[rank];
	struct mrpc_schedule_config c = w->is.c;
	u64 size = world_input_size(w, rank);
	struct mrpc_step step;
	u32 buf, nr;

	c.rank = rank;
	if (mrpc_schedule_init(&r->s, &c)) {
		*fault = "is refused";
		return false;
	}
	for (buf = 0; buf < 3; buf++) {
		r->buf[buf] = malloc(buffer_size(&r->s, buf) ?: 1);
		memset(r->buf[buf], 0xa5, buffer_size(&r->s, buf) ?: 1);
	}
	r->input = malloc(size ?: 1);
	fill_input(w->is.elem, r->input, size, rnd);
	if (size)
		memcpy(bytes_at(r, input_place(w, rank)), r->input, size);
	for (nr = 0; nr < r->s.steps && !*fault; nr++) {
		mrpc_schedule_step(&r->s, nr, &step);
		*fault = step_fault(w, rank, nr, &step);
	}
	mrpc_progress_init(&r->p, &r->s, w->is.chunk * mrpc_elem_size(w->is.elem));
	return !*fault;
}

/* A turn of a rank; some ranks, and some sides, are slow. */
static bool random_turn(struct world *w, u64 *rnd, const char **fault)
{
	u32 rank = rnd_below(rnd, w->is.c.ranks);
	u32 slow = (w->is.seed >> (rank % 32) & 1) + (w->is.seed >> 40 & 3);

	if (rank == w->late || (slow && rnd_below(rnd, 1 << slow)))
		return false;
	switch (rnd_below(rnd, 4)) {
	case 0:
		return try_send(w, rank);
	case 1:	/* late, mostly */
		return !rnd_below(rnd, 1 + (w->is.seed >> 50 & 3)) &&
		       try_end_send(w, rank, rnd, fault);
	default:
		return try_recv(w, rank, fault);
	}
}

/* Whether a rank could do something, which it does then. */
static bool any_turn(struct world *w, u64 *rnd, const char **fault)
{
	u32 rank;

	for (rank = 0; rank < w->is.c.ranks; rank++)
		if (rank != w->late && (try_send(w, rank) || try_recv(w, rank, fault)))
			return true;
	for (rank = 0; rank < w->is.c.ranks; rank++)
		if (try_end_send(w, rank, rnd, fault))
			return true;
	return false;
}

static bool all_ready(const struct world *w)
{
	u32 rank;

	for (rank = 0; rank < w->is.c.ranks; rank++)
		if (!world_ready(w, rank))
			return false;
	return true;
}

/* NULL: all are ready; else why they are not. */
static const char *run(struct world *w, const struct world_case *is, u32 late)
{
	u64 rnd = is->seed | 1;
	const char *why = NULL;
	u32 rank, vain = 0;

	memset(w, 0, sizeof(*w));
	w->is = *is;
	w->late = late;
	for (rank = 0; rank < is->c.ranks && !why; rank++)
		begin_rank(w, rank, &rnd, &why);
	while (!why && !all_ready(w)) {
		vain = random_turn(w, &rnd, &why) ? 0 : vain + 1;
		if (!why && vain > is->c.ranks) {
			vain = 0;
			if (!any_turn(w, &rnd, &why))
				why = why ?: "no rank can go on";
		}
	}
	return why;
}

bool world_run_without(struct world *w, const struct world_case *is, u32 late)
{
	return !run(w, is, late);
}

bool world_run(struct world *w, const struct world_case *is, char fault[256])
{
	const char *why = run(w, is, MRPC_NO_RANK);

	if (why)
		snprintf(fault, 256, "collective %u, algorithm %u, %u ranks, root %u%s%s, count %llu, "
			 "chunk %u: %s", is->c.collective, is->c.algorithm, is->c.ranks, is->c.root,
			 is->c.in_place ? ", in place" : "", is->c.order ? ", an order" : "",
			 (unsigned long long)is->c.count, is->chunk, why);
	return !why;
}

void world_end(struct world *w)
{
	u32 rank, buf, slot;

	for (rank = 0; rank < w->is.c.ranks; rank++) {
		for (buf = 0; buf < 3; buf++)
			free(w->rank[rank].buf[buf]);
		free(w->rank[rank].input);
		for (slot = 0; slot < MRPC_PROGRESS_SENDS; slot++)
			free(w->rank[rank].sent[slot]);
	}
}
