// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: which bytes of a message are here. All before rx->next; what came
 * beyond that is remembered in pieces only as long as something before it is missing.
 */
#include "lib/prio/gaps.h"
#include "lib/prio/table.h"

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
	}
	if (gaps_insert(rx->gaps, r))
		return true;
	mrpc_prio_drop(ep, MRPC_PRIO_DROP_GAPS);
	return false;
}

/* What is missing before this is lost: others have come far beyond it. 0: nothing is */
u32 mrpc_prio_gaps_far(const struct mrpc_prio *ep, const struct mrpc_prio_rx *rx)
{
	const struct mrpc_prio_gaps *g = rx->gaps;
	u32 i = g && ep->rule.reorder ? g->nr : 0;

	while (i--)
		if (g->have[g->nr - 1].to - g->have[i].from >= ep->rule.reorder)
			return g->have[i].from;
	return 0;
}

/* What is missing of [@from, @to), at most the first @max ranges of it. */
u32 mrpc_prio_gaps_ranges(const struct mrpc_prio_rx *rx, u32 from, u32 to,
			  struct mrpc_prio_range *r, u32 max)
{
	u32 n = 0;

	while (n < max) {
		r[n] = (struct mrpc_prio_range){ from, to };
		if (!mrpc_prio_gaps_new(rx, &r[n]))
			break;
		from = r[n++].to;
	}
	return n;
}

/* Bytes that are missing of [@from, @to). */
u32 mrpc_prio_gaps_missing(const struct mrpc_prio_rx *rx, u32 from, u32 to)
{
	struct mrpc_prio_range r = { from, to };
	u32 n = 0;

	while (mrpc_prio_gaps_new(rx, &r)) {
		n += r.to - r.from;
		r = (struct mrpc_prio_range){ r.to, to };
	}
	return n;
}
