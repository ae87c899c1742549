// SPDX-License-Identifier: GPL-2.0
/*
 * Rules for one method: what cannot match is left out, what always holds is left
 * out, paths are compiled and ranges put into the order of the field's values.
 */
#include "lib/rule/cond.h"

struct rule_bind {
	const struct mrpc_rules *rules;
	const struct mrpc_schema_plan *plan;
	u32 method;
	u32 kind;
	struct mrpc_field_path *path;	/* the path compiled last */
	struct mrpc_path_error err;
};

/* -- ranges ----------------------------------------------------------------- */

static void bind_get_range(const struct mrpc_cond *c, struct mrpc_cond_range *range, u32 *flags)
{
	memcpy(range, c->value, sizeof(*range));
	*flags = le32_to_cpu(range->flags);
}

static u32 bind_span(struct rule_test *t, u64 from, u64 to)
{
	t->from = from;
	t->span = to - from;
	return from <= to ? MRPC_FIT : MRPC_FIT_KIND;
}

/* For values from 0 to @largest. */
static u32 bind_unsigned(const struct mrpc_cond *c, struct rule_test *t, u64 largest)
{
	struct mrpc_cond_range range;
	u64 from, to;
	u32 flags;

	bind_get_range(c, &range, &flags);
	from = flags & MRPC_RANGE_FROM_NEG ? 0 : le64_to_cpu(range.from);
	to = flags & MRPC_RANGE_TO ? le64_to_cpu(range.to) : ~0ULL;
	if (flags & MRPC_RANGE_TO_NEG)
		return MRPC_FIT_KIND;
	t->flip = 0;
	return bind_span(t, from, min(to, largest));
}

static u32 bind_signed(const struct mrpc_cond *c, struct rule_test *t)
{
	struct mrpc_cond_range range;
	u64 flip = 1ULL << 63, from, to;
	u32 flags;

	bind_get_range(c, &range, &flags);
	from = le64_to_cpu(range.from);
	to = le64_to_cpu(range.to);
	/* Not negative, and beyond the largest. */
	if (flags & MRPC_RANGE_FROM && !(flags & MRPC_RANGE_FROM_NEG) && from >= flip)
		return MRPC_FIT_KIND;
	if (flags & MRPC_RANGE_TO && !(flags & MRPC_RANGE_TO_NEG) && to >= flip)
		to = flip - 1;
	t->flip = flip;
	return bind_span(t, flags & MRPC_RANGE_FROM ? from ^ flip : 0,
			 flags & MRPC_RANGE_TO ? to ^ flip : ~0ULL);
}

static u32 bind_doubles(struct rule_test *t, u32 flags, u64 from, u64 to)
{
	if (!(flags & MRPC_RANGE_FROM))
		from = RULE_DOUBLE_SIGN | RULE_DOUBLE_INF;
	if (!(flags & MRPC_RANGE_TO))
		to = RULE_DOUBLE_INF;
	/* Both zeros belong to a range that ends at one. */
	if (!(from & ~RULE_DOUBLE_SIGN))
		from = RULE_DOUBLE_SIGN;
	if (!(to & ~RULE_DOUBLE_SIGN))
		to = 0;
	return bind_span(t, rule_double_order(from), rule_double_order(to));
}

/* The double with the value of an integer of at most 2^53; false: of more. */
static bool bind_to_double(u64 *number, bool negative)
{
	u64 n = negative ? -*number : *number;
	u32 high;

	if (n > 1ULL << 53)
		return false;
	*number = 0;
	if (!n)
		return true;
	high = fls64(n) - 1;
	*number = (u64)(high + 1023) << 52;
	if (high <= 52)
		*number |= n << (52 - high) & ~(1ULL << 52);
	if (negative)
		*number |= RULE_DOUBLE_SIGN;
	return true;
}

