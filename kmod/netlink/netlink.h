/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family, between its files: netlink/family.c has the family, the
 * single gets and the notifications, netlink/dump.c the dumps, netlink/session.c
 * makes objects into attributes; netlink/engine_type.c and netlink/engine.c show
 * engines and their types, netlink/policy.c those that are policies, netlink/engine_change.c changes engines, netlink/queue.c is
 * about queues, netlink/series.c about histograms, netlink/transport.c about transports.
 */
#ifndef MRPC_NETLINK_NETLINK_H
#define MRPC_NETLINK_NETLINK_H

#include <linux/mrpc.h>
#include <linux/mrpc_netlink.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <net/genetlink.h>

struct mrpc_chain;
struct mrpc_conn;
struct mrpc_domain;
struct mrpc_engine;
struct mrpc_engine_ops;
struct mrpc_group;
struct mrpc_listener;
struct mrpc_placement;
struct mrpc_qp;
struct mrpc_schema;
struct mrpc_service;
struct mrpc_session;

/* Room for any one message: a datapath with MRPC_PLACEMENTS_MAX engines. */
#define MRPC_NL_SIZE	16384

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
 * Netlink takes EINTR for "say nothing": who is interrupted, and goes on, would wait
 * for ever.
 */
static inline int mrpc_nl_errno(int err)
{
	return err == -EINTR ? -ECANCELED : err;
}

/* netlink/family.c */
struct sk_buff *mrpc_nl_new(u32 more);
int mrpc_nl_reply(struct sk_buff *skb, struct genl_info *info, int err);

/*
 * netlink/session.c: each adds one message to @skb, or nothing and returns
 * -EMSGSIZE.
 */
void *mrpc_nl_begin(struct sk_buff *skb, const struct genl_info *info);
int mrpc_nl_end(struct sk_buff *skb, void *hdr, int err);
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

/* netlink/schema.c */
int mrpc_nl_find_schema(struct net *net, u32 id, const u8 *hash, struct mrpc_nl_schema *found);
int mrpc_nl_schema_start(struct netlink_callback *cb);
int mrpc_nl_schema_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_schema_done(struct netlink_callback *cb);
int mrpc_nl_method_start(struct netlink_callback *cb);
int mrpc_nl_method_dump(struct sk_buff *skb, struct netlink_callback *cb);

/**
 * struct mrpc_nl_cursor - where a dump is
 * @done: sessions up to this number are finished
 * @only: the one session that is wanted, or 0
 * @id: in the next session: the next connection, listener or queue pair
 * @index: in that one: the next service
 * @conns: services: listeners are finished, connections are not
 */
struct mrpc_nl_cursor {
	u32 done;
	u32 only;
	unsigned long id;
	u32 index;
	bool conns;
};

typedef int (*mrpc_nl_each)(struct sk_buff *skb, const struct genl_info *info,
			    struct mrpc_session *session, struct mrpc_nl_cursor *cur);

/* netlink/dump.c */
struct mrpc_session *mrpc_nl_session(const struct genl_info *info, int attr);
int mrpc_nl_start(struct netlink_callback *cb);
int mrpc_nl_dump(struct sk_buff *skb, struct netlink_callback *cb, mrpc_nl_each each);
int mrpc_nl_session_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_qp_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_conn_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_service_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_datapath_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_conns(struct sk_buff *skb, const struct genl_info *info,
		  struct mrpc_session *session, struct mrpc_nl_cursor *cur,
		  int (*fill)(struct sk_buff *skb, const struct genl_info *info,
			      struct mrpc_conn *conn));
int mrpc_nl_walk(struct net *net, int (*each)(struct mrpc_conn *conn, void *ctx), void *ctx);

/* netlink/runtime.c */
extern const struct nla_policy mrpc_nl_runtime_policy[];
int mrpc_nl_runtime_get(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_runtime_add(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_runtime_set(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_runtime_del(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_runtime_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink/engine_type.c */
extern const struct nla_policy mrpc_nl_type_policy[];
int mrpc_nl_type_get(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_type_start(struct netlink_callback *cb);
int mrpc_nl_type_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink/policy.c */
int mrpc_nl_put_policy(struct sk_buff *skb, const struct net *net,
		       const struct mrpc_engine_ops *ops);
int mrpc_nl_fill_policy(struct sk_buff *skb, const struct genl_info *info,
			const struct mrpc_engine_ops *ops);

/* netlink/engine.c */
extern const struct nla_policy mrpc_nl_engine_policy[];
int mrpc_nl_engine_get(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_engine_start(struct netlink_callback *cb);
int mrpc_nl_engine_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_engine_done(struct netlink_callback *cb);
int mrpc_nl_fill_engine(struct sk_buff *skb, const struct genl_info *info, struct net *net,
			struct mrpc_placement *p);
int mrpc_nl_put_stages(struct sk_buff *skb, struct mrpc_conn *conn);
int mrpc_nl_check_name(const struct nlattr *attr, struct netlink_ext_ack *extack);
struct mrpc_placement *mrpc_nl_placement(const struct genl_info *info, int attr);

/* netlink/engine_change.c */
extern const struct nla_policy mrpc_nl_add_policy[];
extern const struct nla_policy mrpc_nl_set_policy[];
int mrpc_nl_engine_add(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_engine_set(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_engine_del(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_engine_step(struct sk_buff *request, struct genl_info *info);

/* netlink/queue.c */
extern const struct nla_policy mrpc_nl_queue_policy[];
extern const struct nla_policy mrpc_nl_rpc_policy[];
struct mrpc_conn *mrpc_nl_datapath(struct net *net, u32 id);
struct mrpc_engine *mrpc_nl_engine_of(const struct mrpc_chain *chain, const char *name);
int mrpc_nl_queue_set(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_queue_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_rpc_start(struct netlink_callback *cb);
int mrpc_nl_rpc_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_rpc_done(struct netlink_callback *cb);

/* netlink/series.c */
extern const struct nla_policy mrpc_nl_series_policy[];
int mrpc_nl_series_start(struct netlink_callback *cb);
int mrpc_nl_series_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink/transport.c */
extern const struct nla_policy mrpc_nl_transport_policy[];
int mrpc_nl_transport_start(struct netlink_callback *cb);
int mrpc_nl_transport_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink/egress.c */
extern const struct nla_policy mrpc_nl_egress_policy[];
extern const struct nla_policy mrpc_nl_egress_queue_policy[];
int mrpc_nl_fill_egress(struct sk_buff *skb, const struct genl_info *info, struct mrpc_domain *d);
int mrpc_nl_egress_get(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_egress_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_egress_set(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_egress_del(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_egress_queue_start(struct netlink_callback *cb);
int mrpc_nl_egress_queue_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_egress_queue_done(struct netlink_callback *cb);

/* netlink/keyset.c */
extern const struct nla_policy mrpc_nl_keyset_policy[];
int mrpc_nl_keyset_new(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_keyset_del(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_keyset_insert(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_keyset_remove(struct sk_buff *request, struct genl_info *info);
int mrpc_nl_keyset_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_key_start(struct netlink_callback *cb);
int mrpc_nl_key_dump(struct sk_buff *skb, struct netlink_callback *cb);
int mrpc_nl_key_done(struct netlink_callback *cb);

#endif /* MRPC_NETLINK_NETLINK_H */
