// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/schema */
/* The schema verifier and compiler, kmod/lib/message/schema.c, with schemas by hand. */
#include "gen.h"
#include "tap.h"

#define NO_TYPE		MRPC_SCHEMA_NO_TYPE
#define NO_ONEOF	MRPC_SCHEMA_NO_ONEOF

static struct gen_schema *new_schema(void)
{
	struct gen_schema *s = calloc(1, sizeof(*s));

	CHECK(s);
	return s;
}

/* A schema with one method and one type, for fields to be added. */
static struct gen_schema *one_type(void)
{
	struct gen_schema *s = new_schema();

	gen_add_method(s, 0, 0);
	gen_add_type(s);
	return s;
}

static void scalar(struct gen_schema *s, u32 number, u8 kind, u8 flags, u16 oneof)
{
	gen_add_field(s, number, kind, flags, NO_TYPE, oneof);
}

static struct mrpc_schema_plan *compile(struct gen_schema *s)
{
	struct mrpc_schema_error err;
	struct mrpc_schema_plan *plan;
	const char *why;
	size_t len;
	u8 *buf;

	buf = gen_schema_binary(s, &len);
	plan = gen_compile_exact(buf, len, &err);
	CHECK_MSG(plan, "%s %u (%llu): %s", err.table, err.index, (unsigned long long)err.value,
		  err.what);
	why = gen_check_plan(buf, len, plan);
	CHECK_MSG(!why, "%s", why);
	free(buf);
	free(s);
	return plan;
}

/* Must be refused with -@code for @what, in entry @index of @table. */
static void refused(int line, const u8 *buf, size_t len, int code, const char *table, u32 index,
		    const char *what)
{
	struct mrpc_schema_error err = { "nothing", "nowhere", 0, 0 };
	u8 *copy = malloc(len ? len : 1), *mem;
	s64 size;
	int ret;

	CHECK(copy);
	memcpy(copy, buf, len);
	ret = size = mrpc_schema_size(copy, len, &err);
	if (size >= 0) {
		mem = malloc(size);
		ret = mrpc_schema_compile(copy, len, mem, size, &err);
		free(mem);
	}
	free(copy);
	CHECK_MSG(ret == -code, "line %d: returned %d instead of %d (%s)", line, ret, -code,
		  err.what);
	CHECK_MSG(!strcmp(err.what, what), "line %d: \"%s\" instead of \"%s\"", line, err.what,
		  what);
	CHECK_MSG(!strcmp(err.table, table) && err.index == index, "line %d: %s %u, not %s %u",
		  line, err.table, err.index, table, index);
}

static void schema_refused(int line, struct gen_schema *s, int code, const char *table, u32 index,
			   const char *what)
{
	size_t len;
	u8 *buf = gen_schema_binary(s, &len);

	free(s);
	refused(line, buf, len, code, table, index, what);
	free(buf);
}

#define REFUSED(s, code, table, index, what) \
	schema_refused(__LINE__, s, code, table, index, what)

/* One field in one type is refused. */
#define FIELD_REFUSED(number, kind, flags, type, oneof, what)			\
	do {									\
		struct gen_schema *s_ = one_type();				\
										\
		gen_add_field(s_, number, kind, flags, type, oneof);		\
		REFUSED(s_, EINVAL, "field", 0, what);				\
	} while (0)

/* -- layout ---------------------------------------------------------------- */

struct by_hand {
	__u32 has[1];
	__u32 shape_case;
	__u32 other_case;
	__u8 flag;			/* 1 bool */
	__u32 count;			/* 2 optional uint32 */
	__u64 time;			/* 3 optional fixed64 */
	union {				/* 4, 6, 9 */
		__u8 dot;
		struct mrpc_ref name;
		__u64 id;
	} shape;
	struct mrpc_ref text;		/* 5 */
	__u8 last;			/* 7 optional bool */
	union {				/* 8, 11 */
		__u32 a;
		__u8 b;
	} other;
	struct mrpc_ref list;		/* 10 repeated uint64 */
} __attribute__((__aligned__(8)));