static u32 bind_double(const struct mrpc_cond *c, struct rule_test *t)
{
	struct mrpc_cond_range range;
	u64 from, to;
	u32 flags;

	bind_get_range(c, &range, &flags);
	from = le64_to_cpu(range.from);
	to = le64_to_cpu(range.to);
	if (c->op == MRPC_MATCH_RANGE &&
	    !(bind_to_double(&from, flags & MRPC_RANGE_FROM_NEG) &&
	      bind_to_double(&to, flags & MRPC_RANGE_TO_NEG)))
		return MRPC_FIT_KIND;
	return bind_doubles(t, flags, from, to);
}

/* -- conditions ------------------------------------------------------------- */

static u32 bind_name(const struct mrpc_cond *c, const char *name)
{
	u32 len = strlen(name);

	if (c->op == MRPC_MATCH_EQUAL ? len != c->value_len : len < c->value_len)
		return MRPC_FIT_NOT_MEANT;
	return memcmp(name, c->value, c->value_len) ? MRPC_FIT_NOT_MEANT : MRPC_FIT;
}

static u32 bind_kind(const struct rule_bind *b, const struct mrpc_cond *c)
{
	struct rule_test t;

	if (bind_unsigned(c, &t, ~0ULL) != MRPC_FIT || b->kind - t.from > t.span)
		return MRPC_FIT_NOT_MEANT;
	return MRPC_FIT;
}

static u32 bind_field_range(const struct mrpc_cond *c, u32 kind, struct rule_test *t)
{
	t->test = TEST_FIELD_NUMBER;
	if (kind == MRPC_VALUE_DOUBLE) {
		t->test = TEST_FIELD_DOUBLE;
		return bind_double(c, t);
	}
	if (c->op == MRPC_MATCH_DOUBLES)
		return MRPC_FIT_KIND;
	switch (kind) {
	case MRPC_VALUE_BOOL:
		return bind_unsigned(c, t, 1);
	case MRPC_VALUE_UINT:
		return bind_unsigned(c, t, ~0ULL);
	case MRPC_VALUE_INT:
		return bind_signed(c, t);
	default:
		return MRPC_FIT_KIND;
	}
}

static u32 bind_field(struct rule_bind *b, const struct mrpc_cond *c, struct rule_test *t)
{
	const struct mrpc_method *m = &b->plan->methods[b->method];
	u32 type = b->kind == MRPC_RULE_REQUEST ? m->request : m->reply;
	bool text, number;

	if (mrpc_field_compile(b->plan, type, c->name, c->name_len, b->path, MRPC_PATH_MAX_SIZE,
			       &b->err))
		return MRPC_FIT_NO_FIELD;
	text = b->path->kind == MRPC_VALUE_TEXT || b->path->kind == MRPC_VALUE_BYTES;
	number = b->path->kind <= MRPC_VALUE_UINT;
	switch (c->op) {
	case MRPC_MATCH_PRESENT:
		t->test = TEST_FIELD_PRESENT;
		return MRPC_FIT;
	case MRPC_MATCH_EQUAL:
		t->test = TEST_FIELD_EQUAL;
		return text ? MRPC_FIT : MRPC_FIT_KIND;
	case MRPC_MATCH_PREFIX:
		t->test = TEST_FIELD_PREFIX;
		return text ? MRPC_FIT : MRPC_FIT_KIND;
	case MRPC_MATCH_IN:
		t->test = text ? TEST_FIELD_IN_TEXTS : TEST_FIELD_IN_INTS;
		return text || number ? MRPC_FIT : MRPC_FIT_KIND;
	default:
		return bind_field_range(c, b->path->kind, t);
	}
}

