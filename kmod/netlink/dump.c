// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: dumps of what hangs on sessions.
 *
 * A dump remembers the number of the last session that it has finished, and
 * where it is in the next one. Dumps go upwards, and so do numbers, so whatever
 * comes or goes between two messages, what stays is seen exactly once.
 */
#include "core/conn.h"
#include "core/listener.h"
#include "core/qp.h"
#include "core/session.h"
#include "netlink/dump.h"
#include "netlink/netlink.h"
#include "netlink/session.h"

/**
 * mrpc_nl_session() - the session that a request names
 * @info: the request
 * @attr: the attribute with the number; it is there
 *
 * Return: the session with a reference, or NULL and an explanation in the
 * request's extended acknowledgement.
 */
struct mrpc_session *mrpc_nl_session(const struct genl_info *info, int attr)
{
	u32 id = nla_get_u32(info->attrs[attr]);
	struct mrpc_session *session = mrpc_session_find(genl_info_net(info), id);

	if (session)
		return session;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[attr],
				"there is no session %u in this network namespace", id);
	return NULL;
}

/**
 * mrpc_nl_session_with() - the session of an object that a request names
 * @info: the request
 * @attr_session: the attribute with the number of the session
 * @attr: the attribute with that of the object
 * @id: out: the number of the object
 *
 * Return: the session with a reference; or an ERR_PTR and an explanation.
 */
struct mrpc_session *mrpc_nl_session_with(const struct genl_info *info, int attr_session, int attr,
					  u32 *id)
{
	if (GENL_REQ_ATTR_CHECK(info, attr_session) || GENL_REQ_ATTR_CHECK(info, attr))
		return ERR_PTR(-EINVAL);
	*id = nla_get_u32(info->attrs[attr]);
	return mrpc_nl_session(info, attr_session) ?: ERR_PTR(-ENOENT);
}

/**
 * mrpc_nl_start() - begin a dump
 * @cb: the dump
 *
 * The number of the session that filters is attribute 1 of every set.
 * Return: 0 or -ENOENT.
 */
int mrpc_nl_start(struct netlink_callback *cb)
{
	struct mrpc_nl_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_session *session;

	BUILD_BUG_ON(sizeof(*cur) > sizeof(cb->ctx));
	BUILD_BUG_ON(MRPC_A_SESSION_ID != 1 || MRPC_A_QP_SESSION != 1 ||
		     MRPC_A_CONN_SESSION != 1 || MRPC_A_SERVICE_SESSION != 1 ||
		     MRPC_A_DATAPATH_SESSION != 1 || MRPC_A_GROUP_SESSION != 1);
	cb->min_dump_alloc = MRPC_NL_SIZE;
	memset(cur, 0, sizeof(*cur));
	if (!info->attrs[1])
		return 0;
	session = mrpc_nl_session(info, 1);
	if (!session)
		return -ENOENT;
	cur->only = session->id;
	cur->done = session->id - 1;
	mrpc_session_put(session);
	return 0;
}

/**
 * mrpc_nl_dump() - go on with a dump of what hangs on sessions
 * @skb: where to
 * @cb: the dump, begun by mrpc_nl_start()
 * @each: adds what a session has, from the cursor on
 *
 * Return: 0 at the end, or what @each returned, as -EMSGSIZE.
 */
int mrpc_nl_dump(struct sk_buff *skb, struct netlink_callback *cb, mrpc_nl_each each)
{
	struct mrpc_nl_cursor *cur = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_session *session;
	int err = 0;
	u32 id;

	while (!err && (session = mrpc_session_next(genl_info_net(info), cur->done))) {
		id = session->id;
		if (!cur->only || cur->only == id)
			err = each(skb, info, session, cur);
		mrpc_session_put(session);
		if (err)
			break;
		cur->done = cur->only ? U32_MAX : id;
		cur->id = 0;
		cur->index = 0;
		cur->conns = false;
		cond_resched();
	}
	return err;
}

static int mrpc_nl_each_session(struct sk_buff *skb, const struct genl_info *info,
				struct mrpc_session *session, struct mrpc_nl_cursor *cur)
{
	return mrpc_nl_fill_session(skb, info, session);
}

int mrpc_nl_session_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mrpc_nl_dump(skb, cb, mrpc_nl_each_session);
}

static int mrpc_nl_each_qp(struct sk_buff *skb, const struct genl_info *info,
			   struct mrpc_session *session, struct mrpc_nl_cursor *cur)
{
	struct mrpc_qp *qp;
	int err = 0;

	while (!err && (qp = mrpc_qp_find(session, cur->id))) {
		err = mrpc_nl_fill_qp(skb, info, qp);
		if (!err)
			cur->id++;
	}
	return err;
}