TEST(layout_of_a_c_struct)
{
	static const u32 offsets[] = {
		offsetof(struct by_hand, flag), offsetof(struct by_hand, count),
		offsetof(struct by_hand, time), offsetof(struct by_hand, shape),
		offsetof(struct by_hand, text), offsetof(struct by_hand, shape),
		offsetof(struct by_hand, last), offsetof(struct by_hand, other),
		offsetof(struct by_hand, shape), offsetof(struct by_hand, list),
		offsetof(struct by_hand, other),
	};
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	u32 i;

	scalar(s, 1, MRPC_KIND_BOOL, 0, NO_ONEOF);
	scalar(s, 2, MRPC_KIND_UINT32, MRPC_FIELD_OPTIONAL, NO_ONEOF);
	scalar(s, 3, MRPC_KIND_FIXED64, MRPC_FIELD_OPTIONAL, NO_ONEOF);
	scalar(s, 4, MRPC_KIND_BOOL, 0, 0);
	scalar(s, 5, MRPC_KIND_STRING, 0, NO_ONEOF);
	scalar(s, 6, MRPC_KIND_STRING, 0, 0);
	scalar(s, 7, MRPC_KIND_BOOL, MRPC_FIELD_OPTIONAL, NO_ONEOF);
	scalar(s, 8, MRPC_KIND_UINT32, 0, 1);
	scalar(s, 9, MRPC_KIND_UINT64, 0, 0);
	scalar(s, 10, MRPC_KIND_UINT64, MRPC_FIELD_REPEATED | MRPC_FIELD_PACKED, NO_ONEOF);
	scalar(s, 11, MRPC_KIND_BOOL, 0, 1);
	plan = compile(s);
	CHECK_EQ(plan->types[0].size, sizeof(struct by_hand));
	CHECK_EQ(plan->types[0].oneof_offset, offsetof(struct by_hand, shape_case));
	CHECK_EQ(plan->types[0].nr_has, 3);
	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		CHECK_MSG(plan->fields[i].offset == offsets[i], "field %u is at %u, not %u", i + 1,
			  plan->fields[i].offset, offsets[i]);
	CHECK_STR(mrpc_schema_service(plan), "t.S");
	CHECK_STR(plan->names + plan->methods[0].name, "M0000");
	CHECK_STR(plan->names + plan->types[0].name, "t.T0");
	CHECK_STR(plan->names + plan->fields[10].name, "f10");
	free(plan);
}

TEST(has_bits_in_words)
{
	static const u32 counts[][2] = { { 1, 4 }, { 31, 4 }, { 32, 4 }, { 33, 8 }, { 65, 12 } };
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct gen_schema *s = one_type();
		struct mrpc_schema_plan *plan;

		for (j = 0; j < counts[i][0]; j++)
			scalar(s, j + 1, MRPC_KIND_BOOL, MRPC_FIELD_OPTIONAL, NO_ONEOF);
		plan = compile(s);
		CHECK_EQ(plan->fields[0].offset, counts[i][1]);
		CHECK_EQ(plan->fields[counts[i][0] - 1].has_bit, counts[i][0] - 1);
		free(plan);
	}
}

TEST(empty_service_and_empty_type)
{
	struct mrpc_schema_plan *plan = compile(new_schema());

	CHECK_EQ(plan->nr_methods, 0);
	free(plan);
	plan = compile(one_type());
	CHECK_EQ(plan->types[0].size, 8);
	CHECK_EQ(plan->types[0].nr_active, 0);
	free(plan);
}

TEST(recursive_types)
{
	struct gen_schema *s = one_type();

	gen_add_field(s, 1, MRPC_KIND_MESSAGE, 0, 0, NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_MESSAGE, MRPC_FIELD_REPEATED, 1, NO_ONEOF);
	gen_add_type(s);
	gen_add_field(s, 1, MRPC_KIND_MESSAGE, MRPC_FIELD_REPEATED, 0, NO_ONEOF);
	free(compile(s));
}

/* -- refusals -------------------------------------------------------------- */

