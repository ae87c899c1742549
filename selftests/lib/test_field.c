// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/field kmod/lib/message/field_compile */
/*
 * Fields read by paths: kmod/lib/message/field.c and field_compile.c, against paths
 * followed through trees.
 */
#include "gen.h"
#include "paths.h"
#include "tap.h"

/* Gives pieces of the byte section as if it were not in one place. */
struct pieces {
	struct mrpc_view view;
	const u8 *wire;
	u8 *last;
	u32 asked_off;
	u32 asked_len;
};

static const void *give_piece(const struct mrpc_view *view, u32 off, u32 len)
{
	struct pieces *p = (struct pieces *)view;

	free(p->last);
	p->last = malloc(len);
	memcpy(p->last, p->wire + off, len);
	p->asked_off = off;
	p->asked_len = len;
	return p->last;
}

static void check_value(const struct path_found *found, const struct mrpc_field_value *value,
			const char *text)
{
	CHECK_MSG(value->kind == found->kind, "%s: kind %u, not %u", text, value->kind,
		  found->kind);
	if (found->kind == MRPC_VALUE_TEXT || found->kind == MRPC_VALUE_BYTES)
		CHECK_MSG(value->len == found->n && (!found->n || value->ptr) &&
			  !(found->n && memcmp(value->ptr, found->data, found->n)), "%s", text);
	else if (found->kind != MRPC_VALUE_MESSAGE)
		CHECK_MSG(value->u == found->u, "%s: %#llx, not %#llx", text,
			  (unsigned long long)value->u, (unsigned long long)found->u);
	if (found->kind == MRPC_VALUE_TEXT)
		CHECK_MSG(!value->ptr[value->len], "%s: no NUL", text);
}

/* One path, with the byte section, without, and in pieces. */
static void check_path(const struct mrpc_schema_plan *plan, u32 type, const struct model_msg *msg,
		       const u8 *wire, const struct mrpc_msg_len *len, const char *text,
		       u32 *found_count)
{
	struct mrpc_view view = { .head_len = mrpc_msg_head_len(len) };
	struct pieces pieces = { .wire = wire };
	struct mrpc_path_error err;
	struct path_found found;
	struct mrpc_field_value value;
	union path_mem mem;
	struct mrpc_field_path *copy;
	u8 *head;
	int want, ret;

	want = path_follow(plan, type, msg, text, strlen(text), &found);
	ret = mrpc_field_compile(plan, type, text, strlen(text), &mem.path, sizeof(mem), &err);
	CHECK_MSG(!ret, "%s: %s at %u", text, err.what, err.pos);
	CHECK_EQ(mem.path.kind, found.kind);
	CHECK_EQ(mem.path.content, found.content);
	/* What it needs is in its size. */
	copy = malloc(mem.path.size);
	memcpy(copy, &mem.path, mem.path.size);
	memset(&mem, 0xff, sizeof(mem));

	/* Alone: a look beyond the head is caught. */
	head = gen_head_copy(wire, len);
	view.head = head;
	ret = mrpc_field_read(copy, &view, &value);
	if (!want && found.stored) {
		CHECK_EQ(ret, -ENODATA);
		CHECK_EQ(value.len, found.stored);
		CHECK(value.off >= view.head_len && value.off + value.len <= mrpc_msg_total(len));
		pieces.asked_off = value.off;
	} else {
		CHECK_MSG(ret == want, "%s: %d, not %d", text, ret, want);
		if (!ret)
			check_value(&found, &value, text);
	}

	view.bytes = wire + view.head_len;
	ret = mrpc_field_read(copy, &view, &value);
	CHECK_MSG(ret == want, "%s: %d, not %d", text, ret, want);
	if (!ret)
		check_value(&found, &value, text);

	view.bytes = NULL;
	view.piece = give_piece;
	pieces.view = view;
	if (!want && found.stored) {
		u32 off = pieces.asked_off;

		CHECK_EQ(mrpc_field_read(copy, &pieces.view, &value), 0);
		check_value(&found, &value, text);
		CHECK_EQ(pieces.asked_off, off);
		CHECK_EQ(pieces.asked_len, found.stored);
	}
	view.head = NULL;
	CHECK_EQ(mrpc_field_read(copy, &view, &value), -ENOENT);
	*found_count += !want;
	free(pieces.last);
	free(head);
	free(copy);
}