int mrpc_nl_qp_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mrpc_nl_dump(skb, cb, mrpc_nl_each_qp);
}

/* mrpc_nl_each for connections: @fill adds one, or nothing and returns -EMSGSIZE. */
int mrpc_nl_conns(struct sk_buff *skb, const struct genl_info *info,
		  struct mrpc_session *session, struct mrpc_nl_cursor *cur,
		  int (*fill)(struct sk_buff *skb, const struct genl_info *info,
			      struct mrpc_conn *conn))
{
	struct mrpc_conn *conn;
	int err = 0;

	while (!err && (conn = mrpc_conn_next(session, &cur->id))) {
		err = fill(skb, info, conn);
		mrpc_conn_put(conn);
		if (!err)
			cur->id++;
	}
	return err;
}

static int mrpc_nl_each_conn(struct sk_buff *skb, const struct genl_info *info,
			     struct mrpc_session *session, struct mrpc_nl_cursor *cur)
{
	return mrpc_nl_conns(skb, info, session, cur, mrpc_nl_fill_conn);
}

int mrpc_nl_conn_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mrpc_nl_dump(skb, cb, mrpc_nl_each_conn);
}

static int mrpc_nl_each_datapath(struct sk_buff *skb, const struct genl_info *info,
				 struct mrpc_session *session, struct mrpc_nl_cursor *cur)
{
	return mrpc_nl_conns(skb, info, session, cur, mrpc_nl_fill_datapath);
}

int mrpc_nl_datapath_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mrpc_nl_dump(skb, cb, mrpc_nl_each_datapath);
}

static int mrpc_nl_put_listener(struct sk_buff *skb, const struct genl_info *info,
				struct mrpc_listener *l, struct mrpc_nl_cursor *cur)
{
	int err = 0;

	while (!err && cur->index < l->nr_services) {
		err = mrpc_nl_fill_served(skb, info, l, cur->index);
		if (!err)
			cur->index++;
	}
	return err;
}

/* Of accepted connections the listener's services are shown, of links their connection's. */
static int mrpc_nl_put_client(struct sk_buff *skb, const struct genl_info *info,
			      struct mrpc_conn *conn, struct mrpc_nl_cursor *cur)
{
	int err = 0;

	while (!err && !conn->link.accepted && !conn->replica && cur->index < conn->services.nr) {
		err = mrpc_nl_fill_called(skb, info, conn, cur->index);
		if (!err)
			cur->index++;
	}
	return err;
}

/* The services of what is at the cursor, if it is still there, and of the next ones. */
static int mrpc_nl_each_service(struct sk_buff *skb, const struct genl_info *info,
				struct mrpc_session *session, struct mrpc_nl_cursor *cur)
{
	unsigned long id = cur->id;
	struct mrpc_listener *l;
	struct mrpc_conn *conn;
	int err = 0;

	while (!cur->conns && (l = mrpc_listener_next(session, &id))) {
		if (id != cur->id)
			cur->index = 0;
		cur->id = id;
		err = mrpc_nl_put_listener(skb, info, l, cur);
		mrpc_listener_put(l);
		if (err)
			return err;
		cur->id = ++id;
		cur->index = 0;
	}
	if (!cur->conns) {
		cur->conns = true;
		cur->index = 0;
		id = 0;
		cur->id = 0;
	}
	while ((conn = mrpc_conn_next(session, &id))) {
		if (id != cur->id)
			cur->index = 0;
		cur->id = id;
		err = mrpc_nl_put_client(skb, info, conn, cur);
		mrpc_conn_put(conn);
		if (err)
			return err;
		cur->id = ++id;
		cur->index = 0;
	}
	return 0;
}

int mrpc_nl_service_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mrpc_nl_dump(skb, cb, mrpc_nl_each_service);
}

/**
 * mrpc_nl_walk() - look at every connection of a network namespace
 * @net: the network namespace
 * @each: called with each, which is referenced meanwhile; not 0 ends the walk
 * @ctx: for @each
 *
 * Context: process; may sleep.
 * Return: 0, or what @each returned.
 */
int mrpc_nl_walk(struct net *net, int (*each)(struct mrpc_conn *conn, void *ctx), void *ctx)
{
	struct mrpc_session *session;
	struct mrpc_conn *conn;
	u32 after = 0;
	int err = 0;

	while (!err && (session = mrpc_session_next(net, after))) {
		unsigned long id = 0;

		after = session->id;
		while (!err && (conn = mrpc_conn_next(session, &id))) {
			err = each(conn, ctx);
			mrpc_conn_put(conn);
			id++;
			cond_resched();
		}
		mrpc_session_put(session);
	}
	return err;
}
