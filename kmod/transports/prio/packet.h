/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: datagrams to the network. */
#ifndef MRPC_TRANSPORTS_PRIO_PACKET_H
#define MRPC_TRANSPORTS_PRIO_PACKET_H

#include "transports/prio/host.h"

struct sk_buff *prio_packet_new(struct socket *owner, u32 len, u32 class);
void prio_packet_put(struct sk_buff *skb, u32 at, const void *data, u32 len);
void prio_packet_send(struct sk_buff *skb, const struct prio_path *path, struct dst_entry *dst,
		      u32 segment, u32 class);

#endif /* MRPC_TRANSPORTS_PRIO_PACKET_H */
