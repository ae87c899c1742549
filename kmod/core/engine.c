// SPDX-License-Identifier: GPL-2.0
/* What engines can ask of the datapath that they are on. */
#include <linux/compiler.h>
#include <linux/export.h>

#include "core/conn.h"
#include "core/engine.h"
#include "core/rpc.h"

/**
 * mrpc_engine_reject() - reject an rpc
 * @e: the engine
 * @dir: the direction it works in
 * @from: the queue that @rpc is in
 * @rpc: the rpc
 * @status: enum mrpc_status, not OK
 * @detail: a sentence for the caller, read after do_work() has returned: memory of
 *	the instance or its group, or static
 *
 * A request ends with the status: at its own host if it is on its way out, otherwise by a reply. A
 * reply is replaced by the status. Nothing of the message is passed on.
 */
void mrpc_engine_reject(struct mrpc_engine *e, enum mrpc_direction dir, struct mrpc_queue *from,
			struct mrpc_rpc *rpc, u16 status, const char *detail)
{
	rpc->status = status;
	rpc->detail = detail;
	e->stats[dir].rejected++;
	mrpc_queue_move(from, rpc, &e->conn->dp.path[dir].rejected);
}
EXPORT_SYMBOL_GPL(mrpc_engine_reject);

/**
 * mrpc_engine_hint() - tell the rank of the latest message to the runtime
 * @e: an engine with MRPC_ENGINE_RANKS, which has ranked the message
 * @rank: its rank
 *
 * A runtime orders its datapaths by it. Context: owner of the transmit claim.
 */
void mrpc_engine_hint(const struct mrpc_engine *e, u8 rank)
{
	WRITE_ONCE(e->conn->exec.hint.priority, rank);
}
EXPORT_SYMBOL_GPL(mrpc_engine_hint);
