/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: peers without connections. */
#ifndef MRPC_TRANSPORTS_PRIO_FORGET_H
#define MRPC_TRANSPORTS_PRIO_FORGET_H

#include "transports/prio/host.h"

struct prio_peer *prio_peer_to(struct prio_port *port, const struct prio_path *path);
void prio_peers_idle(struct prio_port *port, unsigned long until);
void prio_peers_cut(struct prio_port *port);

#endif /* MRPC_TRANSPORTS_PRIO_FORGET_H */
