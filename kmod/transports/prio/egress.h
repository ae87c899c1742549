/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: messages whose order is a domain's. */
#ifndef MRPC_TRANSPORTS_PRIO_EGRESS_H
#define MRPC_TRANSPORTS_PRIO_EGRESS_H

#include "transports/prio/host.h"

void prio_egress_init(struct prio_host *host);
bool prio_egress_waits(struct prio_host *host, u64 now);
bool prio_egress_turn(struct prio_host *host, u64 now, bool room, struct mrpc_prio_chunk *chunk,
		      int *budget);
void prio_egress_sent(struct prio_host *host, struct mrpc_prio_tx *tx, u32 sent, u32 size);
void prio_egress_settle(struct prio_host *host);
void prio_egress_join(struct prio_out *out);
void prio_egress_leave(struct prio_out *out);

#endif /* MRPC_TRANSPORTS_PRIO_EGRESS_H */