/* Can the condition hold? *@always: it always does. */
static u32 bind_cond(struct rule_bind *b, const struct mrpc_cond *c, struct rule_test *t,
		     bool *always)
{
	*t = (struct rule_test){ .cond = c };
	*always = false;
	switch (c->what) {
	case MRPC_COND_SERVICE:
		*always = true;
		return bind_name(c, mrpc_schema_service(b->plan));
	case MRPC_COND_METHOD:
		*always = true;
		return bind_name(c, b->plan->names + b->plan->methods[b->method].name);
	case MRPC_COND_KIND:
		*always = true;
		return bind_kind(b, c);
	case MRPC_COND_PEER:
		t->test = TEST_NET;
		return MRPC_FIT;
	case MRPC_COND_PORT:
		t->test = TEST_PORT;
		return bind_unsigned(c, t, U16_MAX);
	case MRPC_COND_UID:
		t->test = TEST_UID;
		return bind_unsigned(c, t, U32_MAX);
	case MRPC_COND_CGROUP:
		t->test = TEST_CGROUP;
		return bind_unsigned(c, t, ~0ULL);
	case MRPC_COND_SIZE:
		t->test = TEST_SIZE;
		return bind_unsigned(c, t, ~0ULL);
	case MRPC_COND_META:
		t->test = TEST_META;
		return MRPC_FIT;
	default:
		return bind_field(b, c, t);
	}
}

u32 mrpc_rule_fits(const struct mrpc_rules *rules, u32 index,
		   const struct mrpc_schema_plan *plan, u32 method, u32 kind, void *scratch,
		   u32 *cond, struct mrpc_path_error *err)
{
	const struct mrpc_rule *rule = &rules->rules[index];
	struct rule_bind b = {
		.rules = rules, .plan = plan, .method = method, .kind = kind, .path = scratch,
	};
	u32 worst = MRPC_FIT;
	struct rule_test t;
	bool always;
	u32 i;

	for (i = 0; i < rule->nr_conds; i++) {
		u32 fit = bind_cond(&b, &rules->conds[rule->first_cond + i], &t, &always);

		if (fit == MRPC_FIT || (worst != MRPC_FIT && fit != MRPC_FIT_NOT_MEANT))
			continue;
		worst = fit;
		*cond = i;
		*err = b.err;
		/* Not meant is no mistake, whatever else there is. */
		if (fit == MRPC_FIT_NOT_MEANT)
			break;
	}
	return worst;
}

/* -- the binding ------------------------------------------------------------ */

struct bind_counts {
	u32 rules[2];
	u32 tests;
	u32 paths;
	size_t path_bytes;
};

/* Where the binding is built; while it is counted, nothing is set. */
struct bind_out {
	struct rule_test *tests;
	struct bound_rule *rules;
	const struct mrpc_field_path **paths;
	u8 *path_mem;
	struct bound_kind *kind;
};

static u32 bind_add_path(struct bind_counts *n, const struct bind_out *out,
			 const struct mrpc_field_path *path)
{
	u32 i;

	for (i = 0; out->paths && i < out->kind->nr_paths; i++)
		if (out->kind->paths[i]->size == path->size &&
		    !memcmp(out->kind->paths[i], path, path->size))
			return i;
	if (out->paths) {
		u8 *copy = out->path_mem + n->path_bytes;

		memcpy(copy, path, path->size);
		out->kind->paths[out->kind->nr_paths++] = (const struct mrpc_field_path *)copy;
	}
	n->paths++;
	n->path_bytes += path->size;
	return i;
}

static bool bind_fits(struct rule_bind *b, const struct mrpc_rule *rule)
{
	struct rule_test t;
	bool always;
	u32 i;

	for (i = 0; i < rule->nr_conds; i++)
		if (bind_cond(b, &b->rules->conds[rule->first_cond + i], &t, &always) != MRPC_FIT)
			return false;
	return true;
}

/* One rule, which fits; tests that need no field come first. */
static void bind_rule(struct rule_bind *b, const struct mrpc_rule *rule, struct bind_counts *n,
		      const struct bind_out *out)
{
	struct rule_test t;
	bool always;
	u32 pass, i;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < rule->nr_conds; i++) {
			const struct mrpc_cond *c = &b->rules->conds[rule->first_cond + i];

			if ((c->what == MRPC_COND_FIELD) != pass)
				continue;
			bind_cond(b, c, &t, &always);
			if (always)
				continue;
			if (pass)
				t.path = bind_add_path(n, out, b->path);
			if (out->tests)
				out->tests[n->tests] = t;
			n->tests++;
		}
	}
}

