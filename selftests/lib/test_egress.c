// SPDX-License-Identifier: GPL-2.0
/*
 * The core of the egress scheduler: against a model that searches; every short
 * sequence of events; and what it is for, one scenario each.
 */
#include "egress.h"
#include "order_model.h"
#include "rnd.h"
#include "tap.h"

#define QUEUES		MODEL_ENTITIES
#define CHUNK		MRPC_EGRESS_CHUNK
#define PATIENCE	1000

/* The least left first, of every second priority; the others by priority, exactly. */
static u64 rank_of(u8 priority, u64 left)
{
	return priority % 2 ? left : (1ULL << 32) - priority;
}

static u64 ranker_rank(struct mrpc_order_entity *e)
{
	return rank_of(e->priority, e->left);
}

static const struct mrpc_order_ranker ranker = { .rank = ranker_rank };

static struct mrpc_egress_rule plain_rule(u8 within, bool fair)
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

static bool waits(const struct mrpc_egress_queue *q)
{
	return q->order.left && q->credit && !q->paused && !q->late;
}

/* What holds whatever happens, recomputed from nothing. */
static void check_domain(const struct mrpc_egress *d, const struct mrpc_egress_queue *q, u32 nr)
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

/* -- against the model ---------------------------------------------------------- */

struct pair {
	struct mrpc_egress d;
	struct mrpc_order_tenant tenant[MODEL_TENANTS];	/* the first is not used */
	struct mrpc_egress_queue queue[QUEUES];
	u64 now;
	bool paused;
	struct mrpc_egress_rule rule;
	struct model m;
	struct {
		enum { NONE, GRANTED, SENDING } turn;
		u32 bytes;
		bool held;
		u64 since;
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