TEST(header_refused)
{
	static const struct {
		u32 at;
		u8 value;
		int code;
		const char *what;
	} cases[] = {
		{ offsetof(struct mrpc_schema_hdr, magic), 0, EINVAL,
		  "magic is not that of a schema" },
		{ offsetof(struct mrpc_schema_hdr, version), 2, EINVAL,
		  "version is not supported" },
		{ offsetof(struct mrpc_schema_hdr, flags) + 1, 1, EINVAL, "flags are not zero" },
		{ offsetof(struct mrpc_schema_hdr, len) + 3, 1, EINVAL,
		  "length is not that of the schema" },
		{ offsetof(struct mrpc_schema_hdr, nr_methods) + 1, 5, E2BIG, "too many methods" },
		{ offsetof(struct mrpc_schema_hdr, nr_types) + 1, 5, E2BIG, "too many types" },
		{ offsetof(struct mrpc_schema_hdr, nr_fields) + 3, 0xff, E2BIG,
		  "too many fields" },
		{ offsetof(struct mrpc_schema_hdr, nr_fields), 2, EINVAL,
		  "counts do not add up to the schema's length" },
		{ offsetof(struct mrpc_schema_hdr, names_len) + 3, 0xff, EINVAL,
		  "counts do not add up to the schema's length" },
	};
	static u8 long_one[MRPC_SCHEMA_MAX_LEN + 1];
	struct gen_schema *s = one_type();
	size_t len;
	u8 *buf = gen_schema_binary(s, &len);
	u32 i;

	free(s);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u8 was = buf[cases[i].at];

		buf[cases[i].at] = cases[i].value;
		refused(__LINE__, buf, len, cases[i].code, "header", 0, cases[i].what);
		buf[cases[i].at] = was;
	}
	/* A byte behind the names, which the length admits. */
	buf = realloc(buf, len + 1);
	buf[len] = 0;
	buf[offsetof(struct mrpc_schema_hdr, len)]++;
	refused(__LINE__, buf, len + 1, EINVAL, "header", 0,
		"counts do not add up to the schema's length");
	refused(__LINE__, buf, 0, EINVAL, "header", 0, "schema is shorter than its header");
	refused(__LINE__, buf, 23, EINVAL, "header", 0, "schema is shorter than its header");
	refused(__LINE__, long_one, sizeof(long_one), E2BIG, "header", 0, "schema is too long");
	free(buf);
}

TEST(memory_too_small)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_error err;
	size_t len;
	u8 *buf = gen_schema_binary(s, &len);
	s64 size = mrpc_schema_size(buf, len, &err);
	u8 *mem = malloc(size - 1);

	CHECK_EQ(mrpc_schema_compile(buf, len, mem, size - 1, &err), -E2BIG);
	CHECK_STR(err.what, "memory for the plan is too small");
	/* The header is looked at again, too. */
	CHECK_EQ(mrpc_schema_compile(buf, len - 1, mem, size - 1, &err), -EINVAL);
	CHECK_STR(err.what, "length is not that of the schema");
	free(mem);
	free(buf);
	free(s);
}

TEST(methods_refused)
{
	struct gen_schema *s = one_type();

	s->methods[0].flags = cpu_to_le16(MRPC_METHOD_FLAGS + 1);
	REFUSED(s, EINVAL, "method", 0, "flags are unknown");
	s = one_type();
	s->methods[0].resv = cpu_to_le16(1);
	REFUSED(s, EINVAL, "method", 0, "reserved bytes are not zero");
	s = one_type();
	s->methods[0].reply = cpu_to_le16(7);
	REFUSED(s, EINVAL, "method", 0, "type does not exist");
	s = one_type();
	gen_add_type(s);
	s->methods[0].request = cpu_to_le16(1);
	REFUSED(s, EINVAL, "method", 0, "type is not in the order of first visit");
	s = one_type();
	gen_add_method(s, 0, 0);
	s->method_name = "M0000";
	REFUSED(s, EINVAL, "method", 1, "name does not come after the one before it");
	s = one_type();
	gen_add_method(s, 0, 0);
	s->method_name = "A";
	REFUSED(s, EINVAL, "method", 1, "name does not come after the one before it");
	s = new_schema();
	gen_add_method(s, 0, 0);
	REFUSED(s, EINVAL, "method", 0, "type does not exist");
}

