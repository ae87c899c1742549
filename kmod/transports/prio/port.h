/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: UDP ports, and the hosts that have them. */
#ifndef MRPC_TRANSPORTS_PRIO_PORT_H
#define MRPC_TRANSPORTS_PRIO_PORT_H

#include "transports/prio/host.h"

struct prio_port *prio_port_connects(struct net *net, u16 family, int *err);
struct prio_port *prio_port_listens(struct net *net, struct socket *sock, int *err);
void prio_ports_unused(struct net *net);
struct prio_port *prio_port_adopt(struct net *net, struct socket *sock,
				  const struct sockaddr_storage *addr, u32 addr_len, int *err);
bool prio_look(struct net *net, struct prio_look *look);
int prio_ports_init(void);
void prio_ports_apply(void);
void prio_ports_exit(void);

#endif /* MRPC_TRANSPORTS_PRIO_PORT_H */
