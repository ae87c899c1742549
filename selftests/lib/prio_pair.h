/* SPDX-License-Identifier: GPL-2.0 */
/* Two endpoints of the prio transport, packet by packet. Include after tap.h. */
#ifndef PRIO_PAIR_H
#define PRIO_PAIR_H

#include "lib/prio/prio.h"

#define PAIR_BUCKETS	64
#define PAIR_MSGS	2000
#define PAIR_PAYLOAD	1000
#define PAIR_US		1000ULL

struct packet {
	u8 buf[1500];
	u32 len;
	struct mrpc_prio_packet p;
};

struct end {
	struct mrpc_prio ep;
	struct mrpc_order_link hash[PAIR_BUCKETS];
	struct mrpc_prio_peer peer;
	bool there;
	struct mrpc_prio_tx tx[PAIR_MSGS];
	struct mrpc_prio_rx rx[PAIR_MSGS];
	u32 nr_rx;
	u32 completed;
	u64 bytes;
	u32 limit;		/* of what is accepted */
	u32 refuse;		/* enum mrpc_prio_refusal */
	bool fail_alloc;
	u32 allocs;
	struct packet answer;
	u8 event;		/* the last one */
};

static struct end pair_a, pair_b;
static struct end *const a = &pair_a, *const b = &pair_b;
static u64 now;

static __attribute__((__unused__)) void *pair_alloc(void *ctx, size_t size)
{
	struct end *e = ctx;

	if (e->fail_alloc)
		return NULL;
	e->allocs++;
	return malloc(size);
}

static __attribute__((__unused__)) void pair_free(void *ctx, void *p, size_t size)
{
	struct end *e = ctx;

	(void)size;
	e->allocs--;
	free(p);
}

static const struct mrpc_prio_ops pair_ops = { .alloc = pair_alloc, .free = pair_free };

/* Chunks of one packet: what is lost is what the test loses. */
static inline void pair_rule(struct mrpc_prio_rule *r)
{
	mrpc_prio_rule_default(r);
	r->chunk = PAIR_PAYLOAD;
	r->step = PAIR_PAYLOAD;
	r->unscheduled = 4 * PAIR_PAYLOAD;
	r->window = 4 * PAIR_PAYLOAD;
	r->outstanding = 8 * PAIR_PAYLOAD;
	r->reorder = 3 * PAIR_PAYLOAD;
	r->overcommit = 1;
}

static inline void end_start(struct end *e, const struct mrpc_prio_rule *r)
{
	static u64 starts;
	u64 key[2] = { ++starts, 7 };

	memset(e, 0, sizeof(*e));
	e->limit = U32_MAX;
	CHECK_EQ(mrpc_prio_init(&e->ep, r, &pair_ops, e, e->hash, PAIR_BUCKETS, key, now), 0);
}

static inline void end_stop(struct end *e)
{
	if (e->there)
		mrpc_prio_peer_remove(&e->ep, &e->peer);
	e->there = false;
	mrpc_prio_fini(&e->ep);
	CHECK_EQ(e->allocs, 0);
	CHECK_EQ(e->ep.nr_rx + e->ep.nr_tx + e->ep.nr_gaps + e->ep.nr_peers, 0);
}

static inline void pair_start_rule(const struct mrpc_prio_rule *r)
{
	now = 1000000;
	end_start(a, r);
	end_start(b, r);
	mrpc_prio_peer_add(&a->ep, &a->peer, PAIR_PAYLOAD, now);
	a->there = true;
}

static inline void pair_start(void)
{
	struct mrpc_prio_rule r;

	pair_rule(&r);
	pair_start_rule(&r);
}

static inline void pair_stop(void)
{
	end_stop(a);
	end_stop(b);
}

static inline struct mrpc_prio_tx *submit(struct end *e, u32 i, u32 total, u8 priority)
{
	e->tx[i].conn = 1;
	e->tx[i].total = total;
	e->tx[i].priority = priority;
	e->tx[i].kind = MRPC_PRIO_REQUEST;
	e->tx[i].urgent = false;
	CHECK_EQ(mrpc_prio_submit(&e->ep, &e->peer, &e->tx[i], now), 0);
	return &e->tx[i];
}

static inline void parse_own(struct packet *p)
{
	u32 why = 0;

	CHECK_MSG(!mrpc_prio_parse(p->buf, p->len, p->len, &p->p, &why), "own packet: %s",
		  mrpc_prio_drop_name(why));
}

/* The next packet that @e sends. Return: false: none */
static inline bool out_control(struct end *e, struct packet *p)
{
	struct mrpc_prio_peer *peer;

	p->len = mrpc_prio_control_next(&e->ep, now, p->buf, sizeof(p->buf), &peer);
	if (!p->len)
		return false;
	CHECK(peer == &e->peer);
	parse_own(p);
	return true;
}

/* All of a chunk that @e has is sent. */
static inline void out_chunk(struct end *e, const struct mrpc_prio_chunk *c, struct packet *p)
{
	mrpc_prio_chunk_header(c, 0, p->buf);
	memset(p->buf + MRPC_PRIO_DATA_HDR, 0x5a, c->len);
	p->len = MRPC_PRIO_DATA_HDR + c->len;
	mrpc_prio_tx_sent(&e->ep, c, c->len, true, now);
	parse_own(p);
}

static inline bool out_data(struct end *e, struct packet *p)
{
	struct mrpc_prio_chunk c;

	if (!mrpc_prio_tx_next(&e->ep, now, &c))
		return false;
	out_chunk(e, &c, p);
	return true;
}

