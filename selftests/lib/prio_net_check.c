// SPDX-License-Identifier: GPL-2.0
/*
 * What must hold of endpoints on a bad network: see prio_net_check.h.
 */
#include <stdarg.h>
#include <stdio.h>

#include "prio_net.h"
#include "prio_net_check.h"

void pnet_wrong(struct pnet_net *n, const char *fmt, ...)
{
	va_list ap;

	if (n->wrong[0])
		return;
	va_start(ap, fmt);
	vsnprintf(n->wrong, sizeof(n->wrong), fmt, ap);
	va_end(ap);
}

/* -- of what a host sends ------------------------------------------------------ */

/* What a receiver grants is kept: nothing else may be sent, and it never gets less. */
void pnet_check_grants(struct pnet_net *n, struct pnet_host *h, u32 to, const u8 *buf, u32 len)
{
	struct mrpc_prio_packet p;
	struct mrpc_prio_note note;
	u32 why, i, j;

	if (mrpc_prio_parse(buf, len, len, &p, &why)) {
		pnet_wrong(n, "own packet is refused: %s", mrpc_prio_drop_name(why));
		return;
	}
	for (i = 0; p.type == MRPC_PRIO_CONTROL && i < p.nr; i++) {
		mrpc_prio_note_get(&p, i, &note);
		if (note.op != MRPC_PRIO_GRANT && note.op != MRPC_PRIO_RESEND)
			continue;
		for (j = 0; j < n->nr_msgs; j++) {
			struct pnet_msg *m = n->msgs[j];

			if (m->ended || m->src != to || m->dst != h->index ||
			    m->tx.msg != note.msg || m->tx.peer->local != h->peers[to].peer.remote)
				continue;
			if (note.op == MRPC_PRIO_GRANT && note.to < m->told)
				pnet_wrong(n, "the grant of message %u went from %llu to %u", m->id,
					   (unsigned long long)m->told, note.to);
			m->told = max_t(u64, m->told, note.to);
		}
	}
}

void pnet_check_chunk(struct pnet_host *h, const struct mrpc_prio_chunk *c)
{
	struct pnet_msg *m = container_of(c->tx, struct pnet_msg, tx);
	u64 may = max_t(u64, m->told, c->tx->unscheduled);

	if (c->len > h->ep.rule.chunk || (u64)c->offset + c->len > c->tx->total)
		pnet_wrong(h->net, "a chunk of message %u outside", m->id);
	if (!h->net->hostile && c->len && c->offset + c->len > may &&
	    !(c->packet.flags & MRPC_PRIO_AGAIN && c->offset + c->len <= c->tx->most))
		pnet_wrong(h->net, "message %u sends up to %u, granted are %llu", m->id,
			   c->offset + c->len, (unsigned long long)may);
}

/* -- at any time --------------------------------------------------------------- */

static bool tx_should_wait(const struct mrpc_prio_tx *tx)
{
	const struct mrpc_prio_peer *p = tx->peer;
	bool can = p->state == MRPC_PRIO_PEER_UP && !tx->out &&
		   tx->state == MRPC_PRIO_TX_ACTIVE &&
		   (tx->announce || tx->nr_again || tx->sent < tx->granted);

	return !can;
}

static void check_tx(struct pnet_net *n)
{
	u32 i;

	for (i = 0; i < n->nr_msgs; i++) {
		struct pnet_msg *m = n->msgs[i];
		struct mrpc_prio_tx *tx = &m->tx;

		if (m->ended || tx->state == MRPC_PRIO_TX_ENDED)
			continue;
		if (tx->state == MRPC_PRIO_TX_FRESH) {
			if (tx->entity.listed == mrpc_lheap_in(&tx->wait))
				pnet_wrong(n, "fresh message %u is in %s", m->id,
					   mrpc_lheap_in(&tx->wait) ? "both lists" : "no list");
			continue;
		}
		if (tx->entity.listed == tx_should_wait(tx))
			pnet_wrong(n, "message %u is %s", m->id, tx->entity.listed ?
				   "listed and cannot send" : "not listed and could send");
		/* Only what was unscheduled is taken back, once, when it is put off. */
		if (m->unscheduled > tx->unscheduled)
			m->granted = 0;
		m->unscheduled = tx->unscheduled;
		if (tx->granted < m->granted)
			pnet_wrong(n, "the grant of message %u went back from %u to %u", m->id,
				   m->granted, tx->granted);
		m->granted = tx->granted;
		if (tx->sent > tx->total || tx->granted > tx->total)
			pnet_wrong(n, "message %u is beyond its end", m->id);
	}
}

/* Bytes of [@from, @to) that are not here. */
static u32 rx_missing(const struct mrpc_prio_rx *x, u32 from, u32 to)
{
	u32 n, i;

	from = max(from, x->next);
	n = to > from ? to - from : 0;
	for (i = 0; n && x->gaps && i < x->gaps->nr; i++) {
		u32 a = max(from, x->gaps->have[i].from), b = min(to, x->gaps->have[i].to);

		n -= b > a ? b - a : 0;
	}
	return n;
}

