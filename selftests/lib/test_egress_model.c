// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/egress.c */
/*
 * The core of the egress scheduler: against a model that searches, and every short sequence of
 * events.
 */
#include "tap.h"
#include "egress_domain.h"
#include "order_model.h"
#include "rnd.h"

#define QUEUES		MODEL_ENTITIES

/* -- against the model ---------------------------------------------------------- */

struct pair {
	struct mrpc_egress d;
	struct mrpc_order_tenant tenant[MODEL_TENANTS];	/* the first is not used */
	struct mrpc_egress_queue queue[QUEUES];
	u64 now;
	u64 grants;
	bool paused;
	struct mrpc_egress_rule rule;
	struct model m;
	struct {
		enum { NONE, GRANTED, SENDING } turn;
		u32 bytes;
		bool held;
		u64 since;
		u64 nr;		/* of the grant */
		u64 below;
		u32 credit;
		bool paused;
		bool late;
		bool begun;
	} want[QUEUES];
};

static void pair_begin(struct pair *p, u64 *rnd)
{
	u32 i;

	memset(p, 0, sizeof(*p));
	p->m.ranker = rank_of;
	p->rule = plain_rule(rnd_below(rnd, MRPC_ORDER_NR_WITHIN), rnd_below(rnd, 2));
	CHECK_EQ(mrpc_egress_init(&p->d, &p->rule), 0);
	model_apply(&p->m, &p->d.order.rule);
	for (i = 0; i < MODEL_TENANTS; i++) {
		p->m.tenant[i].weight = i ? 1 + rnd_below(rnd, 100) : MRPC_ORDER_WEIGHT;
		if (i)
			mrpc_order_tenant_init(&p->d.order, &p->tenant[i], p->m.tenant[i].weight);
	}
	for (i = 0; i < QUEUES; i++) {
		u32 t = rnd_below(rnd, MODEL_TENANTS);

		model_join(&p->m, i, t);
		mrpc_egress_add(&p->d, &p->queue[i], t ? &p->tenant[t] : NULL);
	}
}

/* What follows from the fields. */
static void want_update(struct pair *p, u32 i)
{
	bool able = p->m.entity[i].left && p->want[i].credit;

	if (p->want[i].turn == GRANTED && !able) {
		p->want[i].turn = NONE;
		p->want[i].held = false;
		model_charge(&p->m, i, -(s64)p->want[i].bytes);
	}
	if (p->want[i].turn)
		return;
	if (able && !p->want[i].paused && !p->want[i].late)
		model_put(&p->m, i, p->want[i].begun);
	else
		p->m.entity[i].listed = false;
}

static u64 want_out(const struct pair *p)
{
	u64 out = 0;
	u32 i;

	for (i = 0; i < QUEUES; i++)
		out += p->want[i].below + (p->want[i].held ? p->want[i].bytes : 0);
	return out;
}

/* Of a message that is no longer than eight chunks the fewest that are equally long. */
static u64 want_chunk(u64 left, u64 chunk)
{
	u64 nr;

	for (nr = 1; nr <= 8; nr++)
		if (nr * chunk >= left)
			return (left + nr - 1) / nr;
	return chunk;
}

static u32 want_next(struct pair *p)
{
	u64 bytes, out;
	u32 i;

	if (p->paused)
		return QUEUES;
	i = model_first(&p->m);
	if (i == QUEUES)
		return QUEUES;
	bytes = min(want_chunk(p->m.entity[i].left, p->rule.chunk), (u64)p->want[i].credit);
	out = want_out(p);
	if (out + bytes > p->rule.limit) {
		if (out > p->rule.limit || p->rule.limit - out < p->rule.chunk - p->rule.chunk / 4)
			return QUEUES;
		bytes = min(p->rule.limit - out, p->m.entity[i].left - p->rule.chunk / 4);
	}
	model_take(&p->m);
	model_charge(&p->m, i, bytes);
	p->want[i].turn = GRANTED;
	p->want[i].bytes = bytes;
	p->want[i].held = true;
	p->want[i].begun = true;
	p->want[i].since = p->now;
	p->want[i].nr = ++p->grants;
	return i;
}

/* Return: was there one? */
static bool pair_next(struct pair *p)
{
	struct mrpc_egress_queue *q = mrpc_egress_next(&p->d, p->now);
	u32 i = want_next(p);

	CHECK_EQ(q ? q - p->queue : QUEUES, i);
	if (q)
		CHECK_EQ(q->turn, p->want[i].bytes);
	return q;
}

