// SPDX-License-Identifier: GPL-2.0
/*
 * Rules for one method: what cannot match is left out, what always holds is left
 * out, paths are compiled and ranges put into the order of the field's values.
 */
#include "lib/rule/cond.h"

/*
 * The paths of the rules, for one type.
 *
 * @type: index of the type; U32_MAX: of none yet
 * @at: for each path of the rules where it is in @mem, or PATH_NONE: the type has no such field
 * @slot: for each path its index among those of the binding in the making, or PATH_NONE
 * @mem: the compiled paths
 */
struct bind_paths {
	u32 type;
	u32 *at;
	u32 *slot;
	u8 *mem;
};

#define PATH_NONE	U32_MAX

struct bind_counts {
	u32 rules[2];
	u32 tests;
	u32 paths;
	size_t path_bytes;
};

/*
 * @room: what the binding of @method needs
 * @paths: by enum mrpc_rule_kind: of the request's type and the reply's
 */
struct mrpc_rules_binder {
	const struct mrpc_rules *rules;
	const struct mrpc_schema_plan *plan;
	u32 method;
	struct bind_counts room;
	struct bind_paths paths[2];
};

/* @paths: NULL: they are compiled one by one, into @scratch. */
struct rule_bind {
	const struct mrpc_rules *rules;
	const struct mrpc_schema_plan *plan;
	u32 method;
	u32 kind;
	struct bind_paths *paths;
	struct mrpc_field_path *scratch;
	const struct mrpc_field_path *path;	/* of the condition looked at last */
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

static u32 bind_type(const struct rule_bind *b)
{
	const struct mrpc_method *m = &b->plan->methods[b->method];

	return b->kind == MRPC_RULE_REQUEST ? m->request : m->reply;
}

/* The condition's path; false: the message has no such field. */
static bool bind_path(struct rule_bind *b, const struct mrpc_cond *c)
{
	u32 at;

	if (!b->paths) {
		b->path = b->scratch;
		return !mrpc_field_compile(b->plan, bind_type(b), c->name, c->name_len, b->scratch,
					   MRPC_PATH_MAX_SIZE, &b->err);
	}
	at = b->paths->at[c->path];
	b->path = (const struct mrpc_field_path *)(b->paths->mem + at);
	return at != PATH_NONE;
}

static u32 bind_field(struct rule_bind *b, const struct mrpc_cond *c, struct rule_test *t)
{
	bool text, number;

	if (!bind_path(b, c))
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
	case MRPC_COND_IDENTITY:
		t->test = TEST_IDENTITY;
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
		.rules = rules, .plan = plan, .method = method, .kind = kind, .scratch = scratch,
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

/* Where the binding is built; while it is counted, nothing is set. */
struct bind_out {
	struct rule_test *tests;
	struct bound_rule *rules;
	const struct mrpc_field_path **paths;
	u8 *path_mem;
	struct bound_kind *kind;
};

static u32 bind_add_path(struct rule_bind *b, u32 index, struct bind_counts *n,
			 const struct bind_out *out)
{
	u32 *slot = &b->paths->slot[index];

	if (*slot != PATH_NONE)
		return *slot;
	*slot = n->paths++;
	if (out->paths) {
		u8 *copy = out->path_mem + n->path_bytes;

		*slot = out->kind->nr_paths++;
		memcpy(copy, b->path, b->path->size);
		out->kind->paths[*slot] = (const struct mrpc_field_path *)copy;
	}
	n->path_bytes += b->path->size;
	return *slot;
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
				t.path = bind_add_path(b, c->path, n, out);
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

	for (i = 0; i < b->rules->nr_paths; i++)
		b->paths->slot[i] = PATH_NONE;
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

/* -- the binder ------------------------------------------------------------- */

/* The most that a path can be, compiled: a step for two bytes of text, and the text. */
static size_t bind_path_room(const struct mrpc_cond *c)
{
	return ALIGN(sizeof(struct mrpc_field_path) +
		     (c->name_len / 2 + 2) * sizeof(struct mrpc_step) + c->name_len + 1, 8);
}

static size_t bind_paths_room(const struct mrpc_rules *rules)
{
	size_t room = 0;
	u32 i;

	for (i = 0; i < rules->nr_paths; i++)
		room += bind_path_room(rules->paths[i]);
	return room;
}

size_t mrpc_rules_binder_size(const struct mrpc_rules *rules)
{
	return ALIGN(sizeof(struct mrpc_rules_binder), 8) +
	       2 * (2 * sizeof(u32) * rules->nr_paths + bind_paths_room(rules));
}

struct mrpc_rules_binder *mrpc_rules_binder_init(const struct mrpc_rules *rules,
						 const struct mrpc_schema_plan *plan, void *mem)
{
	struct mrpc_rules_binder *binder = mem;
	size_t room = bind_paths_room(rules);
	u32 kind;

	*binder = (struct mrpc_rules_binder){ .rules = rules, .plan = plan };
	mem += ALIGN(sizeof(*binder), 8);
	for (kind = MRPC_RULE_REQUEST; kind <= MRPC_RULE_REPLY; kind++) {
		binder->paths[kind] = (struct bind_paths){
			.type = U32_MAX,
			.at = mem,
			.slot = mem + sizeof(u32) * rules->nr_paths,
			.mem = mem + 2 * sizeof(u32) * rules->nr_paths,
		};
		mem += 2 * sizeof(u32) * rules->nr_paths + room;
	}
	return binder;
}

/* Have all paths as they are for the type of this kind of message. */
static void bind_prepare(struct rule_bind *b)
{
	struct bind_paths *paths = b->paths;
	u32 type = bind_type(b), used = 0, i;

	if (paths->type == type)
		return;
	paths->type = type;
	for (i = 0; i < b->rules->nr_paths; i++) {
		const struct mrpc_cond *c = b->rules->paths[i];
		struct mrpc_field_path *path = (struct mrpc_field_path *)(paths->mem + used);

		paths->at[i] = PATH_NONE;
		if (mrpc_field_compile(b->plan, type, c->name, c->name_len, path,
				       bind_path_room(c), &b->err))
			continue;
		paths->at[i] = used;
		used += path->size;
	}
}

static struct rule_bind bind_begin(const struct mrpc_rules_binder *binder)
{
	return (struct rule_bind){
		.rules = binder->rules, .plan = binder->plan, .method = binder->method,
	};
}

size_t mrpc_rules_bind_size(struct mrpc_rules_binder *binder, u32 method)
{
	static const struct bind_out nowhere;
	struct bind_counts *n = &binder->room;
	struct rule_bind b;

	binder->method = method;
	b = bind_begin(binder);
	*n = (struct bind_counts){ 0 };
	for (b.kind = MRPC_RULE_REQUEST; b.kind <= MRPC_RULE_REPLY; b.kind++) {
		b.paths = &binder->paths[b.kind];
		bind_prepare(&b);
		bind_rules(&b, n, &nowhere);
	}
	if (!n->rules[0] && !n->rules[1])
		return 0;
	return sizeof(struct mrpc_rules_binding) + n->tests * sizeof(struct rule_test) +
	       (n->rules[0] + n->rules[1]) * sizeof(struct bound_rule) + n->path_bytes +
	       n->paths * sizeof(struct mrpc_field_path *);
}

struct mrpc_rules_binding *mrpc_rules_bind(struct mrpc_rules_binder *binder, void *mem)
{
	const struct bind_counts *room = &binder->room;
	struct rule_bind b = bind_begin(binder);
	struct mrpc_rules_binding *binding = mem;
	struct bind_counts n = { 0 };
	struct bind_out out;

	out.tests = mem + sizeof(*binding);
	out.path_mem = (void *)(out.tests + room->tests);
	out.rules = (void *)(out.path_mem + room->path_bytes);
	out.paths = (void *)(out.rules + room->rules[0] + room->rules[1]);
	binding->rules = binder->rules;
	binding->tests = out.tests;

	for (b.kind = MRPC_RULE_REQUEST; b.kind <= MRPC_RULE_REPLY; b.kind++) {
		b.paths = &binder->paths[b.kind];
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
