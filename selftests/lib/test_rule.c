// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/rule */
/*
 * Rules: kmod/lib/rule. For their text, see test_rule_text.c.
 */
#include <arpa/inet.h>
#include <math.h>
#include <time.h>

#include "gen.h"
#include "rules.h"

/* -- the binary form -------------------------------------------------------- */

static const char some_rules[] =
	"deny status NOT_FOUND detail \"not for you\" if service a.B and method Get* and peer 10.0.0.0/8"
	" and port 5 and uid 1-2 and cgroup 5 and request and size > 10\n"
	"deny if meta k = \"v\" and meta k in @s1 and meta l present and field a.b[3] prefix \"x\"\n"
	"deny if field n -5-5 and field d 0.5-1.5 and field s in @s2 and peer 2001::/16\n"
	"allow\n";

/* Cut anywhere, and with each byte changed: refused with a reason, or read. */
TEST(broken_forms)
{
	struct mrpc_rules_error err;
	size_t len, i, k;
	u8 *binary = parse(some_rules, acl, &len);
	u32 accepted = 0;

	for (i = 0; i < len; i++) {
		u8 *cut = malloc(i + !i);

		memcpy(cut, binary, i);
		CHECK_EQ(mrpc_rules_size(cut, i, &err), -EINVAL);
		CHECK(err.what);
		/* With a length that says so. */
		if (i >= 16) {
			u32 len32 = i;

			memcpy(cut + 8, &len32, 4);
			CHECK_EQ(mrpc_rules_size(cut, i, &err), -EINVAL);
		}
		free(cut);
	}
	for (i = 0; i < len; i++) {
		for (k = 1; k < 256; k++) {
			struct mrpc_rules *rules;
			u8 *copy = malloc(len);

			memcpy(copy, binary, len);
			copy[i] ^= k;
			rules = compile(copy, len, &err);
			CHECK(rules || err.what);
			accepted += !!rules;
			free(rules);
			free(copy);
		}
	}
	/* Other names, texts and numbers are as good. */
	CHECK(accepted > len && accepted < 200 * len);
	free(binary);
}

static void put(u8 **p, const void *data, size_t len)
{
	memcpy(*p, data, len);
	memset(*p + len, 0, (8 - len % 8) % 8);
	*p += ALIGN(len, 8);
}

/* One rule with one condition, as it is given. */
static void check_cond(u8 what, u8 op, const char *name, const void *value, u32 len,
		       const char *why)
{
	struct mrpc_rules_hdr hdr = {
		.magic = MRPC_RULES_MAGIC, .version = MRPC_RULES_VERSION, .nr_rules = 1,
	};
	struct mrpc_rule_rec rule = { .share = 1, .nr_conds = 1 };
	struct mrpc_cond_rec cond = {
		.what = what, .op = op, .name_len = strlen(name), .value_len = len,
	};
	struct mrpc_rules_error err = { 0 };
	u8 buf[4096], *p = buf;
	s64 size;

	put(&p, &hdr, sizeof(hdr));
	put(&p, &rule, sizeof(rule));
	put(&p, &cond, sizeof(cond));
	put(&p, name, strlen(name));
	put(&p, value, len);
	hdr.len = p - buf;
	memcpy(buf, &hdr, sizeof(hdr));
	size = mrpc_rules_size(buf, hdr.len, &err);
	if (!why) {
		CHECK_MSG(size > 0, "%s", err.what);
		return;
	}
	CHECK_EQ(size, -EINVAL);
	CHECK_STR(err.what, why);
	CHECK_EQ(err.rule, 0);
	CHECK_EQ(err.cond, 0);
}

