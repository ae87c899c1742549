// SPDX-License-Identifier: GPL-2.0
/* Set-up of the replica layer when the module is loaded. */
#include "core/carrier.h"
#include "replica/egress.h"
#include "replica/init.h"
#include "replica/link.h"
#include "replica/set.h"

static const struct mrpc_carrier_ops mrpc_replica_carrier_ops = {
	.joined		= mrpc_replica_join,
	.place		= mrpc_replica_place,
	.outcome	= mrpc_replica_outcome,
	.down		= mrpc_replica_down,
	.free		= mrpc_replica_free,
	.parent_placed	= mrpc_replicas_place,
	.parent_closed	= mrpc_replicas_end,
};

/**
 * mrpc_replica_init() - lower layers tell the replica layer of its links from now on
 *
 * Context: module load, before the first session.
 */
void mrpc_replica_init(void)
{
	mrpc_carrier_ops = &mrpc_replica_carrier_ops;
}
