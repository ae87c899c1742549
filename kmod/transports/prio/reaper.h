/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: times at which unused objects are freed. */
#ifndef MRPC_TRANSPORTS_PRIO_REAPER_H
#define MRPC_TRANSPORTS_PRIO_REAPER_H

#include "transports/prio/host.h"

#define PRIO_GRACE	(2 * HZ)	/* a clients' port: the next client may come soon */

void prio_port_put(struct prio_port *port);
void prio_ports_crowd(void);
void prio_reaper_init(work_func_t reap);
void prio_reap_later(void);
void prio_reap_soon(void);
void prio_reaper_stop(void);

#endif /* MRPC_TRANSPORTS_PRIO_REAPER_H */
