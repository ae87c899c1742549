/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CONN_CREATE_H
#define MRPC_CONN_CREATE_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_listener;
struct mrpc_session;
struct mrpc_transport_ops;

u64 mrpc_conn_keepalive_ns(u64 us);
struct mrpc_conn *mrpc_conn_new(struct mrpc_session *session,
				const struct mrpc_transport_ops *ops, struct mrpc_listener *l);
int mrpc_conn_publish(struct mrpc_conn *conn);

#endif /* MRPC_CONN_CREATE_H */