		p->m.entity[i].home = t;
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

static u32 want_next(struct pair *p)
{
	u32 i = model_first(&p->m);
	u64 bytes;

	if (p->paused || i == QUEUES)
		return QUEUES;
	bytes = min(p->m.entity[i].left, (u64)min(p->want[i].credit, p->rule.chunk));
	if (want_out(p) + bytes > p->rule.limit)
		return QUEUES;
	model_take(&p->m);
	model_charge(&p->m, i, bytes);
	p->want[i].turn = GRANTED;
	p->want[i].bytes = bytes;
	p->want[i].held = true;
	p->want[i].begun = true;
	p->want[i].since = p->now;
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
	u8 priority = rnd_below(rnd, 2) ? 128 : rnd_below(rnd, 256);

	if (p->want[i].turn == SENDING)
		return;
	mrpc_egress_work(&p->d, &p->queue[i], priority, left);
	p->want[i].late = false;
	p->want[i].begun = false;
	p->m.entity[i].listed = false;
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
	do {	/* the oldest first, as it decides who comes to his slot first */
		u32 i, oldest = QUEUES;

		for (i = 0; i < QUEUES; i++)
			if (p->want[i].held &&
			    p->want[i].since + PATIENCE <= p->now &&
			    (oldest == QUEUES || p->want[i].since < p->want[oldest].since))
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
	u32 i;

	p->rule = plain_rule(rnd_below(rnd, MRPC_ORDER_NR_WITHIN), rnd_below(rnd, 2));
	p->rule.chunk = chunks[rnd_below(rnd, ARRAY_SIZE(chunks))];
	p->rule.limit = p->rule.chunk * (1 + rnd_below(rnd, 4));
	CHECK_EQ(mrpc_egress_set(&p->d, &p->rule), 0);
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
		memset(&p->m.entity[i], 0, sizeof(p->m.entity[i]));
		memset(&p->want[i], 0, sizeof(p->want[i]));
		p->m.entity[i].home = t;
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
		while (pair_next(p))
			;
	}
}

/* Every event in random order, in all disciplines. */
TEST(egress_random)
{
	static struct pair p;
	u64 rnd = 1, grants = 0;
	u32 round, i, k, events = 0;

	for (round = 0; round < 300; round++) {
		pair_begin(&p, &rnd);
		for (i = 0; i < 1000; i++) {
			pair_event(&p, &rnd);
			events++;
			if (!model_is_exact(&p.m))
				break;
			check_domain(&p.d, p.queue, QUEUES);
			CHECK_EQ(p.d.out, want_out(&p));
			for (k = 0; k < QUEUES; k++) {
				CHECK_EQ(p.queue[k].order.listed, p.m.entity[k].listed);
				CHECK_EQ(p.queue[k].credit, p.want[k].credit);
				CHECK_EQ(p.queue[k].order.left, p.m.entity[k].left);
			}
		}
		grants += p.d.nr_grants;
	}
	NOTE("%u events, %llu grants", events, (unsigned long long)grants);
	CHECK(events > 100000 && grants > 5000);
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

/* Return: false if event @n cannot happen now. */
static bool small_event(struct small *s, u32 n, u32 k)
{
	struct mrpc_egress_queue *q = &s->queue[k];
	struct mrpc_egress_rule rule = s->d.rule;

	switch (n) {
	case 0:
		if (q->order.left)
			return false;
		mrpc_egress_work(&s->d, q, k, 3);
		return true;
	case 1:		/* given up */
		if (!q->order.left || q->state == MRPC_EGRESS_SENDING)
			return false;
		mrpc_egress_work(&s->d, q, k, 0);
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
		rule.within = MRPC_ORDER_STRICT - rule.within;
		mrpc_egress_set(&s->d, &rule);
		return true;
	default:
		return !k && mrpc_egress_next(&s->d, s->now);
	}
}

/*
 * From here on everybody does what he should: then all that is there is sent,
 * and nothing remains.
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
			mrpc_egress_work(&small.d, &small.queue[k], k, 3);
			mrpc_egress_credit(&small.d, &small.queue[k], 3);
		}
		small_search(7);
	}
	NOTE("%llu states", (unsigned long long)small_states);
}

/* -- what it is for ------------------------------------------------------------- */

#define MANY	1000

static struct mrpc_egress d;
static struct mrpc_egress_queue queues[MANY + 1];

static void begin(u8 within, bool fair, u32 nr)
{
	struct mrpc_egress_rule rule = plain_rule(within, fair);
	u32 i;

	CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
	for (i = 0; i < nr; i++)
		mrpc_egress_add(&d, &queues[i], NULL);
}

static void offer(struct mrpc_egress_queue *q, u8 priority, u64 left)
{
	mrpc_egress_work(&d, q, priority, left);
	mrpc_egress_credit(&d, q, U32_MAX);
}

/* The owner comes, sends all that it may, and it stays below. Return: bytes. */
static u32 send(struct mrpc_egress_queue *q)
{
	u32 turn = mrpc_egress_take(&d, q);

	CHECK(turn);
	mrpc_egress_dequeued(&d, q, turn, U32_MAX);
	return turn;
}

/* Whose chunk is next, sent and gone; NULL: none */
static struct mrpc_egress_queue *turn(void)
{
	struct mrpc_egress_queue *q = mrpc_egress_next(&d, 0);

	if (q)
		mrpc_egress_gone(&d, q, send(q));
	return q;
}

TEST(egress_without_credit_no_turn)
{
	u32 i;

	begin(MRPC_ORDER_STRICT, false, MANY + 1);
	for (i = 0; i < MANY; i++)
		mrpc_egress_work(&d, &queues[i], 255, CHUNK);
	offer(&queues[MANY], 0, 10000ULL * CHUNK);
	for (i = 0; i < 10000; i++)
		CHECK(turn() == &queues[MANY]);
	CHECK(!turn());
	CHECK_EQ(d.nr_grants, 10000);
	CHECK_EQ(d.nr_wasted, 0);
}

/* While bytes are below, no more than the limit; whoever they are of. */
TEST(egress_limit)
{
	struct mrpc_egress_queue *q;
	u32 i;

	begin(MRPC_ORDER_FIFO, false, 4);
	for (i = 0; i < 3; i++)
		offer(&queues[i], 0, 10 * CHUNK);
	q = mrpc_egress_next(&d, 0);
	CHECK(q == &queues[0]);
	CHECK(mrpc_egress_next(&d, 0) == &queues[1]);
	CHECK(!mrpc_egress_next(&d, 0));
	CHECK_EQ(send(q), CHUNK);
	CHECK(!mrpc_egress_next(&d, 0));
	mrpc_egress_gone(&d, q, CHUNK - 1);
	CHECK(!mrpc_egress_next(&d, 0));
	offer(&queues[3], 0, 1);	/* would fit, but it is not its turn */
	CHECK(!mrpc_egress_next(&d, 0));
	mrpc_egress_gone(&d, q, 1);
	CHECK(mrpc_egress_next(&d, 0) == &queues[0]);
	CHECK_EQ(d.out, 2 * CHUNK);
}

/* An urgent message goes before the next chunk of the one under way, which resumes first. */
TEST(egress_preempts_between_chunks)
{
	begin(MRPC_ORDER_STRICT, false, 4);
	offer(&queues[0], 10, 4 * CHUNK);
	offer(&queues[1], 10, 2 * CHUNK);
	CHECK(turn() == &queues[0]);
	offer(&queues[2], 200, CHUNK + 1);
	offer(&queues[3], 10, 1);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[0]);
	mrpc_egress_rank(&d, &queues[0], 9);
	CHECK(turn() == &queues[1]);
	CHECK(turn() == &queues[1]);
	CHECK(turn() == &queues[3]);
	CHECK(turn() == &queues[0]);
	CHECK(turn() == &queues[0]);
	CHECK(!turn());
}

/* A begun message that waited for credit goes before those that came meanwhile. */
TEST(egress_resumes_after_credit)
{
	begin(MRPC_ORDER_FIFO, false, 2);
	offer(&queues[0], 0, 3 * CHUNK);
	CHECK(turn() == &queues[0]);
	mrpc_egress_credit(&d, &queues[0], 0);
	offer(&queues[1], 0, 3 * CHUNK);
	CHECK(turn() == &queues[1]);
	mrpc_egress_credit(&d, &queues[0], 100);
	CHECK_EQ(mrpc_egress_next(&d, 0) - queues, 0);
	CHECK_EQ(queues[0].turn, 100);
}

/* The least left first, also of those under way. */
TEST(egress_small_first)
{
	begin(MRPC_ORDER_SMALL, false, 3);
	offer(&queues[0], 0, 3 * CHUNK);
	offer(&queues[1], 0, 4 * CHUNK);
	CHECK(turn() == &queues[0]);
	offer(&queues[2], 0, 2 * CHUNK + CHUNK / 2);
	CHECK(turn() == &queues[0]);
	CHECK(turn() == &queues[0]);
	CHECK(turn() == &queues[2]);
	offer(&queues[0], 0, 64);
	CHECK(turn() == &queues[0]);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[1]);
}

/* Owners that never come hold their shares for the patience, and once. */
TEST(egress_void_grant)
{
	begin(MRPC_ORDER_STRICT, false, 3);
	offer(&queues[0], 200, 2 * CHUNK);
	offer(&queues[1], 200, 2 * CHUNK);
	offer(&queues[2], 1, 3 * CHUNK);
	CHECK(mrpc_egress_next(&d, 5) == &queues[0]);
	CHECK(mrpc_egress_next(&d, 7) == &queues[1]);
	CHECK(!mrpc_egress_next(&d, 8));
	CHECK_EQ(mrpc_egress_expire(&d, 5 + PATIENCE - 1), 5 + PATIENCE);
	CHECK(!mrpc_egress_next(&d, 5 + PATIENCE - 1));
	CHECK_EQ(mrpc_egress_expire(&d, 5 + PATIENCE), 7 + PATIENCE);
	CHECK(mrpc_egress_next(&d, 5 + PATIENCE) == &queues[2]);
	CHECK_EQ(mrpc_egress_expire(&d, 7 + PATIENCE), 5 + 2 * PATIENCE);
	mrpc_egress_gone(&d, &queues[2], send(&queues[2]));
	CHECK(turn() == &queues[2]);
	/* Credit does not bring them back, their owners do: in front. */
	mrpc_egress_credit(&d, &queues[0], CHUNK);
	CHECK(turn() == &queues[2]);
	CHECK_EQ(mrpc_egress_take(&d, &queues[0]), 0);
	CHECK_EQ(mrpc_egress_take(&d, &queues[1]), 0);
	CHECK(turn() == &queues[1]);
	CHECK_EQ(d.nr_expired, 2);
	CHECK(mrpc_egress_expire(&d, 100 * PATIENCE) == U64_MAX);
}

/* One that took its grant and sends too late: one chunk above the limit, then none. */
TEST(egress_late_sender)
{
	begin(MRPC_ORDER_FIFO, false, 2);
	offer(&queues[0], 0, CHUNK);
	offer(&queues[1], 0, 10 * CHUNK);
	CHECK(mrpc_egress_next(&d, 0) == &queues[0]);
	CHECK_EQ(mrpc_egress_take(&d, &queues[0]), CHUNK);
	CHECK_EQ(mrpc_egress_expire(&d, PATIENCE), U64_MAX);
	CHECK(mrpc_egress_next(&d, PATIENCE) == &queues[1]);
	send(&queues[1]);
	CHECK(mrpc_egress_next(&d, PATIENCE) == &queues[1]);
	send(&queues[1]);
	mrpc_egress_dequeued(&d, &queues[0], CHUNK, CHUNK);
	CHECK_EQ(d.out, 3 * CHUNK);
	mrpc_egress_gone(&d, &queues[1], CHUNK);
	CHECK(!mrpc_egress_next(&d, PATIENCE));
	mrpc_egress_gone(&d, &queues[0], CHUNK);
	CHECK(mrpc_egress_next(&d, PATIENCE) == &queues[1]);
}

/* Credit that comes while the owner sends is not lost by what the owner saw before. */
TEST(egress_credit_during_turn)
{
	begin(MRPC_ORDER_FIFO, false, 1);
	offer(&queues[0], 0, 2 * CHUNK);
	CHECK(mrpc_egress_next(&d, 0) == &queues[0]);
	CHECK_EQ(mrpc_egress_take(&d, &queues[0]), CHUNK);
	mrpc_egress_credit(&d, &queues[0], CHUNK);
	mrpc_egress_dequeued(&d, &queues[0], CHUNK, 0);
	mrpc_egress_gone(&d, &queues[0], CHUNK);
	CHECK(mrpc_egress_next(&d, 0) == &queues[0]);
	CHECK_EQ(mrpc_egress_take(&d, &queues[0]), CHUNK);
	mrpc_egress_dequeued(&d, &queues[0], 0, CHUNK);
	CHECK_EQ(d.nr_wasted, 1);
	CHECK(!mrpc_egress_next(&d, 0));
	mrpc_egress_credit(&d, &queues[0], CHUNK);
	CHECK(turn() == &queues[0]);
}

TEST(egress_refuses)
{
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_FIFO, false);
	u32 i;

