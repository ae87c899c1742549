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

/**
 * struct mrpc_notify_ops - what tells operators of events
 *
 * The netlink layer provides it: lower layers know no netlink. Each may sleep.
 *
 * @session: a session has been opened or closed
 * @conn: a connection
 * @listener: a listener
 * @engine: a placement was added, set or deleted
 * @domain: an egress domain was set, deleted, or expired a grant
 * @fault: an engine misbehaved
 * @policy: a policy was attached, replaced or detached
 */
struct mrpc_notify_ops {
	void (*session)(struct mrpc_session *session, u8 event);
	void (*conn)(struct mrpc_conn *conn, u8 event);
	void (*listener)(struct mrpc_listener *l, u8 event);
	void (*engine)(struct net *net, struct mrpc_placement *p, u8 event);
	void (*domain)(struct mrpc_domain *d, u8 event);
	void (*fault)(struct mrpc_engine *e, const char *what, const char *detail);
	void (*policy)(const struct mrpc_engine_ops *ops, u8 event);
};

/* Set once, before the module has its first session; see mrpc_netlink_init(). */
extern const struct mrpc_notify_ops *mrpc_notify_ops;

static inline void mrpc_notify_session(struct mrpc_session *session, u8 event)
{
	if (mrpc_notify_ops)
		mrpc_notify_ops->session(session, event);
}

static inline void mrpc_notify_conn(struct mrpc_conn *conn, u8 event)
{
	if (mrpc_notify_ops)
		mrpc_notify_ops->conn(conn, event);
}

static inline void mrpc_notify_listener(struct mrpc_listener *l, u8 event)
{
	if (mrpc_notify_ops)
		mrpc_notify_ops->listener(l, event);
}

static inline void mrpc_notify_engine(struct net *net, struct mrpc_placement *p, u8 event)
{
	if (mrpc_notify_ops)
		mrpc_notify_ops->engine(net, p, event);
}

static inline void mrpc_notify_domain(struct mrpc_domain *d, u8 event)
{
	if (mrpc_notify_ops)
		mrpc_notify_ops->domain(d, event);
}

static inline void mrpc_notify_fault(struct mrpc_engine *e, const char *what, const char *detail)
{
	if (mrpc_notify_ops)
		mrpc_notify_ops->fault(e, what, detail);
}

static inline void mrpc_notify_policy(const struct mrpc_engine_ops *ops, u8 event)
{
	if (mrpc_notify_ops)
		mrpc_notify_ops->policy(ops, event);
}

#endif /* MRPC_CORE_NOTIFY_H */