TEST_LIMIT(random_paths_of_random_messages, 120)
{
	u32 round, i, paths = 0, found = 0;

	for (round = 0; round < 1500; round++) {
		struct gen g = gen_seeded(round);
		struct model_pool pool = { 0 };
		struct mrpc_msg_error merr;
		struct mrpc_schema_plan *plan;
		struct mrpc_msg_len len;
		struct model_msg *msg;
		char text[256];
		u8 *wire;
		u32 type;

		plan = gen_plan(&g);
		type = gen_below(&g, plan->nr_types);
		msg = gen_message(&g, &pool, plan, type, 10);
		wire = model_encode(plan, msg, &len);
		CHECK_EQ(mrpc_msg_verify(plan, type, wire, &len, &merr), 0);
		for (i = 0; i < 60; i++) {
			text[path_random(&g, plan, type, msg, text)] = 0;
			if (!*text)
				break;
			check_path(plan, type, msg, wire, &len, text, &found);
			paths++;
		}
		free(wire);
		model_free(&pool);
		free(plan);
	}
	NOTE("%u paths, %u to something", paths, found);
	CHECK(found > paths / 2 && paths - found > paths / 20);
}

/* -- by hand ---------------------------------------------------------------- */

/*
 * t.T0: f0 int32, f1 optional string, f2 T1, f3 repeated T1, f4 map T2,
 *	f5 repeated uint64, f6 bytes, f7 oneof { f7 double, f8 T1 }, f9 map T3
 * t.T1: f10 string, f11 repeated string, f12 float
 * t.T2: string -> T1;  t.T3: int32 -> bool
 */
static struct mrpc_schema_plan *by_hand(void)
{
	struct gen_schema *s = calloc(1, sizeof(*s));
	struct mrpc_schema_plan *plan;
	struct mrpc_schema_error err;
	size_t len;
	u8 *buf;

	gen_add_method(s, 0, 0);
	gen_add_type(s);
	gen_add_field(s, 1, MRPC_KIND_INT32, 0, NONE, ALONE);
	gen_add_field(s, 2, MRPC_KIND_STRING, OPT, NONE, ALONE);
	gen_add_field(s, 3, MRPC_KIND_MESSAGE, 0, 1, ALONE);
	gen_add_field(s, 4, MRPC_KIND_MESSAGE, REP, 1, ALONE);
	gen_add_field(s, 5, MRPC_KIND_MESSAGE, REP, 2, ALONE);
	gen_add_field(s, 6, MRPC_KIND_UINT64, REP, NONE, ALONE);
	gen_add_field(s, 7, MRPC_KIND_BYTES, 0, NONE, ALONE);
	gen_add_field(s, 8, MRPC_KIND_DOUBLE, 0, NONE, 0);
	gen_add_field(s, 9, MRPC_KIND_MESSAGE, 0, 1, 0);
	gen_add_field(s, 10, MRPC_KIND_MESSAGE, REP, 3, ALONE);
	gen_add_type(s);
	gen_add_field(s, 1, MRPC_KIND_STRING, 0, NONE, ALONE);
	gen_add_field(s, 2, MRPC_KIND_STRING, REP, NONE, ALONE);
	gen_add_field(s, 3, MRPC_KIND_FLOAT, 0, NONE, ALONE);
	gen_add_type(s);
	s->types[2].flags = cpu_to_le16(MRPC_TYPE_MAP_ENTRY);
	gen_add_field(s, 1, MRPC_KIND_STRING, 0, NONE, ALONE);
	gen_add_field(s, 2, MRPC_KIND_MESSAGE, 0, 1, ALONE);
	gen_add_type(s);
	s->types[3].flags = cpu_to_le16(MRPC_TYPE_MAP_ENTRY);
	gen_add_field(s, 1, MRPC_KIND_INT32, 0, NONE, ALONE);
	gen_add_field(s, 2, MRPC_KIND_BOOL, 0, NONE, ALONE);
	buf = gen_schema_binary(s, &len);
	plan = gen_compile(buf, len, &err);
	CHECK_MSG(plan, "%s %u %s", err.table, err.index, err.what);
	free(buf);
	free(s);
	return plan;
}

