/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sink, for those who deliver what the engines kept: call/receive_staged.c.
 */
#ifndef MRPC_CALL_RECEIVE_H
#define MRPC_CALL_RECEIVE_H

#include <linux/types.h>

struct mrpc_arrival;
struct mrpc_call;
struct mrpc_conn;

void mrpc_sink_unalloc(struct mrpc_conn *conn);
void mrpc_sink_place(struct mrpc_conn *conn, const u8 *prefix);
void mrpc_sink_skip(struct mrpc_conn *conn);
int mrpc_sink_refuse(struct mrpc_conn *conn, struct mrpc_call *call, u16 status,
		     const char *detail);
int mrpc_sink_fail_reply(struct mrpc_conn *conn, u64 id, u16 status, const char *detail);
void mrpc_arrival_place(struct mrpc_arrival *a, const u8 *prefix);
void mrpc_arrival_done(struct mrpc_conn *conn, struct mrpc_arrival *a);

#endif /* MRPC_CALL_RECEIVE_H */