	begin(MRPC_ORDER_FIFO, false, 1);
	for (i = 0; i < 4; i++) {
		struct mrpc_egress other;
		struct mrpc_egress_rule bad = rule;

		if (i == 0)
			bad.limit = bad.chunk - 1;
		else if (i == 1)
			bad.chunk = 0;
		else if (i == 2)
			bad.chunk = bad.limit = MRPC_ORDER_MAX_QUANTUM + 1;
		else
			bad.within = MRPC_ORDER_NR_WITHIN;
		CHECK_EQ(mrpc_egress_init(&other, &bad), -EINVAL);
		CHECK_EQ(mrpc_egress_set(&d, &bad), -EINVAL);
		CHECK_EQ(d.rule.within, rule.within);
		CHECK_EQ(d.rule.chunk, rule.chunk);
		CHECK_EQ(d.rule.limit, rule.limit);
		CHECK_EQ(d.order.rule.quantum, rule.chunk);
	}
}

/* -- pause, dump, resume -------------------------------------------------------- */

#define SCRIPT	60

static const struct { u8 within; bool fair; } disciplines[] = {
	{ MRPC_ORDER_FIFO, false }, { MRPC_ORDER_STRICT, false }, { MRPC_ORDER_SMALL, false },
	{ MRPC_ORDER_RANKED, false }, { MRPC_ORDER_RANKED, true },
	{ MRPC_ORDER_FIFO, true }, { MRPC_ORDER_STRICT, true }, { MRPC_ORDER_SMALL, true },
};

