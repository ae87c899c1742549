// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "change_world.h"
#include "lib/group/choice.h"
#include "rnd.h"

#define COUNT	5	/* elements of each AllReduce, of 4 bytes */

static void fail(struct change_world *w, const char *what, u32 rank, u64 seq)
{
	if (!w->fault[0])
		snprintf(w->fault, sizeof(w->fault), "rank %u, operation %llu: %s (seed %llu)", rank,
			 (unsigned long long)seq, what, (unsigned long long)w->is.seed);
}

static struct change_message *push(struct change_world *w, u32 from, u32 to)
{
	struct change_line *line = &w->line[from][to];

	if (line->end == CHANGE_QUEUE)
		abort();
	return &line->queue[line->end++];
}

/* -- operations --------------------------------------------------------------------- */

bool change_ask(struct change_world *w, u32 rank)
{
	struct change_rank *r = &w->rank[rank];

	if (r->asked == w->is.ops)
		return false;
	r->asked++;
	return true;
}

static void begin(struct change_world *w, u32 rank)
{
	struct change_rank *r = &w->rank[rank];
	struct mrpc_schedule_config c = {
		.collective = MRPC_ALLREDUCE, .algorithm = r->c->use->algorithm[MRPC_ALLREDUCE],
		.ranks = w->is.ranks, .rank = rank, .order = r->c->use->order,
		.count = COUNT, .elem_size = 4,
	};

	if (!c.algorithm)
		c.algorithm = mrpc_choose_algorithm(c.collective, c.ranks, c.count, 4);
	if (mrpc_schedule_init(&r->s, &c))
		fail(w, "has a strategy that cannot be used", rank, r->begun + 1);
	mrpc_progress_init(&r->p, &r->s, 4);
	r->running = true;
	r->version_of[++r->begun] = r->c->version;
}

static bool send_chunk(struct change_world *w, u32 rank)
{
	struct change_rank *r = &w->rank[rank];
	struct mrpc_chunk chunk;

	if (mrpc_progress_send(&r->p, &chunk) != MRPC_NEXT_CHUNK)
		return false;
	mrpc_progress_freed(&r->p, chunk.slot);
	*push(w, rank, chunk.peer) = (struct change_message){
		.seq = r->begun, .version = r->c->version, .algorithm = r->s.c.algorithm,
		.len = chunk.len,
	};
	return true;
}

static bool copy_chunk(struct change_rank *r)
{
	struct mrpc_chunk chunk;

	if (mrpc_progress_recv(&r->p, &chunk) != MRPC_NEXT_CHUNK || chunk.peer != MRPC_NO_RANK)
		return false;
	mrpc_progress_received(&r->p);
	return true;
}

bool change_go_on(struct change_world *w, u32 rank)
{
	struct change_rank *r = &w->rank[rank];

	if (r->running) {
		if (send_chunk(w, rank) || copy_chunk(r))
			return true;
		if (!mrpc_progress_over(&r->p))
			return false;
		r->running = false;
		return true;
	}
	if (!w->is.no_barrier && mrpc_change_finish(r->c, r->begun))
		return true;
	if (r->begun == r->asked || !(w->is.no_barrier || mrpc_change_allows(r->c, r->begun + 1)))
		return false;
	begin(w, rank);
	return true;
}

/* -- strategies --------------------------------------------------------------------- */

static void random_strategy(struct change_world *w, struct mrpc_strategy *s)
{
	u32 i, k;

	mrpc_strategy_init(s, w->is.ranks);
	for (i = w->is.ranks - 1; i; i--) {
		k = rnd_below(&w->rnd, i + 1);
		swap(s->order[i], s->order[k]);
	}
	s->algorithm[MRPC_ALLREDUCE] = rnd_below(&w->rnd, MRPC_NR_ALGORITHMS);
}

/* Without the barrier a rank does what the counter-example of the paper does. */
static void use_at_once(struct change_world *w, u32 rank)
{
	struct mrpc_change *c = w->rank[rank].c;

	if (!w->is.no_barrier || !c->open)
		return;
	memcpy(c->use, c->next, mrpc_strategy_bytes(c->ranks));
	c->version = c->own.version;
}

bool change_propose(struct change_world *w, u32 rank)
{
	struct change_rank *r = &w->rank[rank];

	if (w->asked + w->busy >= w->is.changes)
		return false;
	random_strategy(w, r->c->spare);
	if (mrpc_change_propose(r->c, r->begun))
		w->busy++;
	else
		w->asked++;
	use_at_once(w, rank);
	return true;
}

bool change_send_report(struct change_world *w, u32 rank)
{
	struct change_rank *r = &w->rank[rank];
	struct change_message *m;
	u32 to, first = rnd_below(&w->rnd, w->is.ranks), i;

	for (i = 0; i < w->is.ranks; i++) {
		to = (first + i) % w->is.ranks;
		if (!mrpc_change_owes(r->c, to))
			continue;
		mrpc_change_tell(r->c, to);
		m = push(w, rank, to);
		*m = (struct change_message){ .report = true, .r = r->c->own };
		memcpy(m->s, r->c->next, mrpc_strategy_bytes(w->is.ranks));
		w->reports++;
		return true;
	}
	return false;
}

/* -- reading ------------------------------------------------------------------------- */

/* Moves the next message to the head of a connection. */
static bool fill_head(struct change_world *w, struct change_line *line)
{
	struct change_message *found = NULL;
	u32 i;

	if (line->head)
		return true;
	for (i = line->first; i < line->end; i++) {
		if (line->queue[i].gone)
			continue;
		found = found ?: &line->queue[i];
		if (!w->is.overtakes)
			break;
		if (line->queue[i].report) {
			found = &line->queue[i];
			break;
		}
	}
	if (found)
		found->gone = true;
	while (line->first < line->end && line->queue[line->first].gone)
		line->first++;
	line->head = found;
	return found;
}