TEST(types_refused)
{
	struct gen_schema *s = one_type();

	s->types[0].flags = cpu_to_le16(2);
	REFUSED(s, EINVAL, "type", 0, "flags are unknown");
	s = one_type();
	s->types[0].resv = cpu_to_le16(1);
	REFUSED(s, EINVAL, "type", 0, "reserved bytes are not zero");
	s = one_type();
	s->types[0].nr_fields = cpu_to_le16(1);
	REFUSED(s, EINVAL, "type", 0, "fields are more than the schema has");
	s = one_type();
	scalar(s, 1, MRPC_KIND_BOOL, 0, NO_ONEOF);
	s->types[0].nr_fields = 0;
	REFUSED(s, EINVAL, "header", 0, "types have fewer fields than the schema");
	s = one_type();
	s->types[0].nr_oneofs = cpu_to_le16(1);
	REFUSED(s, EINVAL, "type", 0, "oneofs are more than its fields name");
	s = one_type();
	gen_add_type(s);
	REFUSED(s, EINVAL, "type", 1, "type is not reachable");
	/* Only from itself. */
	s = one_type();
	gen_add_type(s);
	gen_add_field(s, 1, MRPC_KIND_MESSAGE, 0, 1, NO_ONEOF);
	REFUSED(s, EINVAL, "type", 1, "type is not reachable");
	s = one_type();
	gen_add_field(s, 1, MRPC_KIND_MESSAGE, 0, 1, NO_ONEOF);
	gen_add_type(s);
	s->type_name = "t.T0";
	REFUSED(s, EINVAL, "type", 1, "name is taken by another type");
}

TEST(fields_refused)
{
	struct gen_schema *s = one_type();

	scalar(s, 1, MRPC_KIND_BOOL, 0, NO_ONEOF);
	s->fields[0].resv = cpu_to_le16(1);
	REFUSED(s, EINVAL, "field", 0, "reserved bytes are not zero");
	FIELD_REFUSED(0, MRPC_KIND_BOOL, 0, NO_TYPE, NO_ONEOF, "number is out of range");
	FIELD_REFUSED(MRPC_SCHEMA_MAX_NUMBER + 1, MRPC_KIND_BOOL, 0, NO_TYPE, NO_ONEOF,
		      "number is out of range");
	FIELD_REFUSED(1, 0, 0, NO_TYPE, NO_ONEOF, "kind is unknown");
	FIELD_REFUSED(1, MRPC_KIND_MAX + 1, 0, NO_TYPE, NO_ONEOF, "kind is unknown");
	FIELD_REFUSED(1, MRPC_KIND_BOOL, 8, NO_TYPE, NO_ONEOF, "flags are unknown");
	FIELD_REFUSED(1, MRPC_KIND_BOOL, 0, 0, NO_ONEOF, "type is set, but it is not a message");
	FIELD_REFUSED(1, MRPC_KIND_MESSAGE, 0, 9, NO_ONEOF, "type does not exist");
	FIELD_REFUSED(1, MRPC_KIND_MESSAGE, 0, NO_TYPE, NO_ONEOF, "type does not exist");
	FIELD_REFUSED(1, MRPC_KIND_BOOL, MRPC_FIELD_REPEATED | MRPC_FIELD_OPTIONAL, NO_TYPE,
		      NO_ONEOF, "repeated field is optional or in a oneof");
	FIELD_REFUSED(1, MRPC_KIND_BOOL, MRPC_FIELD_REPEATED, NO_TYPE, 0,
		      "repeated field is optional or in a oneof");
	FIELD_REFUSED(1, MRPC_KIND_BOOL, MRPC_FIELD_OPTIONAL, NO_TYPE, 0,
		      "optional field is a message or in a oneof");
	FIELD_REFUSED(1, MRPC_KIND_MESSAGE, MRPC_FIELD_OPTIONAL, 0, NO_ONEOF,
		      "optional field is a message or in a oneof");
	FIELD_REFUSED(1, MRPC_KIND_BOOL, MRPC_FIELD_PACKED, NO_TYPE, NO_ONEOF,
		      "packed field is not a repeated scalar");
	FIELD_REFUSED(1, MRPC_KIND_BYTES, MRPC_FIELD_PACKED | MRPC_FIELD_REPEATED, NO_TYPE,
		      NO_ONEOF, "packed field is not a repeated scalar");
	FIELD_REFUSED(1, MRPC_KIND_BOOL, 0, NO_TYPE, 1, "oneof is not in the order of first field");
	s = one_type();
	scalar(s, 1, MRPC_KIND_BOOL, 0, 0);
	s->types[0].nr_oneofs = 0;
	REFUSED(s, EINVAL, "field", 0, "oneof does not exist");
	s = one_type();
	scalar(s, 2, MRPC_KIND_BOOL, 0, NO_ONEOF);
	scalar(s, 2, MRPC_KIND_BOOL, 0, NO_ONEOF);
	REFUSED(s, EINVAL, "field", 1, "number does not come after the one before it");
	s = one_type();
	scalar(s, 2, MRPC_KIND_BOOL, 0, NO_ONEOF);
	scalar(s, 1, MRPC_KIND_BOOL, 0, NO_ONEOF);
	REFUSED(s, EINVAL, "field", 1, "number does not come after the one before it");
	/* Types in the order in which fields mention them. */
	s = one_type();
	gen_add_field(s, 1, MRPC_KIND_MESSAGE, 0, 2, NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_MESSAGE, 0, 1, NO_ONEOF);
	gen_add_type(s);
	gen_add_type(s);
	REFUSED(s, EINVAL, "field", 0, "type is not in the order of first visit");
	s = one_type();
	scalar(s, 1, MRPC_KIND_BOOL, 0, NO_ONEOF);
	scalar(s, 2, MRPC_KIND_BOOL, 0, NO_ONEOF);
	scalar(s, 3, MRPC_KIND_BOOL, 0, NO_ONEOF);
	s->field_name = "f1";
	REFUSED(s, EINVAL, "field", 2, "name is taken by another field of the type");
}

