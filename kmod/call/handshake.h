/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_HANDSHAKE_H
#define MRPC_CALL_HANDSHAKE_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_frame;
struct mrpc_link;

int mrpc_conn_send_hello(struct mrpc_conn *conn);
int mrpc_link_agree(struct mrpc_link *link, u32 max_message, u32 max_calls);
int mrpc_conn_hello(struct mrpc_conn *conn, const struct mrpc_frame *frame, const u8 *body);

#endif /* MRPC_CALL_HANDSHAKE_H */
