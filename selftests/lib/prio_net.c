// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoints of the prio transport on a bad network: see prio_net.h.
 */
#include <stdlib.h>

#include "prio_net.h"
#include "prio_net_check.h"
#include "rnd.h"

enum { EVENT_PACKET, EVENT_PUMP, EVENT_TIMER, EVENT_SENT };

u32 pnet_rnd(struct pnet_net *n, u32 below)
{
	return rnd_below(&n->rnd, below);
}

static bool chance(struct pnet_net *n, u32 of)
{
	return of && pnet_rnd(n, 10000) < of;
}

/* -- payload and checksums ----------------------------------------------------- */

static u8 byte_of(u32 id, u32 offset)
{
	u32 x = (id + 1) * 2654435761u ^ offset * 2246822519u;

	return x >> 24 ^ x >> 11;
}

static u32 crc32c(u32 sum, const u8 *p, u32 len)
{
	static u32 table[256];
	u32 i, j;

	for (i = 0; !table[1] && i < 256; i++) {
		u32 v = 255 - i;

		for (j = 0; j < 8; j++)
			v = v >> 1 ^ (v & 1 ? 0x82f63b78 : 0);
		table[255 - i] = v;
	}
	while (len--)
		sum = sum >> 8 ^ table[(u8)sum ^ *p++];
	return sum;
}

static u32 packet_sum(const u8 *buf, u32 len)
{
	static const u8 zeros[4];
	u32 at = offsetof(struct mrpc_prio_hdr, crc);
	u32 sum = crc32c(~0U, buf, at);

	sum = crc32c(sum, zeros, 4);
	return ~crc32c(sum, buf + at + 4, len - at - 4);
}

void pnet_set_sum(void *buf, u32 len)
{
	if (mrpc_prio_has_crc(buf))
		mrpc_prio_set_crc(buf, packet_sum(buf, len));
}

/* -- events -------------------------------------------------------------------- */

static bool before(const struct pnet_event *a, const struct pnet_event *b)
{
	return a->when != b->when ? a->when < b->when : a->serial < b->serial;
}

static void event_add(struct pnet_net *n, struct pnet_event e)
{
	u32 i = n->nr_events++;

	if (i == n->cap_events) {
		n->cap_events = 2 * i + 64;
		n->events = realloc(n->events, n->cap_events * sizeof(*n->events));
	}
	e.serial = ++n->serial;
	for (; i && before(&e, &n->events[(i - 1) / 2]); i = (i - 1) / 2)
		n->events[i] = n->events[(i - 1) / 2];
	n->events[i] = e;
}

static struct pnet_event event_take(struct pnet_net *n)
{
	struct pnet_event first = n->events[0], last = n->events[--n->nr_events];
	u32 i = 0, c;

	while ((c = 2 * i + 1) < n->nr_events) {
		if (c + 1 < n->nr_events && before(&n->events[c + 1], &n->events[c]))
			c++;
		if (before(&last, &n->events[c]))
			break;
		n->events[i] = n->events[c];
		i = c;
	}
	n->events[i] = last;
	return first;
}

static void wake(struct pnet_host *h, u8 type, u64 when)
{
	event_add(h->net, (struct pnet_event){ .when = when, .type = type, .host = h->index,
					       .gen = h->gen });
}

/* -- the wire ------------------------------------------------------------------ */

void pnet_line(struct pnet_net *n, u32 bytes)
{
	n->line_until = max(n->line_until, n->now) + (u64)bytes * n->line_ns_per_kb / 1024;
}

static void deliver_later(struct pnet_net *n, u32 from, u32 to, const u8 *buf, u32 len, bool ce)
{
	u64 jitter = n->faults.jitter ? pnet_rnd(n, n->faults.jitter) : 0;
	u8 *copy = malloc(len);
	u64 out = n->now;

	if (n->line_ns_per_kb) {
		pnet_line(n, len);
		out = n->line_until;
	}
	memcpy(copy, buf, len);
	event_add(n, (struct pnet_event){ .when = out + n->delay + jitter, .type = EVENT_PACKET,
					  .host = to, .from = from, .packet = copy, .len = len,
					  .ce = ce });
}

