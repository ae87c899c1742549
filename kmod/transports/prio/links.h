/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: links, how they are found, and how long they live. */
#ifndef MRPC_TRANSPORTS_PRIO_LINKS_H
#define MRPC_TRANSPORTS_PRIO_LINKS_H

#include "transports/prio/host.h"

int prio_links_init(struct prio_host *host);
struct prio_link *prio_link_find(struct prio_peer *peer, u64 id);
struct prio_link *prio_link_arrives(struct prio_peer *peer, u64 id, u32 *code);
void prio_link_put(struct prio_link *link);
int prio_link_setup(struct prio_link *link, struct prio_peer *peer, u64 id);
void prio_link_forget(struct prio_link *link);
struct prio_link *prio_link_waiting(struct prio_port *port);

#endif /* MRPC_TRANSPORTS_PRIO_LINKS_H */
