/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules of an engine's configuration: the verified rules, the sets that they
 * use, and their bindings to the schemas that connections bring along.
 */
#ifndef MRPC_RULES_RULES_H
#define MRPC_RULES_RULES_H

#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/netlink.h>
#include <linux/spinlock.h>

#include "lib/rule/rule.h"
#include "rules/sets.h"

struct mrpc_engine;
struct mrpc_group;
struct mrpc_rpc;
struct mrpc_rules_binding;
struct mrpc_schema;
struct netlink_ext_ack;

/**
 * struct mrpc_bound_method - what rules say about a method
 * @binding: or NULL: no rule can apply
 * @content: BIT(enum mrpc_rule_kind): they look at content of the byte section
 */
struct mrpc_bound_method {
	const struct mrpc_rules_binding *binding;
	u8 content;
};

/**
 * struct mrpc_bound_schema - rules, bound to a schema; immutable but for its users
 * @list: entry of mrpc_ruleset.schemas or .unused; under mrpc_ruleset.lock
 * @users: one for each service of a datapath; under mrpc_ruleset.lock
 * @size: bytes of all of it, and of the schema
 * @schema: a reference
 * @content: of any method
 * @methods: as many as the schema has
 */
struct mrpc_bound_schema {
	struct list_head list;
	u32 users;
	size_t size;
	struct mrpc_schema *schema;
	u8 content;
	struct mrpc_bound_method methods[];
};

/**
 * struct mrpc_ruleset - rules of a configuration
 * @rules: the rules
 * @uses: of sets, as many as @rules->nr_sets
 * @id: of no other ruleset, ever
 * @lock: all below; short, process context only
 * @schemas: struct mrpc_bound_schema: those in use, and those bound ahead
 * @nr_schemas: how many
 * @unused: those that were in use, the least recently used first: bounded
 * @nr_unused: how many
 * @unused_bytes: of them
 * @bound: a schema has been bound; read without the lock
 * @fits: a bit for each rule that can match a call of a schema that was bound; under @lock
 */
struct mrpc_ruleset {
	struct mrpc_rules *rules;
	struct mrpc_set_use *uses;
	u64 id;
	spinlock_t lock;
	struct list_head schemas;
	u32 nr_schemas;
	struct list_head unused;
	u32 nr_unused;
	u64 unused_bytes;
	bool bound;
	DECLARE_BITMAP(fits, MRPC_RULES_MAX);
};

/**
 * struct mrpc_bound_conn - a ruleset on a datapath
 *
 * Zeroed at first. Changes with both claims of the datapath held.
 *
 * @rs: the ruleset, which the group of the instance keeps; or NULL
 * @before: id of the ruleset before that, or 0. If that still exists it counts
 *	this datapath as a user: a change that is taken back must not fail
 * @uid: of the application on this host, as rules name it
 * @cgroup: its id
 * @services: for each service of the connection; a user of each
 */
struct mrpc_bound_conn {
	struct mrpc_ruleset *rs;
	u64 before;
	u32 uid;
	u64 cgroup;
	struct mrpc_bound_schema *services[MRPC_MAX_SERVICES];
};

struct mrpc_ruleset *mrpc_ruleset_new(const struct mrpc_group *g, u32 param,
				      struct mrpc_ruleset *prev,
				      struct netlink_ext_ack *extack);
void mrpc_ruleset_free(struct mrpc_ruleset *rs);
int mrpc_ruleset_attach(struct mrpc_ruleset *rs, struct mrpc_engine *e,
			struct mrpc_bound_conn *bc);
void mrpc_ruleset_detach(struct mrpc_bound_conn *bc);
u32 mrpc_ruleset_unfit(struct mrpc_ruleset *rs);
struct mrpc_rule_verdict mrpc_ruleset_judge(const struct mrpc_bound_conn *bc,
					    struct mrpc_rpc *rpc);

/* Counted from 1, as operators do. */
static inline u32 mrpc_ruleset_number(const struct mrpc_ruleset *rs, const struct mrpc_rule *rule)
{
	return rule - rs->rules->rules + 1;
}

#endif /* MRPC_RULES_RULES_H */
