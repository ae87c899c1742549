/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: receiving. */
#ifndef MRPC_LIB_PRIO_RX_H
#define MRPC_LIB_PRIO_RX_H

#include "lib/prio/types.h"
#include "lib/prio/prio.h"

void mrpc_prio_rx_data(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		       const struct mrpc_prio_packet *p, u64 now, struct mrpc_prio_event *ev);
void mrpc_prio_rx_heard(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
			const struct mrpc_prio_note *note, u64 now);
void mrpc_prio_rx_end(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u8 status);
bool mrpc_prio_rx_timer(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now);

#endif /* MRPC_LIB_PRIO_RX_H */
