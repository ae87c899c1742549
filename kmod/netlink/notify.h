/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_NOTIFY_H
#define MRPC_NETLINK_NOTIFY_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_domain;
struct mrpc_engine;
struct mrpc_engine_ops;
struct mrpc_listener;
struct mrpc_placement;
struct mrpc_session;
struct net;

void mrpc_notify_session(struct mrpc_session *session, u8 event);
void mrpc_notify_conn(struct mrpc_conn *conn, u8 event);
void mrpc_notify_listener(struct mrpc_listener *l, u8 event);
void mrpc_notify_engine(struct net *net, struct mrpc_placement *p, u8 event);
void mrpc_notify_domain(struct mrpc_domain *d, u8 event);
void mrpc_notify_fault(struct mrpc_engine *e, const char *what, const char *detail);
void mrpc_notify_policy(const struct mrpc_engine_ops *ops, u8 event);

#endif /* MRPC_NETLINK_NOTIFY_H */
