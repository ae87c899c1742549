// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: which bytes of a message are here. All before rx->next; what came
 * beyond that is remembered in pieces only as long as something before it is missing.
 */
#include "prio_core.h"

/* The first bytes of @r that are not here: @r becomes these. Return: false: there are none */
bool mrpc_prio_gaps_new(const struct mrpc_prio_rx *rx, struct mrpc_prio_range *r)
{
	const struct mrpc_prio_gaps *g = rx->gaps;
	u32 i;

	r->from = max(r->from, rx->next);
	for (i = 0; g && i < g->nr && r->from < r->to; i++) {
		if (r->from < g->have[i].from) {
			r->to = min(r->to, g->have[i].from);
			return true;
		}
		r->from = max(r->from, g->have[i].to);
	}
	return r->from < r->to;
}

void mrpc_prio_gaps_free(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	if (!rx->gaps)
		return;
	ep->ops->free(ep->ctx, rx->gaps, sizeof(*rx->gaps));
	rx->gaps = NULL;
	ep->nr_gaps--;
}

static void gaps_remove(struct mrpc_prio_gaps *g, u32 i)
{
	g->nr--;
	memmove(&g->have[i], &g->have[i + 1], (g->nr - i) * sizeof(g->have[0]));
}

/* What joins all before it. */
static void gaps_advance(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 next)
{
	struct mrpc_prio_gaps *g = rx->gaps;

	rx->next = next;
	if (!g)
		return;
	if (g->have[0].from == next) {
		rx->next = g->have[0].to;
		gaps_remove(g, 0);
	}
	if (!g->nr)
		mrpc_prio_gaps_free(ep, rx);
}

/* A piece beyond a gap. Return: false: there is no room */
static bool gaps_insert(struct mrpc_prio_gaps *g, const struct mrpc_prio_range *r)
{
	u32 i = 0;

	while (i < g->nr && g->have[i].to < r->from)
		i++;
	if (i < g->nr && g->have[i].to == r->from) {
		g->have[i].to = r->to;
		if (i + 1 < g->nr && g->have[i + 1].from == r->to) {
			g->have[i].to = g->have[i + 1].to;
			gaps_remove(g, i + 1);
		}
		return true;
	}
	if (i < g->nr && g->have[i].from == r->to) {
		g->have[i].from = r->from;
		return true;
	}
	if (g->nr == MRPC_PRIO_NR_GAPS)
		return false;
	memmove(&g->have[i + 1], &g->have[i], (g->nr - i) * sizeof(g->have[0]));
	g->have[i] = *r;
	g->nr++;
	return true;
}

/* @r, as mrpc_prio_gaps_new() made it, is here. Return: false: it could not be remembered */
bool mrpc_prio_gaps_add(struct mrpc_prio *ep, struct mrpc_prio_rx *rx,
			const struct mrpc_prio_range *r)
{
	if (r->from == rx->next) {
		gaps_advance(ep, rx, r->to);
		return true;
	}
	if (!rx->gaps) {
		rx->gaps = ep->ops->alloc(ep->ctx, sizeof(*rx->gaps));
		if (!rx->gaps) {
			mrpc_prio_drop(ep, MRPC_PRIO_DROP_MEMORY);
			return false;
		}
		ep->nr_gaps++;
		rx->gaps->nr = 0;
		rx->gaps->asked = 0;
	}
	if (gaps_insert(rx->gaps, r))
		return true;
	mrpc_prio_drop(ep, MRPC_PRIO_DROP_GAPS);
	return false;
}

/*
 * What is missing and to be asked for now, at most @max ranges: gaps that were not asked
 * for and that others have come far beyond; with rx->tail all, and the end before that.
 * @asked: out: how far that goes
 */
static u32 gaps_missing(const struct mrpc_prio *ep, const struct mrpc_prio_rx *rx,
			struct mrpc_prio_range *r, u32 max, u32 *asked)
{
	const struct mrpc_prio_gaps *g = rx->gaps;
	u32 i, n = 0, used = 0, from = rx->next, end = min(rx->granted, rx->limit);

	for (i = 0; g && i < g->nr && used < max; i++) {
		struct mrpc_prio_range gap = { from, g->have[i].from };
		bool far = ep->rule.reorder && g->have[g->nr - 1].to - gap.to >= ep->rule.reorder;

		from = g->have[i].to;
		used++;
		if (gap.to <= *asked || !(far || rx->tail))
			continue;
		*asked = gap.to;
		r[n++] = gap;
	}
	if (g && i < g->nr)
		return n;
	end = min(end, rx->tail);
	if (used < max && from < end)
		r[n++] = (struct mrpc_prio_range){ from, end };
	return n;
}

/* Whether something is to be asked for. */
bool mrpc_prio_gaps_due(const struct mrpc_prio *ep, const struct mrpc_prio_rx *rx)
{
	struct mrpc_prio_range r[MRPC_PRIO_NR_RANGES];
	u32 asked = rx->gaps ? rx->gaps->asked : 0;

	return rx->gaps && gaps_missing(ep, rx, r, ARRAY_SIZE(r), &asked);
}

/* What to ask for; is asked for then. */
u32 mrpc_prio_gaps_ask(const struct mrpc_prio *ep, struct mrpc_prio_rx *rx,
		       struct mrpc_prio_range *r, u32 max)
{
	u32 asked = rx->gaps ? rx->gaps->asked : 0;
	u32 n = gaps_missing(ep, rx, r, max, &asked);

	if (rx->gaps)
		rx->gaps->asked = asked;
	rx->tail = 0;
	return n;
}
