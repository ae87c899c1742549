/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: a peer and its wish for an association. */
#ifndef MRPC_LIB_PRIO_PEER_H
#define MRPC_LIB_PRIO_PEER_H

#include "lib/prio/types.h"

u64 mrpc_prio_token(struct mrpc_prio *ep);
void mrpc_prio_peer_clear(struct mrpc_prio_peer *peer);
void mrpc_prio_peer_ask(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);
void mrpc_prio_peer_want(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);
void mrpc_prio_peer_busy(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);

/* ns between two looks whether it lives */
static inline u64 mrpc_prio_peer_beat(const struct mrpc_prio *ep)
{
	return max_t(u64, ep->rule.silence / 8, 1);
}

#endif /* MRPC_LIB_PRIO_PEER_H */
