/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Named sets: the operator's lists of keys, which rules refer to by name.
 */
#ifndef MRPC_RULES_SETS_H
#define MRPC_RULES_SETS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/refcount.h>
#include <net/net_namespace.h>

#include "lib/ds/set.h"
#include "lib/rule/rule.h"

struct mrpc_rules;
struct net;
struct netlink_ext_ack;

#define MRPC_SETS_MAX	64	/* of one network namespace */

/**
 * struct mrpc_named_set - a set of a network namespace
 *
 * Reference counted: one of the list of all until it is removed, one of each use, one of each
 * look-up.
 *
 * @ref: references
 * @list: entry of the list of all, in order of @id
 * @net: its namespace; not a reference: the set leaves the list with the namespace
 * @id: unique in this boot
 * @name: unique in the namespace
 * @kind: enum mrpc_set_kind
 * @lock: protects @body and @uses, and serialises edits of the keys
 * @body: the keys
 * @grown: raised when it gets another @body, and so another order of keys
 * @uses: struct mrpc_set_use, by its list
 */
struct mrpc_named_set {
	refcount_t ref;
	struct list_head list;
	const struct net *net;
	u32 id;
	char name[MRPC_RULES_SET_NAME + 1];
	u32 kind;
	struct mutex lock;
	struct mrpc_set_body *body;
	u32 grown;
	struct list_head uses;
};

/**
 * struct mrpc_set_body - the part that is replaced when a set grows
 * @rcu: for the free
 * @set: the keys
 */
struct mrpc_set_body {
	struct rcu_head rcu;
	struct mrpc_set set;	/* ends in an array */
};

/**
 * struct mrpc_set_use - rules that refer to a set
 * @list: entry of mrpc_named_set.uses; under its lock
 * @set: a reference, or NULL
 * @rules: the rules, which have the pointer to the keys
 * @index: in the rules' sets
 */
struct mrpc_set_use {
	struct list_head list;
	struct mrpc_named_set *set;
	struct mrpc_rules *rules;
	u32 index;
};

int mrpc_sets_create(const struct net *net, const char *name, u32 kind,
		     struct netlink_ext_ack *extack);
int mrpc_sets_remove(const struct net *net, const char *name, struct netlink_ext_ack *extack);
struct mrpc_named_set *mrpc_sets_find(const struct net *net, const char *name,
				      struct netlink_ext_ack *extack);
struct mrpc_named_set *mrpc_sets_next(const struct net *net, u32 after);
void mrpc_named_set_put(struct mrpc_named_set *ns);
int mrpc_named_set_add(struct mrpc_named_set *ns, const void *key, u32 len,
		       struct netlink_ext_ack *extack);
int mrpc_named_set_del(struct mrpc_named_set *ns, const void *key, u32 len,
		       struct netlink_ext_ack *extack);
int mrpc_set_use(struct mrpc_set_use *use, const struct net *net, struct mrpc_rules *rules,
		 u32 index, struct netlink_ext_ack *extack);
void mrpc_set_unuse(struct mrpc_set_use *use);
int mrpc_sets_init(void);
void mrpc_sets_exit(void);

#endif /* MRPC_RULES_SETS_H */
