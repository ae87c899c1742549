/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: sockets of the kernel's own. */
#ifndef MRPC_TRANSPORTS_PRIO_OWNER_H
#define MRPC_TRANSPORTS_PRIO_OWNER_H

#include "transports/prio/host.h"

int prio_sock_kern(struct net *net, u16 family, struct socket **sock);
int prio_owners_open(struct prio_host *host);
void prio_owners_unhook(struct prio_host *host);
void prio_owners_free(struct prio_host *host);

#endif /* MRPC_TRANSPORTS_PRIO_OWNER_H */
