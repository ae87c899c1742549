/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_TX_H
#define MRPC_CALL_TX_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_link;
struct mrpc_rpc;

void mrpc_link_dress(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_tx_done(struct mrpc_conn *conn, struct mrpc_rpc *rpc);

/* call/tx.c: what happens to rpcs behind the engines; owner of the transmit claim */
void mrpc_tx_push(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_tx_out(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_tx_rejected(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_tx_drop(struct mrpc_conn *conn);
struct mrpc_rpc *mrpc_tx_next(struct mrpc_link *link, struct mrpc_rpc *rpc, u64 bytes);
void mrpc_link_failed(struct mrpc_conn *conn, int err, const char *why);
void mrpc_tx_run(struct mrpc_conn *conn);
void mrpc_datapath_tx(struct mrpc_conn *conn);

#endif /* MRPC_CALL_TX_H */
