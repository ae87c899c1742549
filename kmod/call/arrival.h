/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CALL_ARRIVAL_H
#define MRPC_CALL_ARRIVAL_H

#include <linux/types.h>

#include "lib/message/wire.h"

struct mrpc_arrival;
struct mrpc_call;
struct mrpc_conn;
struct mrpc_link;

u64 mrpc_block_len(const struct mrpc_frame *f, bool times);
void mrpc_sink_unalloc(struct mrpc_conn *conn);
void mrpc_arrival_place(struct mrpc_arrival *a, const u8 *prefix);
int mrpc_sink_refuse(struct mrpc_conn *conn, struct mrpc_call *call, u16 status,
		     const char *detail);
int mrpc_sink_end_call(struct mrpc_link *link, u64 id, u16 status, const char *detail,
		       bool unsent);
int mrpc_sink_fail_reply(struct mrpc_conn *conn, u64 id, u16 status, const char *detail);
void mrpc_arrival_reply(struct mrpc_conn *conn, struct mrpc_arrival *a);
void mrpc_arrival_done(struct mrpc_conn *conn, struct mrpc_arrival *a);

#endif /* MRPC_CALL_ARRIVAL_H */
