/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CONN_TIMER_H
#define MRPC_CONN_TIMER_H

#include <linux/types.h>

struct mrpc_conn;

void mrpc_conn_timeout(struct mrpc_conn *conn);

#endif /* MRPC_CONN_TIMER_H */
