/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: what a peer is to be told. */
#ifndef MRPC_LIB_PRIO_SAY_H
#define MRPC_LIB_PRIO_SAY_H

#include "lib/prio/types.h"

void mrpc_prio_due(struct mrpc_prio *ep, struct mrpc_prio_peer *peer);
void mrpc_prio_note_add(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u8 op, u64 msg, u16 code);
void mrpc_prio_ack(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 msg, bool urge, u64 now);
u64 mrpc_prio_ack_take(struct mrpc_prio_peer *peer);

#endif /* MRPC_LIB_PRIO_SAY_H */
