/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: its settings. */
#ifndef MRPC_TRANSPORTS_PRIO_PARAMS_H
#define MRPC_TRANSPORTS_PRIO_PARAMS_H

#include "transports/prio/host.h"

void prio_rule(struct mrpc_prio_rule *rule);
u8 prio_dscp(u32 class);
u32 prio_skb_priority(u32 class);
void prio_params_init(void (*changed)(void));

#endif /* MRPC_TRANSPORTS_PRIO_PARAMS_H */
