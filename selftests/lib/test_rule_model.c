// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/rule */
/*
 * Random rules for random messages: kmod/lib/rule, against rules that are looked
 * at one by one with paths followed through trees.
 */
#include <arpa/inet.h>
#include <math.h>

#include "gen.h"
#include "paths.h"
#include "rules.h"

enum { NO, YES, UNKNOWN };

#define MODEL_RULES	12
#define MODEL_CONDS	3
#define SET_KEYS	8

/* One message and its call, and the rules made for it. */
struct world {
	struct gen *g;
	const struct mrpc_schema_plan *plan;
	u32 method;
	struct model_msg *msg;
	u32 type;
	bool have_bytes;
	struct mrpc_rule_ctx *ctx;
	struct path_found texts[SET_KEYS];	/* of the set @texts */
	u64 ints[SET_KEYS];			/* of the set @ints */
	u32 nr_texts;
	u32 nr_ints;
	char text[MODEL_RULES * MODEL_CONDS * 1200];
	u32 len;
};

static __attribute__((__format__(__printf__, 2, 3))) void say(struct world *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	w->len += vsnprintf(w->text + w->len, sizeof(w->text) - w->len, fmt, ap);
	va_end(ap);
	CHECK(w->len < sizeof(w->text));
}

static void say_text(struct world *w, const u8 *p, u32 len)
{
	say(w, "\"");
	while (len--)
		say(w, "\\x%02x", *p++);
	say(w, "\"");
}

static void say_wide(struct world *w, __int128 n)
{
	if (n < 0)
		say(w, "-%llu", (unsigned long long)-n);
	else
		say(w, "%llu", (unsigned long long)n);
}

static __int128 clamp(__int128 n)
{
	__int128 low = -((__int128)1 << 63), high = ((__int128)1 << 64) - 1;

	return n < low ? low : n > high ? high : n;
}

/* A range around a number; how it is written says which ends it has. */
static void say_range(struct world *w, __int128 about, __int128 *from, __int128 *to)
{
	__int128 wide = gen_chance(w->g, 50) ? 0 : (__int128)(gen_u64(w->g) >> gen_below(w->g, 64));

	*from = clamp(about - (gen_chance(w->g, 50) ? wide : 0));
	*to = clamp(about + (gen_chance(w->g, 50) ? wide : 0));
	if (gen_chance(w->g, 20)) {
		*from = *to = clamp(about + gen_below(w->g, 3) - 1);
	}
	switch (gen_below(w->g, 4)) {
	case 0:
		say(w, " >= ");
		say_wide(w, *from);
		*to = (__int128)1 << 100;
		break;
	case 1:
		say(w, " <= ");
		say_wide(w, *to);
		*from = -((__int128)1 << 100);
		break;
	default:
		say(w, " ");
		say_wide(w, *from);
		say(w, "-");
		say_wide(w, *to);
	}
}

/* A double, with a point or an exponent in any case. */
static void say_double(struct world *w, double d)
{
	u32 before = w->len;

	say(w, "%.17g", d);
	if (!strpbrk(w->text + before, ".ei"))
		say(w, ".0");
}

#define OPEN	((__int128)1 << 90)	/* beyond it, an end is open */

static int count_cond(struct world *w, u64 value, u64 most, bool unknown)
{
	u32 len = w->len;
	__int128 from, to;

	do {
		w->len = len;
		say_range(w, value, &from, &to);
	} while ((from < 0 && from > -OPEN) || to < 0);
	if (from > most)
		return NO;
	return unknown ? UNKNOWN : value >= from && value <= to;
}

/* An integer range on a double is one of the integers as doubles. */
static int integers_on_double(struct world *w, double d, bool there, bool unknown)
{
	__int128 most = (__int128)1 << 53, from, to;

	say_range(w, d > -1e18 && d < 1e18 ? (__int128)d : 5, &from, &to);
	if ((from > -OPEN && (from < -most || from > most)) ||
	    (to < OPEN && (to < -most || to > most)) || !there)
		return NO;
	if (unknown)
		return UNKNOWN;
	return d >= (from < -OPEN ? -INFINITY : (double)from) &&
	       d <= (to > OPEN ? INFINITY : (double)to);
}

static int double_cond(struct world *w, u64 bits, bool there, bool unknown)
{
	double d, from, to;

	memcpy(&d, &bits, sizeof(d));
	if (gen_chance(w->g, 30))
		return integers_on_double(w, d, there, unknown);
	from = d - (gen_chance(w->g, 50) ? fabs(d) / 2 : 0);
	to = d + (gen_chance(w->g, 50) ? fabs(d) / 2 : 0);
	if (isnan(from))
		from = -INFINITY;
	if (isnan(to))
		to = INFINITY;
	if (gen_chance(w->g, 30))
		from = to = gen_chance(w->g, 50) ? -0.0 : nextafter(to, -INFINITY);
	say(w, " ");
	say_double(w, from);
	say(w, "-");
	say_double(w, to);
	if (!there)
		return NO;
	return unknown ? UNKNOWN : d >= from && d <= to;
}

