/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family, shared by its files. netlink/family.c has the family, the single gets
 * and the notifications, netlink/dump.c the dumps. netlink/session.c converts objects to
 * attributes. netlink/engine_type.c and netlink/engine.c show engines and their types,
 * netlink/policy.c those that are policies. netlink/engine_change.c changes engines.
 * netlink/queue.c handles queues, netlink/series.c histograms, netlink/transport.c transports,
 * netlink/group.c groups, netlink/strategy.c their strategies.
 */
#ifndef MRPC_NETLINK_NETLINK_H
#define MRPC_NETLINK_NETLINK_H

#include <linux/mrpc.h>
#include <linux/mrpc_netlink.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <net/genetlink.h>

struct genl_info;
struct mrpc_schema;
struct mrpc_session;
struct sk_buff;

/* Room for any one message: a datapath with MRPC_PLACEMENTS_MAX engines. */
#define MRPC_NL_SIZE	16384

/* What is known of a schema, for use outside its cache's lock. */
struct mrpc_nl_schema {
	struct mrpc_schema *schema;	/* referenced: has @service */
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
	const char *service;
};

/*
 * Netlink sends no answer for EINTR. A program that is interrupted, and goes on, would wait for
 * ever.
 */
static inline int mrpc_nl_errno(int err)
{
	return err == -EINTR ? -ECANCELED : err;
}

/**
 * struct mrpc_nl_cursor - position of a dump
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

extern const struct nla_policy mrpc_nl_runtime_policy[];

extern const struct nla_policy mrpc_nl_type_policy[];

extern const struct nla_policy mrpc_nl_engine_policy[];

extern const struct nla_policy mrpc_nl_add_policy[];

extern const struct nla_policy mrpc_nl_set_policy[];

extern const struct nla_policy mrpc_nl_queue_policy[];

extern const struct nla_policy mrpc_nl_rpc_policy[];

extern const struct nla_policy mrpc_nl_series_policy[];

extern const struct nla_policy mrpc_nl_transport_policy[];

extern const struct nla_policy mrpc_nl_egress_policy[];

extern const struct nla_policy mrpc_nl_egress_queue_policy[];

extern const struct nla_policy mrpc_nl_keyset_policy[];

enum {
	MRPC_NL_EVENTS,
};

extern struct genl_family mrpc_nl_family;

#endif /* MRPC_NETLINK_NETLINK_H */
