/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CONN_CLOSE_H
#define MRPC_CONN_CLOSE_H

#include <linux/types.h>

struct mrpc_conn;
struct work_struct;

void mrpc_conn_close_work(struct work_struct *work);
void mrpc_conn_bye(struct mrpc_conn *conn);
void mrpc_conn_deny_calls(struct mrpc_conn *conn);

#endif /* MRPC_CONN_CLOSE_H */
