// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "mrpc": what it can be asked, and what it tells.
 * Documentation/netlink/specs/mrpc.yaml describes it, and uapi/linux/mrpc_netlink.h
 * is made from that by the kernel's tools/net/ynl/ynl-gen-c.py.
 *
 * Everybody's activity is in it, so reading needs CAP_NET_ADMIN in the user
 * namespace that owns the reader's network namespace, and shows that network
 * namespace only.
 */
#include "conn/close.h"
#include "core/conn.h"
#include "core/qp.h"
#include "core/schema.h"
#include "core/session.h"
#include "netlink/dump.h"
#include "netlink/egress.h"
#include "netlink/engine.h"
#include "netlink/engine_change.h"
#include "netlink/engine_type.h"
#include "netlink/family.h"
#include "netlink/group.h"
#include "netlink/keyset.h"
#include "netlink/msg.h"
#include "netlink/netlink.h"
#include "netlink/notify.h"
#include "netlink/queue.h"
#include "netlink/runtime.h"
#include "netlink/schema.h"
#include "netlink/series.h"
#include "netlink/session.h"
#include "netlink/strategy.h"
#include "netlink/transport.h"
/*
 * The generic netlink family "mrpc": what it can be asked, and what it tells.
 * Documentation/netlink/specs/mrpc.yaml describes it, and uapi/linux/mrpc_netlink.h
 * is made from that by the kernel's tools/net/ynl/ynl-gen-c.py.
 *
 * Everybody's activity is in it, so reading needs CAP_NET_ADMIN in the user
 * namespace that owns the reader's network namespace, and shows that network
 * namespace only.
 */
#include <linux/slab.h>

static const struct genl_multicast_group mrpc_nl_groups[] = {
	[MRPC_NL_EVENTS] = {
		.name	= MRPC_MCGRP_EVENTS,
		.flags	= GENL_MCAST_CAP_NET_ADMIN,
	},
};

static int mrpc_nl_session_get(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_session *session;
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_SESSION_ID))
		return -EINVAL;
	session = mrpc_nl_session(info, MRPC_A_SESSION_ID);
	if (!session)
		return -ENOENT;
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_reply(skb, info, mrpc_nl_fill_session(skb, info, session));
	mrpc_session_put(session);
	return err;
}

static int mrpc_nl_qp_get(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_session *session;
	struct mrpc_qp *qp;
	struct sk_buff *skb;
	int err = -ENOMEM;
	u32 id;

	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_QP_SESSION) ||
	    GENL_REQ_ATTR_CHECK(info, MRPC_A_QP_ID))
		return -EINVAL;
	session = mrpc_nl_session(info, MRPC_A_QP_SESSION);
	if (!session)
		return -ENOENT;
	id = nla_get_u32(info->attrs[MRPC_A_QP_ID]);
	qp = mrpc_qp_find(session, id);
	if (!qp) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[MRPC_A_QP_ID],
					"session %u has no queue pair %u", session->id, id);
		err = -ENOENT;
		goto out;
	}
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_reply(skb, info, mrpc_nl_fill_qp(skb, info, qp));
out:
	mrpc_session_put(session);
	return err;
}

/*
 * The connection that a request names: @attr is its number in the session. Return: with a
 * reference, or an ERR_PTR and an explanation.
 */
static struct mrpc_conn *mrpc_nl_conn(struct genl_info *info, int attr_session, int attr)
{
	struct mrpc_session *session;
	struct mrpc_conn *conn;
	u32 id;

	session = mrpc_nl_session_with(info, attr_session, attr, &id);
	if (IS_ERR(session))
		return ERR_CAST(session);
	conn = mrpc_conn_find_any(session, id);
	if (!conn)
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[attr],
					"session %u has no connection %u", session->id, id);
	mrpc_session_put(session);
	return conn ?: ERR_PTR(-ENOENT);
}

/* A connection, or its datapath. */
static int mrpc_nl_conn_do(struct genl_info *info, int attr_session, int attr,
			   int (*fill)(struct sk_buff *skb, const struct genl_info *info,
				       struct mrpc_conn *conn))
{
	struct mrpc_conn *conn = mrpc_nl_conn(info, attr_session, attr);
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	skb = mrpc_nl_new(0);
	if (skb)
		err = mrpc_nl_reply(skb, info, fill(skb, info, conn));
	mrpc_conn_put(conn);
	return err;
}

