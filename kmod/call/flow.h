/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_FLOW_H
#define MRPC_CALL_FLOW_H

#include <linux/types.h>

struct mrpc_call;
struct mrpc_conn;

struct mrpc_call *mrpc_flow_find(struct mrpc_conn *conn, u64 id, bool *known);
void mrpc_flow_end(struct mrpc_call *call);
void mrpc_flow_fail(struct mrpc_call *call, u16 status, const char *detail);

#endif /* MRPC_CALL_FLOW_H */
