/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: messages are placed and delivered. */
#ifndef MRPC_TRANSPORTS_PRIO_DELIVER_H
#define MRPC_TRANSPORTS_PRIO_DELIVER_H

#include "transports/prio/host.h"

int prio_in_run(struct prio_link *link, int budget);
bool prio_in_slow(struct prio_link *link, u64 now, u64 patience);
void prio_in_drop(struct prio_link *link, struct mrpc_link *upper);

#endif /* MRPC_TRANSPORTS_PRIO_DELIVER_H */
