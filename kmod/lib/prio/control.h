/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: packets without payload. */
#ifndef MRPC_LIB_PRIO_CONTROL_H
#define MRPC_LIB_PRIO_CONTROL_H

#include "lib/prio/types.h"

void mrpc_prio_control(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		       const struct mrpc_prio_packet *p, u64 now);

#endif /* MRPC_LIB_PRIO_CONTROL_H */
