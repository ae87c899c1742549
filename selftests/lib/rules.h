/* SPDX-License-Identifier: GPL-2.0 */
/* Rules from their text to their verdict, for tests. */
#ifndef RULES_H
#define RULES_H

#include "lib/rule/rule.h"
#include "rules/text.h"
#include "tap.h"

static const struct rule_verb acl[] = {
	{ "allow", 0, 0, 0 },
	{ "deny", 1, RULE_TAKES_STATUS | RULE_TAKES_DETAIL, MRPC_PERMISSION_DENIED },
	{ NULL }
};

static const u64 hash_key[2] = { 1, 2 };

static void *parse(const char *text, const struct rule_verb *verbs, size_t *len)
{
	struct rule_text_error err;
	void *binary = rule_text_parse(text, verbs, len, &err);

	CHECK_MSG(binary, "%u:%u: %s", err.line, err.column, err.what);
	return binary;
}

static struct mrpc_rules *compile(const void *binary, size_t len, struct mrpc_rules_error *err)
{
	s64 size = mrpc_rules_size(binary, len, err);
	struct mrpc_rules *rules;

	if (size < 0)
		return NULL;
	rules = malloc(size);
	CHECK_EQ(mrpc_rules_compile(binary, len, rules, size, err), 0);
	return rules;
}

static inline struct mrpc_rules *compile_text(const char *text, const struct rule_verb *verbs)
{
	struct mrpc_rules_error err;
	struct mrpc_rules *rules;
	size_t len;
	void *binary = parse(text, verbs, &len);

	rules = compile(binary, len, &err);
	CHECK(rules);
	CHECK(rules->binary_len == len && !memcmp(rules->binary, binary, len));
	free(binary);
	return rules;
}

static inline struct mrpc_rules_binding *bind_rules(const struct mrpc_rules *rules,
						    const struct mrpc_schema_plan *plan,
						    u32 method)
{
	struct mrpc_rules_binder *binder =
		mrpc_rules_binder_init(rules, plan, malloc(mrpc_rules_binder_size(rules)));
	size_t size = mrpc_rules_bind_size(binder, method);
	struct mrpc_rules_binding *b = size ? mrpc_rules_bind(binder, malloc(size)) : NULL;

	free(binder);
	return b;
}

/* The number of the rule that comes first, or -1. */
static inline int first_rule(const struct mrpc_rules *rules, const struct mrpc_rules_binding *b,
			     const struct mrpc_rule_ctx *ctx, int *undecided)
{
	struct mrpc_rule_verdict v = mrpc_rules_eval(b, ctx);

	if (undecided)
		*undecided = v.undecided ? v.undecided - rules->rules : -1;
	return v.rule ? v.rule - rules->rules : -1;
}

#endif /* RULES_H */
