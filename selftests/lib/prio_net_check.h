/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must hold of endpoints of the prio transport on a bad network. What does not hold is in
 * pnet_net.wrong.
 */
#ifndef PRIO_NET_CHECK_H
#define PRIO_NET_CHECK_H

#include "prio_net.h"

/* Everything that must hold at any time */
void pnet_check(struct pnet_net *n);
/* Everything ended, and nothing left */
void pnet_check_end(struct pnet_net *n);
/* The first text is kept. */
__attribute__((__format__(__printf__, 2, 3)))
void pnet_wrong(struct pnet_net *n, const char *fmt, ...);
/* Of a packet that a host sends: it takes back no grant. */
void pnet_check_grants(struct pnet_net *n, struct pnet_host *h, u32 to, const u8 *buf, u32 len);
/* Of a chunk that a host is about to send: all of it is granted. */
void pnet_check_chunk(struct pnet_host *h, const struct mrpc_prio_chunk *c);

#endif /* PRIO_NET_CHECK_H */
