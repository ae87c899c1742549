// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: egress domains. If a connection has a domain, its messages are gated
 * (lib/prio/prio.h): the domain orders each message by itself, and it sends a chunk when it has a
 * grant. Packets without payload are not gated: acknowledgements, grants and announcements.
 *
 * Lock order: host->lock, then the domain's lock. A grant comes under the domain's lock, from any
 * context. So it only leaves a note. The pump takes the grant when a packet can go.
 */
#include <net/dst.h>
#include <net/sock.h>

#include "core/call.h"
#include "core/link.h"
#include "core/rpc.h"
#include "egress/domain.h"
#include "egress/port.h"
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

/* prio_egress_init() - initialise the sender of a new host */
void prio_egress_init(struct prio_host *host)
{
	spin_lock_init(&host->sender.lock);
	INIT_LIST_HEAD(&host->sender.turns);
	host->sender.kick = prio_sender_kick;
	host->sender.below = prio_sender_below;
}

/* -- turns: under host->lock ------------------------------------------------------------- */

/* The message that was granted first, or NULL. The grant may be void. */
static struct prio_out *prio_egress_first(struct prio_host *host)
{
	struct mrpc_unit *u;

	spin_lock(&host->sender.lock);
	u = list_first_entry_or_null(&host->sender.turns, struct mrpc_unit, turn);
	spin_unlock(&host->sender.lock);
	return u ? prio_out_of_unit(u) : NULL;
}

/*
 * prio_egress_waits() - does a message have a turn? If a turn comes now, its giver kicks. After a
 * lack of memory for packets, turns are not tried for a while.
 */
bool prio_egress_waits(struct prio_host *host, u64 now)
{
	return now >= host->starved_until && !list_empty_careful(&host->sender.turns);
}

/* A message without a domain could go, too: does @out go before it? */
static bool prio_egress_before(struct prio_host *host, const struct prio_out *out)
{
	const struct mrpc_prio_tx *best = mrpc_prio_tx_best(&host->ep);

	if (out->core.priority != best->priority)
		return out->core.priority > best->priority;
	host->gated_last = !host->gated_last;	/* they alternate */
	return host->gated_last;
}

/**
 * prio_egress_turn() - get the next chunk, if a domain has granted it
 * @host: the host; the caller pumps
 * @now: ns
 * @room: a message of a connection without a domain exists, and has room below
 * @chunk: out: the caller must call prio_egress_sent() for it
 * @budget: of turns; void turns count
 *
 * Priority decides between this message and messages of connections without a domain.
 *
 * Return: true if there is a chunk.
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
 * prio_egress_sent() - end a turn
 * @host: the host; the caller pumps
 * @tx: the message
 * @sent: bytes of payload
 * @size: bytes of memory of the packet
 */
void prio_egress_sent(struct prio_host *host, struct mrpc_prio_tx *tx, u32 sent, u32 size)
{
	struct prio_out *out = container_of(tx, struct prio_out, core);

	/* The added bytes are already below: see struct mrpc_sender. */
	smp_store_release(&host->sender.queued, host->sender.queued + size);
	mrpc_unit_sent(&out->unit, sent, size, mrpc_prio_tx_left(tx), mrpc_prio_tx_wants(tx));
}

/* prio_egress_settle() - tell domains what their messages want; each grants once for all of them */
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
 * prio_egress_join() - add a message to its connection's domain, if there is one
 * @out: a message that the protocol has; under host->lock
 */
void prio_egress_join(struct prio_out *out)
{
	struct prio_link *link = out->link;

	/* While the connection joins, the message may have begun and joined by itself. */
	if (!link->upper || !mrpc_link_in_domain(link->upper) || out->unit.domain)
		return;
	if (out->core.state != MRPC_PRIO_TX_FRESH && out->core.state != MRPC_PRIO_TX_ACTIVE)
		return;
	if (out->call && mrpc_unit_join(link->upper, &out->unit, &out->call->rpc))
		mrpc_prio_tx_gate(&link->host->ep, &out->core, true);
}

/* prio_egress_leave() - remove a message from its domain, if it has one; under host->lock */
void prio_egress_leave(struct prio_out *out)
{
	if (!out->unit.domain)
		return;
	mrpc_unit_leave(&out->unit);
	mrpc_prio_tx_gate(&out->link->host->ep, &out->core, false);
}