static void pair_work(struct pair *p, u32 i, u64 *rnd)
{
	u64 left = rnd_below(rnd, 4) ? 1 + rnd_below(rnd, 5 * CHUNK) : 0;
	u64 deadline = rnd_below(rnd, 3) ? rnd_below(rnd, 100) : U64_MAX;
	u8 priority = rnd_below(rnd, 2) ? 128 : rnd_below(rnd, 256);

	if (p->want[i].turn == SENDING)
		return;
	mrpc_egress_work(&p->d, &p->queue[i], priority, deadline, left);
	p->want[i].late = false;
	p->want[i].begun = false;
	p->m.entity[i].listed = false;
	model_due(&p->m, i, deadline);
	model_rank(&p->m, i, priority, left);
	want_update(p, i);
}

static void pair_credit(struct pair *p, u32 i, u64 *rnd)
{
	u32 credit = rnd_below(rnd, 3) ? rnd_below(rnd, 4 * CHUNK) : 0;

	mrpc_egress_credit(&p->d, &p->queue[i], credit);
	p->want[i].credit = credit;
	want_update(p, i);
}

static void pair_take(struct pair *p, u32 i)
{
	u32 taken = mrpc_egress_take(&p->d, &p->queue[i]);

	CHECK_EQ(taken, p->want[i].turn == GRANTED ? p->want[i].bytes : 0);
	if (taken) {
		p->want[i].turn = SENDING;
		p->want[i].credit = 0;
	} else {
		p->want[i].late = false;
	}
	want_update(p, i);
}

static void pair_dequeued(struct pair *p, u32 i, u64 *rnd)
{
	u64 most = min(p->m.entity[i].left, (u64)p->want[i].bytes);
	u32 sent = rnd_below(rnd, 3) ? most : rnd_below(rnd, most + 1);
	u32 credit = rnd_below(rnd, 3) ? rnd_below(rnd, 4 * CHUNK) : 0;

	mrpc_egress_dequeued(&p->d, &p->queue[i], sent, credit);
	if (p->want[i].turn != SENDING)
		return;
	p->want[i].turn = NONE;
	p->want[i].held = false;
	p->want[i].below += sent;
	p->want[i].begun = true;
	if (sent)
		p->want[i].credit = max(p->want[i].credit, credit);
	if (sent != p->want[i].bytes)
		model_charge(&p->m, i, (s64)sent - p->want[i].bytes);
	model_rank(&p->m, i, p->m.entity[i].priority, p->m.entity[i].left - sent);
	want_update(p, i);
}

static void pair_gone(struct pair *p, u32 i, u64 *rnd)
{
	u64 bytes = rnd_below(rnd, 2) ? ~0ULL : rnd_below(rnd, 2 * CHUNK);

	mrpc_egress_gone(&p->d, &p->queue[i], bytes);
	p->want[i].below -= min(bytes, p->want[i].below);
}

static void pair_expire(struct pair *p)
{
	u64 again, first = ~0ULL;
	bool some;

	p->now += PATIENCE / 3;
	again = mrpc_egress_expire(&p->d, p->now);
	do {	/* the oldest first, as it decides which one comes to its slot first */
		u32 i, oldest = QUEUES;

		for (i = 0; i < QUEUES; i++)
			if (p->want[i].held &&
			    p->want[i].since + PATIENCE <= p->now &&
			    (oldest == QUEUES || p->want[i].nr < p->want[oldest].nr))
				oldest = i;
		some = oldest < QUEUES;
		if (!some)
			break;
		p->want[oldest].held = false;
		if (p->want[oldest].turn == GRANTED) {
			p->want[oldest].turn = NONE;
			p->want[oldest].late = true;
			model_charge(&p->m, oldest, -(s64)p->want[oldest].bytes);
		}
	} while (some);
	for (u32 i = 0; i < QUEUES; i++)
		if (p->want[i].held)
			first = min(first, p->want[i].since + PATIENCE);
	CHECK(again == first);
}

static void pair_set(struct pair *p, u64 *rnd)
{
	static const u32 chunks[] = { CHUNK, CHUNK / 2, 1000, 1, 65536 };
	struct mrpc_egress_rule rule;
	u32 i;

	rule = plain_rule(rnd_below(rnd, MRPC_ORDER_NR_WITHIN), rnd_below(rnd, 2));
	rule.chunk = chunks[rnd_below(rnd, ARRAY_SIZE(chunks))];
	rule.limit = rule.chunk * (1 + rnd_below(rnd, 4));
	if (model_stale(&p->m)) {
		CHECK_EQ(mrpc_egress_set(&p->d, &rule), -EBUSY);
		return;
	}
	CHECK_EQ(mrpc_egress_set(&p->d, &rule), 0);
	p->rule = rule;
	model_set(&p->m, &p->d.order.rule);
	for (i = 0; i < QUEUES; i++)
		want_update(p, i);
}

