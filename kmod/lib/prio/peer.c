// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: a peer, from its beginning to the wish for an association.
 */
#include "lib/ds/siphash.h"
#include "lib/prio/peer.h"
#include "lib/prio/prio.h"
#include "lib/prio/say.h"
#include "lib/prio/table.h"
#include "lib/prio/time.h"

u64 mrpc_prio_token(struct mrpc_prio *ep)
{
	u64 data[2] = { 0, 0x6e656b6f74 }, token;

	do {
		data[0] = ++ep->drawn;
		token = mrpc_siphash(data, sizeof(data), ep->key);
	} while (!token);
	return token;
}

/* No association, and nothing left of one. */
void mrpc_prio_peer_clear(struct mrpc_prio_peer *peer)
{
	peer->state = MRPC_PRIO_PEER_IDLE;
	peer->ecn = false;
	peer->crc = false;
	peer->tries = 0;
	peer->say = 0;
	peer->local = 0;
	peer->remote = 0;
	peer->cookie = 0;
	peer->epoch = 0;
	peer->unscheduled_out = 0;
	peer->tx_scale = MRPC_PRIO_SCALE;
	peer->rx_scale = MRPC_PRIO_SCALE;
	peer->srtt = 0;
	peer->rttvar = 0;
	peer->late = 0;
	peer->ping = 0;
	peer->rtt_max = 0;
	peer->rtt_max_before = 0;
	peer->acked = 0;
	peer->passed = 0;
	peer->asked = 0;
	peer->beat = U64_MAX;
	peer->next_msg = 1;
	peer->tx_base = 1;
	peer->rx_base = 1;
	memset(peer->tx_seen, 0, sizeof(peer->tx_seen));
	memset(peer->rx_seen, 0, sizeof(peer->rx_seen));
	peer->nr_acks = 0;
	peer->nr_notes = 0;
}

void mrpc_prio_peer_add(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 payload, u64 now)
{
	memset(peer, 0, sizeof(*peer));
	mrpc_prio_peer_payload(peer, payload);
	peer->heard = now;
	peer->max_total = MRPC_PRIO_MAX_TOTAL;
	peer->timer.kind = MRPC_PRIO_TIMER_PEER;
	mrpc_prio_peer_clear(peer);
	mrpc_link_init(&peer->tx_all);
	mrpc_link_init(&peer->rx_all);
	mrpc_link_init(&peer->tx_control);
	mrpc_link_init(&peer->rx_control);
	mrpc_link_init(&peer->holds);
	mrpc_link_init(&peer->control);
	mrpc_link_init(&peer->events);
	mrpc_link_add(&ep->peers, &peer->of_endpoint);
	ep->nr_peers++;
}

/* Asks for an association. */
void mrpc_prio_peer_ask(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	peer->state = MRPC_PRIO_PEER_HELLO;
	peer->local = mrpc_prio_token(ep);
	peer->offered = 0;
	peer->asked = now;
	peer->tries = 0;
	peer->say |= BIT(MRPC_PRIO_HELLO);
	mrpc_prio_due(ep, peer);
	peer->beat = now + mrpc_prio_rto(ep, peer, 0);
	mrpc_prio_peer_arm(ep, peer);
}

/* A message waits for an association. */
void mrpc_prio_peer_want(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	if (peer->state == MRPC_PRIO_PEER_IDLE)
		mrpc_prio_peer_ask(ep, peer, now);
}

/* There is a message: the peer is asked now and then whether it lives. */
void mrpc_prio_peer_busy(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	if (peer->state != MRPC_PRIO_PEER_UP || peer->beat != U64_MAX)
		return;
	peer->heard = max(peer->heard, now);
	peer->beat = now + mrpc_prio_peer_beat(ep);
	mrpc_prio_peer_arm(ep, peer);
}
