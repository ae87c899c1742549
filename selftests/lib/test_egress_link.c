// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/egress.c */
/*
 * The core of the egress scheduler over a slow link, in virtual time: what weights are worth where
 * owners take a while to come, and whether the link has always something to send.
 *
 * The link sends one packet after the other. A chunk is one packet, which it gives back as a
 * whole, in bytes of memory: more than were sent. As in the kernel module, what has gone is
 * looked for when only the limit keeps a queue from a grant, and by a timer.
 */
#include "tap.h"
#include "egress_domain.h"
#include "rnd.h"

#define QUEUES		2
#define STEP		5000ULL			/* ns */
#define SECONDS		4
#define RATE		2000000ULL		/* bytes a second */
#define POLL_MIN	50000ULL
#define POLL_MAX	1000000ULL
#define OVERHEAD	1300			/* bytes of memory of a packet, beside its payload */
#define PACKETS		64			/* a power of two */

struct packet {
	u32 queue;
	u32 len;
};

/*
 * @message: bytes of each message; there are always more
 * @reaction: ns from a grant until its owner comes, a half more or less
 * @comes: time when the owner of each comes; 0: the owner has not been kicked
 * @memory: bytes below of each
 * @fifo: [head, tail)
 * @until: when the link has sent the first of it
 * @idle: steps in which it had nothing
 */
struct line {
	struct mrpc_egress d;
	struct mrpc_order_tenant tenant[QUEUES];
	struct mrpc_egress_queue queue[QUEUES];
	u64 message;
	u64 reaction;
	u64 now;
	u64 comes[QUEUES];
	u64 memory[QUEUES];
	u64 sent[QUEUES];
	struct packet fifo[PACKETS];
	u32 head;
	u32 tail;
	u64 until;
	u64 idle;
	u64 poll;
	u64 looks_at;
	u64 rnd;
};

static void line_begin(struct line *l, u64 message, u64 reaction)
{
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_STRICT, true);
	u32 i;

	memset(l, 0, sizeof(*l));
	rule.patience = 10000000;
	l->message = message;
	l->reaction = reaction;
	l->now = STEP;
	l->rnd = 31;
	CHECK_EQ(mrpc_egress_init(&l->d, &rule), 0);
	for (i = 0; i < QUEUES; i++) {
		CHECK_EQ(mrpc_order_tenant_init(&l->d.order, &l->tenant[i], i ? 100 : 300), 0);
		mrpc_egress_add(&l->d, &l->queue[i], &l->tenant[i]);
		mrpc_egress_work(&l->d, &l->queue[i], 0, U64_MAX, message);
		mrpc_egress_credit(&l->d, &l->queue[i], U32_MAX);
	}
}

static u64 line_time(const struct line *l)
{
	return l->fifo[l->head % PACKETS].len * 1000000000ULL / RATE;
}

static void line_put(struct line *l, u32 queue, u32 len)
{
	CHECK(l->tail - l->head < PACKETS);
	l->fifo[l->tail++ % PACKETS] = (struct packet){ queue, len };
	l->memory[queue] += len + OVERHEAD;
	if (l->tail - l->head == 1)
		l->until = l->now + line_time(l);
}

static void line_send(struct line *l)
{
	while (l->head != l->tail && l->until <= l->now) {
		const struct packet *p = &l->fifo[l->head++ % PACKETS];

		l->memory[p->queue] -= p->len + OVERHEAD;
		l->sent[p->queue] += p->len;
		if (l->head != l->tail)
			l->until += line_time(l);
	}
	l->idle += l->head == l->tail;
}

/* Return: something has gone. */
static bool line_look(struct line *l)
{
	bool gone = false;
	u32 i;

	for (i = 0; i < QUEUES; i++) {
		struct mrpc_egress_queue *q = &l->queue[i];

		if (l->memory[i] >= q->below)
			continue;
		mrpc_egress_gone(&l->d, q, q->below - l->memory[i]);
		gone = true;
	}
	return gone;
}

/* @self: the queue that need not be kicked, or NULL. */
static void line_grant(struct line *l, const struct mrpc_egress_queue *self)
{
	struct mrpc_egress_queue *q;
	bool gone = false;

	for (;;) {
		q = mrpc_egress_next(&l->d, l->now);
		if (q && q != self)
			l->comes[q - l->queue] = l->now + l->reaction / 2 +
						 rnd_below(&l->rnd, l->reaction);
		if (q)
			continue;
		if (!line_look(l))
			break;
		gone = true;
	}
	l->poll = gone ? POLL_MIN : min_t(u64, 2 * l->poll, POLL_MAX);
	l->looks_at = l->now + l->poll;
}

static void line_owner(struct line *l, u32 i)
{
	struct mrpc_egress_queue *q = &l->queue[i];
	u32 turn;

	l->comes[i] = 0;
	while ((turn = mrpc_egress_take(&l->d, q))) {
		line_put(l, i, turn);
		mrpc_egress_dequeued(&l->d, q, turn, U32_MAX);
		if (!q->order.left)
			mrpc_egress_work(&l->d, q, 0, U64_MAX, l->message);
		line_grant(l, q);
	}
}

static void line_run(struct line *l)
{
	u32 i;

	for (; l->now < SECONDS * 1000000000ULL; l->now += STEP) {
		line_send(l);
		for (i = 0; i < QUEUES; i++)
			if (l->comes[i] && l->now >= l->comes[i])
				line_owner(l, i);
		if (l->now >= l->looks_at)
			line_grant(l, NULL);
		CHECK(l->d.out <= l->d.rule.limit);
	}
}

/*
 * Three to one, whatever length messages have, and without a pause: grants come one at a time,
 * not two at once after the link has waited.
 */
TEST(egress_link_shares)
{
	static const u64 messages[] = { 20000, 32768 + 80, 65536 + 80, (1 << 20) + 80 };
	static const u64 reactions[] = { 200000, 2000000 };
	static struct line l;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(messages); i++) {
		for (k = 0; k < ARRAY_SIZE(reactions); k++) {
			double share, idle;

			line_begin(&l, messages[i], reactions[k]);
			line_run(&l);
			share = (double)l.sent[0] / l.sent[1];
			idle = l.idle / (SECONDS * 1e9 / STEP);
			NOTE("%llu bytes, %llu us: %.2f to 1, %.1f %% idle",
			     (unsigned long long)messages[i],
			     (unsigned long long)reactions[k] / 1000, share, 100 * idle);
			CHECK(share > 2.8 && share < 3.2);
			CHECK(idle < 0.01);
		}
	}
}
