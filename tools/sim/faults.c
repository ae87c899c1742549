// SPDX-License-Identifier: GPL-2.0
/* One seed of faults: what the endpoints are told, and what must hold. */
#include "faults.h"
#include "random.h"
#include "world.h"

#define MAX_PACKETS	400000	/* of a seed: messages are 200 KB at most, and few are */
#define MAX_QUIET	(60 * SIM_S)

static u8 content(u64 conn, u32 offset)
{
	return (conn * 0x9e3779b1U + offset * 0x85ebca6bU) >> 15;
}

static struct world_message *message_of(struct world *w, u64 conn)
{
	if (conn >= 1 && conn <= w->nr_messages)
		return &w->messages[conn - 1];
	world_fail(w, "a message has conn %llu, which nobody sent", (unsigned long long)conn);
	return NULL;
}

static bool calm(const struct world *w)
{
	return w->clock.now >= w->calm;
}

/* ---- sending ---------------------------------------------------------------- */

void world_submit(struct world *w, struct world_message *m)
{
	u32 number = m - w->messages;
	struct endpoint_tx *tx;

	world_say(w, "message %u from host %u to %u, %u bytes", number, m->from, m->to, m->bytes);
	m->begun = true;
	w->report->messages++;
	tx = endpoint_submit(&w->endpoints[m->from], m->to, number + 1,
			     m->reply ? MRPC_PRIO_REPLY : MRPC_PRIO_REQUEST, m->priority, m->bytes);
	if (tx) {
		if (!m->ended)
			m->tx = tx;
		return;
	}
	m->ended = true;
	m->status = MRPC_PRIO_ABORTED;
	m->aborted = true;
	if (!w->no_memory || calm(w))
		world_fail(w, "message %u is refused at once", number);
}

static void fill(void *context, const struct endpoint_tx *tx, u32 offset, u32 len, u8 *to)
{
	u32 i;

	(void)context;
	for (i = 0; i < len; i++)
		to[i] = content(tx->tx.conn, offset + i);
}

static void sent(void *context, struct endpoint *e, struct endpoint_tx *tx)
{
	struct world *w = context;
	struct world_message *m = message_of(w, tx->tx.conn);

	if (!m)
		return;
	world_say(w, "message %td has ended: status %u", m - w->messages, tx->tx.status);
	if (m->ended || m->from != e->host)
		world_fail(w, "message %td ends twice, or at host %u", m - w->messages, e->host);
	m->ended = true;
	m->status = tx->tx.status;
	m->tx = NULL;
	if (m->status == MRPC_PRIO_DONE && m->came != 1)
		world_fail(w, "message %td is said to have come, and came %u times",
			   m - w->messages, m->came);
}

/* ---- receiving -------------------------------------------------------------- */

static void raise_limit(void *who, void *what)
{
	struct world_message *m = who;
	struct world *w = m->world;
	struct endpoint *e = &w->endpoints[m->to];
	struct endpoint_rx *rx;

	(void)what;
	for (rx = e->rxs; rx; rx = rx->after)
		if (rx->rx.conn == (u64)(m - w->messages) + 1)
			mrpc_prio_rx_limit(&e->ep, &rx->rx, m->bytes, w->clock.now / SIM_NS);
	endpoint_work(e);
}

static u32 admit(void *context, struct endpoint *e, const struct mrpc_prio_packet *p, u32 *limit)
{
	struct world *w = context;
	struct world_message *m = message_of(w, p->conn);

	if (!m || m->to != e->host || m->bytes != p->total || m->came) {
		world_fail(w, "message %llu is announced at host %u with %u bytes%s",
			   (unsigned long long)p->conn - 1, e->host, p->total,
			   m && m->came ? ", and came before" : "");
		return MRPC_PRIO_UNKNOWN;
	}
	if (e->ep.nr_rx >= 2 * w->rule.max_rx)
		world_fail(w, "host %u receives %u messages", e->host, e->ep.nr_rx);
	if (calm(w))
		return 0;
	if (sim_chance(&w->random, w->later))
		return MRPC_PRIO_LATER;
	if (sim_chance(&w->random, w->limited)) {
		*limit = rnd_below(&w->random, m->bytes + 1);
		sim_at(&w->clock, w->clock.now + rnd_below(&w->random, 20 * SIM_MS / SIM_US) * SIM_US,
		       raise_limit, m, NULL);
	}
	return 0;
}

