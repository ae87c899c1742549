/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: which bytes of a message are here. */
#ifndef MRPC_LIB_PRIO_GAPS_H
#define MRPC_LIB_PRIO_GAPS_H

#include "lib/prio/types.h"

bool mrpc_prio_gaps_new(const struct mrpc_prio_rx *rx, struct mrpc_prio_range *r);
bool mrpc_prio_gaps_add(struct mrpc_prio *ep, struct mrpc_prio_rx *rx,
			const struct mrpc_prio_range *r);
void mrpc_prio_gaps_free(struct mrpc_prio *ep, struct mrpc_prio_rx *rx);
u32 mrpc_prio_gaps_far(const struct mrpc_prio *ep, const struct mrpc_prio_rx *rx);
u32 mrpc_prio_gaps_missing(const struct mrpc_prio_rx *rx, u32 from, u32 to);
u32 mrpc_prio_gaps_ranges(const struct mrpc_prio_rx *rx, u32 from, u32 to,
			  struct mrpc_prio_range *r, u32 max);

#endif /* MRPC_LIB_PRIO_GAPS_H */
