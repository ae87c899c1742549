/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: what may be sent to here. */
#ifndef MRPC_LIB_PRIO_GRANT_H
#define MRPC_LIB_PRIO_GRANT_H

#include "lib/prio/types.h"

void mrpc_prio_rx_arm(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now);
void mrpc_prio_rx_say(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u16 say);
void mrpc_prio_rx_update(struct mrpc_prio *ep, struct mrpc_prio_rx *rx);
void mrpc_prio_rx_ask(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 bytes, u64 now);
void mrpc_prio_grant(struct mrpc_prio *ep, u64 now);

/* Bytes that may come: granted, and not held back by the upper layer. */
static inline u32 mrpc_prio_rx_want(const struct mrpc_prio_rx *rx)
{
	return min(rx->granted, rx->limit);
}

/* Whether the first missing byte is lost, and waits for its turn to be asked for. */
static inline bool mrpc_prio_rx_waits(const struct mrpc_prio_rx *rx)
{
	return !rx->stalled && rx->next < rx->lost && rx->next >= rx->asked;
}

#endif /* MRPC_LIB_PRIO_GRANT_H */