/* As a host would send it that does not know the tokens. */
static void forge(struct pnet_net *n, u32 from, u32 to, const u8 *buf, u32 len)
{
	u8 copy[PNET_PACKET];
	u32 i;

	memcpy(copy, buf, len);
	copy[8 + pnet_rnd(n, 8)] ^= 1 << pnet_rnd(n, 8);
	for (i = pnet_rnd(n, 4); i; i--)
		copy[24 + pnet_rnd(n, len - 24)] = pnet_rnd(n, 256);
	pnet_set_sum(copy, len);
	deliver_later(n, from, to, copy, len, false);
}

/* @buf: a datagram; its packets have their sums */
static void transmit(struct pnet_net *n, u32 from, u32 to, u8 *buf, u32 len, u32 payload)
{
	bool ce = payload && chance(n, n->faults.ecn);

	n->sent_bytes += payload;
	if (chance(n, n->faults.forge) && len > 24 && (buf[3] == MRPC_PRIO_DATA ||
						       buf[3] == MRPC_PRIO_CONTROL))
		forge(n, from, to, buf, len);
	if (n->blackhole || (n->faults.mtu && len > n->faults.mtu) || chance(n, n->faults.loss)) {
		n->lost_bytes += payload;
		return;
	}
	if (chance(n, n->faults.corrupt)) {
		n->lost_bytes += payload;
		if (!mrpc_prio_has_crc(buf))
			return;		/* UDP's checksum finds it */
		buf[pnet_rnd(n, len)] ^= 1 << pnet_rnd(n, 8);
	}
	do
		deliver_later(n, from, to, buf, len, ce);
	while (chance(n, n->faults.dup));
}

/* -- hosts --------------------------------------------------------------------- */

static void *host_alloc(void *ctx, size_t size)
{
	struct pnet_host *h = ctx;

	if (chance(h->net, h->net->faults.memory))
		return NULL;
	h->allocs++;
	return malloc(size);
}

static void host_free(void *ctx, void *p, size_t size)
{
	struct pnet_host *h = ctx;

	(void)size;
	h->allocs--;
	free(p);
}

static const struct mrpc_prio_ops host_ops = { .alloc = host_alloc, .free = host_free };

static void host_start(struct pnet_net *n, u32 index)
{
	struct pnet_host *h = &n->host[index];
	u64 key[2] = {
		(u64)pnet_rnd(n, U32_MAX) << 32 | h->gen,
		(u64)pnet_rnd(n, U32_MAX) << 8 | index,
	};

	h->net = n;
	h->index = index;
	h->gen++;
	h->deferred = false;
	h->timer_at = U64_MAX;
	if (mrpc_prio_init(&h->ep, &n->rule, &host_ops, h, h->hash, PNET_BUCKETS, key, n->now))
		pnet_wrong(n, "the rule is refused");
}

static struct mrpc_prio_peer *host_peer(struct pnet_host *h, u32 to)
{
	struct pnet_peer *p = &h->peers[to];

	if (!p->there) {
		p->there = true;
		mrpc_prio_peer_add(&h->ep, &p->peer, h->net->payload, h->net->now);
	}
	return &p->peer;
}

static void rx_free(struct pnet_host *h, struct pnet_rx *r)
{
	if (r->prev)
		r->prev->next = r->next;
	else
		h->net->all_rx = r->next;
	if (r->next)
		r->next->prev = r->prev;
	if (r->msg->rx == r)
		r->msg->rx = NULL;
	h->incoming--;
	free(r->data);
	free(r->have);
	free(r);
}

static void host_ended(struct pnet_host *h)
{
	struct mrpc_prio_tx *tx;
	struct mrpc_prio_rx *rx;

	while ((tx = mrpc_prio_tx_ended(&h->ep))) {
		struct pnet_msg *m = container_of(tx, struct pnet_msg, tx);

		if (m->ended)
			pnet_wrong(h->net, "message %u ended twice", m->id);
		m->ended = true;
		if (!h->net->hostile && tx->status == MRPC_PRIO_DONE && m->delivered != 1)
			pnet_wrong(h->net, "message %u is done, and was delivered %u times", m->id,
				   m->delivered);
		if (!h->net->hostile && tx->status == MRPC_PRIO_REFUSED && m->delivered)
			pnet_wrong(h->net, "message %u is refused, and was delivered", m->id);
	}
	while ((rx = mrpc_prio_rx_ended(&h->ep)))
		rx_free(h, container_of(rx, struct pnet_rx, rx));
}