TEST(malformed_conditions)
{
	struct mrpc_cond_range r = { .from = 1, .to = 2, .flags = MRPC_RANGE_FROM | MRPC_RANGE_TO };
	struct mrpc_cond_net net = { .addr = { 10 }, .version = 4, .prefix = 8 };
	char longest[MRPC_RULE_MAX_VALUE + 1] = { 0 };
	u32 set = 0;

	check_cond(0, 1, "", "", 0, "is about something unknown");
	check_cond(MRPC_COND_MAX + 1, 1, "", "", 0, "is about something unknown");
	check_cond(MRPC_COND_UID, MRPC_MATCH_EQUAL, "", "", 0, "has an operator that it cannot have");
	check_cond(MRPC_COND_UID, 8, "", "", 0, "has an operator that it cannot have");
	check_cond(MRPC_COND_UID, 0, "", "", 0, "has an operator that it cannot have");
	check_cond(MRPC_COND_UID, MRPC_MATCH_RANGE, "", &r, sizeof(r), NULL);
	check_cond(MRPC_COND_UID, MRPC_MATCH_RANGE, "x", &r, sizeof(r),
		   "has a name of a length that it cannot have");
	check_cond(MRPC_COND_META, MRPC_MATCH_PRESENT, "", "", 0,
		   "has a name of a length that it cannot have");
	check_cond(MRPC_COND_META, MRPC_MATCH_PRESENT, "K", "", 0,
		   "has a name that is not a metadata key");
	check_cond(MRPC_COND_META, MRPC_MATCH_PRESENT, "k", "x", 1, "has a value that is not used");
	check_cond(MRPC_COND_META, MRPC_MATCH_EQUAL, "k", longest, sizeof(longest) - 1, NULL);
	check_cond(MRPC_COND_META, MRPC_MATCH_EQUAL, "k", longest, sizeof(longest),
		   "has a value that is too long");
	check_cond(MRPC_COND_META, MRPC_MATCH_IN, "k", &set, 4, "names a set that does not exist");
	check_cond(MRPC_COND_META, MRPC_MATCH_IN, "k", &set, 2,
		   "has the number of a set in another size");
	check_cond(MRPC_COND_METHOD, MRPC_MATCH_EQUAL, "", "a.b", 3, "has a value that is not a name");
	check_cond(MRPC_COND_METHOD, MRPC_MATCH_PREFIX, "", "", 0, NULL);
	check_cond(MRPC_COND_METHOD, MRPC_MATCH_EQUAL, "", "", 0, "has a value that is not a name");
	check_cond(MRPC_COND_SERVICE, MRPC_MATCH_EQUAL, "", "a.b", 3, NULL);
	check_cond(MRPC_COND_UID, MRPC_MATCH_RANGE, "", &r, 16, "has a range of another size");
	r.from = 3;
	check_cond(MRPC_COND_UID, MRPC_MATCH_RANGE, "", &r, sizeof(r),
		   "has a range that starts behind its end");
	r.flags |= MRPC_RANGE_FROM_NEG;
	check_cond(MRPC_COND_FIELD, MRPC_MATCH_RANGE, "f", &r, sizeof(r),
		   "has a range with a negative end that is not");
	check_cond(MRPC_COND_UID, MRPC_MATCH_RANGE, "", &r, sizeof(r),
		   "has a negative range for what never is");
	r.flags = MRPC_RANGE_TO;
	check_cond(MRPC_COND_UID, MRPC_MATCH_RANGE, "", &r, sizeof(r),
		   "has a range with a value at its open end");
	r.from = 0;
	r.to = 0;
	r.flags = 0;
	check_cond(MRPC_COND_UID, MRPC_MATCH_RANGE, "", &r, sizeof(r),
		   "has a range that is open at both ends");
	r.flags = 16;
	check_cond(MRPC_COND_UID, MRPC_MATCH_RANGE, "", &r, sizeof(r),
		   "has a range with unknown flags");
	r.flags = MRPC_RANGE_FROM;
	r.from = 0x7ff0000000000001;
	check_cond(MRPC_COND_FIELD, MRPC_MATCH_DOUBLES, "f", &r, sizeof(r),
		   "has a range that ends at no number");
	r.from = 0;
	check_cond(MRPC_COND_KIND, MRPC_MATCH_RANGE, "", &r, sizeof(r),
		   "is about a kind of message that does not exist");
	check_cond(MRPC_COND_PEER, MRPC_MATCH_NET, "", &net, sizeof(net), NULL);
	net.addr[1] = 1;
	check_cond(MRPC_COND_PEER, MRPC_MATCH_NET, "", &net, sizeof(net),
		   "has a network with bits behind its prefix");
	net.prefix = 33;
	check_cond(MRPC_COND_PEER, MRPC_MATCH_NET, "", &net, sizeof(net),
		   "has a network with a prefix of too many bits");
	net.version = 5;
	check_cond(MRPC_COND_PEER, MRPC_MATCH_NET, "", &net, sizeof(net),
		   "has a network of an unknown version");
}

