/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_CARRY_H
#define MRPC_CALL_CARRY_H

#include <linux/types.h>


struct mrpc_call;
struct mrpc_conn;
struct mrpc_rpc;

/* carry.c: calls that another connection's link carries */
int mrpc_carry(struct mrpc_call *call, struct mrpc_conn *link);
void mrpc_carry_undo(struct mrpc_call *call);
void mrpc_carry_send(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
void mrpc_carry_cancel(struct mrpc_call *cancel);
void mrpc_carry_flush(struct mrpc_conn *conn);
void mrpc_carry_done(struct mrpc_conn *link, struct mrpc_call *call, u16 status);
void mrpc_carry_fail(struct mrpc_conn *link, struct mrpc_call *call, u16 status,
		     const char *detail, bool unsent);
void mrpc_carry_fail_all(struct mrpc_conn *link);

#endif /* MRPC_CALL_CARRY_H */
