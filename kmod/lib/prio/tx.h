/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: sending. */
#ifndef MRPC_LIB_PRIO_TX_H
#define MRPC_LIB_PRIO_TX_H

#include "lib/prio/types.h"

void mrpc_prio_tx_update(struct mrpc_prio *ep, struct mrpc_prio_tx *tx);
void mrpc_prio_tx_release(struct mrpc_prio_tx *tx);
void mrpc_prio_tx_refill(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 nr);
void mrpc_prio_tx_mark(struct mrpc_prio *ep, struct mrpc_prio_tx *tx);
void mrpc_prio_tx_end(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u8 status);
bool mrpc_prio_tx_timer(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now);
void mrpc_prio_tx_say(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u16 say);
void mrpc_prio_tx_arm(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now);
void mrpc_prio_again_earn(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 bytes);
void mrpc_prio_again_remove(struct mrpc_prio_tx *tx, u32 i);

#endif /* MRPC_LIB_PRIO_TX_H */
