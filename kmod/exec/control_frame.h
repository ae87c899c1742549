/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EXEC_CONTROL_FRAME_H
#define MRPC_EXEC_CONTROL_FRAME_H

#include <linux/types.h>


struct mrpc_call;
struct mrpc_conn;

struct mrpc_call *mrpc_control_new(struct mrpc_conn *conn, u8 type, u64 call_id, const void *body,
				   u32 len);
void mrpc_control_submit(struct mrpc_conn *conn, struct mrpc_call *call);
int mrpc_control_send(struct mrpc_conn *conn, u8 type, u64 call_id, const void *body,
			     u32 len);
int mrpc_conn_send_control(struct mrpc_conn *conn, u8 type, u64 call_id);
int mrpc_conn_send_cancel(struct mrpc_conn *conn, struct mrpc_call *target);
int mrpc_conn_announce(struct mrpc_conn *conn);

#endif /* MRPC_EXEC_CONTROL_FRAME_H */
