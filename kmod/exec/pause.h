/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EXEC_PAUSE_H
#define MRPC_EXEC_PAUSE_H

#include <linux/types.h>

struct mrpc_conn;

void mrpc_datapath_resume(struct mrpc_conn *conn, bool all);

/* exec/pause.c */
int mrpc_datapath_pause(struct mrpc_conn *conn, bool patient);
int mrpc_datapath_hold(struct mrpc_conn *conn);
void mrpc_datapath_release(struct mrpc_conn *conn);

#endif /* MRPC_EXEC_PAUSE_H */
