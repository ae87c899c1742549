/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_CONN_H
#define LIBMRPC_CONN_H

#include "session.h"

struct channel;

/**
 * struct mrpc_conn - one connection that this side made, or a channel
 * @session: whose
 * @end: with the session
 * @channel: what makes its connections, a reference; NULL: it is one connection
 * @id: the kernel's number; 0: it is a channel
 * @max_calls: calls that the kernel takes at a time; of no use to a channel
 * @nr: how many @services
 * @services: in the order of the kernel's numbering
 */
struct mrpc_conn {
	struct mrpc_session *session;
	struct session_end end;
	struct channel *channel;
	u32 id;
	u32 max_calls;
	u32 nr;
	const struct mrpc_service_desc *services[];
};

int bind_services(struct mrpc_session *session, const struct mrpc_service_desc *const services[],
		  u32 nr, struct mrpc_connect *arg);

/* One without a connection yet; free() ends it. NULL: the error is set. */
struct mrpc_conn *conn_new(struct mrpc_session *session,
			   const struct mrpc_service_desc *const services[], u32 nr);
/* Frees what this library knows of a connection. The kernel's goes on: it belongs to a group. */
void conn_give(struct mrpc_conn *conn);
/* It is complete: from now on it ends with its session. */
void conn_made(struct mrpc_conn *conn);

#endif /* LIBMRPC_CONN_H */
