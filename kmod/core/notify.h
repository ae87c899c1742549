/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_NOTIFY_H
#define MRPC_CORE_NOTIFY_H

/* The generic netlink family; uapi/linux/mrpc_netlink.h. */
#include <linux/mrpc_netlink.h>
#include <linux/types.h>

struct mrpc_conn;
struct mrpc_domain;
struct mrpc_engine;
struct mrpc_engine_ops;
struct mrpc_listener;
struct mrpc_placement;
struct mrpc_session;
struct net;

/* What happened; the command of the notification. */
enum mrpc_event {
	MRPC_EVENT_SESSION_OPEN = MRPC_CMD_SESSION_OPEN_NTF,
	MRPC_EVENT_SESSION_CLOSE = MRPC_CMD_SESSION_CLOSE_NTF,
	MRPC_EVENT_CONN_OPEN = MRPC_CMD_CONN_OPEN_NTF,
	MRPC_EVENT_CONN_CLOSE = MRPC_CMD_CONN_CLOSE_NTF,
	MRPC_EVENT_LISTENER_OPEN = MRPC_CMD_SERVICE_OPEN_NTF,
	MRPC_EVENT_LISTENER_CLOSE = MRPC_CMD_SERVICE_CLOSE_NTF,
	MRPC_EVENT_ENGINE_ADD = MRPC_CMD_ENGINE_ADD_NTF,
	MRPC_EVENT_ENGINE_SET = MRPC_CMD_ENGINE_SET_NTF,
	MRPC_EVENT_ENGINE_DEL = MRPC_CMD_ENGINE_DEL_NTF,
	MRPC_EVENT_EGRESS_SET = MRPC_CMD_EGRESS_SET_NTF,
	MRPC_EVENT_EGRESS_DEL = MRPC_CMD_EGRESS_DEL_NTF,
	MRPC_EVENT_EGRESS_EXPIRE = MRPC_CMD_EGRESS_EXPIRE_NTF,
	MRPC_EVENT_POLICY_ATTACH = MRPC_CMD_POLICY_ATTACH_NTF,
	MRPC_EVENT_POLICY_REPLACE = MRPC_CMD_POLICY_REPLACE_NTF,
	MRPC_EVENT_POLICY_DETACH = MRPC_CMD_POLICY_DETACH_NTF,
};

void mrpc_notify_session(struct mrpc_session *session, u8 event);
void mrpc_notify_conn(struct mrpc_conn *conn, u8 event);
void mrpc_notify_listener(struct mrpc_listener *l, u8 event);
void mrpc_notify_engine(struct net *net, struct mrpc_placement *p, u8 event);
void mrpc_notify_domain(struct mrpc_domain *d, u8 event);
void mrpc_notify_policy(const struct mrpc_engine_ops *ops, u8 event);
void mrpc_notify_fault(struct mrpc_engine *e, const char *what, const char *detail);

int mrpc_netlink_init(void);
void mrpc_netlink_exit(void);

#endif /* MRPC_CORE_NOTIFY_H */