static void pair_event(struct pair *p, u64 *rnd)
{
	u32 i = rnd_below(rnd, QUEUES), t = i % MODEL_TENANTS, tries, weight;
	u8 priority;

	/* Rather one that has a turn or bytes below: else all wait for those. */
	for (tries = rnd_below(rnd, QUEUES); tries && !p->want[i].turn && !p->want[i].below; tries--)
		i = (i + 1) % QUEUES;
	switch (rnd_below(rnd, 100)) {
	case 0:
		p->paused = !rnd_below(rnd, 8);
		mrpc_egress_pause(&p->d, p->paused);
		weight = 1 + rnd_below(rnd, 100);
		mrpc_order_tenant_weight(&p->d.order, t ? &p->tenant[t] : &p->d.order.common,
					 weight);
		model_weight(&p->m, t, weight);
		break;
	case 1 ... 3:
		p->want[i].paused = !rnd_below(rnd, 4);
		mrpc_egress_pause_queue(&p->d, &p->queue[i], p->want[i].paused);
		want_update(p, i);
		break;
	case 4:
		pair_set(p, rnd);
		break;
	case 5 ... 7:
		pair_expire(p);
		break;
	case 8:
		if (p->want[i].turn == SENDING)
			break;
		if (p->want[i].turn == GRANTED)
			model_charge(&p->m, i, -(s64)p->want[i].bytes);
		mrpc_egress_remove(&p->d, &p->queue[i]);
		mrpc_egress_add(&p->d, &p->queue[i], t ? &p->tenant[t] : NULL);
		model_join(&p->m, i, t);
		memset(&p->want[i], 0, sizeof(p->want[i]));
		break;
	case 9 ... 11:
		priority = rnd_next(rnd);
		mrpc_egress_rank(&p->d, &p->queue[i], priority);
		model_rank(&p->m, i, priority, p->m.entity[i].left);
		break;
	case 12 ... 24:
		pair_work(p, i, rnd);
		break;
	case 25 ... 37:
		pair_credit(p, i, rnd);
		break;
	case 38 ... 53:
		pair_take(p, i);
		break;
	case 54 ... 68:
		pair_dequeued(p, i, rnd);
		break;
	case 69 ... 80:
		pair_gone(p, i, rnd);
		break;
	default:
		p->now += rnd_below(rnd, 2);
		while (pair_next(p) && model_is_exact(&p->m))
			;
	}
}

/* Every event in random order, in all disciplines. */
TEST(egress_random)
{
	static struct pair p;
	u64 rnd = 1, grants = 0;
	u32 round, i, k, events = 0, stale = 0;

	for (round = 0; round < 300; round++) {
		pair_begin(&p, &rnd);
		for (i = 0; i < 1000; i++) {
			pair_event(&p, &rnd);
			events++;
			if (!model_is_exact(&p.m))
				break;
			check_domain(&p.d, p.queue, QUEUES);
			CHECK_EQ(p.d.out, want_out(&p));
			stale += !!p.d.order.stale;
			for (k = 0; k < QUEUES; k++) {
				CHECK_EQ(p.queue[k].order.listed, p.m.entity[k].listed);
				CHECK_EQ(p.queue[k].credit, p.want[k].credit);
				CHECK_EQ(p.queue[k].order.left, p.m.entity[k].left);
			}
		}
		grants += p.d.nr_grants;
	}
	NOTE("%u events, after %u of them something is stale, %llu grants", events, stale,
	     (unsigned long long)grants);
	CHECK(events > 100000 && grants > 5000 && stale > 1000);
}

/* -- every short sequence ------------------------------------------------------- */

/* Two queues of two tenants, chunks of 2 bytes, 3 below. */
struct small {
	struct mrpc_egress d;
	struct mrpc_order_tenant tenant;
	struct mrpc_egress_queue queue[2];
	u64 now;
};

#define SMALL_EVENTS	12

/* The second has the higher priority; the first alone has a deadline. */
static void small_work(struct small *s, u32 k, u64 left)
{
	mrpc_egress_work(&s->d, &s->queue[k], k, k ? U64_MAX : 5, left);
}