/* -- a schema by hand ------------------------------------------------------- */

/*
 * Service t.S, methods M0000 (t.T0 -> t.T1) and M0001 (t.T1 -> t.T1).
 * t.T0: f0 string, f1 int32, f2 bytes, f3 double, f4 bool, f5 uint64, f6 repeated uint32
 * t.T1: f7 string, f8 map T2
 * t.T2: int32 -> bool
 */
static struct mrpc_schema_plan *by_hand(void)
{
	static const u8 kinds[] = {
		MRPC_KIND_STRING, MRPC_KIND_INT32, MRPC_KIND_BYTES, MRPC_KIND_DOUBLE,
		MRPC_KIND_BOOL, MRPC_KIND_UINT64, MRPC_KIND_UINT32,
	};
	struct gen_schema *s = calloc(1, sizeof(*s));
	struct mrpc_schema_plan *plan;
	struct mrpc_schema_error err;
	size_t len;
	u8 *buf;
	u32 i;

	gen_add_method(s, 0, 1);
	gen_add_method(s, 1, 1);
	gen_add_type(s);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		gen_add_field(s, i + 1, kinds[i], i == 6 ? MRPC_FIELD_REPEATED : 0,
			      MRPC_SCHEMA_NO_TYPE, MRPC_SCHEMA_NO_ONEOF);
	gen_add_type(s);
	gen_add_field(s, 1, MRPC_KIND_STRING, 0, MRPC_SCHEMA_NO_TYPE, MRPC_SCHEMA_NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_MESSAGE, MRPC_FIELD_REPEATED, 2, MRPC_SCHEMA_NO_ONEOF);
	gen_add_type(s);
	s->types[2].flags = cpu_to_le16(MRPC_TYPE_MAP_ENTRY);
	gen_add_field(s, 1, MRPC_KIND_INT32, 0, MRPC_SCHEMA_NO_TYPE, MRPC_SCHEMA_NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_BOOL, 0, MRPC_SCHEMA_NO_TYPE, MRPC_SCHEMA_NO_ONEOF);
	buf = gen_schema_binary(s, &len);
	plan = gen_compile(buf, len, &err);
	CHECK(plan);
	free(buf);
	free(s);
	return plan;
}

static int first_of(const char *text, const struct mrpc_rule_ctx *ctx, int *undecided)
{
	struct mrpc_schema_plan *plan = by_hand();
	struct mrpc_rules *rules = compile_text(text, acl);
	struct mrpc_rules_binding *b = bind_rules(rules, plan, 0);
	int rule = first_rule(rules, b, ctx, undecided);

	free(b);
	free(rules);
	free(plan);
	return rule;
}

