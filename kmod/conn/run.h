/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CONN_RUN_H
#define MRPC_CONN_RUN_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_qp;

void mrpc_datapath_run(struct mrpc_conn *conn, struct mrpc_qp *qp);
void mrpc_datapath_purge(struct mrpc_conn *conn);

/* call/tx.c */
void mrpc_datapath_init(struct mrpc_conn *conn);

#endif /* MRPC_CONN_RUN_H */