static int mrpc_nl_conn_get(struct sk_buff *request, struct genl_info *info)
{
	return mrpc_nl_conn_do(info, MRPC_A_CONN_SESSION, MRPC_A_CONN_ID, mrpc_nl_fill_conn);
}

/* The session keeps the number until the application closes the connection itself. */
static int mrpc_nl_conn_del(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_conn *conn = mrpc_nl_conn(info, MRPC_A_CONN_SESSION, MRPC_A_CONN_ID);

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	mrpc_conn_close(conn, MRPC_UNAVAILABLE, "closed by an operator", false);
	mrpc_conn_put(conn);
	return 0;
}

/* No new calls from now on. The operator sees when those in flight have ended. */
static int mrpc_nl_conn_drain(struct sk_buff *request, struct genl_info *info)
{
	struct mrpc_conn *conn = mrpc_nl_conn(info, MRPC_A_CONN_SESSION, MRPC_A_CONN_ID);
	u8 state;
	int err = 0;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	state = READ_ONCE(conn->state);
	if (state == MRPC_CONN_READY) {
		mrpc_conn_bye(conn);
	} else if (state != MRPC_CONN_DRAINING) {	/* one BYE is enough */
		NL_SET_ERR_MSG_FMT(info->extack, "connection %u is %s: only a ready one can be drained",
				   conn->id, state == MRPC_CONN_CLOSED ? "closed" : "connecting");
		err = -ENOTCONN;
	}
	mrpc_conn_put(conn);
	return err;
}

static int mrpc_nl_datapath_get(struct sk_buff *request, struct genl_info *info)
{
	return mrpc_nl_conn_do(info, MRPC_A_DATAPATH_SESSION, MRPC_A_DATAPATH_CONN,
			       mrpc_nl_fill_datapath);
}

static int mrpc_nl_schema_get(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *id = info->attrs[MRPC_A_SCHEMA_ID];
	struct nlattr *hash = info->attrs[MRPC_A_SCHEMA_HASH];
	struct mrpc_nl_schema found;
	struct sk_buff *skb;
	int err;

	if (!id && !hash) {
		NL_SET_ERR_MSG(info->extack, "a schema's id or hash is needed");
		return -EINVAL;
	}
	err = mrpc_nl_find_schema(genl_info_net(info), id ? nla_get_u32(id) : 0,
				  hash ? nla_data(hash) : NULL, &found);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, id ?: hash,
				    "there is no such schema in this network namespace");
	if (err)
		return err;
	skb = mrpc_nl_new(0);
	err = skb ? mrpc_nl_reply(skb, info, mrpc_nl_fill_schema(skb, info, &found)) : -ENOMEM;
	mrpc_schema_put(found.schema);
	return err;
}

/* -- what can be asked ----------------------------------------------------- */

