// SPDX-License-Identifier: GPL-2.0
/*
 * Streams with a window: sending, receiving. The streams of a host take turns packet by
 * packet, and queues are first in, first out: fair sharing. Acknowledgements take the
 * time of an idle network and no bandwidth, which favours these models.
 */
#include "memory.h"
#include "window.h"

/**
 * struct segment - in a packet's data
 * @w: whose
 * @number: of the packet in the message
 * @rewinds: of the sender, then
 */
struct segment {
	struct window *w;
	u32 number;
	u32 rewinds;
};

/**
 * struct echo - what the receiver says to one packet
 * @number, @marked: of the packet
 * @expected: the first that has not come
 * @rewinds: U32_MAX: an acknowledgement; else a complaint
 */
struct echo {
	u32 number;
	u32 expected;
	u32 rewinds;
	bool marked;
};

static void *create(struct sim *sim, u8 kind)
{
	struct window_transport *t = sim_zalloc(sizeof(*t));

	t->kind = kind;
	t->hosts = sim_zalloc(sim->config.topology.hosts * sizeof(*t->hosts));
	return t;
}

static void *create_dctcp(struct sim *sim)
{
	return create(sim, WINDOW_DCTCP);
}

static void *create_sr(struct sim *sim)
{
	return create(sim, WINDOW_SR);
}

static void *create_gbn(struct sim *sim)
{
	return create(sim, WINDOW_GBN);
}

static void release(struct window *w)
{
	if (w->before)
		w->before->after = w->after;
	else
		window_transport(w)->all = w->after;
	if (w->after)
		w->after->before = w->before;
	free(w->state);
	free(w->got);
	free(w);
}

void window_put(struct window *w)
{
	if (!--w->refs)
		release(w);
}

bool window_can_send(const struct window *w)
{
	return w->lost || (w->next < w->packets && w->flying + 1 <= w->window);
}

void window_ready(struct window *w)
{
	struct window_host *h = &window_transport(w)->hosts[w->from];

	if (!w->listed && window_can_send(w)) {
		w->listed = true;
		w->refs++;
		w->next_ready = NULL;
		if (h->head)
			h->tail->next_ready = w;
		else
			h->head = w;
		h->tail = w;
	}
	if (h->head)
		sim_net_poke(&w->sim->net, w->from);
}

static void begin(struct sim *sim, struct sim_message *m)
{
	struct window_transport *t = sim->transport_state;
	struct window *w = sim_zalloc(sizeof(*w));

	w->after = t->all;
	if (t->all)
		t->all->before = w;
	t->all = w;
	w->m = m;
	w->sim = sim;
	w->number = m->number;
	w->from = m->from;
	w->to = m->to;
	w->bytes = m->bytes;
	w->packets = sim_packets(m->bytes);
	w->refs = 1;
	w->window = t->kind == WINDOW_DCTCP ? WINDOW_FIRST : sim->config.window;
	w->threshold = 1e9;
	w->alpha = 1;
	if (t->kind != WINDOW_GBN) {
		w->state = sim_zalloc(w->packets);
		w->got = sim_zalloc(w->packets);
	}
	window_arm(w);
	window_ready(w);
}

/* ---- sending ---------------------------------------------------------------- */

static u32 choose(struct window *w)
{
	u32 i;

	if (!w->lost)
		return w->next++;
	for (i = w->una; w->state[i] != PACKET_LOST; i++)
		;
	w->lost--;
	return i;
}

static void send(struct window *w)
{
	struct window_transport *t = window_transport(w);
	struct sim_packet *p = sim_packet_new(&w->sim->net);
	u32 i = choose(w), part = sim_packet_part(w->bytes, i);
	struct segment s = { .w = w, .number = i, .rewinds = w->rewinds };

	if (w->state) {
		if (w->state[i] == PACKET_LOST)
			t->again += part;
		w->state[i] = w->state[i] == PACKET_LOST ? PACKET_AGAIN : PACKET_SENT;
	}
	w->flying++;
	w->refs++;
	p->from = w->from;
	p->to = w->to;
	p->flow = w->number;
	p->bytes = sim_packet_bytes(part);
	memcpy(p->data, &s, sizeof(s));
	sim_net_send(&w->sim->net, p);
}