/* @most: of the length of a message. The queues are of three tenants, 1:2:10. */
static void script(u32 k, u32 most, struct mrpc_order_tenant *tenants, u64 *rnd)
{
	struct mrpc_egress_rule rule = plain_rule(disciplines[k].within, disciplines[k].fair);
	static const u32 weight[] = { 1, 2, 10 };
	u32 i;

	CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(mrpc_order_tenant_init(&d.order, &tenants[i], weight[i]), 0);
	mrpc_egress_pause(&d, true);
	for (i = 0; i < SCRIPT; i++) {
		mrpc_egress_add(&d, &queues[i], &tenants[rnd_below(rnd, 3)]);
		offer(&queues[i], rnd_below(rnd, 4), 1 + rnd_below(rnd, most));
	}
	CHECK(!mrpc_egress_next(&d, 0));
}

static void dump(struct mrpc_egress_queue **list)
{
	struct mrpc_order_entity *e;
	u32 i = 0;

	for (e = mrpc_order_walk_begin(&d.order); e; e = mrpc_order_walk_next(e))
		list[i++] = mrpc_egress_of(e);
	mrpc_order_walk_end(&d.order);
	CHECK_EQ(i, SCRIPT);
}

/* Messages of one chunk leave exactly as the dump says, in every discipline. */
TEST(egress_pause_dump_resume)
{
	static struct mrpc_order_tenant tenants[3];
	struct mrpc_egress_queue *list[SCRIPT];
	u64 rnd = 9;
	u32 k, i, round;

	for (round = 0; round < 50; round++) {
		for (k = 0; k < ARRAY_SIZE(disciplines); k++) {
			script(k, CHUNK, tenants, &rnd);
			dump(list);
			mrpc_egress_pause(&d, false);
			for (i = 0; i < SCRIPT; i++)
				CHECK(turn() == list[i]);
			CHECK(!turn());
		}
	}
}