static int text_cond(struct world *w, const u8 *data, u32 n, bool there, bool unknown)
{
	u8 text[64] = { 0 };
	u32 len = min_t(u32, n, 40);
	int out;

	if (there && !unknown && len)
		memcpy(text, data, len);
	if (len && gen_chance(w->g, 20))
		text[gen_below(w->g, len)] ^= 1;
	if (gen_chance(w->g, 20))
		len += gen_below(w->g, 3);
	if (gen_chance(w->g, 50)) {
		say(w, " = ");
		say_text(w, text, len);
		out = len == n && (unknown || !len || !memcmp(text, data, len));
	} else {
		if (len && gen_chance(w->g, 50))
			len = gen_below(w->g, len);
		say(w, " prefix ");
		say_text(w, text, len);
		out = len <= n && (unknown || !len || !memcmp(text, data, len));
	}
	if (!there)
		return NO;
	return out && unknown ? UNKNOWN : out;
}

static bool in_ints(const struct world *w, u64 n)
{
	u32 i;

	for (i = 0; i < w->nr_ints && w->ints[i] != n; i++)
		;
	return i < w->nr_ints;
}

static bool in_texts(const struct world *w, const struct path_found *f)
{
	u32 i;

	for (i = 0; i < w->nr_texts; i++)
		if (w->texts[i].n == f->n && !(f->n && memcmp(w->texts[i].data, f->data, f->n)))
			break;
	return i < w->nr_texts;
}

static int field_cond(struct world *w)
{
	char path[256];
	struct path_found f;
	bool there, unknown;
	int ret;

	path[path_random(w->g, w->plan, w->type, w->msg, path)] = 0;
	if (!*path) {
		say(w, "field none present");
		return NO;
	}
	ret = path_follow(w->plan, w->type, w->msg, path, strlen(path), &f);
	CHECK(ret != -EINVAL);
	there = !ret;
	unknown = there && f.stored && !w->have_bytes;
	say(w, "field %s", path);
	if (gen_chance(w->g, 10)) {
		say(w, " present");
		return there;
	}
	if (gen_chance(w->g, 5)) {
		/* What cannot be compared so. */
		if (f.kind == MRPC_VALUE_TEXT || f.kind == MRPC_VALUE_BYTES)
			say(w, " 5-7");
		else
			say(w, " = \"5\"");
		return NO;
	}
	switch (f.kind) {
	case MRPC_VALUE_BOOL:
		say(w, " = %s", f.u ? "true" : "false");
		return there ? unknown ? UNKNOWN : YES : NO;
	case MRPC_VALUE_INT:
	case MRPC_VALUE_UINT: {
		__int128 n = f.kind == MRPC_VALUE_INT ? (__int128)(s64)f.u : f.u, from, to;

		if (gen_chance(w->g, 20)) {
			say(w, " in @ints");
			return there ? unknown ? UNKNOWN : in_ints(w, f.u) : NO;
		}
		say_range(w, n, &from, &to);
		if (f.kind == MRPC_VALUE_UINT ? to < 0 : from >= (__int128)1 << 63)
			return NO;
		if (!there)
			return NO;
		return unknown ? UNKNOWN : n >= from && n <= to;
	}
	case MRPC_VALUE_DOUBLE:
		return double_cond(w, f.u, there, unknown);
	case MRPC_VALUE_TEXT:
	case MRPC_VALUE_BYTES:
		if (gen_chance(w->g, 20)) {
			say(w, " in @texts");
			return there ? unknown ? UNKNOWN : in_texts(w, &f) : NO;
		}
		return text_cond(w, f.data, f.n, there, unknown);
	default:
		say(w, " present");
		return there;
	}
}

static int other_cond(struct world *w)
{
	const struct mrpc_rule_ctx *ctx = w->ctx;
	const char *method = w->plan->names + w->plan->methods[w->method].name;
	bool yes = gen_chance(w->g, 80);

	switch (gen_below(w->g, 6)) {
	case 0:
		say(w, "method %.*s%s", yes ? 4 : 5, method, yes ? "*" : "");
		return yes || strlen(method) == 5;
	case 1:
		say(w, yes ? "service %s" : "service %sx", w->plan->names);
		return yes;
	case 2:
		say(w, (ctx->kind == MRPC_RULE_REQUEST) == yes ? "request" : "reply");
		return yes;
	case 3:
		say(w, "uid");
		return count_cond(w, ctx->uid, U32_MAX, ctx->uid == MRPC_RULE_NO_UID);
	case 4:
		say(w, "cgroup");
		return count_cond(w, ctx->cgroup, ~0ULL, !ctx->cgroup);
	default:
		say(w, "size");
		return count_cond(w, ctx->size, ~0ULL, false);
	}
}