static void host_event(struct pnet_host *h)
{
	struct mrpc_prio_peer *peer;

	while ((peer = mrpc_prio_peer_event(&h->ep)))
		*(peer->state == MRPC_PRIO_PEER_UP ? &h->ends_up : &h->ends_down) += 1;
}

static u32 peer_index(struct pnet_host *h, struct mrpc_prio_peer *peer)
{
	return container_of(peer, struct pnet_peer, peer) - h->peers;
}

static void host_control(struct pnet_host *h)
{
	u32 size = pnet_rnd(h->net, 2) ? 1400 : MRPC_PRIO_MIN_CONTROL, len;
	u8 buf[PNET_PACKET];
	struct mrpc_prio_peer *peer;

	while ((len = mrpc_prio_control_next(&h->ep, h->net->now, buf, size, &peer))) {
		if (len > size)
			pnet_wrong(h->net, "a packet of %u bytes in a buffer of %u", len, size);
		pnet_check_grants(h->net, h, peer_index(h, peer), buf, len);
		pnet_set_sum(buf, len);
		transmit(h->net, h->index, peer_index(h, peer), buf, len, 0);
	}
}

/* Return: bytes of the packet */
static u32 chunk_put(const struct mrpc_prio_chunk *c, u32 at, u32 len, u8 *buf)
{
	struct pnet_msg *m = container_of(c->tx, struct pnet_msg, tx);
	u32 i;

	mrpc_prio_chunk_header(c, at, buf);
	for (i = 0; i < len; i++)
		buf[MRPC_PRIO_DATA_HDR + i] = byte_of(m->id, c->offset + at + i);
	pnet_set_sum(buf, MRPC_PRIO_DATA_HDR + len);
	return MRPC_PRIO_DATA_HDR + len;
}

static void chunk_packet(struct pnet_host *h, const struct mrpc_prio_chunk *c, u32 at, u32 len)
{
	struct pnet_msg *m = container_of(c->tx, struct pnet_msg, tx);
	u8 buf[PNET_PACKET];

	transmit(h->net, h->index, m->dst, buf, chunk_put(c, at, len, buf), len);
}

/* Several in one datagram. */
static void chunks_packet(struct pnet_host *h, const struct mrpc_prio_chunk *c, u32 nr)
{
	u32 to = container_of(c->tx, struct pnet_msg, tx)->dst, len = 0, payload = 0, i;
	u8 buf[PNET_PACKET];

	for (i = 0; i < nr; i++) {
		if (len + MRPC_PRIO_DATA_HDR + c[i].len > MRPC_PRIO_DATA_HDR + MRPC_PRIO_BASE_PAYLOAD)
			pnet_wrong(h->net, "a datagram is too large");
		if (c[i].peer != c->peer || c[i].class != c->class || c[i].len != c[i].tx->total)
			pnet_wrong(h->net, "a message is not to share a datagram");
		len += chunk_put(&c[i], 0, c[i].len, buf + len);
		payload += c[i].len;
	}
	transmit(h->net, h->index, to, buf, len, payload);
}

/* Sends all of @c or, when it goes wrong, its first packets. Return: bytes; @any */
static u32 chunk_send(struct pnet_host *h, const struct mrpc_prio_chunk *c, bool *any)
{
	struct pnet_net *n = h->net;
	u32 at = 0, fail = chance(n, n->faults.fail) ? pnet_rnd(n, 4) : U32_MAX;
	u32 payload = c->peer->payload;

	*any = fail;
	do {
		u32 len = min(c->len - at, payload);

		if (!fail--)
			break;
		chunk_packet(h, c, at, len);
		at += len;
	} while (at < c->len);
	return at;
}

