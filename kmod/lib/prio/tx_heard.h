/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: what a receiver says. */
#ifndef MRPC_LIB_PRIO_TX_HEARD_H
#define MRPC_LIB_PRIO_TX_HEARD_H

#include "lib/prio/types.h"

void mrpc_prio_tx_heard(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
			const struct mrpc_prio_note *note, u64 now);
bool mrpc_prio_tx_acked(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 msg, u64 now);

#endif /* MRPC_LIB_PRIO_TX_HEARD_H */