/* Some of what is in the message, and something else. */
static void fill_sets(struct world *w, struct mrpc_set *texts, struct mrpc_set *ints)
{
	u32 tries;

	w->nr_texts = 0;
	w->nr_ints = 0;
	for (tries = 0; tries < 20; tries++) {
		struct path_found f;
		char path[256];
		u32 len = path_random(w->g, w->plan, w->type, w->msg, path);

		if (!len || path_follow(w->plan, w->type, w->msg, path, len, &f))
			continue;
		if (f.kind <= MRPC_VALUE_UINT && w->nr_ints < SET_KEYS && !in_ints(w, f.u)) {
			CHECK_EQ(mrpc_set_add(ints, &f.u, 8), 0);
			w->ints[w->nr_ints++] = f.u;
		} else if ((f.kind == MRPC_VALUE_TEXT || f.kind == MRPC_VALUE_BYTES) &&
			   f.n < 100 && w->nr_texts < SET_KEYS && !in_texts(w, &f)) {
			CHECK_EQ(mrpc_set_add(texts, f.data, f.n), 0);
			w->texts[w->nr_texts++] = f;
		}
	}
}

/* Writes rules. Which comes first, and before it, which is not decided? */
static void write_rules(struct world *w, int *first, int *undecided)
{
	int nr_rules = 1 + gen_below(w->g, MODEL_RULES), i;

	*first = *undecided = -1;
	w->len = 0;
	for (i = 0; i < nr_rules; i++) {
		u32 nr_conds = 1 + gen_below(w->g, MODEL_CONDS), k;
		int all = YES;

		say(w, "deny if ");
		for (k = 0; k < nr_conds; k++) {
			int one;

			say(w, k ? " and " : "");
			one = gen_chance(w->g, 60) ? field_cond(w) : other_cond(w);
			if (one == NO)
				all = NO;
			else if (one == UNKNOWN && all == YES)
				all = UNKNOWN;
		}
		say(w, "\n");
		if (all == YES && *first < 0)
			*first = i;
		if (all == UNKNOWN && *first < 0 && *undecided < 0)
			*undecided = i;
	}
}

static void check_world(struct world *w, const u8 *wire, const struct mrpc_msg_len *len,
			u32 *matched, u32 *unsure)
{
	u8 *head = gen_head_copy(wire, len);
	struct mrpc_view view = { .head = head, .head_len = mrpc_msg_head_len(len) };
	struct mrpc_set *texts, *ints;
	int want, want_undecided, got, undecided;
	struct mrpc_rules_binding *b;
	struct mrpc_rules *rules;
	u32 i;

	texts = mrpc_set_init(malloc(mrpc_set_size(SET_KEYS, 100 * SET_KEYS)), MRPC_SET_TEXT,
			      SET_KEYS, 100 * SET_KEYS, hash_key);
	ints = mrpc_set_init(malloc(mrpc_set_size(SET_KEYS, 8 * SET_KEYS)), MRPC_SET_INT,
			     SET_KEYS, 8 * SET_KEYS, hash_key);
	fill_sets(w, texts, ints);
	write_rules(w, &want, &want_undecided);
	rules = compile_text(w->text, acl);
	for (i = 0; i < rules->nr_sets; i++)
		mrpc_rules_set_put(rules, i, strcmp(rules->set_names[i], "ints") ? texts : ints);
	b = bind_rules(rules, w->plan, w->method);
	if (w->have_bytes)
		view.bytes = wire + view.head_len;
	w->ctx->msg = &view;
	got = first_rule(rules, b, w->ctx, &undecided);
	CHECK_MSG(got == want && undecided == want_undecided,
		  "rule %d (undecided %d), not %d (%d):\n%s", got, undecided, want,
		  want_undecided, w->text);
	*matched += want >= 0;
	*unsure += want_undecided >= 0;
	free(texts);
	free(ints);
	free(head);
	free(b);
	free(rules);
}

TEST_LIMIT(random_rules_for_random_messages, 300)
{
	struct world *w = calloc(1, sizeof(*w));
	u32 round, i, worlds = 0, matched = 0, unsure = 0;

	for (round = 0; round < 1000; round++) {
		struct gen g = gen_seeded(round);
		struct model_pool pool = { 0 };
		struct mrpc_schema_plan *plan = gen_plan(&g);

		for (i = 0; i < 10; i++) {
			struct mrpc_rule_ctx ctx = {
				.kind = gen_below(&g, 2),
				.uid = gen_chance(&g, 20) ? MRPC_RULE_NO_UID : gen_u64(&g),
				.cgroup = gen_chance(&g, 20) ? 0 : gen_u64(&g) >> 20,
				.size = gen_u64(&g) >> 40,
			};
			struct mrpc_msg_len len;
			u8 *wire;

			w->g = &g;
			w->plan = plan;
			w->ctx = &ctx;
			w->method = gen_below(&g, plan->nr_methods);
			w->type = ctx.kind == MRPC_RULE_REQUEST ?
				  plan->methods[w->method].request : plan->methods[w->method].reply;
			w->msg = gen_message(&g, &pool, plan, w->type, 10);
			w->have_bytes = gen_chance(&g, 70);
			wire = model_encode(plan, w->msg, &len);
			check_world(w, wire, &len, &matched, &unsure);
			worlds++;
			free(wire);
		}
		model_free(&pool);
		free(plan);
	}
	NOTE("%u messages: %u matched, %u undecided", worlds, matched, unsure);
	CHECK(matched > worlds / 3 && matched < worlds && unsure > worlds / 50);
	free(w);
}
