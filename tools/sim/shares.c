// SPDX-License-Identifier: GPL-2.0
/* Max-min shares of links. */
#include <math.h>

#include "memory.h"
#include "shares.h"

#define NONE	U32_MAX
#define NEAR	(1 + 1e-9)	/* shares that differ only by rounding */
#define LITTLE	1e-3		/* bytes that are left by rounding */

void shares_init(struct shares *s, u32 nr_links, double capacity)
{
	u32 i;

	*s = (struct shares){ .nr_links = nr_links, .free = NONE };
	s->links = sim_zalloc(nr_links * sizeof(*s->links));
	s->changed = sim_zalloc(nr_links * sizeof(*s->changed));
	s->concerned = sim_zalloc(nr_links * sizeof(*s->concerned));
	for (i = 0; i < nr_links; i++) {
		s->links[i].capacity = capacity;
		s->links[i].first = NONE;
	}
}

void shares_fini(struct shares *s)
{
	free(s->links);
	free(s->flows);
	free(s->active);
	free(s->changed);
	free(s->concerned);
}

/* -- flows -------------------------------------------------------------------- */

static u32 flow_get(struct shares *s)
{
	u32 flow = s->free;

	if (flow != NONE) {
		s->free = s->flows[flow].next[0];
		return flow;
	}
	if (s->nr_flows == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->flows = sim_realloc(s->flows, s->room * sizeof(*s->flows));
		s->active = sim_realloc(s->active, s->room * sizeof(*s->active));
	}
	return s->nr_flows++;
}

static void link_changed(struct shares *s, u32 link)
{
	if (s->links[link].changed)
		return;
	s->links[link].changed = true;
	s->changed[s->nr_changed++] = link;
}

/* Puts the flow in the list of its link @i. */
static void flow_link(struct shares *s, u32 flow, u32 i)
{
	struct share_flow *f = &s->flows[flow];
	struct share_link *l = &s->links[f->links[i]];
	u32 entry = flow * CLUSTER_WAY + i;

	f->next[i] = l->first;
	f->prev[i] = NONE;
	if (l->first != NONE)
		s->flows[l->first / CLUSTER_WAY].prev[l->first % CLUSTER_WAY] = entry;
	l->first = entry;
	link_changed(s, f->links[i]);
}

static void flow_unlink(struct shares *s, struct share_flow *f, u32 i)
{
	u32 next = f->next[i], prev = f->prev[i];

	if (next != NONE)
		s->flows[next / CLUSTER_WAY].prev[next % CLUSTER_WAY] = prev;
	if (prev != NONE)
		s->flows[prev / CLUSTER_WAY].next[prev % CLUSTER_WAY] = next;
	else
		s->links[f->links[i]].first = next;
	link_changed(s, f->links[i]);
}

void shares_add(struct shares *s, u32 owner, u32 count, const u32 *links, u32 nr_links,
		double bytes)
{
	u32 flow = flow_get(s), i;
	struct share_flow *f = &s->flows[flow];

	*f = (struct share_flow){ .owner = owner, .count = count, .nr_links = nr_links,
				  .left = bytes };
	s->active[s->nr_active++] = flow;
	for (i = 0; i < nr_links; i++) {
		f->links[i] = links[i];
		flow_link(s, flow, i);
	}
}

bool shares_end(struct shares *s, u32 *owner)
{
	struct share_flow *f;
	u32 i, flow;

	do {
		if (!s->to_look)
			return false;
		i = --s->to_look;
		f = &s->flows[s->active[i]];
	} while (f->left > LITTLE);
	flow = s->active[i];
	/* The last one has been looked at, or has just begun. */
	s->active[i] = s->active[--s->nr_active];
	for (i = 0; i < f->nr_links; i++)
		flow_unlink(s, f, i);
	*owner = f->owner;
	f->next[0] = s->free;
	s->free = flow;
	return true;
}

/* -- shares ------------------------------------------------------------------- */

#define for_each_flow(s, l, f, entry)					\
	for (entry = (l)->first;					\
	     entry != NONE && (f = &(s)->flows[entry / CLUSTER_WAY], true); \
	     entry = f->next[entry % CLUSTER_WAY])

static void link_see(struct shares *s, u32 link, u32 *nr)
{
	if (s->links[link].seen)
		return;
	s->links[link].seen = true;
	s->concerned[(*nr)++] = link;
}

/*
 * Finds the links that changes concern: those that changed, and all others of the flows of a link
 * concerned. All of their flows become open. Return: number of open flows; *@nr: of links.
 */
static u32 shares_open(struct shares *s, u32 *nr)
{
	struct share_link *l;
	struct share_flow *f;
	u32 i, k, entry, open = 0;

	*nr = 0;
	for (i = 0; i < s->nr_changed; i++) {
		s->links[s->changed[i]].changed = false;
		link_see(s, s->changed[i], nr);
	}
	s->nr_changed = 0;
	for (i = 0; i < *nr; i++) {
		l = &s->links[s->concerned[i]];
		l->rest = l->capacity;
		l->open = 0;
		for_each_flow(s, l, f, entry) {
			l->open += f->count;
			if (f->open)
				continue;
			f->open = true;
			open++;
			for (k = 0; k < f->nr_links; k++)
				link_see(s, f->links[k], nr);
		}
	}
	return open;
}

/* The smallest share that a link has for each of its open flows. */
static double shares_least(const struct shares *s, u32 nr)
{
	const struct share_link *l;
	double least = INFINITY;
	u32 i;

	for (i = 0; i < nr; i++) {
		l = &s->links[s->concerned[i]];
		if (l->open)
			least = fmin(least, l->rest / l->open);
	}
	return least;
}

/* All open flows of the link get @rate. Return: how many there were. */
static u32 link_fill(struct shares *s, struct share_link *full, double rate)
{
	struct share_flow *f;
	struct share_link *l;
	u32 entry, i, done = 0;

	for_each_flow(s, full, f, entry) {
		if (!f->open)
			continue;
		f->open = false;
		f->rate = rate;
		done++;
		for (i = 0; i < f->nr_links; i++) {
			l = &s->links[f->links[i]];
			l->rest = fmax(l->rest - rate * f->count, 0);
			l->open -= f->count;
		}
	}
	return done;
}

void shares_update(struct shares *s)
{
	u32 nr, i, open = shares_open(s, &nr);
	struct share_link *l;
	double least;

	while (open) {
		least = shares_least(s, nr);
		for (i = 0; i < nr; i++) {
			l = &s->links[s->concerned[i]];
			if (l->open && l->rest / l->open <= least * NEAR)
				open -= link_fill(s, l, least);
		}
	}
	for (i = 0; i < nr; i++)
		s->links[s->concerned[i]].seen = false;
}

/* -- time --------------------------------------------------------------------- */

double shares_next(const struct shares *s)
{
	const struct share_flow *f;
	double next = INFINITY;
	u32 i;

	for (i = 0; i < s->nr_active; i++) {
		f = &s->flows[s->active[i]];
		next = fmin(next, f->left / f->rate);
	}
	return next;
}

void shares_advance(struct shares *s, double seconds)
{
	struct share_flow *f;
	double bytes;
	u32 i, k;

	for (i = 0; i < s->nr_active; i++) {
		f = &s->flows[s->active[i]];
		bytes = fmin(f->rate * seconds, f->left);
		f->left -= bytes;
		for (k = 0; k < f->nr_links; k++)
			s->links[f->links[k]].carried += bytes * f->count;
	}
	s->to_look = s->nr_active;
}
