/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EXEC_SUBMIT_H
#define MRPC_EXEC_SUBMIT_H

#include <linux/types.h>

#include "core/conn.h"

struct mrpc_rpc;

#define MRPC_TX_BUDGET	256	/* rpcs before others get a turn */

/* An rpc is in the making: a drain waits for it although it is in no table. */
static inline void mrpc_tx_reserve(struct mrpc_conn *conn)
{
	atomic_inc(&conn->dp.tx_queued);
}

void mrpc_tx_unreserve(struct mrpc_conn *conn);
void mrpc_tx_hint(struct mrpc_conn *conn, const struct mrpc_rpc *rpc);
void mrpc_tx_submit(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_tx_submit_reserved(struct mrpc_conn *conn, struct mrpc_rpc *rpc);

#endif /* MRPC_EXEC_SUBMIT_H */