/* The dumps themselves against what a person would say. */
TEST(egress_dump_is_right)
{
	static struct mrpc_order_tenant tenants[3];
	struct mrpc_egress_queue *list[SCRIPT];
	u64 rnd = 10;
	u32 k, i;

	for (k = 0; k < 3; k++) {
		script(k, 1000, tenants, &rnd);
		dump(list);
		for (i = 1; i < SCRIPT; i++) {
			const struct mrpc_egress_queue *a = list[i - 1], *b = list[i];

			if (k == 0)
				CHECK(a < b);
			else if (k == 1)
				CHECK(a->order.priority > b->order.priority ||
				      (a->order.priority == b->order.priority && a < b));
			else
				CHECK(a->order.left < b->order.left + b->order.left / 8 + 1);
		}
	}
}

/* Messages of many chunks end as the dump says, where tenants are one. */
TEST(egress_pause_dump_resume_long)
{
	static struct mrpc_order_tenant tenants[3];
	struct mrpc_egress_queue *list[SCRIPT];
	u64 rnd = 11;
	u32 k, i;

	for (k = 0; k < 3; k++) {
		script(k, 20 * CHUNK, tenants, &rnd);
		dump(list);
		mrpc_egress_pause(&d, false);
		for (i = 0; i < SCRIPT; i++) {
			do
				CHECK(turn() == list[i]);
			while (list[i]->order.left);
		}
	}
}