TEST(rules_of_other_methods_are_not_bound)
{
	struct mrpc_schema_plan *plan = by_hand();
	struct mrpc_rules *rules = compile_text("deny if service x.Y\ndeny if method Get\n"
						"deny if service t.S and method M0001 and reply\n"
						"deny if method M9*\n", acl);
	struct mrpc_rule_ctx ctx = { .kind = MRPC_RULE_REPLY };
	struct mrpc_rules_binding *b = bind_rules(rules, plan, 1);

	CHECK(!bind_rules(rules, plan, 0));
	CHECK_EQ(first_rule(rules, NULL, &ctx, NULL), -1);
	CHECK_EQ(first_rule(rules, b, &ctx, NULL), 2);
	ctx.kind = MRPC_RULE_REQUEST;
	CHECK_EQ(first_rule(rules, b, &ctx, NULL), -1);
	CHECK(!mrpc_rules_need_head(b, MRPC_RULE_REPLY));
	CHECK(!mrpc_rules_need_head(NULL, MRPC_RULE_REPLY));
	free(b);
	free(rules);
	free(plan);
}

TEST(why_a_rule_does_not_fit)
{
	static const struct { const char *text; u32 fit, cond; } cases[] = {
		{ "allow", MRPC_FIT, 0 },
		{ "deny if uid 5 and field f0 = \"x\"", MRPC_FIT, 0 },
		{ "deny if method Other and field nope = \"x\"", MRPC_FIT_NOT_MEANT, 0 },
		{ "deny if field nope = \"x\" and method Other", MRPC_FIT_NOT_MEANT, 1 },
		{ "deny if uid 5 and field nope = \"x\"", MRPC_FIT_NO_FIELD, 1 },
		{ "deny if field f1 = \"x\"", MRPC_FIT_KIND, 0 },
		{ "deny if field f0 5", MRPC_FIT_KIND, 0 },
		{ "deny if field f1 0.5-1.5", MRPC_FIT_KIND, 0 },
		{ "deny if field f3 9007199254740993", MRPC_FIT_KIND, 0 },
		{ "deny if field f3 -9007199254740992-5", MRPC_FIT, 0 },
		{ "deny if field f4 = 2", MRPC_FIT_KIND, 0 },
		{ "deny if field f5 < 0", MRPC_FIT_KIND, 0 },
		{ "deny if field f1 > 9223372036854775807", MRPC_FIT_KIND, 0 },
		{ "deny if field f3 in @x", MRPC_FIT_KIND, 0 },
		{ "deny if field f6 5", MRPC_FIT_KIND, 0 },
		{ "deny if field f6# 5", MRPC_FIT, 0 },
		{ "deny if port > 65535", MRPC_FIT_KIND, 0 },
		{ "deny if uid > 4294967295", MRPC_FIT_KIND, 0 },
	};
	static u64 scratch[MRPC_PATH_MAX_SIZE / 8 + 1];
	struct mrpc_schema_plan *plan = by_hand();
	struct mrpc_path_error err;
	u32 i, cond;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mrpc_rules *rules = compile_text(cases[i].text, acl);
		u32 fit;

		cond = 0;
		fit = mrpc_rule_fits(rules, 0, plan, 0, MRPC_RULE_REQUEST, scratch, &cond, &err);
		CHECK_MSG(fit == cases[i].fit && cond == cases[i].cond, "%s: %u, condition %u",
			  cases[i].text, fit, cond);
		if (fit == MRPC_FIT_NO_FIELD)
			CHECK_STR(err.what, "is not a field of");
		free(rules);
	}
	free(plan);
}

