// SPDX-License-Identifier: GPL-2.0
/* An endpoint of prio on a simulated host. */
#include "endpoint.h"
#include "memory.h"
#include "random.h"

#define BUCKETS 512
#define TOGETHER 16	/* messages of a datagram */

struct endpoint_peer {
	struct mrpc_prio_peer peer;
	u32 host;
};


static u64 now_ns(const struct endpoint *e)
{
	return e->net->clock->now / SIM_NS;
}

/* ---- memory ----------------------------------------------------------------- */

static void *account(struct endpoint *e, size_t bytes)
{
	e->memory += bytes;
	e->max_memory = max(e->max_memory, e->memory);
	return sim_zalloc(bytes);
}

static void unaccount(struct endpoint *e, void *p, size_t bytes)
{
	e->memory -= bytes;
	free(p);
}

static void *alloc_small(void *ctx, size_t size)
{
	struct endpoint *e = ctx;

	if (e->user->spare && !e->user->spare(e->context))
		return NULL;
	return account(ctx, size);
}

static void free_small(void *ctx, void *p, size_t size)
{
	unaccount(ctx, p, size);
}

static const struct mrpc_prio_ops ops = { .alloc = alloc_small, .free = free_small };

static struct endpoint_rx *rx_new(struct endpoint *e, u32 total)
{
	struct endpoint_rx *rx = account(e, sizeof(*rx));

	rx->after = e->rxs;
	if (e->rxs)
		e->rxs->before = rx;
	e->rxs = rx;
	if (e->user->place)
		rx->content = sim_zalloc(total + 1);
	return rx;
}

static void rx_free(struct endpoint *e, struct endpoint_rx *rx)
{
	if (rx->before)
		rx->before->after = rx->after;
	else
		e->rxs = rx->after;
	if (rx->after)
		rx->after->before = rx->before;
	free(rx->content);
	unaccount(e, rx, sizeof(*rx));
}

static struct endpoint_tx *tx_new(struct endpoint *e)
{
	struct endpoint_tx *tx = account(e, sizeof(*tx));

	tx->e = e;
	tx->after = e->txs;
	if (e->txs)
		e->txs->before = tx;
	e->txs = tx;
	return tx;
}

static void tx_free(struct endpoint *e, struct endpoint_tx *tx)
{
	if (tx->before)
		tx->before->after = tx->after;
	else
		e->txs = tx->after;
	if (tx->after)
		tx->after->before = tx->before;
	unaccount(e, tx, sizeof(*tx));
}

static struct endpoint_peer *peer_new(struct endpoint *e, u32 host)
{
	struct endpoint_peer *peer = account(e, sizeof(*peer));

	peer->host = host;
	e->peers[host] = peer;
	return peer;
}

/* ---- sending ---------------------------------------------------------------- */

static struct sim_packet *new_packet(struct endpoint *e, u32 to, u8 level)
{
	struct sim_packet *p = sim_packet_new(e->net);

	p->from = e->host;
	p->to = to;
	p->flow = e->host * 0x10001U + to;
	p->level = level;
	return p;
}

static void seal(u8 *packet, u32 bytes)
{
	if (mrpc_prio_has_crc(packet))
		mrpc_prio_set_crc(packet, endpoint_crc(packet, bytes));
}

/* All that it has is sealed. */
static void send_sealed(struct endpoint *e, struct sim_packet *p)
{
	p->bytes = max_t(u32, SIM_FRAME + ENDPOINT_IP + p->bytes_of_data + p->length, 84);
	sim_net_send(e->net, p);
}

static void send(struct endpoint *e, struct sim_packet *p)
{
	seal(p->data, p->bytes_of_data);
	send_sealed(e, p);
}

static void send_control(struct endpoint *e)
{
	struct mrpc_prio_peer *peer;
	struct sim_packet *p;
	u32 len;

	for (;;) {
		p = new_packet(e, 0, MRPC_PRIO_CONTROL_CLASS);
		len = mrpc_prio_control_next(&e->ep, now_ns(e), p->data,
					     ENDPOINT_MTU - ENDPOINT_IP, &peer);
		if (!len)
			break;
		p->to = container_of(peer, struct endpoint_peer, peer)->host;
		p->bytes_of_data = len;
		send(e, p);
	}
	sim_packet_free(e->net, p);
}

