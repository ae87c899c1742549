/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_CONTROL_H
#define MRPC_CALL_CONTROL_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_frame;

int mrpc_conn_control(struct mrpc_conn *conn, const struct mrpc_frame *frame);

#endif /* MRPC_CALL_CONTROL_H */