static const struct nla_policy mrpc_nl_session_policy[] = {
	[MRPC_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy mrpc_nl_qp_policy[] = {
	[MRPC_A_QP_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_QP_ID] = { .type = NLA_U32 },
};

static const struct nla_policy mrpc_nl_conn_policy[] = {
	[MRPC_A_CONN_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_CONN_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy mrpc_nl_service_policy[] = {
	[MRPC_A_SERVICE_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy mrpc_nl_schema_policy[] = {
	[MRPC_A_SCHEMA_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_SCHEMA_HASH] = NLA_POLICY_EXACT_LEN(MRPC_HASH_LEN),
};

/* A filter that we do not know is refused, not ignored. */
static const struct nla_policy mrpc_nl_nothing_policy[] = {
	[1] = { .type = NLA_REJECT },
};

static const struct nla_policy mrpc_nl_method_policy[] = {
	[MRPC_A_METHOD_SCHEMA] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* What a dump of queues can be limited to; what else is said of them is refused. */
static const struct nla_policy mrpc_nl_queues_policy[] = {
	[MRPC_A_QUEUE_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_QUEUE_CONN] = { .type = NLA_REJECT },
	[MRPC_A_QUEUE_DATAPATH] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy mrpc_nl_datapath_policy[] = {
	[MRPC_A_DATAPATH_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_DATAPATH_CONN] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy mrpc_nl_group_policy[] = {
	[MRPC_A_GROUP_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_GROUP_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy mrpc_nl_group_link_policy[] = {
	[MRPC_A_GROUP_LINK_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_GROUP_LINK_GROUP] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy mrpc_nl_group_trace_policy[] = {
	[MRPC_A_GROUP_TRACE_SESSION] = NLA_POLICY_MIN(NLA_U32, 1),
	[MRPC_A_GROUP_TRACE_GROUP] = NLA_POLICY_MIN(NLA_U32, 1),
};

/*
 * Every command on an object that no network namespace owns is checked here, before any
 * work: root of a user namespace has CAP_NET_ADMIN in its own network namespaces only.
 */
static int mrpc_nl_host(struct sk_buff *request, struct netlink_ext_ack *extack)
{
	if (netlink_capable(request, CAP_NET_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "runtimes are the host's: they need CAP_NET_ADMIN in the initial user namespace");
	return -EPERM;
}

static int mrpc_nl_host_pre(const struct genl_split_ops *ops, struct sk_buff *request,
			    struct genl_info *info)
{
	return mrpc_nl_host(request, info->extack);
}

static int mrpc_nl_host_start(struct netlink_callback *cb)
{
	return mrpc_nl_host(cb->skb, cb->extack);
}

#define MRPC_NL_DO(_cmd, _doit, _policy, _max) {			\
	.cmd = (_cmd), .doit = (_doit), .policy = (_policy), .maxattr = (_max), \
	.flags = GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,			\
}
/* A command on what belongs to the whole host. */
#define MRPC_NL_HOST_DO(_cmd, _doit, _policy, _max) {			\
	.cmd = (_cmd), .pre_doit = mrpc_nl_host_pre, .doit = (_doit),	\
	.policy = (_policy), .maxattr = (_max),				\
	.flags = GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,			\
}

#define MRPC_NL_DUMP(_cmd, _start, _dumpit, _done, _policy, _max) {	\
	.cmd = (_cmd), .start = (_start), .dumpit = (_dumpit), .done = (_done), \
	.policy = (_policy), .maxattr = (_max),				\
	.flags = GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,		\
}

static const struct genl_split_ops mrpc_nl_ops[] = {
	MRPC_NL_DO(MRPC_CMD_SESSION_GET, mrpc_nl_session_get,
		   mrpc_nl_session_policy, MRPC_A_SESSION_ID),
	MRPC_NL_DUMP(MRPC_CMD_SESSION_GET, mrpc_nl_start, mrpc_nl_session_dump, NULL,
		     mrpc_nl_session_policy, MRPC_A_SESSION_ID),
	MRPC_NL_DO(MRPC_CMD_QP_GET, mrpc_nl_qp_get,
		   mrpc_nl_qp_policy, MRPC_A_QP_ID),
	MRPC_NL_DUMP(MRPC_CMD_QP_GET, mrpc_nl_start, mrpc_nl_qp_dump, NULL,
		     mrpc_nl_qp_policy, MRPC_A_QP_SESSION),
	MRPC_NL_DO(MRPC_CMD_CONN_GET, mrpc_nl_conn_get,
		   mrpc_nl_conn_policy, MRPC_A_CONN_ID),
	MRPC_NL_DUMP(MRPC_CMD_CONN_GET, mrpc_nl_start, mrpc_nl_conn_dump, NULL,
		     mrpc_nl_conn_policy, MRPC_A_CONN_SESSION),
	MRPC_NL_DUMP(MRPC_CMD_SERVICE_GET, mrpc_nl_start, mrpc_nl_service_dump, NULL,
		     mrpc_nl_service_policy, MRPC_A_SERVICE_SESSION),
	MRPC_NL_DO(MRPC_CMD_SCHEMA_GET, mrpc_nl_schema_get,
		   mrpc_nl_schema_policy, MRPC_A_SCHEMA_HASH),
	MRPC_NL_DUMP(MRPC_CMD_SCHEMA_GET, mrpc_nl_schema_start, mrpc_nl_schema_dump,
		     mrpc_nl_schema_done, mrpc_nl_nothing_policy, 1),
	MRPC_NL_DUMP(MRPC_CMD_METHOD_GET, mrpc_nl_method_start, mrpc_nl_method_dump, NULL,
		     mrpc_nl_method_policy, MRPC_A_METHOD_SCHEMA),
	MRPC_NL_DO(MRPC_CMD_DATAPATH_GET, mrpc_nl_datapath_get,
		   mrpc_nl_datapath_policy, MRPC_A_DATAPATH_CONN),
	MRPC_NL_DUMP(MRPC_CMD_DATAPATH_GET, mrpc_nl_start, mrpc_nl_datapath_dump, NULL,
		     mrpc_nl_datapath_policy, MRPC_A_DATAPATH_SESSION),
	MRPC_NL_DO(MRPC_CMD_ENGINE_TYPE_GET, mrpc_nl_type_get,
		   mrpc_nl_type_policy, MRPC_A_ENGINE_TYPE_VERSION),
	MRPC_NL_DUMP(MRPC_CMD_ENGINE_TYPE_GET, mrpc_nl_type_start, mrpc_nl_type_dump, NULL,
		     mrpc_nl_nothing_policy, 1),
	MRPC_NL_DO(MRPC_CMD_ENGINE_GET, mrpc_nl_engine_get,
		   mrpc_nl_engine_policy, MRPC_A_ENGINE_DATAPATH),
	MRPC_NL_DUMP(MRPC_CMD_ENGINE_GET, mrpc_nl_engine_start, mrpc_nl_engine_dump,
		     mrpc_nl_engine_done, mrpc_nl_nothing_policy, 1),
	MRPC_NL_DO(MRPC_CMD_ENGINE_ADD, mrpc_nl_engine_add,
		   mrpc_nl_add_policy, MRPC_A_ENGINE_PERCENT),
	MRPC_NL_DO(MRPC_CMD_ENGINE_SET, mrpc_nl_engine_set,
		   mrpc_nl_set_policy, MRPC_A_ENGINE_PERCENT),
	MRPC_NL_DO(MRPC_CMD_ENGINE_DEL, mrpc_nl_engine_del,
		   mrpc_nl_set_policy, MRPC_A_ENGINE_PERCENT),
	MRPC_NL_DO(MRPC_CMD_ENGINE_STEP, mrpc_nl_engine_step,
		   mrpc_nl_set_policy, MRPC_A_ENGINE_PERCENT),
	MRPC_NL_DUMP(MRPC_CMD_QUEUE_GET, mrpc_nl_start, mrpc_nl_queue_dump, NULL,
		     mrpc_nl_queues_policy, MRPC_A_QUEUE_DATAPATH),
	MRPC_NL_DO(MRPC_CMD_QUEUE_SET, mrpc_nl_queue_set,
		   mrpc_nl_queue_policy, MRPC_A_QUEUE_PAUSED),
	MRPC_NL_DUMP(MRPC_CMD_RPC_GET, mrpc_nl_rpc_start, mrpc_nl_rpc_dump,
		     mrpc_nl_rpc_done, mrpc_nl_rpc_policy, MRPC_A_RPC_DIR),
	MRPC_NL_HOST_DO(MRPC_CMD_RUNTIME_GET, mrpc_nl_runtime_get,
			mrpc_nl_runtime_policy, MRPC_A_RUNTIME_NAME),
	MRPC_NL_DUMP(MRPC_CMD_RUNTIME_GET, mrpc_nl_host_start, mrpc_nl_runtime_dump, NULL,
		     mrpc_nl_nothing_policy, 1),
	MRPC_NL_HOST_DO(MRPC_CMD_RUNTIME_ADD, mrpc_nl_runtime_add,
			mrpc_nl_runtime_policy, MRPC_A_RUNTIME_DEDICATED),
	MRPC_NL_HOST_DO(MRPC_CMD_RUNTIME_SET, mrpc_nl_runtime_set,
			mrpc_nl_runtime_policy, MRPC_A_RUNTIME_DEDICATED),
	MRPC_NL_HOST_DO(MRPC_CMD_RUNTIME_DEL, mrpc_nl_runtime_del,
			mrpc_nl_runtime_policy, MRPC_A_RUNTIME_NAME),
	MRPC_NL_DUMP(MRPC_CMD_SERIES_GET, mrpc_nl_series_start, mrpc_nl_series_dump, NULL,
		     mrpc_nl_series_policy, MRPC_A_SERIES_DATAPATH),
	MRPC_NL_DUMP(MRPC_CMD_KEYSET_GET, NULL, mrpc_nl_keyset_dump, NULL,
		     mrpc_nl_nothing_policy, 1),
	MRPC_NL_DO(MRPC_CMD_KEYSET_NEW, mrpc_nl_keyset_new,
		   mrpc_nl_keyset_policy, MRPC_A_KEYSET_KIND),
	MRPC_NL_DO(MRPC_CMD_KEYSET_DEL, mrpc_nl_keyset_del,
		   mrpc_nl_keyset_policy, MRPC_A_KEYSET_NAME),
	MRPC_NL_DO(MRPC_CMD_KEYSET_INSERT, mrpc_nl_keyset_insert,
		   mrpc_nl_keyset_policy, MRPC_A_KEYSET_KEY),
	MRPC_NL_DO(MRPC_CMD_KEYSET_REMOVE, mrpc_nl_keyset_remove,
		   mrpc_nl_keyset_policy, MRPC_A_KEYSET_KEY),
	MRPC_NL_DUMP(MRPC_CMD_KEY_GET, mrpc_nl_key_start, mrpc_nl_key_dump, mrpc_nl_key_done,
		     mrpc_nl_keyset_policy, MRPC_A_KEYSET_NAME),
	MRPC_NL_DO(MRPC_CMD_EGRESS_GET, mrpc_nl_egress_get,
		   mrpc_nl_egress_policy, MRPC_A_EGRESS_DEV),
	MRPC_NL_DUMP(MRPC_CMD_EGRESS_GET, NULL, mrpc_nl_egress_dump, NULL,
		     mrpc_nl_nothing_policy, 1),
	MRPC_NL_DO(MRPC_CMD_EGRESS_SET, mrpc_nl_egress_set,
		   mrpc_nl_egress_policy, MRPC_A_EGRESS_RATE),
	MRPC_NL_DO(MRPC_CMD_EGRESS_DEL, mrpc_nl_egress_del,
		   mrpc_nl_egress_policy, MRPC_A_EGRESS_DEV),
	MRPC_NL_DUMP(MRPC_CMD_EGRESS_QUEUE_GET, mrpc_nl_egress_queue_start,
		     mrpc_nl_egress_queue_dump, mrpc_nl_egress_queue_done,
		     mrpc_nl_egress_queue_policy, MRPC_A_EGRESS_QUEUE_DEV),
	MRPC_NL_DUMP(MRPC_CMD_TRANSPORT_GET, mrpc_nl_transport_start, mrpc_nl_transport_dump, NULL,
		     mrpc_nl_transport_policy, MRPC_A_TRANSPORT_NAME),
	MRPC_NL_DO(MRPC_CMD_CONN_DEL, mrpc_nl_conn_del, mrpc_nl_conn_policy, MRPC_A_CONN_ID),
	MRPC_NL_DO(MRPC_CMD_CONN_DRAIN, mrpc_nl_conn_drain, mrpc_nl_conn_policy, MRPC_A_CONN_ID),
	MRPC_NL_DO(MRPC_CMD_GROUP_GET, mrpc_nl_group_get, mrpc_nl_group_policy, MRPC_A_GROUP_ID),
	MRPC_NL_DUMP(MRPC_CMD_GROUP_GET, mrpc_nl_start, mrpc_nl_group_dump, NULL,
		     mrpc_nl_group_policy, MRPC_A_GROUP_SESSION),
	MRPC_NL_DUMP(MRPC_CMD_GROUP_LINK_GET, mrpc_nl_group_link_start, mrpc_nl_group_link_dump,
		     mrpc_nl_group_done, mrpc_nl_group_link_policy, MRPC_A_GROUP_LINK_GROUP),
	MRPC_NL_DUMP(MRPC_CMD_GROUP_TRACE_GET, mrpc_nl_group_trace_start, mrpc_nl_group_trace_dump,
		     mrpc_nl_group_done, mrpc_nl_group_trace_policy, MRPC_A_GROUP_TRACE_GROUP),
	MRPC_NL_DO(MRPC_CMD_GROUP_SET, mrpc_nl_group_set, mrpc_nl_group_set_policy,
		   MRPC_A_GROUP_STRATEGY),
};

struct genl_family mrpc_nl_family __ro_after_init = {
	.name		= MRPC_FAMILY_NAME,
	.version	= MRPC_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= mrpc_nl_ops,
	.n_split_ops	= ARRAY_SIZE(mrpc_nl_ops),
	.mcgrps		= mrpc_nl_groups,
	.n_mcgrps	= ARRAY_SIZE(mrpc_nl_groups),
};

int mrpc_netlink_init(void)
{
	mrpc_notify_ops = &mrpc_nl_notify_ops;
	return genl_register_family(&mrpc_nl_family);
}

void mrpc_netlink_exit(void)
{
	genl_unregister_family(&mrpc_nl_family);
}
