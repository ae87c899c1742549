/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: incoming messages. */
#ifndef MRPC_TRANSPORTS_PRIO_IN_H
#define MRPC_TRANSPORTS_PRIO_IN_H

#include "transports/prio/host.h"

#define PRIO_STAGE	SZ_128K	/* bytes of a message that the sink has not accepted */
#define PRIO_TELL	SZ_64K	/* new bytes after which the owner is told */

/**
 * struct prio_piece - bytes of a message in a packet; in its skb->cb
 * @from: first byte, in the message
 * @to: end, in the message
 * @at: offset of the first byte in the packet
 * @each: bytes in each datagram but the last
 * @stride: distance from one datagram to the next
 */
struct prio_piece {
	u32 from;
	u32 to;
	u32 at;
	u32 each;
	u32 stride;
};

static inline struct prio_piece *prio_piece(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct prio_piece) > sizeof(skb->cb));
	return (struct prio_piece *)skb->cb;
}

u32 prio_in_begin(struct prio_link *link, struct mrpc_prio_event *ev,
		  const struct mrpc_prio_packet *p, u64 now);
void prio_in_data(struct prio_host *host, const struct mrpc_prio_event *ev,
		  struct prio_bytes *bytes, u32 at, u64 now);
void prio_in_ended(struct prio_host *host);
void prio_in_forget(struct prio_link *link);
int prio_in_init(void);
void prio_in_exit(void);
void prio_in_tell(struct prio_in *in);
u64 prio_pieces_free(struct sk_buff *skb);
void prio_in_unstage(struct prio_in *in, u64 bytes);
void prio_in_accepted(struct prio_in *in);
void prio_in_free(struct prio_in *in);
void prio_in_leave(struct prio_in *in);
bool prio_in_heavy(const struct prio_in *in);

#endif /* MRPC_TRANSPORTS_PRIO_IN_H */
