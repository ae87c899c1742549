/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_RECEIVE_STAGED_H
#define MRPC_CALL_RECEIVE_STAGED_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_rpc;
struct mrpc_rx;

void mrpc_rx_out(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_rx_rejected(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_rx_drop(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_rx_cut(struct mrpc_conn *conn, struct mrpc_rx *rx);

/* call/receive_staged.c */
int mrpc_rx_enter(struct mrpc_conn *conn, const u8 *prefix);
int mrpc_rx_carry(struct mrpc_conn *link, const u8 *prefix);
void mrpc_rx_take(struct mrpc_conn *conn);
void mrpc_rx_purge(struct mrpc_conn *conn);
void mrpc_rx_arrived(struct mrpc_conn *conn);

#endif /* MRPC_CALL_RECEIVE_STAGED_H */