/* The same name in two types is as it should be. */
TEST(names_of_fields_are_the_types_own)
{
	struct gen_schema *s = one_type();

	gen_add_field(s, 1, MRPC_KIND_MESSAGE, 0, 1, NO_ONEOF);
	gen_add_type(s);
	scalar(s, 1, MRPC_KIND_BOOL, 0, NO_ONEOF);
	s->field_name = "f0";
	free(compile(s));
}

static struct gen_schema *map(u8 key, u8 value)
{
	struct gen_schema *s = one_type();

	gen_add_field(s, 1, MRPC_KIND_MESSAGE, MRPC_FIELD_REPEATED, 1, NO_ONEOF);
	gen_add_type(s);
	s->types[1].flags = cpu_to_le16(MRPC_TYPE_MAP_ENTRY);
	scalar(s, 1, key, 0, NO_ONEOF);
	scalar(s, 2, value, 0, NO_ONEOF);
	return s;
}

TEST(map_entries)
{
	static const u8 no_keys[] = {
		MRPC_KIND_FLOAT, MRPC_KIND_DOUBLE, MRPC_KIND_ENUM, MRPC_KIND_BYTES,
	};
	struct gen_schema *s;
	u32 i;

	free(compile(map(MRPC_KIND_STRING, MRPC_KIND_BYTES)));
	free(compile(map(MRPC_KIND_BOOL, MRPC_KIND_DOUBLE)));
	for (i = 0; i < ARRAY_SIZE(no_keys); i++)
		REFUSED(map(no_keys[i], MRPC_KIND_BOOL), EINVAL, "field", 1,
			"kind cannot be a map's key");
	s = map(MRPC_KIND_STRING, MRPC_KIND_BOOL);
	s->fields[1].kind = MRPC_KIND_MESSAGE;
	s->fields[1].type = 0;
	REFUSED(s, EINVAL, "field", 1, "kind cannot be a map's key");
	s = map(MRPC_KIND_STRING, MRPC_KIND_BOOL);
	s->fields[2].flags = MRPC_FIELD_OPTIONAL;
	REFUSED(s, EINVAL, "field", 2, "flags or oneof are set in a map entry");
	s = map(MRPC_KIND_STRING, MRPC_KIND_BOOL);
	s->fields[2].number = cpu_to_le32(3);
	REFUSED(s, EINVAL, "field", 2, "number is not that of a map's key or value");
	s = map(MRPC_KIND_STRING, MRPC_KIND_BOOL);
	scalar(s, 3, MRPC_KIND_BOOL, 0, NO_ONEOF);
	REFUSED(s, EINVAL, "type", 1, "map entry has not exactly two fields");
	s = map(MRPC_KIND_STRING, MRPC_KIND_BOOL);
	s->types[1].nr_oneofs = cpu_to_le16(1);
	REFUSED(s, EINVAL, "type", 1, "map entry has not exactly two fields");
	s = map(MRPC_KIND_STRING, MRPC_KIND_BOOL);
	s->fields[0].flags = 0;
	REFUSED(s, EINVAL, "field", 0, "map entry is used without being repeated");
	s = map(MRPC_KIND_STRING, MRPC_KIND_BOOL);
	s->methods[0].reply = cpu_to_le16(1);
	REFUSED(s, EINVAL, "method", 0, "request or reply is a map entry");
}