/* Return: false if event @n cannot happen now. */
static bool small_event(struct small *s, u32 n, u32 k)
{
	struct mrpc_egress_queue *q = &s->queue[k];
	struct mrpc_egress_rule rule = s->d.rule;

	switch (n) {
	case 0:
		if (q->order.left)
			return false;
		small_work(s, k, 3);
		return true;
	case 1:		/* given up */
		if (!q->order.left || q->state == MRPC_EGRESS_SENDING)
			return false;
		small_work(s, k, 0);
		return true;
	case 2:
		if (q->credit >= 2)
			return false;
		mrpc_egress_credit(&s->d, q, 3);
		return true;
	case 3:
		if (!q->credit)
			return false;
		mrpc_egress_credit(&s->d, q, 0);
		return true;
	case 4:
		if (q->state != MRPC_EGRESS_GRANTED && !q->late)
			return false;
		mrpc_egress_take(&s->d, q);
		return true;
	case 5:
		if (q->state != MRPC_EGRESS_SENDING)
			return false;
		mrpc_egress_dequeued(&s->d, q, min_t(u64, q->turn, q->order.left), 1);
		return true;
	case 6:
		if (q->state != MRPC_EGRESS_SENDING)
			return false;
		mrpc_egress_dequeued(&s->d, q, 0, 1);
		return true;
	case 7:
		if (!q->below)
			return false;
		mrpc_egress_gone(&s->d, q, 1);
		return true;
	case 8:
		mrpc_egress_pause_queue(&s->d, q, !q->paused);
		return true;
	case 9:
		if (k || s->d.grants.next == &s->d.grants)
			return false;
		s->now += PATIENCE;
		mrpc_egress_expire(&s->d, s->now);
		return true;
	case 10:
		if (k)
			return false;
		rule.fair = !rule.fair;
		rule.within = MRPC_ORDER_STRICT + MRPC_ORDER_DEADLINE - rule.within;
		mrpc_egress_set(&s->d, &rule);
		return true;
	default:
		return !k && mrpc_egress_next(&s->d, s->now);
	}
}

/*
 * From here on every owner does what it should: then all bytes are sent, and nothing remains.
 */
static void small_settle(struct small *s)
{
	u32 i, k;

	for (k = 0; k < 2; k++)
		mrpc_egress_pause_queue(&s->d, &s->queue[k], false);
	for (i = 0; i < 20 && (s->queue[0].order.left || s->queue[1].order.left); i++) {
		while (mrpc_egress_next(&s->d, s->now))
			;
		for (k = 0; k < 2; k++) {
			struct mrpc_egress_queue *q = &s->queue[k];

			mrpc_egress_take(&s->d, q);
			mrpc_egress_dequeued(&s->d, q, min_t(u64, q->turn, q->order.left), 2);
			mrpc_egress_gone(&s->d, q, q->below);
			if (!q->credit)
				mrpc_egress_credit(&s->d, q, 2);
		}
		check_domain(&s->d, s->queue, 2);
	}
	CHECK(i < 20);
	for (k = 0; k < 2; k++)
		mrpc_egress_gone(&s->d, &s->queue[k], 100);
	CHECK_EQ(s->d.out, 0);
	CHECK_EQ(s->d.order.listed, 0);
}

static struct small small;
static u64 small_states;

static void small_search(u32 depth)
{
	struct small before = small;
	u32 n, k;

	check_domain(&small.d, small.queue, 2);
	small_states++;
	small_settle(&small);
	small = before;
	if (!depth)
		return;
	for (n = 0; n < SMALL_EVENTS; n++) {
		for (k = 0; k < 2; k++) {
			if (small_event(&small, n, k))
				small_search(depth - 1);
			small = before;
		}
	}
}

/*
 * Every sequence of seven events from a start in which both queues have work and
 * credit: nothing is stranded, no count is off.
 */
TEST_LIMIT(egress_all_sequences, 300)
{
	struct mrpc_egress_rule rule = {
		.within = MRPC_ORDER_STRICT, .chunk = 2, .limit = 3, .patience = PATIENCE,
	};
	u32 fair, k;

	for (fair = 0; fair < 2; fair++) {
		memset(&small, 0, sizeof(small));
		rule.fair = fair;
		CHECK_EQ(mrpc_egress_init(&small.d, &rule), 0);
		CHECK_EQ(mrpc_order_tenant_init(&small.d.order, &small.tenant, 1), 0);
		for (k = 0; k < 2; k++) {
			mrpc_egress_add(&small.d, &small.queue[k], k ? &small.tenant : NULL);
			small_work(&small, k, 3);
			mrpc_egress_credit(&small.d, &small.queue[k], 3);
		}
		small_search(7);
	}
	NOTE("%llu states", (unsigned long long)small_states);
}
