/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: what all of its files use. */
#ifndef MRPC_LIB_PRIO_TABLE_H
#define MRPC_LIB_PRIO_TABLE_H

#include "lib/prio/types.h"

/* mrpc_timer.kind */
enum {
	MRPC_PRIO_TIMER_TX,
	MRPC_PRIO_TIMER_RX,
	MRPC_PRIO_TIMER_PEER,
	MRPC_PRIO_TIMER_PLACES,
};

#define MRPC_PRIO_SCALE		1024	/* of windows and budgets: all of it */
#define MRPC_PRIO_MIN_SCALE	64
#define MRPC_PRIO_TARDY		255	/* parts of a step */
#define MRPC_PRIO_MAX_TRIES	20
#define MRPC_PRIO_LAST_TRIES	5	/* after so many, time decides when a peer is given up */
#define MRPC_PRIO_VAIN_TRIES	2	/* after so many in vain, repeats share what there is of them */
#define MRPC_PRIO_SMALL_TRIES	2	/* announcements, until the first packet is made small */

struct mrpc_order_link *mrpc_prio_bucket(const struct mrpc_prio *ep,
					 const struct mrpc_prio_peer *peer, u64 msg, bool rx);
bool mrpc_prio_rank_ready(struct mrpc_prio *ep, struct mrpc_prio_rank *r, u8 priority);

static inline void mrpc_prio_drop(struct mrpc_prio *ep, u32 drop)
{
	ep->stats.drops[drop]++;
}

#endif /* MRPC_LIB_PRIO_TABLE_H */
