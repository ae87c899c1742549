// SPDX-License-Identifier: GPL-2.0
/*
 * The barrier between two strategies of a group: see change.h for the contract.
 */
#include "lib/group/change.h"
#include "lib/group/schedule.h"

size_t mrpc_change_bytes(u32 ranks)
{
	return sizeof(struct mrpc_change) + ranks * sizeof(struct mrpc_change_peer) +
	       4 * mrpc_strategy_bytes(ranks);
}

void mrpc_change_init(struct mrpc_change *c, u32 ranks, u32 rank)
{
	u32 bytes = mrpc_strategy_bytes(ranks);
	u8 *at = (u8 *)&c->peers[ranks];

	c->ranks = ranks;
	c->rank = rank;
	c->use = (void *)at;
	c->next = (void *)(at + bytes);
	c->after = (void *)(at + 2 * bytes);
	c->spare = (void *)(at + 3 * bytes);
	mrpc_strategy_init(c->use, ranks);
}

/* Begins a change to the strategy in @c->next. */
static void change_open(struct mrpc_change *c, u32 proposer, u64 begun)
{
	u32 rank;

	c->open = true;
	c->proposed = proposer == c->rank;
	c->owed = c->ranks - 1;
	c->reports = 0;
	c->own = (struct mrpc_report){
		.last = begun,
		.version = c->version + 1,
		.proposer = proposer,
	};
	c->last = begun;
	/* No rank can have finished this change: it lacks the own report. */
	for (rank = 0; rank < c->ranks; rank++) {
		c->last = max(c->last, c->peers[rank].seen);
		c->peers[rank].told = false;
	}
}

int mrpc_change_propose(struct mrpc_change *c, u64 begun)
{
	if (c->open)
		return -EBUSY;
	if (c->version == U32_MAX)
		return -EOVERFLOW;
	swap(c->spare, c->next);
	change_open(c, c->rank, begun);
	return 0;
}

static bool same_strategy(const struct mrpc_change *c, const struct mrpc_strategy *a,
			  const struct mrpc_strategy *b)
{
	return !memcmp(a->algorithm, b->algorithm, sizeof(a->algorithm)) &&
	       !memcmp(a->order, b->order, c->ranks * sizeof(*a->order));
}

/* Takes the proposal in @c->spare in place of *@s of @*proposer, if it comes from a lower rank. */
static bool take_proposal(struct mrpc_change *c, struct mrpc_strategy **s, u32 *proposer, u32 from)
{
	if (from == *proposer)
		return same_strategy(c, c->spare, *s);
	if (from < *proposer) {
		swap(c->spare, *s);
		*proposer = from;
	}
	return true;
}

static enum mrpc_change_verdict report_now(struct mrpc_change *c, u32 rank,
					   const struct mrpc_report *r, u64 begun)
{
	if (c->peers[rank].reported || (r->proposer == c->rank && !(c->open && c->proposed)))
		return MRPC_CHANGE_WRONG;
	if (!c->open) {
		swap(c->spare, c->next);
		change_open(c, r->proposer, begun);
	} else if (!take_proposal(c, &c->next, &c->own.proposer, r->proposer)) {
		return MRPC_CHANGE_DIFFERS;
	}
	c->peers[rank].reported = true;
	c->reports++;
	c->last = max(c->last, r->last);
	return MRPC_CHANGE_TAKEN;
}

static enum mrpc_change_verdict report_ahead(struct mrpc_change *c, u32 rank,
					     const struct mrpc_report *r)
{
	struct mrpc_change_peer *peer = &c->peers[rank];

	/* It has finished the change that is under way, and so has the own report. */
	if (!c->open || !peer->told || !peer->reported || peer->ahead || r->proposer == c->rank)
		return MRPC_CHANGE_WRONG;
	if (!c->aheads) {
		swap(c->spare, c->after);
		c->ahead = *r;
	} else if (!take_proposal(c, &c->after, &c->ahead.proposer, r->proposer)) {
		return MRPC_CHANGE_DIFFERS;
	}
	c->ahead.last = max(c->ahead.last, r->last);
	c->aheads++;
	peer->ahead = true;
	return MRPC_CHANGE_TAKEN;
}

enum mrpc_change_verdict mrpc_change_report(struct mrpc_change *c, u32 rank,
					    const struct mrpc_report *r, u64 begun)
{
	if (r->version == c->version + 1ULL)
		return report_now(c, rank, r, begun);
	if (r->version == c->version + 2ULL)
		return report_ahead(c, rank, r);
	return MRPC_CHANGE_WRONG;
}

bool mrpc_change_saw(struct mrpc_change *c, u32 rank, u64 seq)
{
	struct mrpc_change_peer *peer = &c->peers[rank];

	peer->seen = seq;
	/* One that has reported may have finished the change, and use the new strategy. */
	if (!c->open || peer->reported || seq <= c->last)
		return false;
	c->last = seq;
	return true;
}

void mrpc_change_tell(struct mrpc_change *c, u32 rank)
{
	c->peers[rank].told = true;
	c->owed--;
}

/* Begins the change for which other ranks have reported ahead. */
static void open_after(struct mrpc_change *c, u64 begun)
{
	u32 rank;

	swap(c->next, c->after);
	change_open(c, c->ahead.proposer, begun);
	c->last = max(c->last, c->ahead.last);
	c->reports = c->aheads;
	c->aheads = 0;
	for (rank = 0; rank < c->ranks; rank++)
		swap(c->peers[rank].reported, c->peers[rank].ahead);
}

bool mrpc_change_finish(struct mrpc_change *c, u64 begun)
{
	u32 rank;

	if (!c->open || c->owed || c->reports < c->ranks - 1 || begun < c->last)
		return false;
	swap(c->use, c->next);
	c->version = c->own.version;
	c->proposer = c->own.proposer;
	c->open = false;
	for (rank = 0; rank < c->ranks; rank++)
		c->peers[rank].reported = false;
	if (c->aheads)
		open_after(c, begun);
	return true;
}

u32 mrpc_change_awaits(const struct mrpc_change *c)
{
	u32 rank;

	if (c->open)
		for (rank = 0; rank < c->ranks; rank++)
			if (rank != c->rank && !c->peers[rank].reported)
				return rank;
	return MRPC_NO_RANK;
}