/* From any discipline to any other, and what is sent first is what the new one says. */
TEST(egress_set_while_paused)
{
	static struct mrpc_order_tenant tenants[3];
	struct mrpc_egress_queue *list[SCRIPT];
	u64 rnd = 12;
	u32 from, to, i;

	for (from = 0; from < ARRAY_SIZE(disciplines); from++) {
		for (to = 0; to < ARRAY_SIZE(disciplines); to++) {
			struct mrpc_egress_rule rule = plain_rule(disciplines[to].within,
								  disciplines[to].fair);

			script(from, CHUNK, tenants, &rnd);
			CHECK_EQ(mrpc_egress_set(&d, &rule), 0);
			check_domain(&d, queues, SCRIPT);
			dump(list);
			for (i = 1; i < SCRIPT && to == 1; i++)
				CHECK(list[i - 1]->order.priority >= list[i]->order.priority);
			mrpc_egress_pause(&d, false);
			for (i = 0; i < SCRIPT; i++)
				CHECK(turn() == list[i]);
		}
	}
}

/* -- a rate --------------------------------------------------------------------- */

/* Half of the grants are void or used in part; in the end there is not a byte more or less. */
TEST(egress_rate)
{
	static const u64 rates[] = { 1000, 2000000, 12500000, 12500000000 };
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_FIFO, false);
	u64 rnd = 21;
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(rates); k++) {
		u64 now = 1000000000, start = now, sent = 0, burst;

		rule.rate = rates[k];
		rule.limit = 1U << 30;
		burst = max_t(u64, rule.chunk, rule.rate / 1000);
		CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
		for (i = 0; i < 3; i++) {
			mrpc_egress_add(&d, &queues[i], NULL);
			offer(&queues[i], 0, U64_MAX / 2);
		}
		for (i = 0; i < 20000; i++) {
			struct mrpc_egress_queue *q = mrpc_egress_next(&d, now);
			u32 use;

			if (!q) {
				CHECK(d.paced > now);
				now = d.paced + rnd_below(&rnd, 3) * 1000;
				continue;
			}
			CHECK_EQ(mrpc_egress_take(&d, q), q->turn);
			use = rnd_below(&rnd, 2) ? q->turn : 1 + rnd_below(&rnd, q->turn);
			mrpc_egress_dequeued(&d, q, use, CHUNK);
			mrpc_egress_gone(&d, q, U64_MAX);
			sent += use;
			/* It may be ahead by the burst, and behind by what it could not make up for. */
			CHECK(sent <= burst + (double)rule.rate * (now - start) / 1e9 + 1);
		}
		NOTE("%.3f of the rate", sent / ((double)rule.rate * (now - start) / 1e9 + burst));
		CHECK(sent >= 0.99 * rule.rate * (now - start) / 1e9);
	}
	/* Another rate at once, and none. */
	mrpc_egress_credit(&d, &queues[0], CHUNK);
	rule.rate = 1000;
	CHECK_EQ(mrpc_egress_set(&d, &rule), 0);
	while (mrpc_egress_next(&d, 1ULL << 40))
		;
	CHECK(d.paced > 1ULL << 40);
	rule.rate = MRPC_BUCKET_MAX_RATE + 1;
	CHECK_EQ(mrpc_egress_set(&d, &rule), -EINVAL);
	rule.rate = 0;
	CHECK_EQ(mrpc_egress_set(&d, &rule), 0);
	for (i = 0; i < 1000; i++) {
		struct mrpc_egress_queue *q = &queues[i % 3];

		mrpc_egress_take(&d, q);
		mrpc_egress_dequeued(&d, q, q->turn, CHUNK);
		CHECK(mrpc_egress_next(&d, 1ULL << 40) || i < 3);
	}
}