/* The end of a turn, perhaps a while later. */
static void chunk_over(struct pnet_host *h, const struct mrpc_prio_chunk *c, u32 sent, bool any)
{
	struct pnet_net *n = h->net;

	if (any && !h->deferred && chance(n, n->faults.defer)) {
		h->deferred = true;
		h->chunk = *c;
		h->chunk_sent = sent;
		wake(h, EVENT_SENT, n->now + pnet_rnd(n, 200000));
	} else {
		mrpc_prio_tx_sent(&h->ep, c, sent, any, n->now);
	}
}

/* All of them leave, or none does. Return: bytes */
static u32 chunks_send(struct pnet_host *h, const struct mrpc_prio_chunk *c, u32 nr)
{
	bool any = !chance(h->net, h->net->faults.fail);
	u32 sent = 0, i;

	if (any)
		chunks_packet(h, c, nr);
	for (i = 0; i < nr; i++) {
		sent += any ? c[i].len : 0;
		chunk_over(h, &c[i], any ? c[i].len : 0, any);
	}
	return sent;
}

static void host_send(struct pnet_host *h)
{
	struct mrpc_prio_chunk c[PNET_TOGETHER];
	struct pnet_net *n = h->net;

	while (n->now >= h->free_at && mrpc_prio_tx_next(&h->ep, n->now, c)) {
		u32 nr = mrpc_prio_tx_more(&h->ep, n->now, c, 1 + pnet_rnd(n, PNET_TOGETHER)), sent, i;
		bool any;

		for (i = 0; i < nr; i++)
			pnet_check_chunk(h, &c[i]);
		if (nr > 1) {
			sent = chunks_send(h, c, nr);
		} else {
			sent = chunk_send(h, c, &any);
			chunk_over(h, c, sent, any);
		}
		h->free_at = n->now + (u64)(sent + nr * 64) * n->ns_per_kb / 1024;
	}
	if (mrpc_prio_tx_best(&h->ep))
		wake(h, EVENT_PUMP, max(h->free_at, n->now + 1));
}

void pnet_pump(struct pnet_net *n, u32 index)
{
	struct pnet_host *h = &n->host[index];
	u64 when;

	host_event(h);
	host_ended(h);
	host_control(h);
	host_send(h);
	host_control(h);
	host_ended(h);
	when = mrpc_prio_deadline(&h->ep);
	if (when != U64_MAX && (when < h->timer_at || h->timer_at <= n->now)) {
		h->timer_at = max(when, n->now);
		wake(h, EVENT_TIMER, h->timer_at);
	}
}

/* -- receiving ----------------------------------------------------------------- */

static void rx_place(struct pnet_host *h, const struct mrpc_prio_event *ev, const u8 *payload)
{
	struct pnet_net *n = h->net;
	struct pnet_rx *r = container_of(ev->rx, struct pnet_rx, rx);
	u32 i;

	if ((u64)ev->offset + ev->len > r->rx.total) {
		pnet_wrong(n, "data of message %u outside", r->msg->id);
		return;
	}
	if (chance(n, n->faults.untaken))
		return;
	for (i = 0; i < ev->len; i++) {
		if (r->have[ev->offset + i])
			pnet_wrong(n, "byte %u of message %u came twice", ev->offset + i,
				   r->msg->id);
		r->data[ev->offset + i] = payload[ev->skip + i];
	}
	if (mrpc_prio_taken(&h->ep, ev, n->now)) {
		r->msg->delivered++;
		if (r->msg->delivered > 1)
			pnet_wrong(n, "message %u was delivered twice", r->msg->id);
		for (i = 0; i < r->rx.total; i++)
			if (r->data[i] != byte_of(r->msg->id, i)) {
				pnet_wrong(n, "byte %u of message %u is wrong", i, r->msg->id);
				break;
			}
		rx_free(h, r);
		return;
	}
	/* It may not have been remembered, for want of memory. */
	for (i = 0; i < ev->len; i++) {
		struct mrpc_prio_gaps *g = r->rx.gaps;
		u32 at = ev->offset + i, k;
		bool have = at < r->rx.next;

		for (k = 0; g && k < g->nr; k++)
			have |= at >= g->have[k].from && at < g->have[k].to;
		r->have[at] = have;
	}
}

