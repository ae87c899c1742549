// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/rule */
/*
 * Rules. Input: a byte, then the binary form (even) or text (odd). What is
 * accepted must come back as text that means the same; the binary form is also
 * bound to the methods of a schema, which the byte chooses, and evaluated for
 * random messages.
 */
#include "fuzz.h"
#include "lib/rule/rule.h"
#include "rules/text.h"

#define SCHEMAS	32
#define ALL	(RULE_TAKES_STATUS | RULE_TAKES_DETAIL | RULE_TAKES_SHARE)

static const struct rule_verb verbs[] = {
	{ "allow", 0, 0, 0 },
	{ "deny", 1, ALL, MRPC_PERMISSION_DENIED },
	{ "delay", 2, ALL | RULE_TAKES_TIME, 0 },
	{ "class", 3, ALL | RULE_TAKES_NUMBER, 0 },
	{ NULL, 0, 0, 0 }
};

/* A text that was accepted, or made: written again it is the same. */
static void check_text(const char *text)
{
	struct rule_text_error err;
	size_t len, again_len;
	void *binary = rule_text_parse(text, verbs, &len, &err), *again;
	char *back;

	if (!binary) {
		check(err.what[0], "text: refused without a reason");
		return;
	}
	back = rule_text_format(binary, len, verbs, &err);
	check(back, "text: cannot be written");
	again = rule_text_parse(back, verbs, &again_len, &err);
	check(again, "text: is not read again");
	check(len == again_len && !memcmp(binary, again, len), "text: another form");
	free(binary);
	free(again);
	free(back);
}

static void evaluate(const struct mrpc_rules_binding *b, const struct mrpc_schema_plan *plan,
		     u32 method, u32 kind, struct gen *g)
{
	u32 type = kind ? plan->methods[method].reply : plan->methods[method].request;
	struct model_pool pool = { 0 };
	struct model_msg *msg = gen_message(g, &pool, plan, type, 5);
	struct mrpc_rule_verdict verdict;
	struct mrpc_msg_len len;
	u8 *wire = model_encode(plan, msg, &len);
	struct mrpc_view view = { .head = wire, .head_len = mrpc_msg_head_len(&len) };
	struct mrpc_rule_ctx ctx = { .kind = kind, .uid = 1, .cgroup = 1, .msg = &view };
	u8 peer[28];

	gen_bytes(g, peer, sizeof(peer));
	peer[0] = gen_chance(g, 50) ? 2 : 10;
	peer[1] = 0;
	ctx.peer = peer;
	ctx.peer_len = gen_below(g, sizeof(peer) + 1);
	verdict = mrpc_rules_eval(b, &ctx);
	check(!verdict.rule || !verdict.undecided || verdict.undecided < verdict.rule,
	      "undecided behind the rule that counts");
	view.bytes = wire + view.head_len;
	mrpc_rules_eval(b, &ctx);
	free(wire);
	model_free(&pool);
}

static void bind_and_evaluate(const struct mrpc_rules *rules, u32 seed)
{
	const struct mrpc_schema_plan *plan = fuzz_plan(seed, SCHEMAS);
	struct mrpc_rules_binder *binder =
		mrpc_rules_binder_init(rules, plan, malloc(mrpc_rules_binder_size(rules)));
	struct gen g = gen_seeded(rules->binary_len);
	u32 method, kind;

	for (method = 0; method < plan->nr_methods; method++) {
		size_t size = mrpc_rules_bind_size(binder, method);
		struct mrpc_rules_binding *b;

		if (!size)
			continue;
		b = mrpc_rules_bind(binder, malloc(size));
		for (kind = 0; kind < 2; kind++)
			evaluate(b, plan, method, kind, &g);
		free(b);
	}
	free(binder);
}

static void fuzz_binary(const u8 *data, size_t len, u32 seed)
{
	struct mrpc_rules_error err = { 0 };
	s64 size = mrpc_rules_size(data, len, &err);
	struct rule_text_error text_err;
	struct mrpc_rules *rules;
	char *text;

	if (size < 0) {
		check(err.what && (size == -EINVAL || size == -E2BIG), "refused without a reason");
		return;
	}
	rules = malloc(size);
	check(!mrpc_rules_compile(data, len, rules, size, &err), "size, but no rules");
	check(rules->binary_len == len && !memcmp(rules->binary, data, len), "another form");
	bind_and_evaluate(rules, seed);
	free(rules);
	text = rule_text_format(data, len, verbs, &text_err);
	if (text)
		check_text(text);
	free(text);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	u8 *copy;

	if (!len)
		return 0;
	copy = calloc(1, len);
	memcpy(copy, data + 1, len - 1);
	if (data[0] & 1) {
		check_text((char *)copy);
	} else {
		copy = realloc(copy, len - 1 + !(len - 1));
		fuzz_binary(copy, len - 1, data[0] / 2);
	}
	free(copy);
	return 0;
}