TEST(names_refused)
{
	static const char *const bad[] = { "", "1a", "a-b", "a.b", "a b", "\xc3\xa9", ".a", "a." };
	static const char *const bad_dotted[] = { "", ".", "a..b", ".a", "a.", "a.1", "a/b" };
	char longest[MRPC_SCHEMA_MAX_NAME + 1], longer[MRPC_SCHEMA_MAX_NAME + 2];
	struct gen_schema *s;
	size_t len;
	u8 *buf;
	u32 i;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		s = one_type();
		s->method_name = bad[i];
		REFUSED(s, EINVAL, "method", 0, "name is not an identifier");
		s = one_type();
		scalar(s, 1, MRPC_KIND_BOOL, 0, NO_ONEOF);
		s->field_name = bad[i];
		REFUSED(s, EINVAL, "field", 0, "name is not an identifier");
	}
	for (i = 0; i < ARRAY_SIZE(bad_dotted); i++) {
		s = one_type();
		s->service = bad_dotted[i];
		REFUSED(s, EINVAL, "header", 0, "name is not an identifier");
		s = one_type();
		s->type_name = bad_dotted[i];
		REFUSED(s, EINVAL, "type", 0, "name is not an identifier");
	}
	CHECK_EQ(MRPC_SCHEMA_MAX_NAME, 1024);	/* what the sentence says */
	s = one_type();
	s->service = longer;
	REFUSED(s, E2BIG, "header", 0, "name has more than 1024 bytes");
	s = one_type();
	s->service = longest;
	s->type_name = "_a9.B_.c";
	free(compile(s));
	s = one_type();
	s->type_name = longer;
	REFUSED(s, E2BIG, "type", 0, "name has more than 1024 bytes");
	s = one_type();
	s->type_name = longest;
	free(compile(s));

	s = one_type();
	buf = gen_schema_binary(s, &len);
	buf[len - 1] = 'x';
	refused(__LINE__, buf, len, EINVAL, "type", 0, "name has no end");
	free(buf);
	/* A name more or less than there are entries. */
	buf = gen_schema_binary(s, &len);
	buf = realloc(buf, len + 1);
	buf[len] = 0;
	buf[offsetof(struct mrpc_schema_hdr, len)]++;
	buf[offsetof(struct mrpc_schema_hdr, names_len)]++;
	refused(__LINE__, buf, len + 1, EINVAL, "name", 0, "bytes are left after the last name");
	/* The last name is "t.T0". */
	buf[offsetof(struct mrpc_schema_hdr, len)] -= 6;
	buf[offsetof(struct mrpc_schema_hdr, names_len)] -= 6;
	refused(__LINE__, buf, len - 5, EINVAL, "type", 0, "name is missing");
	free(buf);
	free(s);
}

/* -- limits ---------------------------------------------------------------- */