static void rx_accept(struct pnet_host *h, u32 from, const struct mrpc_prio_packet *p,
		      const u8 *payload)
{
	struct mrpc_prio_peer *peer = &h->peers[from].peer;
	struct pnet_net *n = h->net;
	struct mrpc_prio_event ev;
	struct pnet_msg *m;
	struct pnet_rx *r;

	if (p->conn > n->nr_msgs) {
		if (!n->hostile)
			pnet_wrong(n, "message of connection %llu", (unsigned long long)p->conn);
		mrpc_prio_refuse(&h->ep, peer, p, MRPC_PRIO_UNKNOWN);
		return;
	}
	m = n->msgs[p->conn - 1];
	if (m->unknown || chance(n, n->faults.late)) {
		mrpc_prio_refuse(&h->ep, peer, p, m->unknown ? MRPC_PRIO_UNKNOWN : MRPC_PRIO_LATER);
		return;
	}
	if (m->accepted++ && m->dst == h->index)
		pnet_wrong(n, "message %u was accepted twice", m->id);
	r = calloc(1, sizeof(*r));
	r->msg = m;
	r->data = malloc(p->total + 1);
	r->have = calloc(1, p->total + 1);
	r->next = n->all_rx;
	if (r->next)
		r->next->prev = r;
	n->all_rx = r;
	m->rx = r;
	h->incoming++;
	mrpc_prio_accept(&h->ep, peer, &r->rx, p, m->hold ? m->hold - 1 : p->total, n->now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_DATA)
		rx_place(h, &ev, payload);
}

void pnet_inject(struct pnet_net *n, u32 from, u32 to, const void *buf, u32 len)
{
	deliver_later(n, from, to, buf, len, false);
}

/* The first packet of @len bytes at @buf. Return: its bytes; 0: what follows does not count */
static u32 host_packet(struct pnet_host *h, const struct pnet_event *e, const u8 *buf, u32 len)
{
	struct pnet_peer *pp = &h->peers[e->from];
	u32 linear = min_t(u32, len, MRPC_PRIO_DATA_HDR), why;
	const u8 *payload = buf + MRPC_PRIO_DATA_HDR;
	struct mrpc_prio_event ev;
	struct mrpc_prio_packet p;
	u8 addr = e->from;

	if (len >= 4 && buf[3] != MRPC_PRIO_DATA)
		linear = len;
	if (mrpc_prio_parse(buf, linear, len, &p, &why)) {
		mrpc_prio_count(&h->ep, why);
		return 0;
	}
	if (p.flags & MRPC_PRIO_CRC && packet_sum(buf, p.size) != p.crc) {
		mrpc_prio_count(&h->ep, MRPC_PRIO_DROP_CRC);
		return 0;
	}
	mrpc_prio_receive(&h->ep, pp->there ? &pp->peer : NULL, &addr, 1, &p, e->ce, h->net->now,
			  &ev);
	switch (ev.type) {
	case MRPC_PRIO_EVENT_ANSWER:
		if (ev.answer_len > len)
			pnet_wrong(h->net, "an answer of %u bytes to %u", ev.answer_len, len);
		pnet_set_sum(ev.answer, ev.answer_len);
		transmit(h->net, h->index, e->from, ev.answer, ev.answer_len, 0);
		return 0;
	case MRPC_PRIO_EVENT_PEER:
		pp->there = true;
		mrpc_prio_welcome(&h->ep, &pp->peer, h->net->payload, &p, h->net->now);
		break;
	case MRPC_PRIO_EVENT_MESSAGE:
		rx_accept(h, e->from, &p, payload);
		break;
	case MRPC_PRIO_EVENT_DATA:
		rx_place(h, &ev, payload);
		break;
	}
	return p.size;
}

static void host_datagram(struct pnet_host *h, const struct pnet_event *e)
{
	u32 at = 0, n;

	do {
		n = host_packet(h, e, e->packet + at, e->len - at);
		at += n;
	} while (n && at < e->len);
}

/* -- the test's side ----------------------------------------------------------- */