static bool read_report(struct change_world *w, u32 from, u32 rank, struct change_message *m)
{
	struct change_rank *r = &w->rank[rank];

	if (w->is.no_barrier && m->r.version <= r->c->version)
		return true;
	memcpy(r->c->spare, m->s, mrpc_strategy_bytes(w->is.ranks));
	if (mrpc_change_report(r->c, from, &m->r, r->begun) != MRPC_CHANGE_TAKEN)
		fail(w, "gets a report that has no place", rank, r->begun);
	use_at_once(w, rank);
	return true;
}

/* Return: false: the chunk has not its turn. */
static bool read_chunk(struct change_world *w, u32 from, u32 rank, struct change_message *m)
{
	struct change_rank *r = &w->rank[rank];
	struct mrpc_chunk chunk;

	mrpc_change_saw(r->c, from, m->seq);
	if (m->seq > r->begun)
		return false;
	if (m->seq < r->begun || !r->running) {
		fail(w, "gets a chunk of one that is over", rank, m->seq);
		return false;
	}
	if (m->version != r->version_of[r->begun] || m->algorithm != r->s.c.algorithm) {
		fail(w, "gets a chunk of another strategy", rank, m->seq);
		return false;
	}
	if (mrpc_progress_recv(&r->p, &chunk) != MRPC_NEXT_CHUNK || chunk.peer != from)
		return false;
	if (chunk.len != m->len)
		fail(w, "gets a chunk of another length", rank, m->seq);
	mrpc_progress_received(&r->p);
	return true;
}

bool change_read(struct change_world *w, u32 from, u32 rank)
{
	struct change_line *line = &w->line[from][rank];
	const u64 last = w->rank[rank].c->last;
	bool done;

	if (from == rank || !fill_head(w, line))
		return false;
	done = line->head->report ? read_report(w, from, rank, line->head) :
				    read_chunk(w, from, rank, line->head);
	if (done)
		line->head = NULL;
	return done || last != w->rank[rank].c->last;
}

/* -- the world ------------------------------------------------------------------------ */

/* One thing of a rank. Ranks are fast and slow, and so are their applications. */
static bool random_turn(struct change_world *w)
{
	u32 rank = rnd_below(&w->rnd, w->is.ranks);

	if (w->is.seed >> (8 + rank) & 1 && rnd_below(&w->rnd, 8))
		return false;
	switch (rnd_below(&w->rnd, 8)) {
	case 0:
		return !rnd_below(&w->rnd, 1 + (w->is.seed >> 20 & 7)) && change_ask(w, rank);
	case 1:
		return !rnd_below(&w->rnd, 16) && change_propose(w, rank);
	case 2:
		return change_send_report(w, rank);
	case 3:
	case 4:
		return change_go_on(w, rank);
	default:
		return change_read(w, rnd_below(&w->rnd, w->is.ranks), rank);
	}
}

/* Whether a rank could do something, which it does then. */
static bool any_turn(struct change_world *w)
{
	u32 rank, from;

	for (rank = 0; rank < w->is.ranks; rank++) {
		if (change_send_report(w, rank) || change_go_on(w, rank))
			return true;
		for (from = 0; from < w->is.ranks; from++)
			if (change_read(w, from, rank))
				return true;
	}
	for (rank = 0; rank < w->is.ranks; rank++)
		if (change_ask(w, rank) || change_propose(w, rank))
			return true;
	return false;
}

/* All is done: what must hold. */
static void check_end(struct change_world *w)
{
	const struct change_rank *r, *first = &w->rank[0];
	u32 rank;

	for (rank = 0; rank < w->is.ranks; rank++) {
		r = &w->rank[rank];
		if (r->running || r->begun != w->is.ops)
			fail(w, "is never complete", rank, r->begun + !r->running);
		if (r->c->open)
			fail(w, "has a change that is never over", rank, r->begun);
		if (memcmp(r->version_of, first->version_of, sizeof(r->version_of)))
			fail(w, "did operations by other strategies", rank, r->begun);
		if (r->c->version != first->c->version ||
		    memcmp(r->c->use, first->c->use, mrpc_strategy_bytes(w->is.ranks)))
			fail(w, "has another strategy", rank, r->begun);
	}
	/* Each change takes one report of each rank to each other one. */
	if (w->reports != first->c->version * w->is.ranks * (w->is.ranks - 1))
		fail(w, "reports were sent in vain", 0, w->reports);
}

bool change_world_run(struct change_world *w)
{
	u32 vain = 0;

	while (!w->fault[0]) {
		vain = random_turn(w) ? 0 : vain + 1;
		if (vain < 50)
			continue;
		vain = 0;
		if (!any_turn(w))
			break;
	}
	if (!w->fault[0])
		check_end(w);
	return !w->fault[0];
}

void change_world_begin(struct change_world *w, const struct change_case *is)
{
	u32 i, k;

	/* The queues are large, and what is in them does not matter. */
	memset(w, 0, offsetof(struct change_world, line));
	w->is = *is;
	w->rnd = is->seed * 2 + 1;
	for (i = 0; i < is->ranks; i++) {
		for (k = 0; k < is->ranks; k++)
			memset(&w->line[i][k], 0, offsetof(struct change_line, queue));
		w->rank[i].c = calloc(1, mrpc_change_bytes(is->ranks));
		mrpc_change_init(w->rank[i].c, is->ranks, i);
	}
}

void change_world_end(struct change_world *w)
{
	u32 i;

	for (i = 0; i < w->is.ranks; i++)
		free(w->rank[i].c);
}