TEST(peers)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET, .sin_port = htons(4000) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(5000) };
	u16 unix_family = AF_UNIX;
	struct mrpc_rule_ctx ctx = { .peer = &in4, .peer_len = sizeof(in4) };
	int undecided;

	inet_pton(AF_INET, "10.1.255.3", &in4.sin_addr);
	CHECK_EQ(first_of("deny if peer 10.1.255.3", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if peer 10.1.255.2", &ctx, NULL), -1);
	CHECK_EQ(first_of("deny if peer 10.1.254.0/23", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if peer 10.1.252.0/23", &ctx, NULL), -1);
	CHECK_EQ(first_of("deny if peer 0.0.0.0/0 and port 4000", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if peer ::/0", &ctx, NULL), -1);
	CHECK_EQ(first_of("deny if port 3999", &ctx, NULL), -1);
	ctx.peer = &in6;
	ctx.peer_len = sizeof(in6);
	/* Of a socket of version 6, but a peer of version 4 all the same. */
	inet_pton(AF_INET6, "::ffff:10.1.255.3", &in6.sin6_addr);
	CHECK_EQ(first_of("deny if peer 10.1.0.0/16 and port 5000", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if peer ::/0", &ctx, NULL), -1);
	inet_pton(AF_INET6, "2001:db8::7", &in6.sin6_addr);
	CHECK_EQ(first_of("deny if peer 0.0.0.0/0", &ctx, NULL), -1);
	CHECK_EQ(first_of("deny if peer 2001:db8::/127", &ctx, NULL), -1);
	CHECK_EQ(first_of("deny if peer 2001:db8::6/127", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if peer ::/0", &ctx, NULL), 0);
	/* No address: in no network. None known, or a piece of one: undecided. */
	ctx.peer = &unix_family;
	ctx.peer_len = sizeof(unix_family);
	CHECK_EQ(first_of("deny if peer 0.0.0.0/0; deny if port >= 0", &ctx, &undecided), -1);
	CHECK_EQ(undecided, -1);
	ctx.peer = &in4;
	ctx.peer_len = 7;
	CHECK_EQ(first_of("deny if peer 10.0.0.0/8; deny if port >= 0", &ctx, &undecided), -1);
	CHECK_EQ(undecided, 0);
	ctx.peer_len = 0;
	CHECK_EQ(first_of("deny if port >= 0; allow", &ctx, &undecided), 1);
	CHECK_EQ(undecided, 0);
}

static u32 add_meta(u8 *buf, u32 at, const char *key, const char *value)
{
	struct mrpc_meta_entry e = { .klen = strlen(key), .vlen = strlen(value) };

	memcpy(buf + at, &e, sizeof(e));
	memcpy(buf + at + sizeof(e), key, e.klen);
	memcpy(buf + at + sizeof(e) + e.klen, value, e.vlen);
	return at + sizeof(e) + e.klen + e.vlen;
}

TEST(metadata_and_the_caller)
{
	struct mrpc_rule_ctx ctx = { .uid = 1000, .cgroup = 7, .size = 500 };
	u8 meta[100];
	int undecided;

	ctx.meta_len = add_meta(meta, ctx.meta_len, "tenant", "blue");
	ctx.meta_len = add_meta(meta, ctx.meta_len, "tenant", "green");
	ctx.meta_len = add_meta(meta, ctx.meta_len, "empty", "");
	ctx.meta = memcpy(malloc(ctx.meta_len), meta, ctx.meta_len);
	CHECK_EQ(first_of("deny if meta tenant present", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if meta tenan present; deny if meta tenants present", &ctx, NULL), -1);
	CHECK_EQ(first_of("deny if meta tenant = \"green\"", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if meta tenant = \"gree\"", &ctx, NULL), -1);
	CHECK_EQ(first_of("deny if meta tenant prefix \"gree\"", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if meta tenant prefix \"greene\"", &ctx, NULL), -1);
	CHECK_EQ(first_of("deny if meta empty = \"\" and meta empty prefix \"\"", &ctx, NULL), 0);
	free((void *)ctx.meta);
	ctx.meta_len = 0;
	CHECK_EQ(first_of("deny if identity present; deny if identity prefix \"\"", &ctx, NULL), -1);
	ctx.identity = "spiffe://x/y";
	ctx.identity_len = strlen(ctx.identity);
	CHECK_EQ(first_of("deny if identity = \"spiffe://x/\"; allow if identity present", &ctx, NULL),
		 1);
	CHECK_EQ(first_of("deny if identity = \"spiffe://x/y\"", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if identity prefix \"spiffe://x/\"", &ctx, NULL), 0);
	CHECK_EQ(first_of("deny if identity prefix \"spiffe://y/\"", &ctx, NULL), -1);
	CHECK_EQ(first_of("deny if meta tenant present; allow if uid 1000-1999", &ctx, NULL), 1);
	CHECK_EQ(first_of("deny if uid 1001-1999; allow if cgroup 7 and size 500", &ctx, NULL), 1);
	ctx.uid = MRPC_RULE_NO_UID;
	ctx.cgroup = 0;
	CHECK_EQ(first_of("deny if size 499; deny if size 500 and uid 1 and cgroup 1; deny if uid 5",
			  &ctx, &undecided), -1);
	CHECK_EQ(undecided, 1);
	/* What is false is false, whatever else is unknown. */
	CHECK_EQ(first_of("deny if uid 1 and size 499", &ctx, &undecided), -1);
	CHECK_EQ(undecided, -1);
	/* What comes after the rule that counts does not matter. */
	CHECK_EQ(first_of("allow if size 500; deny if uid 1", &ctx, &undecided), 0);
	CHECK_EQ(undecided, -1);
}

TEST(sets_come_and_go)
{
	struct mrpc_schema_plan *plan = by_hand();
	struct mrpc_rules *rules = compile_text("deny if meta t in @texts; deny if field f5 in @ints",
						acl);
	struct mrpc_rules_binding *b = bind_rules(rules, plan, 0);
	struct mrpc_set *texts, *ints;
	u64 head[16] = { 0 }, five = 5;
	struct mrpc_view view = { .head = head, .head_len = sizeof(head) };
	struct mrpc_rule_ctx ctx = { .msg = &view };
	int undecided;
	u8 meta[20];

	texts = mrpc_set_init(malloc(mrpc_set_size(4, 100)), MRPC_SET_TEXT, 4, 100, hash_key);
	ints = mrpc_set_init(malloc(mrpc_set_size(4, 100)), MRPC_SET_INT, 4, 100, hash_key);
	memcpy((u8 *)head + plan->fields[5].offset, &five, 8);
	ctx.meta_len = add_meta(meta, 0, "t", "x");
	ctx.meta = meta;
	CHECK_STR(rules->set_names[0], "texts");
	CHECK_STR(rules->set_names[1], "ints");
	CHECK_EQ(first_rule(rules, b, &ctx, &undecided), -1);
	CHECK_EQ(undecided, 0);
	mrpc_rules_set_put(rules, 0, texts);
	CHECK_EQ(first_rule(rules, b, &ctx, &undecided), -1);
	CHECK_EQ(undecided, 1);
	mrpc_rules_set_put(rules, 1, ints);
	CHECK_EQ(first_rule(rules, b, &ctx, &undecided), -1);
	CHECK_EQ(undecided, -1);
	mrpc_set_add(ints, &five, 8);
	CHECK_EQ(first_rule(rules, b, &ctx, &undecided), 1);
	mrpc_set_add(texts, "x", 1);
	CHECK_EQ(first_rule(rules, b, &ctx, &undecided), 0);
	/* A set of another kind says nothing. */
	mrpc_rules_set_put(rules, 0, ints);
	CHECK_EQ(first_rule(rules, b, &ctx, &undecided), 1);
	CHECK_EQ(undecided, 0);
	free(texts);
	free(ints);
	free(b);
	free(rules);
	free(plan);
}

TEST(content_to_be_read_is_named)
{
	struct mrpc_schema_plan *plan = by_hand();
	struct mrpc_rules *rules = compile_text("deny if field f2 = \"a\" and field f0 = \"b\"\n"
						"deny if field f2 prefix \"c\" and field f6[1] 5\n"
						"deny if field f2# 5\n"
						"deny if field f7 present\n", acl);
	struct mrpc_rules_binding *b = bind_rules(rules, plan, 0);
	const struct mrpc_field_path *path;

	path = mrpc_rules_reads(b, MRPC_RULE_REQUEST, 0);
	CHECK(path && path->field == 2);
	path = mrpc_rules_reads(b, MRPC_RULE_REQUEST, 1);
	CHECK(path && path->field == 6);
	CHECK(!mrpc_rules_reads(b, MRPC_RULE_REQUEST, 2));
	CHECK(!mrpc_rules_reads(b, MRPC_RULE_REPLY, 0));
	CHECK(!mrpc_rules_reads(NULL, MRPC_RULE_REPLY, 0));
	CHECK(mrpc_rules_need_head(b, MRPC_RULE_REPLY));
	free(b);
	free(rules);
	free(plan);
}

/* The number of the first rule for a message with only the double f3. */
static int first_of_double(const char *text, double d)
{
	struct mrpc_schema_plan *plan = by_hand();
	struct mrpc_rules *rules = compile_text(text, acl);
	struct mrpc_rules_binding *b = bind_rules(rules, plan, 0);
	u64 head[16] = { 0 };
	struct mrpc_view view = { .head = head, .head_len = sizeof(head) };
	struct mrpc_rule_ctx ctx = { .msg = &view };
	int rule;

	memcpy((u8 *)head + plan->fields[3].offset, &d, sizeof(d));
	rule = first_rule(rules, b, &ctx, NULL);
	free(b);
	free(rules);
	free(plan);
	return rule;
}

TEST(doubles)
{
	static const char *const any = "deny if field f3 <= inf; deny if field f3 >= -inf";

	CHECK_EQ(first_of_double("deny if field f3 = 0.0", -0.0), 0);
	CHECK_EQ(first_of_double("deny if field f3 = -0.0", 0.0), 0);
	CHECK_EQ(first_of_double("deny if field f3 0", -0.0), 0);
	CHECK_EQ(first_of_double("deny if field f3 > 0.0", 0.0), -1);
	CHECK_EQ(first_of_double("deny if field f3 < 0.0", -0.0), -1);
	CHECK_EQ(first_of_double("deny if field f3 < 0.0", -4.9e-324), 0);
	CHECK_EQ(first_of_double("deny if field f3 -3--2", -2.5), 0);
	CHECK_EQ(first_of_double("deny if field f3 = 9007199254740992", 0x1p53), 0);
	CHECK_EQ(first_of_double("deny if field f3 = 9007199254740991", 0x1p53 - 1), 0);
	CHECK_EQ(first_of_double("deny if field f3 >= 1", INFINITY), 0);
	CHECK_EQ(first_of_double(any, -INFINITY), 0);
	CHECK_EQ(first_of_double(any, (double)NAN), -1);
	CHECK_EQ(first_of_double(any, -(double)NAN), -1);
}

/* Of a map with more entries than are searched it is not known which keys it has. */
TEST(maps_of_too_many)
{
	static const struct { u32 entries; const char *text; int rule, undecided; } cases[] = {
		{ MRPC_FIELD_MAX_ENTRIES, "deny if field f8[7] present", 0, -1 },
		{ MRPC_FIELD_MAX_ENTRIES, "deny if field f8[8] present", -1, -1 },
		{ MRPC_FIELD_MAX_ENTRIES, "deny if field f8[7] false", 0, -1 },
		{ MRPC_FIELD_MAX_ENTRIES + 1, "deny if field f8[7] present", -1, 0 },
		{ MRPC_FIELD_MAX_ENTRIES + 1, "deny if field f8[8] present", -1, 0 },
		{ MRPC_FIELD_MAX_ENTRIES + 1, "deny if field f8[7] false", -1, 0 },
		{ MRPC_FIELD_MAX_ENTRIES + 1, "deny if field f8# > 1024", 0, -1 },
		{ MRPC_FIELD_MAX_ENTRIES + 1, "deny if field f8 present", 0, -1 },
	};
	struct mrpc_schema_plan *plan = by_hand();
	u32 at = ALIGN(plan->types[1].size, 8), key = 7, i;
	u32 size = at + (MRPC_FIELD_MAX_ENTRIES + 1) * plan->types[2].size;
	u8 *head = calloc(1, size);
	struct mrpc_view view = { .head = head, .head_len = size };
	struct mrpc_rule_ctx ctx = { .kind = MRPC_RULE_REPLY, .msg = &view };
	struct mrpc_ref *ref = (void *)(head + plan->fields[8].offset);
	int undecided;

	memcpy(head + at, &key, sizeof(key));
	ref->off = at;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ref->len = cases[i].entries;
		CHECK_EQ(first_of(cases[i].text, &ctx, &undecided), cases[i].rule);
		CHECK_EQ(undecided, cases[i].undecided);
	}
	free(head);
	free(plan);
}

static size_t bind_size(const struct mrpc_rules *rules, const struct mrpc_schema_plan *plan,
			u32 method)
{
	void *mem = malloc(mrpc_rules_binder_size(rules));
	size_t size = mrpc_rules_bind_size(mrpc_rules_binder_init(rules, plan, mem), method);

	free(mem);
	return size;
}

/* What comes after a rule that always matches costs nothing. */
TEST(rules_behind_one_that_always_matches)
{
	struct mrpc_schema_plan *plan = by_hand();
	struct mrpc_rules *shorter = compile_text("deny if uid 1; allow if method M*", acl);
	struct mrpc_rules *longer = compile_text("deny if uid 1; allow if method M*; deny if uid 2",
						 acl);

	CHECK_EQ(bind_size(shorter, plan, 0), bind_size(longer, plan, 0));
	free(shorter);
	free(longer);
	free(plan);
}

#define MANY_FIELDS	4000
#define MANY_METHODS	200
#define MANY_RULES	500

/* Methods with two types in common, of many fields. */
static struct mrpc_schema_plan *many_methods(void)
{
	struct gen_schema *s = calloc(1, sizeof(*s));
	struct mrpc_schema_error err;
	struct mrpc_schema_plan *plan;
	size_t len;
	u8 *buf;
	u32 i;

	for (i = 0; i < MANY_METHODS; i++)
		gen_add_method(s, 0, 1);
	for (i = 0; i < 2; i++) {
		u32 k;

		gen_add_type(s);
		for (k = 0; k < MANY_FIELDS; k++)
			gen_add_field(s, k + 1, MRPC_KIND_UINT32, 0,
				      MRPC_SCHEMA_NO_TYPE, MRPC_SCHEMA_NO_ONEOF);
	}
	buf = gen_schema_binary(s, &len);
	plan = gen_compile(buf, len, &err);
	CHECK_MSG(plan, "%s %u: %s", err.table, err.index, err.what);
	free(buf);
	free(s);
	return plan;
}

/*
 * A path is compiled once for a type, not for every rule, method and walk; its names are found
 * by halving. Otherwise this takes minutes.
 */
TEST(many_rules_for_many_methods)
{
	struct mrpc_schema_plan *plan = many_methods();
	struct mrpc_rules_binder *binder;
	struct mrpc_rules *rules;
	char *text = malloc(MANY_RULES * 128), *end = text;
	struct mrpc_rules_binding *b;
	clock_t start;
	u32 i;

	for (i = 0; i < MANY_RULES; i++) {
		const char *name = plan->names + plan->fields[MANY_FIELDS - 1 - i % 50].name;

		end += sprintf(end, "deny if field %s 1-%u and field %s 7; ", name, i + 2,
			       plan->names + plan->fields[i].name);
	}
	rules = compile_text(text, acl);
	binder = mrpc_rules_binder_init(rules, plan, malloc(mrpc_rules_binder_size(rules)));
	start = clock();
	for (i = 0; i < MANY_METHODS; i++) {
		size_t size = mrpc_rules_bind_size(binder, i);

		CHECK(size);
		b = mrpc_rules_bind(binder, malloc(size));
		free(b);
	}
	CHECK_MSG(clock() - start < 20 * CLOCKS_PER_SEC, "%.1f s of processor time",
		  (double)(clock() - start) / CLOCKS_PER_SEC);
	free(binder);
	free(rules);
	free(text);
	free(plan);
}
