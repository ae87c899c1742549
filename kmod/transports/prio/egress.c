// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: egress domains. Messages of a connection that has a domain are gated
 * (lib/prio/prio.h): each is ordered there by itself, and sends a chunk when it has a grant. What
 * has no payload, which are acknowledgements, grants and announcements, goes as ever.
 *
 * host->lock, then the domain's. A grant comes under the domain's lock, from anywhere, so it
 * only leaves a note: the pump takes it when a packet can go.
 */
#include <net/dst.h>
#include <net/sock.h>

#include "core/call.h"
#include "core/conn.h"
#include "core/rpc.h"
#include "egress/domain.h"
#include "egress/unit.h"
#include "lib/prio/prio.h"
#include "transports/prio/egress.h"

static struct prio_out *prio_out_of_unit(struct mrpc_unit *u)
{
	return container_of(u, struct prio_out, unit);
}

/* -- a host ------------------------------------------------------------------------------ */

static void prio_sender_kick(struct mrpc_sender *sender)
{
	prio_pump_kick(container_of(sender, struct prio_host, sender));
}

static u64 prio_sender_below(struct mrpc_sender *sender)
{
	struct prio_host *host = container_of(sender, struct prio_host, sender);

	return sk_wmem_alloc_get(host->gated->sk);
}

/* prio_egress_init() - of a new host */
void prio_egress_init(struct prio_host *host)
{
	spin_lock_init(&host->sender.lock);
	INIT_LIST_HEAD(&host->sender.turns);
	host->sender.kick = prio_sender_kick;
	host->sender.below = prio_sender_below;
}

/* -- turns: under host->lock ------------------------------------------------------------- */

/* Who has been granted something, or NULL: the first. It may be void. */
static struct prio_out *prio_egress_first(struct prio_host *host)
{
	struct mrpc_unit *u;

	spin_lock(&host->sender.lock);
	u = list_first_entry_or_null(&host->sender.turns, struct mrpc_unit, turn);
	spin_unlock(&host->sender.lock);
	return u ? prio_out_of_unit(u) : NULL;
}

/*
 * prio_egress_waits() - does a message have a turn? Who gives it one now kicks. Without memory
 * for packets a while ago it is not asked for again and again.
 */
bool prio_egress_waits(struct prio_host *host, u64 now)
{
	return now >= host->starved_until && !list_empty_careful(&host->sender.turns);
}

/* There is a message without a domain that could go: does @out go before it? */
static bool prio_egress_before(struct prio_host *host, const struct prio_out *out)
{
	const struct mrpc_prio_tx *best = mrpc_prio_tx_best(&host->ep);

	if (out->core.priority != best->priority)
		return out->core.priority > best->priority;
	host->gated_last = !host->gated_last;	/* the one and the other in turn */
	return host->gated_last;
}

/**
 * prio_egress_turn() - the next chunk, if it is one that a domain has granted
 * @host: the host; the caller pumps
 * @now: ns
 * @room: there is room below for messages of connections without a domain, and there are such
 * @chunk: out: to be followed by prio_egress_sent()
 * @budget: of turns; those that have become void count
 *
 * Beside messages of connections without a domain it is priority that decides.
 *
 * Return: whether there is one.
 */
bool prio_egress_turn(struct prio_host *host, u64 now, bool room, struct mrpc_prio_chunk *chunk,
		      int *budget)
{
	struct prio_out *out = prio_egress_waits(host, now) ? prio_egress_first(host) : NULL;
	struct mrpc_unit *u;
	u32 bytes;

	if (!out || (room && !prio_egress_before(host, out)))
		return false;
	while ((u = mrpc_unit_turn(&host->sender, &bytes, budget))) {
		out = prio_out_of_unit(u);
		if (mrpc_prio_tx_turn(&host->ep, &out->core, bytes, now, chunk))
			return true;
		prio_egress_sent(host, &out->core, 0, 0);
	}
	return false;
}

/**
 * prio_egress_sent() - the end of a turn
 * @host: the host; the caller pumps
 * @tx: whose
 * @sent: bytes of payload
 * @size: bytes of memory of the packet
 */
void prio_egress_sent(struct prio_host *host, struct mrpc_prio_tx *tx, u32 sent, u32 size)
{
	struct prio_out *out = container_of(tx, struct prio_out, core);

	/* What is added here is below already: see struct mrpc_sender. */
	smp_store_release(&host->sender.queued, host->sender.queued + size);
	mrpc_unit_sent(&out->unit, sent, size, mrpc_prio_tx_left(tx), mrpc_prio_tx_wants(tx));
}

/* prio_egress_settle() - have domains know what their messages want. It grants once for all. */
void prio_egress_settle(struct prio_host *host)
{
	struct mrpc_unit *last = NULL;
	struct mrpc_prio_tx *tx;
	bool turns = false;

	while ((tx = mrpc_prio_tx_gates(&host->ep))) {
		struct mrpc_unit *u = &container_of(tx, struct prio_out, core)->unit;

		if (last && last->domain != u->domain)
			turns |= mrpc_unit_share(last);
		mrpc_unit_offer(u, mrpc_prio_tx_left(tx), mrpc_prio_tx_wants(tx));
		last = u;
	}
	if (last)
		turns |= mrpc_unit_share(last);
	if (turns && !host->pumping)
		prio_pump_kick(host);
}

/* -- connections --------------------------------------------------------------------------- */

/**
 * prio_egress_join() - a message that the protocol has is its connection's domain's, if that has one
 * @out: the message; under host->lock
 */
void prio_egress_join(struct prio_out *out)
{
	struct prio_link *link = out->link;

	/* Who has the connection join may have been overtaken by a message that began. */
	if (!link->conn || !rcu_access_pointer(link->conn->port.domain) || out->unit.domain)
		return;
	if (out->core.state != MRPC_PRIO_TX_FRESH && out->core.state != MRPC_PRIO_TX_ACTIVE)
		return;
	if (out->call && mrpc_unit_join(link->conn, &out->unit, &out->call->rpc))
		mrpc_prio_tx_gate(&link->host->ep, &out->core, true);
}

/* prio_egress_leave() - nobody orders a message any more, if a domain did; under host->lock */
void prio_egress_leave(struct prio_out *out)
{
	if (!out->unit.domain)
		return;
	mrpc_unit_leave(&out->unit);
	mrpc_prio_tx_gate(&out->link->host->ep, &out->core, false);
}
