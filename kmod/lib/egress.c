// SPDX-License-Identifier: GPL-2.0
/*
 * Grants over an order of queues: see egress.h for the contract.
 */
#include "lib/egress.h"

static bool queue_eligible(const struct mrpc_egress_queue *q)
{
	return q->order.left && q->credit && !q->paused && !q->late;
}

/* The one place where a queue that has no turn is listed or delisted. */
static void queue_update(struct mrpc_egress *d, struct mrpc_egress_queue *q)
{
	if (q->state == MRPC_EGRESS_GRANTED || q->state == MRPC_EGRESS_SENDING)
		return;
	if (queue_eligible(q)) {
		mrpc_order_put(&d->order, &q->order, q->begun);
		q->state = MRPC_EGRESS_LISTED;
	} else {
		mrpc_order_del(&d->order, &q->order);
		q->state = MRPC_EGRESS_IDLE;
	}
}

/* -- grants -------------------------------------------------------------------- */

static void grant_hold(struct mrpc_egress *d, struct mrpc_egress_queue *q, u64 now)
{
	q->held = true;
	q->granted_at = now;
	q->grant.next = &d->grants;
	q->grant.prev = d->grants.prev;
	d->grants.prev->next = &q->grant;
	d->grants.prev = &q->grant;
	d->out += q->turn;
}

static void grant_release(struct mrpc_egress *d, struct mrpc_egress_queue *q)
{
	if (!q->held)
		return;
	q->held = false;
	q->grant.next->prev = q->grant.prev;
	q->grant.prev->next = q->grant.next;
	d->out -= q->turn;
}

/* A grant that was not taken is void, and its cost given back. */
static void grant_void(struct mrpc_egress *d, struct mrpc_egress_queue *q)
{
	grant_release(d, q);
	mrpc_bucket_return(&d->pace, q->turn);
	mrpc_order_charge(&d->order, &q->order, -(s64)q->turn);
	q->state = MRPC_EGRESS_IDLE;
}

/*
 * Bytes of the next chunk of @q, wherever they fit. The end of a message is cut evenly: a last
 * chunk of a few bytes would be a turn all the same.
 */
static u32 egress_wants(const struct mrpc_egress *d, const struct mrpc_egress_queue *q)
{
	u32 chunk = d->rule.chunk, rest, nr;
	u64 left = q->order.left;

	if (left <= chunk)
		return min_t(u64, left, q->credit);
	if (left > (u64)MRPC_EGRESS_EVEN * chunk)
		return min(chunk, q->credit);
	nr = div_u64_rem(left - 1, chunk, &rest) + 1;
	return min_t(u64, div_u64_rem(left - 1, nr, &rest) + 1, q->credit);
}

/*
 * Bytes that @q may be granted; 0: there is no room below. Most of a chunk goes where all of it
 * would be too much, lest what little is below beside another chunk keep the link waiting, and
 * then leave room for two at once, of which one queue can have only one.
 */
static u32 egress_room(const struct mrpc_egress *d, const struct mrpc_egress_queue *q)
{
	u32 room = d->rule.limit - min_t(u64, d->out, d->rule.limit);
	u32 want = egress_wants(d, q);

	if (want <= room)
		return want;
	if (room < d->rule.chunk - d->rule.chunk / 4)
		return 0;
	/* Nor are a few bytes to be left. */
	return min_t(u64, room, q->order.left - d->rule.chunk / 4);
}

/* Whose turn it is, if there is room for what it sends, and the rate allows it; or NULL. */
static struct mrpc_egress_queue *egress_first(struct mrpc_egress *d, u64 now)
{
	struct mrpc_order_entity *e;
	struct mrpc_egress_queue *q;
	u32 i;

	for (i = 0; ; i++) {
		e = i ? mrpc_order_first(&d->order) : mrpc_order_peek(&d->order);
		if (!e)
			return NULL;
		q = mrpc_egress_of(e);
		q->turn = egress_room(d, q);
		if (!q->turn)
			return NULL;
		d->paced = mrpc_bucket_when(&d->pace, now, q->turn);
		if (d->paced)
			return NULL;
		if (i == MRPC_EGRESS_AGAIN || !mrpc_order_again(&d->order, e))
			return q;
	}
}

struct mrpc_egress_queue *mrpc_egress_next(struct mrpc_egress *d, u64 now)
{
	struct mrpc_egress_queue *q;

	d->paced = 0;
	if (d->paused)
		return NULL;
	q = egress_first(d, now);
	if (!q)
		return NULL;
	mrpc_bucket_take(&d->pace, now, q->turn);
	mrpc_order_start(&d->order, &q->order);
	mrpc_order_charge(&d->order, &q->order, q->turn);
	q->state = MRPC_EGRESS_GRANTED;
	q->begun = true;
	grant_hold(d, q, now);
	d->nr_grants++;
	return q;
}

u32 mrpc_egress_take(struct mrpc_egress *d, struct mrpc_egress_queue *q)
{
	if (q->state == MRPC_EGRESS_GRANTED) {
		q->state = MRPC_EGRESS_SENDING;
		q->credit = 0;
		return q->turn;
	}
	q->late = false;
	queue_update(d, q);
	return 0;
}

