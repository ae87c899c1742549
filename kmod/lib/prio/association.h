/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: associations. */
#ifndef MRPC_LIB_PRIO_ASSOCIATION_H
#define MRPC_LIB_PRIO_ASSOCIATION_H

#include "lib/prio/types.h"
#include "lib/prio/prio.h"

void mrpc_prio_peer_give_up(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);
void mrpc_prio_peer_timer(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now);
bool mrpc_prio_admit(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, const void *addr,
		     u32 addr_len, const struct mrpc_prio_packet *p, u64 now,
		     struct mrpc_prio_event *ev);

#endif /* MRPC_LIB_PRIO_ASSOCIATION_H */
