/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_CONN_H
#define LIBMRPC_CONN_H

#include "session.h"

/**
 * struct mrpc_conn - one connection that this side made
 * @session: whose
 * @end: with the session
 * @id: the kernel's number
 * @max_calls: calls that the kernel takes at a time
 * @nr: how many @services
 * @services: in the order of the kernel's numbering
 */
struct mrpc_conn {
	struct mrpc_session *session;
	struct session_end end;
	u32 id;
	u32 max_calls;
	u32 nr;
	const struct mrpc_service_desc *services[];
};

int bind_services(struct mrpc_session *session, const struct mrpc_service_desc *const services[],
		  u32 nr, struct mrpc_connect *arg);

#endif /* LIBMRPC_CONN_H */
