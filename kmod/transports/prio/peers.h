/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: peers, and the ways to them. */
#ifndef MRPC_TRANSPORTS_PRIO_PEERS_H
#define MRPC_TRANSPORTS_PRIO_PEERS_H

#include "transports/prio/host.h"

struct prio_peer *prio_peer_find(struct prio_host *host, const struct prio_path *path);
u8 prio_path_host(const struct prio_host *host, const struct prio_path *path);
struct prio_peer *prio_peer_new(struct prio_port *port, const struct prio_path *path);
bool prio_crowded(const struct prio_host *host);
void prio_peer_used(struct prio_peer *peer, struct prio_link *link);
void prio_peer_unused(struct prio_peer *peer, struct prio_link *link);
void prio_peer_events(struct prio_host *host);
int prio_peers_init(void);
void prio_peers_exit(void);
void prio_peer_refused(struct prio_peer *peer);
struct dst_entry *prio_path_route(struct prio_host *host, struct prio_path *path);
struct dst_entry *prio_peer_route(struct prio_host *host, struct prio_peer *peer);
int prio_peers_table(struct prio_host *host);
void prio_peer_unlist(struct prio_peer *peer);

#endif /* MRPC_TRANSPORTS_PRIO_PEERS_H */
