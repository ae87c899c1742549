/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_HANDSHAKE_H
#define MRPC_CALL_HANDSHAKE_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_frame;

int mrpc_conn_send_hello(struct mrpc_conn *conn);
int mrpc_conn_hello(struct mrpc_conn *conn, const struct mrpc_frame *frame, const u8 *body);

#endif /* MRPC_CALL_HANDSHAKE_H */