/* The rules of one kind of message, up to one that always matches. */
static void bind_rules(struct rule_bind *b, struct bind_counts *n, const struct bind_out *out)
{
	u32 *nr = &n->rules[b->kind];
	u32 i;

	for (i = 0; i < b->rules->nr_rules; i++) {
		const struct mrpc_rule *rule = &b->rules->rules[i];
		u32 first = n->tests;

		if (!bind_fits(b, rule))
			continue;
		bind_rule(b, rule, n, out);
		if (out->rules)
			out->rules[*nr] = (struct bound_rule){
				.rule = rule, .first_test = first, .nr_tests = n->tests - first,
			};
		++*nr;
		if (n->tests == first)
			break;
	}
}

static void bind_count(struct rule_bind *b, struct bind_counts *n)
{
	static const struct bind_out nowhere;

	*n = (struct bind_counts){ 0 };
	for (b->kind = MRPC_RULE_REQUEST; b->kind <= MRPC_RULE_REPLY; b->kind++)
		bind_rules(b, n, &nowhere);
}

static size_t bind_size(const struct bind_counts *n)
{
	return sizeof(struct mrpc_rules_binding) + n->tests * sizeof(struct rule_test) +
	       (n->rules[0] + n->rules[1]) * sizeof(struct bound_rule) + n->path_bytes +
	       n->paths * sizeof(struct mrpc_field_path *);
}

size_t mrpc_rules_bind_size(const struct mrpc_rules *rules, const struct mrpc_schema_plan *plan,
			    u32 method, void *scratch)
{
	struct rule_bind b = {
		.rules = rules, .plan = plan, .method = method, .path = scratch,
	};
	struct bind_counts n;

	bind_count(&b, &n);
	return n.rules[0] + n.rules[1] ? bind_size(&n) : 0;
}

struct mrpc_rules_binding *mrpc_rules_bind(const struct mrpc_rules *rules,
					   const struct mrpc_schema_plan *plan, u32 method,
					   void *scratch, void *mem)
{
	struct rule_bind b = {
		.rules = rules, .plan = plan, .method = method, .path = scratch,
	};
	struct mrpc_rules_binding *binding = mem;
	struct bind_counts n, room;
	struct bind_out out;

	bind_count(&b, &room);
	out.tests = mem + sizeof(*binding);
	out.path_mem = (void *)(out.tests + room.tests);
	out.rules = (void *)(out.path_mem + room.path_bytes);
	out.paths = (void *)(out.rules + room.rules[0] + room.rules[1]);
	binding->rules = rules;
	binding->tests = out.tests;

	n = (struct bind_counts){ 0 };
	for (b.kind = MRPC_RULE_REQUEST; b.kind <= MRPC_RULE_REPLY; b.kind++) {
		out.kind = &binding->kinds[b.kind];
		*out.kind = (struct bound_kind){ .rules = out.rules, .paths = out.paths };
		bind_rules(&b, &n, &out);
		out.kind->nr_rules = n.rules[b.kind];
		out.rules += out.kind->nr_rules;
		out.paths += out.kind->nr_paths;
	}
	return binding;
}

const struct mrpc_field_path *mrpc_rules_reads(const struct mrpc_rules_binding *binding, u32 kind,
					       u32 index)
{
	u32 i;

	for (i = 0; binding && i < binding->kinds[kind].nr_paths; i++)
		if (binding->kinds[kind].paths[i]->content && !index--)
			return binding->kinds[kind].paths[i];
	return NULL;
}

bool mrpc_rules_need_head(const struct mrpc_rules_binding *binding, u32 kind)
{
	return binding && binding->kinds[kind].nr_paths;
}
