/* SPDX-License-Identifier: GPL-2.0 */
/* The prio transport: what operators see. */
#ifndef MRPC_TRANSPORTS_PRIO_STATS_H
#define MRPC_TRANSPORTS_PRIO_STATS_H

#include "transports/prio/host.h"

int prio_stats(struct net *net, mrpc_stat_emit emit, void *ctx);

#endif /* MRPC_TRANSPORTS_PRIO_STATS_H */