void mrpc_egress_dequeued(struct mrpc_egress *d, struct mrpc_egress_queue *q, u32 sent,
			  u32 credit)
{
	if (q->state != MRPC_EGRESS_SENDING)
		return;
	grant_release(d, q);
	q->below += sent;
	d->out += sent;
	if (sent != q->turn) {
		mrpc_bucket_return(&d->pace, q->turn - sent);
		mrpc_order_charge(&d->order, &q->order, (s64)sent - q->turn);
	}
	if (!sent)
		d->nr_wasted++;
	/* What the transport said during the turn may be news to the owner. */
	if (sent)
		q->credit = max(q->credit, credit);
	q->begun = true;
	mrpc_order_rank(&d->order, &q->order, q->order.priority,
			q->order.left - min_t(u64, sent, q->order.left));
	q->state = MRPC_EGRESS_IDLE;
	queue_update(d, q);
}

void mrpc_egress_gone(struct mrpc_egress *d, struct mrpc_egress_queue *q, u64 bytes)
{
	bytes = min(bytes, q->below);
	q->below -= bytes;
	d->out -= bytes;
}

u64 mrpc_egress_expire(struct mrpc_egress *d, u64 now)
{
	while (d->grants.next != &d->grants) {
		struct mrpc_egress_queue *q = container_of(d->grants.next,
							   struct mrpc_egress_queue, grant);

		if (now - q->granted_at < d->rule.patience)
			return q->granted_at + d->rule.patience;
		d->nr_expired++;
		if (q->state == MRPC_EGRESS_GRANTED) {
			grant_void(d, q);
			q->late = true;
		} else {
			grant_release(d, q);
		}
	}
	return U64_MAX;
}

/* -- what happens to a queue --------------------------------------------------- */

void mrpc_egress_add(struct mrpc_egress *d, struct mrpc_egress_queue *q,
		     struct mrpc_order_tenant *t)
{
	memset(q, 0, sizeof(*q));
	mrpc_order_join(&d->order, &q->order, t);
}

void mrpc_egress_remove(struct mrpc_egress *d, struct mrpc_egress_queue *q)
{
	if (q->state == MRPC_EGRESS_GRANTED)
		grant_void(d, q);
	grant_release(d, q);
	mrpc_egress_gone(d, q, U64_MAX);
	mrpc_order_leave(&d->order, &q->order);
	q->state = MRPC_EGRESS_IDLE;
}

/* A grant without work or credit is of no use to its queue. */
static void queue_changed(struct mrpc_egress *d, struct mrpc_egress_queue *q)
{
	if (q->state == MRPC_EGRESS_GRANTED && !(q->order.left && q->credit))
		grant_void(d, q);
	queue_update(d, q);
}

void mrpc_egress_work(struct mrpc_egress *d, struct mrpc_egress_queue *q, u8 priority,
		      u64 deadline, u64 left)
{
	q->late = false;
	q->begun = false;
	mrpc_order_del(&d->order, &q->order);
	mrpc_order_due(&d->order, &q->order, deadline);
	mrpc_order_rank(&d->order, &q->order, priority, left);
	queue_changed(d, q);
}

void mrpc_egress_rank(struct mrpc_egress *d, struct mrpc_egress_queue *q, u8 priority)
{
	mrpc_order_rank(&d->order, &q->order, priority, q->order.left);
}

void mrpc_egress_offer(struct mrpc_egress *d, struct mrpc_egress_queue *q, u64 left, u32 credit)
{
	mrpc_order_rank(&d->order, &q->order, q->order.priority, left);
	mrpc_egress_credit(d, q, credit);
}

void mrpc_egress_credit(struct mrpc_egress *d, struct mrpc_egress_queue *q, u32 credit)
{
	q->credit = credit;
	queue_changed(d, q);
}

void mrpc_egress_pause_queue(struct mrpc_egress *d, struct mrpc_egress_queue *q, bool paused)
{
	q->paused = paused;
	queue_update(d, q);
}

/* -- what happens to the domain ------------------------------------------------ */

void mrpc_egress_pause(struct mrpc_egress *d, bool paused)
{
	d->paused = paused;
}

static struct mrpc_order_rule order_rule(const struct mrpc_egress_rule *rule)
{
	return (struct mrpc_order_rule){
		.within = rule->within,
		.ranker = rule->ranker,
		.fair = rule->fair,
		.quantum = rule->chunk,
	};
}

static bool rule_ok(const struct mrpc_egress_rule *rule)
{
	return rule->limit >= rule->chunk && rule->rate <= MRPC_BUCKET_MAX_RATE;
}

/* Timers are late, so a little can be made up for. */
static void pace_set(struct mrpc_egress *d, const struct mrpc_egress_rule *rule)
{
	mrpc_bucket_set(&d->pace, d->pace.last, rule->rate ? rule->rate : MRPC_BUCKET_UNLIMITED,
			max_t(u64, rule->chunk, rule->rate / 1000));
	d->paced = 0;
}

int mrpc_egress_init(struct mrpc_egress *d, const struct mrpc_egress_rule *rule)
{
	struct mrpc_order_rule order = order_rule(rule);

	if (!rule_ok(rule))
		return -EINVAL;
	memset(d, 0, sizeof(*d));
	d->rule = *rule;
	d->grants.next = &d->grants;
	d->grants.prev = &d->grants;
	mrpc_bucket_init(&d->pace, 0, MRPC_BUCKET_UNLIMITED, 1);
	pace_set(d, rule);
	return mrpc_order_init(&d->order, &order);
}

int mrpc_egress_set(struct mrpc_egress *d, const struct mrpc_egress_rule *rule)
{
	struct mrpc_order_rule order = order_rule(rule);
	int err;

	if (!rule_ok(rule))
		return -EINVAL;
	err = mrpc_order_set(&d->order, &order);
	if (err)
		return err;
	pace_set(d, rule);
	d->rule = *rule;
	return 0;
}