/* -- a ranker ------------------------------------------------------------------- */

/* Puts off whoever is first, for ever. */
static u64 nags, nagged;

static u64 nag_rank(struct mrpc_order_entity *e)
{
	(void)e;
	return ++nags;
}

static bool nag_again(struct mrpc_order_entity *e)
{
	(void)e;
	nagged++;
	return true;
}

static s64 nag_charged;

static void nag_charge(struct mrpc_order_entity *e, s64 cost)
{
	(void)e;
	nag_charged += cost;
}

static const struct mrpc_order_ranker nag = {
	.rank	= nag_rank,
	.again	= nag_again,
	.charge	= nag_charge,
};

/* Whatever a ranker says, somebody has the grant; and what it is told adds up. */
TEST(egress_ranker_that_never_agrees)
{
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_RANKED, false);
	struct mrpc_egress_queue *q;
	u64 sent = 0;
	u32 i;

	rule.ranker = &nag;
	CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
	for (i = 0; i < 3; i++) {
		mrpc_egress_add(&d, &queues[i], NULL);
		offer(&queues[i], 0, 3 * CHUNK - i);
	}
	for (i = 0; i < 9; i++) {
		nagged = 0;
		q = mrpc_egress_next(&d, 0);
		CHECK(q);
		CHECK_EQ(nagged, MRPC_EGRESS_AGAIN);
		CHECK_EQ(mrpc_egress_take(&d, q), min_t(u64, CHUNK, q->order.left));
		sent += q->turn / 2;
		mrpc_egress_dequeued(&d, q, q->turn / 2, CHUNK);
		mrpc_egress_gone(&d, q, U64_MAX);
		CHECK_EQ(nag_charged, sent);
	}
	/* A grant that is not used costs nothing. */
	q = mrpc_egress_next(&d, 0);
	CHECK(q);
	mrpc_egress_expire(&d, PATIENCE);
	CHECK_EQ(nag_charged, sent);
}

/* -- shares --------------------------------------------------------------------- */

/*
 * Three tenants, 1:2:10, with messages of quite different lengths, strict inside:
 * their bytes are within a chunk of their shares at any moment, as order.h states.
 */
TEST(egress_fair_bytes)
{
	static const u32 weight[] = { 1, 2, 10 };
	static const u32 most[] = { 100, 10 * CHUNK, 3000 };
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_STRICT, true);
	static struct mrpc_order_tenant tenants[3];
	double sent[3] = { 0 };
	u64 rnd = 13;
	u32 i, a, b;

	CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(mrpc_order_tenant_init(&d.order, &tenants[i], weight[i]), 0);
	for (i = 0; i < 30; i++) {
		mrpc_egress_add(&d, &queues[i], &tenants[i % 3]);
		offer(&queues[i], rnd_next(&rnd), 1 + rnd_below(&rnd, most[i % 3]));
	}
	for (i = 0; i < 200000; i++) {
		struct mrpc_egress_queue *q = mrpc_egress_next(&d, 0);
		u32 bytes, k;

		CHECK(q);
		k = q->order.home - tenants;
		bytes = send(q);
		mrpc_egress_gone(&d, q, bytes);
		sent[k] += bytes;
		if (!q->order.left)
			offer(q, rnd_next(&rnd), 1 + rnd_below(&rnd, most[k]));
		for (a = 0; a < 3; a++)
			for (b = 0; b < a; b++) {
				double apart = sent[a] / weight[a] - sent[b] / weight[b];

				CHECK(apart < CHUNK + CHUNK / 64.0);
				CHECK(-apart < CHUNK + CHUNK / 64.0);
			}
	}
}
