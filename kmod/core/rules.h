/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules of an engine's configuration: the verified rules, the sets that they
 * use, and their bindings to the schemas that connections bring along.
 */
#ifndef MRPC_CORE_RULES_H
#define MRPC_CORE_RULES_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>

#include "engine.h"
#include "rule.h"
#include "sets.h"

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
 * struct mrpc_bound_schema - rules, bound to a schema; immutable
 * @list: entry of mrpc_ruleset.schemas
 * @schema: a reference
 * @content: of any method
 * @methods: as many as the schema has
 */
struct mrpc_bound_schema {
	struct list_head list;
	struct mrpc_schema *schema;
	u8 content;
	struct mrpc_bound_method methods[];
};

/**
 * struct mrpc_ruleset - rules of a configuration
 * @rules: the rules
 * @uses: of sets, as many as @rules->nr_sets
 * @lock: who adds to @schemas
 * @schemas: struct mrpc_bound_schema; only grows, until the end; readers need no
 *	lock
 */
struct mrpc_ruleset {
	struct mrpc_rules *rules;
	struct mrpc_set_use *uses;
	struct mutex lock;
	struct list_head schemas;
};

/**
 * struct mrpc_bound_conn - a ruleset on a datapath
 * @uid: of the application on this host, as rules name it
 * @cgroup: its id
 * @services: for each service of the connection
 */
struct mrpc_bound_conn {
	u32 uid;
	u64 cgroup;
	const struct mrpc_bound_schema *services[MRPC_MAX_SERVICES];
};

struct mrpc_ruleset *mrpc_ruleset_new(const struct mrpc_group *g, u32 param,
				      const struct mrpc_ruleset *prev,
				      struct netlink_ext_ack *extack);
void mrpc_ruleset_free(struct mrpc_ruleset *rs);
int mrpc_ruleset_attach(struct mrpc_ruleset *rs, struct mrpc_engine *e,
			struct mrpc_bound_conn *bc);
struct mrpc_rule_verdict mrpc_ruleset_judge(const struct mrpc_bound_conn *bc,
					    struct mrpc_rpc *rpc);

/* Counted from 1, as operators do. */
static inline u32 mrpc_ruleset_number(const struct mrpc_ruleset *rs, const struct mrpc_rule *rule)
{
	return rule - rs->rules->rules + 1;
}

#endif /* MRPC_CORE_RULES_H */
