/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: how much a path takes in one packet. */
#ifndef MRPC_LIB_PRIO_PATH_H
#define MRPC_LIB_PRIO_PATH_H

#include "lib/prio/types.h"

u32 mrpc_prio_path_first(const struct mrpc_prio_tx *tx);
u32 mrpc_prio_path_len(const struct mrpc_prio_tx *tx, u32 from, u32 len);
void mrpc_prio_path_raise(struct mrpc_prio_peer *peer, u64 now);
void mrpc_prio_path_seen(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 here, u64 now);
void mrpc_prio_path_missing(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 from, u32 to,
			    u64 now);

#endif /* MRPC_LIB_PRIO_PATH_H */