static inline bool out(struct end *e, struct packet *p)
{
	return out_control(e, p) || out_data(e, p);
}

static inline void take(struct end *e, struct mrpc_prio_event *ev)
{
	e->event = ev->type;
	if (ev->type != MRPC_PRIO_EVENT_DATA)
		return;
	e->bytes += ev->len;
	e->completed += mrpc_prio_taken(&e->ep, ev, now);
}

/* A packet comes to @e, from the other end's address unless said. */
static inline void in_ecn(struct end *e, const struct packet *p, bool ecn)
{
	struct mrpc_prio_packet parsed;
	struct mrpc_prio_event ev;
	u32 why = MRPC_PRIO_NR_DROPS;

	e->answer.len = 0;
	e->event = MRPC_PRIO_EVENT_NONE;
	if (mrpc_prio_parse(p->buf, p->len, p->len, &parsed, &why)) {
		mrpc_prio_count(&e->ep, why);
		return;
	}
	mrpc_prio_receive(&e->ep, e->there ? &e->peer : NULL, "address", 7, &parsed, ecn, now, &ev);
	switch (ev.type) {
	case MRPC_PRIO_EVENT_ANSWER:
		CHECK(ev.answer_len <= p->len);
		memcpy(e->answer.buf, ev.answer, ev.answer_len);
		e->answer.len = ev.answer_len;
		parse_own(&e->answer);
		e->event = ev.type;
		return;
	case MRPC_PRIO_EVENT_PEER:
		mrpc_prio_welcome(&e->ep, &e->peer, PAIR_PAYLOAD, &parsed, now);
		e->there = true;
		e->event = ev.type;
		return;
	case MRPC_PRIO_EVENT_MESSAGE:
		if (e->refuse) {
			mrpc_prio_refuse(&e->ep, &e->peer, &parsed, e->refuse);
			e->event = ev.type;
			return;
		}
		CHECK(e->nr_rx < PAIR_MSGS);
		mrpc_prio_accept(&e->ep, &e->peer, &e->rx[e->nr_rx++], &parsed, e->limit, now, &ev);
		take(e, &ev);
		e->event = MRPC_PRIO_EVENT_MESSAGE;
		return;
	default:
		take(e, &ev);
	}
}

static inline void in(struct end *e, const struct packet *p)
{
	in_ecn(e, p, false);
}

/* The same with another byte in one place */
static inline void in_changed(struct end *e, const struct packet *p, u32 at, u8 byte)
{
	struct packet changed = *p;

	changed.buf[at] = byte;
	in(e, &changed);
}

static inline struct end *other(const struct end *e)
{
	return e == a ? b : a;
}

/* All that one end has to say. Return: packets */
static inline u32 flow(struct end *from)
{
	struct end *to = other(from);
	struct packet p;
	u32 n = 0;

	while (out(from, &p)) {
		n++;
		in(to, &p);
		if (to->answer.len)
			in(from, &to->answer);
	}
	return n;
}

/* Until both are silent, without time passing. */
static inline u32 talk(void)
{
	u32 n = 0, more;

	do
		n += more = flow(a) + flow(b);
	while (more);
	return n;
}

static inline void pass(u64 ns)
{
	now += ns;
	while (mrpc_prio_timeout(&a->ep, now))
		;
	while (mrpc_prio_timeout(&b->ep, now))
		;
}

/* An association, and nothing else. */
static inline void pair_up(void)
{
	pair_start();
	submit(a, 0, 0, 0);
	talk();
	pass(200 * PAIR_US);
	talk();
	CHECK_EQ(a->peer.state, MRPC_PRIO_PEER_UP);
	CHECK_EQ(b->peer.state, MRPC_PRIO_PEER_UP);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[0]);
	CHECK_EQ(a->tx[0].status, MRPC_PRIO_DONE);
	CHECK_EQ(b->completed, 1);
	CHECK(mrpc_prio_peer_event(&a->ep) == &a->peer);
	CHECK(mrpc_prio_peer_event(&b->ep) == &b->peer);
	b->completed = 0;
	b->nr_rx = 0;
}

static inline u64 drops(const struct end *e, u32 why)
{
	return e->ep.stats.drops[why];
}

/* A CONTROL packet of one entry, as @from would send it */
static inline void forge_note(const struct end *from, struct packet *p,
			      const struct mrpc_prio_note *note)
{
	struct mrpc_prio_packet c = {
		.type = MRPC_PRIO_CONTROL,
		.to = from->peer.remote,
		.from = from->peer.local,
		.nr = 1,
	};

	p->len = mrpc_prio_encode(&c, p->buf);
	mrpc_prio_note_put(note, p->buf + p->len);
	p->len += sizeof(struct mrpc_prio_entry);
	parse_own(p);
}

static inline void say(const struct end *from, u8 op, u64 msg, u32 f, u32 t, u16 code)
{
	struct mrpc_prio_note note = { .op = op, .msg = msg, .from = f, .to = t, .code = code };
	struct packet p;

	forge_note(from, &p, &note);
	in(other(from), &p);
}

/* Entry of the next CONTROL packet of @e with that op. Return: whether there is one */
static inline bool hears(struct end *e, u8 op, struct mrpc_prio_note *note)
{
	struct packet p;
	u32 i;

	while (out_control(e, &p)) {
		bool found = false;

		for (i = 0; p.p.type == MRPC_PRIO_CONTROL && i < p.p.nr && !found; i++) {
			mrpc_prio_note_get(&p.p, i, note);
			found = note->op == op;
		}
		in(other(e), &p);
		if (found)
			return true;
	}
	return false;
}

#endif /* PRIO_PAIR_H */