/* What all messages of one peer may still send, as its receiver is to count it. */
static u64 peer_outstanding(struct pnet_net *n, struct pnet_host *h, u32 from)
{
	const struct mrpc_prio_peer *p = &h->peers[from].peer;
	u64 announced = 0, granted = 0, repeats = 0;
	struct pnet_rx *r;

	for (r = n->all_rx; r; r = r->next) {
		const struct mrpc_prio_rx *x = &r->rx;
		u32 want = max(min(x->granted, x->limit), x->got), again, first;

		if (x->peer != p || x->state != MRPC_PRIO_RX_ACTIVE || x->stalled)
			continue;
		again = rx_missing(x, 0, min(x->asked, min(x->lost, want)));
		first = rx_missing(x, 0, want) - again -
			rx_missing(x, x->asked, min(x->lost, want));
		repeats += again;
		granted += again + min(first, x->granted - x->unscheduled);
		announced += first - min(first, x->granted - x->unscheduled);
	}
	if (h->peers[from].there && p->repeats != repeats)
		pnet_wrong(n, "host %u is asked for %llu bytes by %u, %u are counted", from,
			   (unsigned long long)repeats, h->index, p->repeats);
	if (h->peers[from].there && p->spare && !granted)
		pnet_wrong(n, "host %u has a step of host %u and is granted nothing", from,
			   h->index);
	return granted + (p->fresh ? 0 : min_t(u64, announced, p->offered));
}

static void check_host(struct pnet_net *n, struct pnet_host *h)
{
	u64 held[2] = { 0, 0 }, remaining = 0;
	u32 gaps = 0, nr = 0, spare = 0, i;
	struct pnet_rx *r;

	for (i = 0; i < n->hosts; i++) {
		held[h->peers[i].peer.slow] += peer_outstanding(n, h, i);
		spare += h->peers[i].there && h->peers[i].peer.spare;
	}
	if (spare != h->ep.nr_spare)
		pnet_wrong(n, "host %u counts %u peers with a step: %u", h->index,
			   h->ep.nr_spare, spare);

	for (r = n->all_rx; r; r = r->next) {
		const struct mrpc_prio_rx *x = &r->rx;

		if (r->msg->dst != h->index)
			continue;
		nr++;
		gaps += !!x->gaps;
		remaining += x->left;
		if (x->gaps && (!x->gaps->nr || x->gaps->have[0].from <= x->next))
			pnet_wrong(n, "message %u has gaps without a gap", r->msg->id);
		if (x->next > x->got || x->got > x->total ||
		    (x->state == MRPC_PRIO_RX_ACTIVE && !x->gaps && x->next != x->got))
			pnet_wrong(n, "message %u has %u bytes, %u in a row", r->msg->id, x->got,
				   x->next);
		if (x->state == MRPC_PRIO_RX_ACTIVE && !x->timer.armed &&
		    !mrpc_lheap_in(&x->line) && x->next < min(x->granted, x->limit))
			pnet_wrong(n, "message %u waits for ever", r->msg->id);
	}
	if (nr != h->ep.nr_rx || nr != h->incoming || gaps != h->ep.nr_gaps ||
	    held[0] != h->ep.outstanding || held[1] != h->ep.slow_held || remaining != h->ep.remaining)
		pnet_wrong(n, "host %u counts %u messages, %u gaps, %llu bytes: %u, %u, %llu",
			   h->index, h->ep.nr_rx, h->ep.nr_gaps,
			   (unsigned long long)(h->ep.outstanding + h->ep.slow_held), nr, gaps,
			   (unsigned long long)(held[0] + held[1]));
	if (nr > 2 * h->ep.rule.max_rx)
		pnet_wrong(n, "host %u has %u messages", h->index, nr);
}

static void check_peers(struct pnet_net *n, struct pnet_host *h)
{
	u32 i, j;

	for (i = 0; i < n->hosts; i++) {
		struct mrpc_prio_peer *p = &h->peers[i].peer;
		u32 debt = 0, nr = 0;

		if (!h->peers[i].there)
			continue;
		for (j = 0; j < n->nr_msgs; j++) {
			struct pnet_msg *m = n->msgs[j];

			if (m->ended || m->src != h->index || m->dst != i ||
			    m->tx.state == MRPC_PRIO_TX_ENDED)
				continue;
			nr++;
			debt += m->tx.debt;
		}
		if (debt != p->unscheduled_out || debt > max(p->budget, n->rule.unscheduled) ||
		    nr != p->nr_tx)
			pnet_wrong(n, "host %u, peer %u: %u bytes unscheduled, %u counted",
				   h->index, i, debt, p->unscheduled_out);
		if (p->next_msg - p->tx_base > MRPC_PRIO_WINDOW)
			pnet_wrong(n, "host %u, peer %u: window", h->index, i);
		if (p->entity.listed != (!p->slow && mrpc_lheap_first(&p->rx_heap)) ||
		    mrpc_link_empty(&p->holds) == (p->slow ? !!mrpc_lheap_first(&p->rx_heap) :
						   !!p->rx_counted))
			pnet_wrong(n, "host %u, peer %u: listed wrongly", h->index, i);
	}
}

void pnet_check(struct pnet_net *n)
{
	u32 i;

	check_tx(n);
	for (i = 0; i < n->hosts; i++) {
		check_host(n, &n->host[i]);
		check_peers(n, &n->host[i]);
	}
}

void pnet_check_end(struct pnet_net *n)
{
	u32 i;

	for (i = 0; i < n->nr_msgs; i++) {
		struct pnet_msg *m = n->msgs[i];

		if (!m->ended)
			pnet_wrong(n, "message %u of %u bytes, %u to %u, is stuck: %u, sent %u of %u",
				   m->id, m->tx.total, m->src, m->dst, m->tx.state, m->tx.sent,
				   m->tx.granted);
	}
	for (i = 0; i < n->hosts; i++) {
		struct pnet_host *h = &n->host[i];

		if (h->ep.nr_gaps || h->ep.nr_rx || h->ep.nr_tx || h->ep.outstanding ||
		    h->ep.slow_held || h->ep.remaining || h->incoming)
			pnet_wrong(n, "host %u is left with %u gaps, %u and %u messages, %llu bytes", i,
				   h->ep.nr_gaps, h->ep.nr_rx, h->ep.nr_tx,
				   (unsigned long long)h->ep.outstanding);
	}
}