static bool place(void *context, struct endpoint_rx *rx, u32 offset, u32 len, const u8 *from)
{
	struct world *w = context;

	if (!calm(w) && sim_chance(&w->random, w->no_place))
		return false;
	if (offset > rx->rx.total || len > rx->rx.total - offset) {
		world_fail(w, "bytes %u to %u of a message of %u", offset, offset + len,
			   rx->rx.total);
		return false;
	}
	memcpy(rx->content + offset, from, len);
	return true;
}

static void came(void *context, struct endpoint *e, struct endpoint_rx *rx, u32 from)
{
	struct world *w = context;
	struct world_message *m = message_of(w, rx->rx.conn);
	u32 i;

	if (!m)
		return;
	world_say(w, "message %td has come", m - w->messages);
	w->report->came++;
	if (m->came++)
		world_fail(w, "message %td comes twice", m - w->messages);
	if (m->to != e->host || m->from != from || rx->rx.got != m->bytes)
		world_fail(w, "message %td comes from host %u to %u with %u of %u bytes",
			   m - w->messages, from, e->host, rx->rx.got, m->bytes);
	for (i = 0; i < m->bytes; i++) {
		if (rx->content[i] == content(rx->rx.conn, i))
			continue;
		world_fail(w, "message %td: byte %u of %u is another", m - w->messages, i,
			   m->bytes);
		break;
	}
	if (!m->reply && m + 1 < w->messages + w->nr_messages && m[1].reply)
		world_submit(w, m + 1);
}

static bool spare(void *context)
{
	struct world *w = context;

	return calm(w) || !sim_chance(&w->random, w->no_memory);
}

const struct endpoint_user world_user = {
	.fill = fill,
	.place = place,
	.admit = admit,
	.spare = spare,
	.came = came,
	.sent = sent,
};

/* ---- after each packet ------------------------------------------------------- */

/* What was granted is never taken back, but by a refusal until later. */
static void look_at_message(struct world *w, struct world_message *m, const struct mrpc_prio_tx *tx)
{
	if (tx->granted < m->granted && (tx->granted || tx->unscheduled) &&
	    tx->state == MRPC_PRIO_TX_ACTIVE)
		world_fail(w, "message %td: %u bytes were granted, then %u", m - w->messages,
			   m->granted, tx->granted);
	m->granted = tx->granted;
	if (tx->sent > tx->granted || tx->granted > tx->total)
		world_fail(w, "message %td: %u bytes sent, %u granted, of %u", m - w->messages,
			   tx->sent, tx->granted, tx->total);
}

void world_look(struct world *w, struct endpoint *e)
{
	const struct endpoint_tx *tx;
	const struct endpoint_rx *rx;

	for (tx = e->txs; tx; tx = tx->after)
		look_at_message(w, &w->messages[tx->tx.conn - 1], &tx->tx);
	for (rx = e->rxs; rx; rx = rx->after)
		if (rx->rx.state == MRPC_PRIO_RX_ACTIVE &&
		    (rx->rx.next > rx->rx.got || rx->rx.got > rx->rx.total ||
		     (rx->rx.next < rx->rx.got) != !!rx->rx.gaps))
			world_fail(w, "message %llu: %u bytes are here, %u of them in a row, %s gaps",
				   (unsigned long long)rx->rx.conn - 1, rx->rx.got, rx->rx.next,
				   rx->rx.gaps ? "with" : "without");
}

/* ---- the verdict ------------------------------------------------------------ */

static bool may_fail(const struct world *w, const struct world_message *m)
{
	switch (m->status) {
	case MRPC_PRIO_ABORTED:
		return m->aborted;
	case MRPC_PRIO_REFUSED:
		return m->rejected;
	default:
		return w->excused[m->from][m->to] && !m->probe;
	}
}