TEST(errors_name_the_part)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "f2.nme", "path 'f2.nme': 'nme' is not a field of t.T1" },
		{ "x", "path 'x': 'x' is not a field of t.T0" },
		{ "f10", "path 'f10': 'f10' is not a field of t.T0" },
		{ "", "path '': its end should be a field's name" },
		{ ".f0", "path '.f0': '.' should be a field's name" },
		{ "f2.", "path 'f2.': its end should be a field's name" },
		{ "f2. f10", "path 'f2. f10': ' ' should be a field's name" },
		{ "f0.a", "path 'f0.a': 'f0' is not a message: it has no fields" },
		{ "f3.f10", "path 'f3.f10': 'f3' is repeated: the number of an element in [] should follow" },
		{ "f4.f10", "path 'f4.f10': 'f4' is a map: one key in [] should follow" },
		{ "f0[1]", "path 'f0[1]': 'f0' is not repeated: it has no elements" },
		{ "f3[1][2]", "path 'f3[1][2]': 'f3' is not repeated: it has no elements" },
		{ "f3[-1]", "path 'f3[-1]': '-' should be the number of an element" },
		{ "f3[]", "path 'f3[]': ']' should be the number of an element" },
		{ "f3[4294967296]", "path 'f3[4294967296]': '4294967296' should be the number of an element" },
		{ "f3[1", "path 'f3[1': its end should be ]" },
		{ "f3[1x", "path 'f3[1x': 'x' should be ]" },
		{ "f4[a]", "path 'f4[a]': 'a' should be a key in quotes" },
		{ "f4[\"a", "path 'f4[\"a': its end should be a character, \\\\, \\\", \\xHH, or the closing quote" },
		{ "f4[\"\\n\"]", "path 'f4[\"\\n\"]': '\\n' should be a character, \\\\, \\\", \\xHH, or the closing quote" },
		{ "f4[\"\\x4g\"]", "path 'f4[\"\\x4g\"]': '\\x4g' should be a character, \\\\, \\\", \\xHH, or the closing quote" },
		{ "f9[2147483648]", "path 'f9[2147483648]': '2147483648' should be a number that the map's keys can be" },
		{ "f9[-]", "path 'f9[-]': ']' should be a number that the map's keys can be" },
		{ "f9[1].f0", "path 'f9[1].f0': 'f9' is not a message: it has no fields" },
		{ "f0#", "path 'f0#': 'f0' is neither repeated nor a text nor bytes: it has no length" },
		{ "f5[0]#", "path 'f5[0]#': 'f5' is neither repeated nor a text nor bytes: it has no length" },
		{ "f3#.f10", "path 'f3#.f10': '.' should be the end" },
		{ "f0 ", "path 'f0 ': ' ' should be ., [, # or the end" },
	};
	struct mrpc_schema_plan *plan = by_hand();
	struct mrpc_path_error err;
	union path_mem mem;
	char says[300];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i].text;
		u32 len = strlen(text);
		char *exact = malloc(len ? len : 1);

		memcpy(exact, text, len);
		CHECK_EQ(mrpc_field_compile(plan, 0, exact, len, &mem.path, sizeof(mem), &err),
			 -EINVAL);
		CHECK_EQ(mrpc_path_explain(plan, exact, len, &err, says, sizeof(says)),
			 strlen(cases[i].says));
		CHECK_STR(says, cases[i].says);
		CHECK_EQ(mrpc_path_explain(plan, exact, len, &err, says, 9), 8);
		CHECK_EQ(strlen(says), 8);
		free(exact);
	}
	CHECK_EQ(mrpc_field_compile(plan, 9, "f0", 2, &mem.path, sizeof(mem), &err), -EINVAL);
	free(plan);
}

/* Each of the shortest and longest rooms. */
TEST(room_for_the_path)
{
	static const char *const texts[] = { "f0", "f2.f11[3]#", "f4[\"some key\"].f10", "f9[-1]" };
	struct mrpc_schema_plan *plan = by_hand();
	struct mrpc_path_error err;
	u32 i, room;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		u32 len = strlen(texts[i]);
		union path_mem mem;

		CHECK_EQ(mrpc_field_compile(plan, 0, texts[i], len, &mem.path, sizeof(mem), &err),
			 0);
		for (room = 0; room <= mem.path.size; room++) {
			struct mrpc_field_path *small = malloc(room ? room : 1);
			int ret = mrpc_field_compile(plan, 0, texts[i], len, small, room, &err);

			CHECK_EQ(ret, room < mem.path.size ? -ENOSPC : 0);
			free(small);
		}
	}
	free(plan);
}

