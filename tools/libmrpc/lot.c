// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where asynchronous calls over a channel, and streams, wait.
 *
 * A queue pair looks at its parked calls whenever it runs callbacks or waits for a stream, and wakes
 * up now and then to do so. It looks at the calls with a time that has come, and at the first of each
 * list. So a look costs no more for many calls than for few.
 */
#include <stdlib.h>

#include "lot.h"

static struct parked *parked_of(struct timer *timer)
{
	return (struct parked *)((u8 *)timer - offsetof(struct parked, timer));
}

/* The application, which sleeps elsewhere, is woken at the earliest time of all. */
static void set_alarm(struct lot *lot)
{
	u64 at = lot->timers ? lot->timers->at : FOR_EVER;

	if (lot->qp->eventfd >= 0 && waiter_until(&lot->waiter) != at)
		channel_set_waiter(lot->channel, &lot->waiter, at);
}

/* -- looking ---------------------------------------------------------------------------------- */

static void look(struct lot *lot)
{
	struct parked *p;
	u32 i;

	if (channel_is_closed(lot->channel))
		while ((p = lot->lists[LOT_PAUSED].first))
			p->ops->due(p);
	while (lot->timers && lot->timers->at <= clock_ns()) {
		p = parked_of(lot->timers);
		p->ops->due(p);
	}
	for (i = LOT_CANCEL; i < LOT_LISTS; i++)
		while ((p = lot->lists[i].first) && p->ops->go(p))
			;
	/* A time that has passed has been forgotten there, so it is set again. */
	if (lot->timers)
		set_alarm(lot);
}

static void resume(struct mrpc_qp *qp)
{
	struct lot *lot, *next;

	for (lot = qp->lots; lot; lot = next) {
		lot->refs++;
		look(lot);
		next = lot->next;
		lot_put(lot);
	}
}

static u64 next_time(const struct mrpc_qp *qp)
{
	const struct lot *lot;
	u64 at = FOR_EVER;

	for (lot = qp->lots; lot; lot = lot->next)
		if (lot->timers && lot->timers->at < at)
			at = lot->timers->at;
	return at;
}

/* -- lots --------------------------------------------------------------------------------------- */

struct lot *lot_get(struct mrpc_qp *qp, struct channel *ch)
{
	static const struct qp_lot_ops ops = { .resume = resume, .next_time = next_time };
	struct lot *lot;
	u32 i;

	for (lot = qp->lots; lot; lot = lot->next) {
		if (lot->channel == ch) {
			lot->refs++;
			return lot;
		}
	}
	lot = calloc(1, sizeof(*lot));
	if (!lot)
		return NULL;
	lot->qp = qp;
	lot->channel = ch;
	lot->refs = 1;
	for (i = 0; i < LOT_LISTS; i++)
		lot->lists[i].last = &lot->lists[i].first;
	lot->waiter.eventfd = qp->eventfd;
	lot->waiter.until = FOR_EVER;
	channel_hold(ch);
	/* Before it looks at the channel for the first time: so it misses no change. */
	if (qp->eventfd >= 0)
		channel_add_waiter(ch, &lot->waiter);
	lot->next = qp->lots;
	qp->lots = lot;
	qp->lot_ops = &ops;
	return lot;
}

void lot_put(struct lot *lot)
{
	struct lot **p = &lot->qp->lots;

	if (--lot->refs)
		return;
	while (*p != lot)
		p = &(*p)->next;
	*p = lot->next;
	channel_del_waiter(lot->channel, &lot->waiter);
	channel_drop(lot->channel);
	free(lot);
}

void lot_park(struct lot *lot, struct parked *p, enum lot_list list, u64 until)
{
	p->lot = lot;
	p->list = list;
	p->next = NULL;
	p->prev = lot->lists[list].last;
	*p->prev = p;
	lot->lists[list].last = &p->next;
	lot->qp->nr_parked++;
	p->timer.prev = NULL;
	if (until == FOR_EVER)
		return;
	p->timer.at = until;
	timers_add(&lot->timers, &p->timer);
	if (lot->timers == &p->timer)
		set_alarm(lot);
}

/* A time that is earlier than needed stays set: that wakes the application once too often. */
void lot_unpark(struct parked *p)
{
	struct lot *lot = p->lot;

	*p->prev = p->next;
	if (p->next)
		p->next->prev = p->prev;
	else
		lot->lists[p->list].last = p->prev;
	p->prev = NULL;
	lot->qp->nr_parked--;
	if (p->timer.prev)
		timers_del(&lot->timers, &p->timer);
}
