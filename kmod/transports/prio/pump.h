/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: what the protocol wants done is done. */
#ifndef MRPC_TRANSPORTS_PRIO_PUMP_H
#define MRPC_TRANSPORTS_PRIO_PUMP_H

#include "transports/prio/host.h"

void prio_pump_init(struct prio_host *host);
void prio_pump_run(struct prio_host *host);
void prio_pump_softirq(struct prio_host *host);
void prio_pump_stop(struct prio_host *host);

#endif /* MRPC_TRANSPORTS_PRIO_PUMP_H */