TEST(largest_struct)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	u32 i;

	for (i = 0; i < MRPC_SCHEMA_MAX_STRUCT / 8; i++)
		scalar(s, i + 1, MRPC_KIND_UINT64, 0, NO_ONEOF);
	plan = compile(s);
	CHECK_EQ(plan->types[0].size, MRPC_SCHEMA_MAX_STRUCT);
	free(plan);
	s = one_type();
	for (i = 0; i < MRPC_SCHEMA_MAX_STRUCT / 8 + 1; i++)
		scalar(s, i + 1, MRPC_KIND_UINT64, 0, NO_ONEOF);
	REFUSED(s, E2BIG, "type", 0, "struct block is too large");
	/* Case words alone fill it. */
	s = one_type();
	for (i = 0; i < MRPC_SCHEMA_MAX_FIELDS; i++)
		scalar(s, i + 1, MRPC_KIND_BOOL, 0, i);
	REFUSED(s, E2BIG, "type", 0, "struct block is too large");
}

TEST(largest_tables)
{
	struct gen_schema *s = new_schema();
	struct mrpc_schema_plan *plan;
	u32 i;

	for (i = 0; i < MRPC_SCHEMA_MAX_METHODS; i++)
		gen_add_method(s, 0, 0);
	for (i = 0; i < MRPC_SCHEMA_MAX_TYPES; i++) {
		gen_add_type(s);
		if (i + 1 < MRPC_SCHEMA_MAX_TYPES)
			gen_add_field(s, 1, MRPC_KIND_MESSAGE, 0, i + 1, NO_ONEOF);
		scalar(s, 2, MRPC_KIND_BOOL, 0, 0);
	}
	while (s->nr_fields < MRPC_SCHEMA_MAX_FIELDS)
		scalar(s, s->nr_fields, MRPC_KIND_BOOL, MRPC_FIELD_OPTIONAL, NO_ONEOF);
	plan = compile(s);
	for (i = 0; i < MRPC_SCHEMA_MAX_METHODS; i++) {
		const char *name = plan->names + plan->methods[i].name;

		CHECK_EQ(mrpc_schema_find_method(plan, name, strlen(name)), i);
	}
	free(plan);
	s = new_schema();
	for (i = 0; i < MRPC_SCHEMA_MAX_METHODS + 1; i++)
		gen_add_method(s, 0, 0);
	gen_add_type(s);
	REFUSED(s, E2BIG, "header", 0, "too many methods");
	s = one_type();
	for (i = 0; i < MRPC_SCHEMA_MAX_FIELDS + 1; i++)
		scalar(s, i + 1, MRPC_KIND_BOOL, 0, NO_ONEOF);
	REFUSED(s, E2BIG, "header", 0, "too many fields");
}

/* A oneof with as many members as there can be is one place. */
TEST(largest_oneof)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	u32 i;

	for (i = 0; i < MRPC_SCHEMA_MAX_FIELDS; i++)
		scalar(s, i + 1, i % 2 ? MRPC_KIND_STRING : MRPC_KIND_BOOL, 0, 0);
	plan = compile(s);
	CHECK_EQ(plan->types[0].size, 16);
	CHECK_EQ(plan->types[0].nr_active, 1);
	free(plan);
}

TEST(identifiers)
{
	CHECK(mrpc_name_valid("a", 1, false));
	CHECK(mrpc_name_valid("_", 1, false));
	CHECK(mrpc_name_valid("aZ09_", 5, false));
	CHECK(!mrpc_name_valid("", 0, false));
	CHECK(!mrpc_name_valid("", 0, true));
	CHECK(!mrpc_name_valid("9", 1, false));
	CHECK(!mrpc_name_valid("a\0b", 3, false));
	CHECK(!mrpc_name_valid("a.b", 3, false));
	CHECK(mrpc_name_valid("a.b", 3, true));
	CHECK(!mrpc_name_valid("a.", 2, true));
	CHECK(!mrpc_name_valid(".a", 2, true));
	CHECK(!mrpc_name_valid("a..b", 4, true));
	CHECK(!mrpc_name_valid("a.1", 3, true));
}