static void send_chunk(struct endpoint *e, const struct mrpc_prio_chunk *chunk)
{
	const struct endpoint_tx *tx = container_of(chunk->tx, struct endpoint_tx, tx);
	u32 to = container_of(chunk->peer, struct endpoint_peer, peer)->host;
	u32 payload = chunk->peer->payload, at = 0;
	struct sim_packet *p;

	do {
		p = new_packet(e, to, chunk->class);
		p->length = min(payload, chunk->len - at);
		p->message = tx->tx.conn;
		mrpc_prio_chunk_header(chunk, at, p->data);
		p->bytes_of_data = MRPC_PRIO_DATA_HDR;
		at += p->length;
		if (e->user->fill) {
			e->user->fill(e->context, tx, chunk->offset + at - p->length, p->length,
				      p->data + p->bytes_of_data);
			p->bytes_of_data += p->length;
			p->length = 0;
		}
		send(e, p);
	} while (at < chunk->len);
}

/* Several in one datagram. */
static void send_chunks(struct endpoint *e, const struct mrpc_prio_chunk *chunks, u32 nr)
{
	u32 to = container_of(chunks->peer, struct endpoint_peer, peer)->host, i;
	struct sim_packet *p = new_packet(e, to, chunks->class);

	for (i = 0; i < nr; i++) {
		const struct endpoint_tx *tx = container_of(chunks[i].tx, struct endpoint_tx, tx);
		u8 *packet = p->data + p->bytes_of_data;

		mrpc_prio_chunk_header(&chunks[i], 0, packet);
		e->user->fill(e->context, tx, 0, chunks[i].len, packet + MRPC_PRIO_DATA_HDR);
		seal(packet, MRPC_PRIO_DATA_HDR + chunks[i].len);
		p->bytes_of_data += MRPC_PRIO_DATA_HDR + chunks[i].len;
		p->message = tx->tx.conn;
	}
	send_sealed(e, p);
}

u32 endpoint_chunk_bytes(u32 chunk)
{
	u32 packets = (chunk + ENDPOINT_PAYLOAD - 1) / ENDPOINT_PAYLOAD;

	return chunk + packets * (SIM_FRAME + ENDPOINT_IP + MRPC_PRIO_DATA_HDR);
}

/* No more than two chunks are in the port: one is let in while there is at most one. */
static void send_data(struct endpoint *e)
{
	struct mrpc_prio_chunk chunks[TOGETHER];
	u32 nr, i;

	while (sim_net_room(e->net, e->host) >= endpoint_chunk_bytes(e->ep.rule.chunk) &&
	       mrpc_prio_tx_next(&e->ep, now_ns(e), chunks)) {
		/* Packets without content have one header each. */
		nr = e->user->fill ? mrpc_prio_tx_more(&e->ep, now_ns(e), chunks, TOGETHER) : 1;
		if (nr > 1)
			send_chunks(e, chunks, nr);
		else
			send_chunk(e, chunks);
		for (i = 0; i < nr; i++)
			mrpc_prio_tx_sent(&e->ep, &chunks[i], chunks[i].len, true, now_ns(e));
	}
}

/* ---- what the core wants done ----------------------------------------------- */

static void timer(void *who, void *what)
{
	struct endpoint *e = who;

	(void)what;
	if (e->net->clock->now != e->wake)
		return;
	e->wake = U64_MAX;
	endpoint_work(e);
}

static void set_timer(struct endpoint *e)
{
	u64 at = mrpc_prio_deadline(&e->ep);

	if (at == U64_MAX)
		return;
	at = max(at * SIM_NS, e->net->clock->now + 1);
	if (at >= e->wake && e->wake > e->net->clock->now)
		return;
	e->wake = at;
	sim_at(e->net->clock, at, timer, e, NULL);
}