static void room(struct sim *sim, u32 host)
{
	struct window_transport *t = sim->transport_state;
	struct window_host *h = &t->hosts[host];
	struct window *w;

	while (h->head && sim_net_room(&sim->net, host)) {
		w = h->head;
		h->head = w->next_ready;
		w->listed = false;
		if (window_can_send(w)) {
			send(w);
			window_ready(w);
		}
		window_put(w);
	}
}

/* ---- receiving -------------------------------------------------------------- */

static void hear(void *who, void *what)
{
	struct window *w = who;
	struct echo *e = what;

	if (e->rewinds == U32_MAX)
		window_ack(w, e->number, e->expected, e->marked);
	else
		window_nack(w, e->expected, e->rewinds);
	free(e);
	window_put(w);
}

/* The reference of the packet becomes that of the echo. */
static void say(struct window *w, const struct echo *e)
{
	struct echo *copy = sim_realloc(NULL, sizeof(*copy));

	*copy = *e;
	sim_at(&w->sim->clock, w->sim->clock.now + sim_alone(w->sim, w->to, w->from, 0), hear, w,
	       copy);
}

/* Return: the packet is taken */
static bool take(struct window *w, u32 i)
{
	if (w->got) {
		if (!w->got[i])
			w->came++;
		w->got[i] = 1;
		while (w->expected < w->packets && w->got[w->expected])
			w->expected++;
		return true;
	}
	if (i == w->expected) {
		w->expected++;
		w->came++;
	}
	return i < w->expected;
}

static void receive(struct sim *sim, u32 host, struct sim_packet *p)
{
	struct sim_message *m;
	struct segment s;
	struct echo e;

	(void)host;
	memcpy(&s, p->data, sizeof(s));
	e = (struct echo){ .number = s.number, .rewinds = U32_MAX, .marked = p->marked };
	sim_packet_free(&sim->net, p);
	if (!take(s.w, s.number))
		e.rewinds = s.rewinds;
	e.expected = s.w->expected;
	m = s.w->m;
	if (s.w->came == s.w->packets)
		s.w->m = NULL;
	say(s.w, &e);
	if (m && !s.w->m)
		sim_delivered(sim, m);
}

static void counters(struct sim *sim, struct sim_counters *c)
{
	struct window_transport *t = sim->transport_state;

	c->again = t->again;
	c->timeouts = t->timeouts;
}

static void free_echo(void *context, void *who, void *what)
{
	(void)context;
	(void)who;
	free(what);
}

static void destroy(struct sim *sim)
{
	struct window_transport *t = sim->transport_state;

	sim_each(&sim->clock, hear, free_echo, NULL);
	while (t->all)
		release(t->all);
	free(t->hosts);
	free(t);
}

#define WINDOW_TRANSPORT(n, text, threshold)				\
	const struct sim_transport sim_##n = {				\
		.name = #n,						\
		.what = text,						\
		.fifo = true,						\
		.mark = threshold,					\
		.below = 3000,						\
		.create = create_##n,					\
		.begin = begin,						\
		.room = room,						\
		.receive = receive,					\
		.counters = counters,					\
		.destroy = destroy,					\
	}

/* 20 full packets: what DCTCP's authors use at this rate and such delays. */
WINDOW_TRANSPORT(dctcp, "fair sharing: each message a stream with DCTCP's window", 30000);
WINDOW_TRANSPORT(sr, "streams with a window that stays, and selective repeat", 0);
WINDOW_TRANSPORT(gbn, "streams with a window that stays, and go-back-N", 0);