/* The most steps that a text of the largest length can have. */
TEST(longest_paths)
{
	struct gen_schema *s = calloc(1, sizeof(*s));
	struct mrpc_schema_plan *plan;
	char text[MRPC_PATH_MAX_TEXT + 2];
	struct mrpc_path_error err;
	struct mrpc_schema_error serr;
	union path_mem mem;
	size_t len;
	u8 *buf;
	u32 i;

	gen_add_method(s, 0, 0);
	gen_add_type(s);
	gen_add_field(s, 1, MRPC_KIND_MESSAGE, 0, 0, ALONE);
	s->field_name = "a";
	buf = gen_schema_binary(s, &len);
	plan = gen_compile(buf, len, &serr);
	for (i = 0; i < sizeof(text); i++)
		text[i] = i % 2 ? '.' : 'a';
	CHECK_EQ(mrpc_field_compile(plan, 0, text, MRPC_PATH_MAX_TEXT, &mem.path, sizeof(mem),
				    &err), 0);
	CHECK_EQ(mem.path.nr_steps, MRPC_PATH_MAX_TEXT / 2 + 1);
	CHECK_EQ(mrpc_field_compile(plan, 0, text, MRPC_PATH_MAX_TEXT + 1, &mem.path, sizeof(mem),
				    &err), -EINVAL);
	free(plan);
	free(buf);
	free(s);
}

/* A map is searched to its end, but not one that has no end in sight. */
TEST(maps_of_too_many)
{
	static const struct { u32 entries; const char *text; int read; } cases[] = {
		{ MRPC_FIELD_MAX_ENTRIES, "f9[7]", 0 },
		{ MRPC_FIELD_MAX_ENTRIES, "f9[8]", -ENOENT },
		{ MRPC_FIELD_MAX_ENTRIES + 1, "f9[7]", -E2BIG },
		{ MRPC_FIELD_MAX_ENTRIES + 1, "f9[8]", -E2BIG },
		{ MRPC_FIELD_MAX_ENTRIES + 1, "f9#", 0 },
		{ MRPC_FIELD_MAX_ENTRIES + 1, "f9", 0 },
	};
	struct mrpc_schema_plan *plan = by_hand();
	u32 at = ALIGN(plan->types[0].size, 8), i;
	u32 size = at + (MRPC_FIELD_MAX_ENTRIES + 1) * plan->types[3].size;
	u8 *head = calloc(1, size);
	struct mrpc_view view = { .head = head, .head_len = size };
	struct mrpc_ref *ref = (void *)(head + plan->fields[9].offset);
	struct mrpc_field_value value = { 0 };
	struct mrpc_path_error err;
	union path_mem mem;
	u32 key = 7;

	memcpy(head + at, &key, sizeof(key));	/* the last that is looked at */
	ref->off = at;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i].text;

		ref->len = cases[i].entries;
		CHECK_EQ(mrpc_field_compile(plan, 0, text, strlen(text), &mem.path, sizeof(mem),
					    &err), 0);
		CHECK_EQ(mrpc_field_read(&mem.path, &view, &value), cases[i].read);
		if (cases[i].read)
			CHECK_EQ(mrpc_field_write(&mem.path, &view, &value), cases[i].read);
	}
	free(head);
	free(plan);
}

/* Floats become the doubles that the processor makes of them. */
TEST(floats)
{
	struct mrpc_schema_plan *plan = by_hand();
	struct gen g = gen_seeded(1);
	struct mrpc_path_error err;
	union path_mem mem;
	u8 head[24] = { 0 };
	struct mrpc_view view = { .head = head, .head_len = sizeof(head) };
	u32 i;

	CHECK_EQ(mrpc_field_compile(plan, 1, "f12", 3, &mem.path, sizeof(mem), &err), 0);
	for (i = 0; i < 2000000; i++) {
		u32 bits = i < 512 ? i << 23 : i < 1024 ? 1U << i % 32 : (u32)gen_u64(&g);
		struct mrpc_field_value value;
		double d, wide;
		float f;

		if (i % 3 == 0)
			bits &= 0x807fffff;
		memcpy(&f, &bits, 4);
		memcpy(head + plan->fields[plan->types[1].first_field + 2].offset, &bits, 4);
		CHECK_EQ(mrpc_field_read(&mem.path, &view, &value), 0);
		CHECK_EQ(value.kind, MRPC_VALUE_DOUBLE);
		memcpy(&d, &value.bits, 8);
		wide = f;
		CHECK_MSG(!memcmp(&d, &wide, 8), "%#x: %a, not %a", bits, d, wide);
	}
	free(plan);
}
