/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: which peers are granted something. */
#ifndef MRPC_LIB_PRIO_PLACES_H
#define MRPC_LIB_PRIO_PLACES_H

#include "lib/prio/types.h"

void mrpc_prio_places_came(struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 bytes,
			   u64 now);
void mrpc_prio_places_hold(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 bytes);
void mrpc_prio_places_pay(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 bytes);
void mrpc_prio_places_back(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 bytes);
void mrpc_prio_places_wait(struct mrpc_prio *ep, bool waits, bool more, u64 now);
void mrpc_prio_places_timer(struct mrpc_prio *ep, u64 now);
void mrpc_prio_peer_rank(struct mrpc_prio *ep, struct mrpc_prio_peer *peer);

/* The message of a peer that is granted first, or NULL. */
static inline struct mrpc_prio_rx *mrpc_prio_peer_first(const struct mrpc_prio_peer *peer)
{
	struct mrpc_lheap_node *n = mrpc_lheap_first(&peer->rx_heap);

	return n ? container_of(n, struct mrpc_prio_rx, heap) : NULL;
}

#endif /* MRPC_LIB_PRIO_PLACES_H */