struct pnet_msg *pnet_send(struct pnet_net *n, u32 src, u32 dst, u32 total, u8 priority,
			   bool urgent)
{
	struct pnet_host *h = &n->host[src];
	struct pnet_msg *m = calloc(1, sizeof(*m));

	m->id = n->nr_msgs;
	m->src = src;
	m->dst = dst;
	m->tx.conn = m->id + 1;
	m->tx.total = total;
	m->tx.priority = priority;
	m->tx.kind = m->id % (MRPC_PRIO_KIND_MAX + 1);
	m->tx.urgent = urgent;
	if (mrpc_prio_submit(&h->ep, host_peer(h, dst), &m->tx, n->now)) {
		free(m);
		return NULL;
	}
	n->msgs = realloc(n->msgs, (n->nr_msgs + 1) * sizeof(*n->msgs));
	n->msgs[n->nr_msgs++] = m;
	return m;
}

void pnet_abort(struct pnet_net *n, struct pnet_msg *m)
{
	if (!m->ended)
		mrpc_prio_tx_abort(&n->host[m->src].ep, &m->tx, n->now);
}

void pnet_reject(struct pnet_net *n, struct pnet_rx *r)
{
	r->msg->rejected++;
	mrpc_prio_rx_reject(&n->host[r->msg->dst].ep, &r->rx, n->now);
}

void pnet_limit(struct pnet_net *n, struct pnet_rx *r, u32 limit)
{
	r->msg->hold = 0;
	mrpc_prio_rx_limit(&n->host[r->msg->dst].ep, &r->rx, limit, n->now);
}

static void host_stop(struct pnet_host *h)
{
	u32 i;

	if (h->deferred)
		mrpc_prio_tx_sent(&h->ep, &h->chunk, h->chunk_sent, true, h->net->now);
	for (i = 0; i < PNET_HOSTS; i++) {
		if (h->peers[i].there)
			mrpc_prio_peer_remove(&h->ep, &h->peers[i].peer);
		h->peers[i].there = false;
	}
	host_ended(h);
	mrpc_prio_fini(&h->ep);
	if (h->ep.nr_gaps || h->allocs || h->incoming || h->ep.nr_rx || h->ep.nr_tx)
		pnet_wrong(h->net, "host %u: %u gaps, %u pieces of memory, %u messages are left",
			   h->index, h->ep.nr_gaps, h->allocs, h->incoming);
}

void pnet_restart(struct pnet_net *n, u32 host)
{
	host_stop(&n->host[host]);
	host_start(n, host);
}

void pnet_init(struct pnet_net *n, u32 hosts, u64 seed, const struct mrpc_prio_rule *rule)
{
	u32 i;

	memset(n, 0, sizeof(*n));
	n->rnd = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	rnd_next(&n->rnd);
	n->hosts = hosts;
	n->payload = 1400;
	n->ns_per_kb = 1000;
	n->delay = 20000;
	n->rule = *rule;
	n->now = 1000;
	for (i = 0; i < hosts; i++)
		host_start(n, i);
}

void pnet_fini(struct pnet_net *n)
{
	u32 i;

	for (i = 0; i < n->hosts; i++)
		host_stop(&n->host[i]);
	for (i = 0; i < n->nr_events; i++)
		free(n->events[i].packet);
	for (i = 0; i < n->nr_msgs; i++)
		free(n->msgs[i]);
	free(n->events);
	free(n->msgs);
}

void pnet_run(struct pnet_net *n, u64 until)
{
	while (n->nr_events && !n->wrong[0] && n->events[0].when <= until) {
		struct pnet_event e = event_take(n);
		struct pnet_host *h = &n->host[e.host];

		n->now = max(n->now, e.when);
		n->steps++;
		if (n->now < h->stalled_until) {
			e.when = h->stalled_until;
			event_add(n, e);
			continue;
		}
		if (e.type == EVENT_PACKET) {
			host_datagram(h, &e);
			free(e.packet);
		} else if (e.gen != h->gen) {
			continue;
		} else if (e.type == EVENT_TIMER) {
			while (mrpc_prio_timeout(&h->ep, n->now))
				;
		} else if (e.type == EVENT_SENT && h->deferred) {
			h->deferred = false;
			mrpc_prio_tx_sent(&h->ep, &h->chunk, h->chunk_sent, true, n->now);
		}
		pnet_pump(n, e.host);
		n->max_gaps = max(n->max_gaps, h->ep.nr_gaps);
	}
	if (until != U64_MAX)
		n->now = max(n->now, until);
}
