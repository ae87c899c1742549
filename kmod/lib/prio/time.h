/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: how long a packet and its answer take. */
#ifndef MRPC_LIB_PRIO_TIME_H
#define MRPC_LIB_PRIO_TIME_H

#include "lib/prio/types.h"

void mrpc_prio_peer_arm(struct mrpc_prio *ep, struct mrpc_prio_peer *peer);
void mrpc_prio_peer_rtt(struct mrpc_prio_peer *peer, u64 sample, u64 now);
void mrpc_prio_peer_late(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 tries,
			 u64 now);
void mrpc_prio_peer_cut(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u16 *scale,
			u64 *last, u64 now);
void mrpc_prio_peer_grow(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u16 *scale,
			 u64 *last, u64 now);
u64 mrpc_prio_rto(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries);
u64 mrpc_prio_rto_apart(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries);
u64 mrpc_prio_rto_vain(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries,
		       const struct mrpc_prio_vain *vain);
void mrpc_prio_vain_count(struct mrpc_prio_vain *vain, const struct mrpc_prio_peer *peer,
			  bool *counts, bool in_vain);
u64 mrpc_prio_pto(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries);

#endif /* MRPC_LIB_PRIO_TIME_H */