static void give_back(struct endpoint *e)
{
	struct mrpc_prio_tx *tx;
	struct mrpc_prio_rx *rx;

	while ((tx = mrpc_prio_tx_ended(&e->ep))) {
		e->user->sent(e->context, e, container_of(tx, struct endpoint_tx, tx));
		tx_free(e, container_of(tx, struct endpoint_tx, tx));
	}
	while ((rx = mrpc_prio_rx_ended(&e->ep)))
		rx_free(e, container_of(rx, struct endpoint_rx, rx));
}

/* After any event. What users do in their functions is seen here, too. */
void endpoint_work(struct endpoint *e)
{
	if (e->busy || e->net->clock->now < e->stalled)
		return;
	e->busy = true;
	while (mrpc_prio_timeout(&e->ep, now_ns(e)))
		;
	while (mrpc_prio_peer_event(&e->ep))
		;
	give_back(e);
	send_control(e);
	send_data(e);
	e->max_gaps = max(e->max_gaps, e->ep.nr_gaps);
	e->busy = false;
	set_timer(e);
}

/* ---- receiving -------------------------------------------------------------- */

static void take(struct endpoint *e, const struct mrpc_prio_event *ev, const u8 *payload)
{
	struct endpoint_rx *rx = container_of(ev->rx, struct endpoint_rx, rx);
	u32 from = container_of(ev->rx->peer, struct endpoint_peer, peer)->host;

	if (e->user->place &&
	    !e->user->place(e->context, rx, ev->offset, ev->len, payload + ev->skip))
		return;
	if (!mrpc_prio_taken(&e->ep, ev, now_ns(e)))
		return;
	e->user->came(e->context, e, rx, from);
	rx_free(e, rx);
}

static void answer(struct endpoint *e, u32 to, const struct mrpc_prio_event *ev)
{
	struct sim_packet *p = new_packet(e, to, MRPC_PRIO_CONTROL_CLASS);

	memcpy(p->data, ev->answer, ev->answer_len);
	p->bytes_of_data = ev->answer_len;
	send(e, p);
}

static void accept_message(struct endpoint *e, struct endpoint_peer *peer,
			   const struct mrpc_prio_packet *packet, struct mrpc_prio_event *ev)
{
	u32 limit = packet->total, code = 0;
	struct endpoint_rx *rx;

	ev->type = MRPC_PRIO_EVENT_NONE;
	if (e->user->admit)
		code = e->user->admit(e->context, e, packet, &limit);
	if (code) {
		mrpc_prio_refuse(&e->ep, &peer->peer, packet, code);
		return;
	}
	rx = rx_new(e, packet->total);
	mrpc_prio_accept(&e->ep, &peer->peer, &rx->rx, packet, limit, now_ns(e), ev);
}

/* The packet @at bytes from the beginning of a datagram. */
static bool checked(struct endpoint *e, const struct sim_packet *p, u32 at,
		    struct mrpc_prio_packet *packet)
{
	u32 linear = p->bytes_of_data - at, why = 0;

	if (!mrpc_prio_parse(p->data + at, linear, linear + p->length, packet, &why)) {
		if (!(packet->flags & MRPC_PRIO_CRC) ||
		    packet->crc == endpoint_crc(p->data + at, min(packet->size, linear)))
			return true;
		why = MRPC_PRIO_DROP_CRC;
	}
	mrpc_prio_count(&e->ep, why);
	return false;
}

/* Return: whether what follows it in the datagram counts. */
static bool handle(struct endpoint *e, const struct sim_packet *p, u32 at,
		   const struct mrpc_prio_packet *packet)
{
	struct endpoint_peer *peer = e->peers[p->from];
	struct mrpc_prio_event ev;

	mrpc_prio_receive(&e->ep, peer ? &peer->peer : NULL, &p->from, sizeof(p->from), packet,
			  p->marked, now_ns(e), &ev);
	if (ev.type == MRPC_PRIO_EVENT_PEER) {
		peer = peer_new(e, p->from);
		mrpc_prio_welcome(&e->ep, &peer->peer, ENDPOINT_PAYLOAD, packet, now_ns(e));
	}
	if (ev.type == MRPC_PRIO_EVENT_ANSWER)
		answer(e, p->from, &ev);
	if (ev.type == MRPC_PRIO_EVENT_MESSAGE)
		accept_message(e, peer, packet, &ev);
	if (ev.type == MRPC_PRIO_EVENT_DATA)
		take(e, &ev, p->data + at + MRPC_PRIO_DATA_HDR);
	return ev.type != MRPC_PRIO_EVENT_ANSWER;
}

