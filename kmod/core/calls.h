/* SPDX-License-Identifier: GPL-2.0 */
/* The calls of a connection that are in flight. */
#ifndef MRPC_CORE_CALLS_H
#define MRPC_CORE_CALLS_H

#include <linux/types.h>

#include "lib/ds/deadline.h"
#include "lib/message/calltable.h"

struct mrpc_call;
struct mrpc_conn;

/**
 * struct mrpc_calls - calls in flight; embedded in struct mrpc_conn
 *
 * Under mrpc_conn.lock, which is the connection's and not of this struct: a call enters a table
 * only while the state of the connection allows it. A dump may read the numbers without it.
 */
struct mrpc_calls {
	/* Of a connection that has connected. Its slots grow with their use. */
	struct mrpc_call_table client;
	/* Of an accepted one. Its slots grow with their use. */
	struct mrpc_serve_table server;
	/* Of the calls in the table that is used; as many as it has slots. */
	struct mrpc_deadlines deadlines;
};

int mrpc_calls_init(struct mrpc_calls *calls, bool accepted);
void mrpc_calls_free(struct mrpc_calls *calls);
int mrpc_calls_grow(struct mrpc_conn *conn, u32 need);
struct mrpc_call *mrpc_calls_finish(struct mrpc_conn *conn, u64 id, u16 status, bool *known);
struct mrpc_call *mrpc_calls_abandon(struct mrpc_conn *conn, u64 id);
struct mrpc_call *mrpc_calls_answer(struct mrpc_conn *conn, u64 id);

#endif /* MRPC_CORE_CALLS_H */
