/* SPDX-License-Identifier: GPL-2.0 */
/* Domains of the egress scheduler's core, and what must hold of them. Include after tap.h. */
#ifndef EGRESS_DOMAIN_H
#define EGRESS_DOMAIN_H

#include "lib/egress.h"

#define CHUNK		MRPC_EGRESS_CHUNK
#define PATIENCE	1000

/* The least left first, of every second priority; the others by priority, exactly. */
static inline u64 rank_of(u8 priority, u64 left)
{
	return priority % 2 ? left : (1ULL << 32) - priority;
}

static inline u64 ranker_rank(struct mrpc_order_entity *e)
{
	return rank_of(e->priority, e->left);
}

static const __attribute__((__unused__)) struct mrpc_order_ranker ranker = { .rank = ranker_rank };

static inline struct mrpc_egress_rule plain_rule(u8 within, bool fair)
{
	return (struct mrpc_egress_rule){
		.within = within,
		.ranker = within == MRPC_ORDER_RANKED ? &ranker : NULL,
		.fair = fair,
		.chunk = CHUNK,
		.limit = MRPC_EGRESS_LIMIT,
		.patience = PATIENCE,
	};
}

static inline bool waits(const struct mrpc_egress_queue *q)
{
	return q->order.left && q->credit && !q->paused && !q->late;
}

/* What holds whatever happens, recomputed from nothing. */
static inline void check_domain(const struct mrpc_egress *d, const struct mrpc_egress_queue *q, u32 nr)
{
	const struct mrpc_order_link *l;
	u32 listed = 0, held = 0, i;
	u64 out = 0;

	for (i = 0; i < nr; i++, q++) {
		bool turn = q->state == MRPC_EGRESS_GRANTED || q->state == MRPC_EGRESS_SENDING;

		CHECK_EQ(q->state == MRPC_EGRESS_LISTED, waits(q) && !turn);
		CHECK_EQ(q->order.listed, q->state == MRPC_EGRESS_LISTED);
		CHECK(q->held || q->state != MRPC_EGRESS_GRANTED);
		CHECK(turn || !q->held);
		CHECK(!turn || q->turn);
		listed += q->order.listed;
		held += q->held;
		out += q->below + (q->held ? q->turn : 0);
	}
	CHECK_EQ(d->order.listed, listed);
	CHECK_EQ(d->out, out);
	for (l = d->grants.next; l != &d->grants; l = l->next) {
		CHECK(l->next->prev == l);
		held--;
	}
	CHECK_EQ(held, 0);
}

#endif /* EGRESS_DOMAIN_H */