void endpoint_receive(struct endpoint *e, struct sim_packet *p)
{
	struct mrpc_prio_packet packet;
	u32 at = 0;

	e->busy = true;
	while (checked(e, p, at, &packet) && handle(e, p, at, &packet)) {
		at += packet.size;
		if (at >= p->bytes_of_data)
			break;
	}
	sim_packet_free(e->net, p);
	e->busy = false;
	endpoint_work(e);
}

/* ---- what users ask for ----------------------------------------------------- */

void endpoint_room(struct endpoint *e)
{
	if (e->busy || e->net->clock->now < e->stalled)
		return;
	e->busy = true;
	send_data(e);
	e->busy = false;
	set_timer(e);
}

static void wake_up(void *who, void *what)
{
	(void)what;
	endpoint_work(who);
}

void endpoint_stall(struct endpoint *e, u64 until)
{
	e->stalled = until;
	sim_at(e->net->clock, until, wake_up, e, NULL);
}

struct endpoint_tx *endpoint_submit(struct endpoint *e, u32 to, u64 conn, u8 kind, u8 priority,
				    u32 bytes)
{
	struct endpoint_peer *peer = e->peers[to];
	struct endpoint_tx *tx = tx_new(e);

	if (!peer) {
		peer = peer_new(e, to);
		mrpc_prio_peer_add(&e->ep, &peer->peer, ENDPOINT_PAYLOAD, now_ns(e));
	}
	tx->tx.conn = conn;
	tx->tx.total = bytes;
	tx->tx.priority = priority;
	tx->tx.kind = kind;
	if (mrpc_prio_submit(&e->ep, &peer->peer, &tx->tx, now_ns(e))) {
		tx_free(e, tx);
		return NULL;
	}
	endpoint_work(e);
	return tx;
}

void endpoint_forget(struct endpoint *e, u32 host)
{
	struct endpoint_peer *peer = e->peers[host];

	if (!peer)
		return;
	mrpc_prio_peer_remove(&e->ep, &peer->peer);
	e->peers[host] = NULL;
	unaccount(e, peer, sizeof(*peer));
	endpoint_work(e);
}

/* ---- beginning and end ------------------------------------------------------ */

void endpoint_init(struct endpoint *e, struct sim_net *net, u32 host,
		  const struct mrpc_prio_rule *rule, const struct endpoint_user *user,
		  void *context, u64 seed)
{
	u64 key[2] = { sim_seed(seed, 10), sim_seed(seed, 11) };

	*e = (struct endpoint){ .net = net, .host = host, .user = user, .context = context,
				.wake = U64_MAX, .nr_peers = net->t.hosts };
	e->peers = sim_zalloc(e->nr_peers * sizeof(*e->peers));
	e->hash = account(e, BUCKETS * sizeof(*e->hash));
	if (mrpc_prio_init(&e->ep, rule, &ops, e, e->hash, BUCKETS, key, now_ns(e))) {
		fprintf(stderr, "mrpc-sim: prio does not take these settings\n");
		exit(2);
	}
}

void endpoint_fini(struct endpoint *e)
{
	struct endpoint_peer *peer;
	u32 i;

	e->busy = true;
	for (i = 0; i < e->nr_peers; i++) {
		peer = e->peers[i];
		if (!peer)
			continue;
		mrpc_prio_peer_remove(&e->ep, &peer->peer);
		e->peers[i] = NULL;
		unaccount(e, peer, sizeof(*peer));
	}
	give_back(e);
	mrpc_prio_fini(&e->ep);
	unaccount(e, e->hash, BUCKETS * sizeof(*e->hash));
	free(e->peers);
}
