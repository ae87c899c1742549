/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family, between its files: netlink.c has the family, the
 * single gets and the notifications, netlink_dump.c the dumps, netlink_fill.c
 * makes objects into attributes.
 */
#ifndef MRPC_CORE_NETLINK_H
#define MRPC_CORE_NETLINK_H

#include <linux/mrpc.h>
#include <linux/mrpc_netlink.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <net/genetlink.h>

struct mrpc_conn;
struct mrpc_listener;
struct mrpc_qp;
struct mrpc_schema;
struct mrpc_service;
struct mrpc_session;

/* Room for any one message: a connection with MRPC_MAX_SERVICES services. */
#define MRPC_NL_SIZE	8192

/* What is known of a schema, outside its cache's lock. */
struct mrpc_nl_schema {
	u32 id;
	u32 users;		/* references of the whole host */
	u32 sessions;		/* of the reader's namespace */
	u32 len;
	u32 size;
	u32 nr_methods;
	u32 nr_types;
	u32 nr_fields;
	u64 binds;
	u64 compile_ns;
	u8 hash[MRPC_HASH_LEN];
	char service[MRPC_NAME_LEN];
};

/*
 * netlink_fill.c: each adds one message to @skb, or nothing and returns
 * -EMSGSIZE.
 */
int mrpc_nl_fill_session(struct sk_buff *skb, const struct genl_info *info,
			 struct mrpc_session *session);
int mrpc_nl_fill_qp(struct sk_buff *skb, const struct genl_info *info, struct mrpc_qp *qp);
int mrpc_nl_fill_conn(struct sk_buff *skb, const struct genl_info *info,
		      struct mrpc_conn *conn);
int mrpc_nl_fill_datapath(struct sk_buff *skb, const struct genl_info *info,
			  struct mrpc_conn *conn);
int mrpc_nl_fill_served(struct sk_buff *skb, const struct genl_info *info,
			struct mrpc_listener *l, u32 index);
int mrpc_nl_fill_called(struct sk_buff *skb, const struct genl_info *info,
			struct mrpc_conn *conn, u32 index);
int mrpc_nl_fill_schema(struct sk_buff *skb, const struct genl_info *info,
			const struct mrpc_nl_schema *schema);
int mrpc_nl_fill_method(struct sk_buff *skb, const struct genl_info *info,
			const struct mrpc_schema *schema, u32 index);

/* netlink_schema.c */
int mrpc_nl_find_schema(struct net *net, u32 id, const u8 *hash, struct mrpc_nl_schema *found);
int mrpc_nl_schema_start(struct netlink_callback *cb);
int mrpc_nl_schema_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_schema_done(struct netlink_callback *cb);
int mrpc_nl_method_start(struct netlink_callback *cb);
int mrpc_nl_method_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink_dump.c */
struct mrpc_session *mrpc_nl_session(const struct genl_info *info, int attr);
int mrpc_nl_start(struct netlink_callback *cb);
int mrpc_nl_session_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_qp_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_conn_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_service_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_datapath_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* MRPC_CORE_NETLINK_H */