static void judge_messages(struct world *w)
{
	const struct world_message *m;
	u32 i;

	for (i = 0; i < w->nr_messages; i++) {
		m = &w->messages[i];
		if (!m->begun)
			continue;
		if (!m->ended)
			world_fail(w, "message %u from host %u to %u does not end", i, m->from,
				   m->to);
		else if (m->status != MRPC_PRIO_DONE && !may_fail(w, m))
			world_fail(w, "message %u from host %u to %u fails with status %u", i,
				   m->from, m->to, m->status);
		else if (m->status == MRPC_PRIO_REFUSED && m->came)
			world_fail(w, "message %u came, and its sender hears that it was refused",
				   i);
	}
}

/* Of one host: messages and their bitmaps, associations, levels of priorities. */
static u64 most_memory(const struct world *w)
{
	return 65536 + w->nr_messages * sizeof(struct endpoint_tx) +
	       2ULL * w->rule.max_rx * (sizeof(struct endpoint_rx) + sizeof(struct mrpc_prio_gaps)) +
	       w->hosts * 1024 + 2 * WORLD_PRIORITIES * sizeof(struct mrpc_order_levels);
}

/* No end owes its peer a packet. */
static void judge_peers(struct world *w, const struct endpoint *e)
{
	const struct mrpc_order_link *l;
	const struct mrpc_prio_peer *p;

	for (l = e->ep.peers.next; l != &e->ep.peers; l = l->next) {
		p = container_of(l, const struct mrpc_prio_peer, of_endpoint);
		if (p->unscheduled_out || p->repeats || p->nr_tx || p->nr_rx || p->say)
			world_fail(w, "host %u keeps %u unscheduled bytes, or something to say (%#x)",
				   e->host, p->unscheduled_out, p->say);
	}
}

static void judge_hosts(struct world *w)
{
	struct endpoint *e;
	u32 i;

	for (i = 0; i < w->hosts; i++) {
		e = &w->endpoints[i];
		w->report->resends += e->ep.stats.resends;
		w->report->gaps = max_t(u64, w->report->gaps, e->max_gaps);
		w->report->memory = max(w->report->memory, e->max_memory);
		if (e->ep.nr_tx || e->ep.nr_rx || e->txs || e->rxs)
			world_fail(w, "host %u keeps %u messages that it sends, %u that it receives",
				   i, e->ep.nr_tx, e->ep.nr_rx);
		if (e->ep.nr_gaps)
			world_fail(w, "host %u keeps %u bitmaps", i, e->ep.nr_gaps);
		if (e->ep.repeats || e->ep.nr_asked)
			world_fail(w, "host %u waits for %llu bytes again, of %u hosts", i,
				   (unsigned long long)e->ep.repeats, e->ep.nr_asked);
		if (e->ep.outstanding || e->ep.slow_held || e->ep.remaining)
			world_fail(w, "host %u waits for %llu bytes, %llu of them granted", i,
				   (unsigned long long)e->ep.remaining,
				   (unsigned long long)e->ep.outstanding);
		judge_peers(w, e);
		if (e->max_memory > most_memory(w))
			world_fail(w, "host %u had %llu bytes of state", i,
				   (unsigned long long)e->max_memory);
	}
}

void faults_run(u64 seed, bool verbose, struct fault_report *report)
{
	static struct world w;	/* 60 KB */
	bool quiet = false;

	world_init(&w, seed, report, verbose);
	while (!report->failed && !quiet) {
		quiet = !sim_step(&w.clock);
		if (w.clock.now > w.calm + MAX_QUIET) {
			judge_messages(&w);
			judge_hosts(&w);
			world_fail(&w, "something still happens after all faults and messages");
		}
		if (report->packets > MAX_PACKETS)
			world_fail(&w, "more than %u packets", MAX_PACKETS);
	}
	if (!report->failed)
		judge_messages(&w);
	if (!report->failed)
		judge_hosts(&w);
	world_fini(&w);
}
