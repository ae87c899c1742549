// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/message kmod/lib/message/snapshot */
/* Snapshot and verification of messages: kmod/lib/message/message.c and snapshot.c. */
#include <time.h>

#include "gen.h"
#include "tap.h"

#define NO_TYPE		MRPC_SCHEMA_NO_TYPE
#define NO_ONEOF	MRPC_SCHEMA_NO_ONEOF
#define MAX_TOTAL	(64U << 20)

/* -- schemas by hand ------------------------------------------------------- */

static struct gen_schema *one_type(void)
{
	struct gen_schema *s = calloc(1, sizeof(*s));

	CHECK(s);
	gen_add_method(s, 0, 0);
	gen_add_type(s);
	return s;
}

static void add(struct gen_schema *s, u32 number, u8 kind, u8 flags, u16 oneof)
{
	gen_add_field(s, number, kind, flags, NO_TYPE, oneof);
}

static struct mrpc_schema_plan *compiled(struct gen_schema *s)
{
	struct mrpc_schema_error err;
	struct mrpc_schema_plan *plan;
	size_t len;
	u8 *buf = gen_schema_binary(s, &len);

	plan = gen_compile(buf, len, &err);
	CHECK_MSG(plan, "%s %u: %s", err.table, err.index, err.what);
	free(buf);
	free(s);
	return plan;
}

/* One type with one field of @kind, which may be the type itself. */
static struct mrpc_schema_plan *one_field(u8 kind, u8 flags)
{
	struct gen_schema *s = one_type();

	gen_add_field(s, 1, kind, flags, kind == MRPC_KIND_MESSAGE ? 0 : NO_TYPE, NO_ONEOF);
	return compiled(s);
}

/* -- heaps by hand: words of 8 bytes --------------------------------------- */

static u64 ref(s32 off, u32 len)
{
	return (u64)len << 32 | (u32)off;
}

static int snapshot(const struct mrpc_schema_plan *plan, const u64 *words, u32 n, u32 root,
		    struct gen_buf *b, struct mrpc_msg_error *err)
{
	struct gen_heap heap = { .size = n * 8, .mem = malloc(n * 8) };
	const struct mrpc_msg_src src = { .at = gen_heap_at, .ctx = &heap };
	int ret;

	memcpy(heap.mem, words, n * 8);
	gen_buf_init(b, MAX_TOTAL);
	ret = mrpc_msg_snapshot(plan, 0, &src, root, &b->buf, err);
	gen_heap_free(&heap);
	return ret;
}

/* The head must be these words; and the lengths these. */
static void check_snapshot(int line, const struct mrpc_schema_plan *plan, const u64 *words,
			   u32 n, u32 root, const u64 *head, u32 structs, u32 text, u32 bytes)
{
	struct mrpc_msg_error err;
	struct gen_buf b;
	int ret = snapshot(plan, words, n, root, &b, &err);
	u32 i;

	CHECK_MSG(!ret, "line %d: %d, %s", line, ret, err.what);
	CHECK_MSG(b.buf.len.structs == structs && b.buf.len.text == text &&
		  b.buf.len.bytes == bytes, "line %d: lengths %u %u %u", line,
		  b.buf.len.structs, b.buf.len.text, b.buf.len.bytes);
	for (i = 0; i < mrpc_msg_head_len(&b.buf.len) / 8; i++) {
		u64 word;

		memcpy(&word, b.buf.head + 8 * i, 8);
		CHECK_MSG(word == head[i], "line %d: word %u is %#llx, not %#llx", line, i,
			  (unsigned long long)word, (unsigned long long)head[i]);
	}
	ret = mrpc_msg_verify(plan, 0, b.buf.head, &b.buf.len, &err);
	CHECK_MSG(!ret, "line %d: refused by the verifier: %s", line, err.what);
	gen_buf_free(&b);
}

#define SNAPSHOT(plan, words, root, head, structs, text, bytes) \
	check_snapshot(__LINE__, plan, words, ARRAY_SIZE(words), root, head, structs, text, bytes)

static void check_refused(int line, const struct mrpc_schema_plan *plan, const u64 *words,
			  u32 n, u32 root, int code, const char *what)
{
	struct mrpc_msg_error err;
	struct gen_buf b;
	int ret = snapshot(plan, words, n, root, &b, &err);

	CHECK_MSG(ret == -code, "line %d: returned %d, not %d", line, ret, -code);
	CHECK_MSG(!strcmp(err.what, what), "line %d: \"%s\", not \"%s\"", line, err.what, what);
	gen_buf_free(&b);
}

#define REFUSED(plan, words, root, code, what) \
	check_refused(__LINE__, plan, words, ARRAY_SIZE(words), root, code, what)

/* -- the format, byte for byte --------------------------------------------- */

TEST(text_and_bytes)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	/* Root at 16: "hello" before it, 9 bytes behind it. */
	u64 words[] = {
		0x6f6c6c6568, ~0ULL, ref(-16, 5), ref(16, 9), 0x0807060504030201, 0x09,
	};
	u64 head[] = { ref(16, 5), ref(24, 9), 0x6f6c6c6568 };

	add(s, 1, MRPC_KIND_STRING, 0, NO_ONEOF);
	add(s, 2, MRPC_KIND_BYTES, 0, NO_ONEOF);
	plan = compiled(s);
	SNAPSHOT(plan, words, 16, head, 16, 6, 16);
	/* Absent, whatever their offset: just the root. */
	words[2] = ref(77, 0);
	words[3] = ref(-1, 0);
	head[0] = head[1] = 0;
	SNAPSHOT(plan, words, 16, head, 16, 0, 0);
	/* Text that fills its section's last word to the NUL. */
	words[0] = 0x61616161616161;
	words[2] = ref(-16, 7);
	head[0] = ref(16, 7);
	head[2] = words[0];
	SNAPSHOT(plan, words, 16, head, 16, 8, 0);
	free(plan);
}

TEST(segments)
{
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_BYTES, MRPC_FIELD_REPEATED);
	u64 words[] = { ref(8, 3), ref(32, 3), ref(-1, 0), ref(33, 12), 0, 0, 0 };
	struct mrpc_msg_error err;
	struct gen_buf b;

	CHECK_EQ(snapshot(plan, words, ARRAY_SIZE(words), 0, &b, &err), 0);
	CHECK_EQ(b.buf.len.structs, 32);
	CHECK_EQ(b.buf.len.bytes, 24);
	CHECK_EQ(b.buf.nr_segs, 2);
	CHECK_EQ(b.buf.segs[0].src, 32);
	CHECK_EQ(b.buf.segs[0].len, 3);
	CHECK_EQ(b.buf.segs[1].src, 33);
	CHECK_EQ(b.buf.segs[1].len, 12);
	CHECK(!memcmp(b.buf.head, (u64[]){ ref(8, 3), ref(32, 3), 0, ref(40, 12) }, 32));
	gen_buf_free(&b);
	free(plan);
}

/* The walk is depth-first: an array, then what its elements refer to in turn. */
TEST(order_of_blocks)
{
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_MESSAGE, MRPC_FIELD_REPEATED);
	u64 words[] = {
		/*  0 */ ref(8, 2),
		/*  8 */ ref(24, 1), ref(24, 2),
		/* 24 */ ref(40, 1),	/* shared */
		/* 32 */ 0,
		/* 40 */ 0,
	};
	u64 head[] = {
		/*  0 */ ref(8, 2),
		/*  8 */ ref(24, 1), ref(40, 2),
		/* 24 */ ref(32, 1),
		/* 32 */ 0,
		/* 40 */ ref(56, 1), 0,
		/* 56 */ 0,
	};
	SNAPSHOT(plan, words, 0, head, 64, 0, 0);
	free(plan);
}

TEST(bools)
{
	static const u8 in[10] = { 0, 0, 0xaa, 2, 0, 0xff, 0, 1, 0x80, 0 };
	static const u8 out[16] = { 0, 0, 1, 1, 0, 1, 0, 1, 1, 0 };
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	u64 words[4], head[4];

	/* A bool, three bytes of padding, a reference, padding. */
	add(s, 1, MRPC_KIND_BOOL, 0, NO_ONEOF);
	add(s, 2, MRPC_KIND_BOOL, MRPC_FIELD_REPEATED, NO_ONEOF);
	plan = compiled(s);
	memset(words, 0x55, sizeof(words));
	words[0] = (u64)17 << 32 | 0xffffff80;
	words[1] = (u64)0x55555555 << 32 | 10;
	memcpy((u8 *)words + 17, in, 10);
	head[0] = (u64)16 << 32 | 1;
	head[1] = 10;
	memcpy(&head[2], out, 16);
	SNAPSHOT(plan, words, 0, head, 32, 0, 0);
	free(plan);
}

TEST(unset_fields_are_zeroed)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	/* has, case; 1: oneof of bool, bytes, uint64; 4: optional uint32; 5: optional string */
	u64 words[] = { 0x00000000fffffffc, ~0ULL, ~0ULL, ~0ULL };
	u64 head[] = { 0, 0, 0, 0 };

	add(s, 1, MRPC_KIND_BOOL, 0, 0);
	add(s, 2, MRPC_KIND_BYTES, 0, 0);
	add(s, 3, MRPC_KIND_UINT64, 0, 0);
	add(s, 4, MRPC_KIND_UINT32, MRPC_FIELD_OPTIONAL, NO_ONEOF);
	add(s, 5, MRPC_KIND_STRING, MRPC_FIELD_OPTIONAL, NO_ONEOF);
	plan = compiled(s);
	CHECK_EQ(plan->types[0].size, 32);
	SNAPSHOT(plan, words, 0, head, 32, 0, 0);
	/* Set, but 0 and empty. */
	words[0] = 0xffffffff;
	words[2] = 0xdeadbeef00000000;
	words[3] = 0xffffffff00000000;
	head[0] = 3;
	SNAPSHOT(plan, words, 0, head, 32, 0, 0);
	/* Each member of the oneof, with what it leaves. */
	words[0] = 1ULL << 32;
	words[1] = 0xffffffffffffff02;
	head[0] = words[0];
	head[1] = 1;
	SNAPSHOT(plan, words, 0, head, 32, 0, 0);
	words[0] = head[0] = 3ULL << 32;
	head[1] = words[1];
	SNAPSHOT(plan, words, 0, head, 32, 0, 0);
	words[0] = head[0] = 2ULL << 32;
	words[1] = ref(24, 8);
	head[1] = ref(32, 8);
	SNAPSHOT(plan, words, 0, head, 32, 0, 8);
	/* Chosen, but empty. */
	words[1] = ref(24, 0);
	head[1] = 0;
	SNAPSHOT(plan, words, 0, head, 32, 0, 0);
	words[0] = 4ULL << 32;	/* a field, but not of the oneof */
	REFUSED(plan, words, 0, EINVAL, "is a oneof's case without a field");
	words[0] = 99ULL << 32;
	REFUSED(plan, words, 0, EINVAL, "is a oneof's case without a field");
	free(plan);
}

/* A oneof's member has its turn where the lowest-numbered one stands. */
TEST(order_in_a_oneof)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	/* The case, then both references from 4 on, and padding. */
	u64 words[] = { 3 | (u64)24 << 32, 1 | (u64)25 << 32, 1, 'b' | 'a' << 8 };
	u64 head[] = { 3 | (u64)24 << 32, 1 | (u64)26 << 32, 1, 'b' | 'a' << 16 };

	add(s, 1, MRPC_KIND_STRING, 0, 0);
	add(s, 2, MRPC_KIND_STRING, 0, NO_ONEOF);
	add(s, 3, MRPC_KIND_STRING, 0, 0);
	plan = compiled(s);
	CHECK_EQ(plan->types[0].size, 24);
	SNAPSHOT(plan, words, 0, head, 24, 4, 0);
	free(plan);
}

TEST(presence_of_messages)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	u64 words[] = { 2, 0, 0 };
	u64 head[] = { 2 | (u64)16 << 32, 1, 0, 0 };

	add(s, 1, MRPC_KIND_BOOL, 0, 0);
	gen_add_field(s, 2, MRPC_KIND_MESSAGE, 0, 0, 0);
	plan = compiled(s);
	REFUSED(plan, words, 0, EINVAL, "is absent, but chosen by its oneof's case");
	words[1] = 2;
	REFUSED(plan, words, 0, EINVAL, "has a length other than 0 or 1");
	words[0] = 2 | (u64)8 << 32;
	words[1] = 1;
	/* The child, at 8, begins with case 1. */
	head[2] = 1;
	SNAPSHOT(plan, words, 0, head, 32, 0, 0);
	free(plan);
}

/* -- bad references -------------------------------------------------------- */

TEST(references_outside)
{
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_MESSAGE, 0);
	static const s32 outside[] = { 24, 17, -16, -9, INT32_MAX, INT32_MIN, INT32_MAX - 7 };
	u64 words[] = { 0, 0, 0, 0 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(outside); i++) {
		words[1] = ref(outside[i], 1);
		REFUSED(plan, words, 8, EINVAL, "is outside the send heap");
	}
	words[1] = ref(16, 1);
	SNAPSHOT(plan, words, 8, ((u64[]){ ref(8, 1), 0 }), 16, 0, 0);
	words[1] = ref(-8, 1);
	SNAPSHOT(plan, words, 8, ((u64[]){ ref(8, 1), 0 }), 16, 0, 0);
	words[1] = ref(4, 1);
	REFUSED(plan, words, 8, EINVAL, "is not aligned");
	REFUSED(plan, words, 4, EINVAL, "is not aligned");
	REFUSED(plan, words, 32, EINVAL, "is outside the send heap");
	REFUSED(plan, words, 0x80000000, EINVAL, "is outside the send heap");
	free(plan);
}

TEST(roots_outside)
{
	static const u64 roots[] = { 8, 1ULL << 31, 1ULL << 32, 1ULL << 63, ~0ULL, ~7ULL };
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_BOOL, 0);
	struct gen_heap heap = { .mem = calloc(1, 8), .size = 8 };
	const struct mrpc_msg_src src = { .at = gen_heap_at, .ctx = &heap };
	struct mrpc_msg_error err;
	struct gen_buf b;
	u32 i;

	gen_buf_init(&b, MAX_TOTAL);
	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		CHECK_EQ(mrpc_msg_snapshot(plan, 0, &src, roots[i], &b.buf, &err), -EINVAL);
		CHECK_STR(err.what, "is outside the send heap");
		CHECK_EQ(err.off, roots[i]);
	}
	CHECK_EQ(mrpc_msg_snapshot(plan, 1, &src, 0, &b.buf, &err), -EINVAL);
	CHECK_STR(err.what, "is not a type of the schema");
	CHECK_EQ(mrpc_msg_snapshot(plan, 0, &src, 0, &b.buf, &err), 0);
	gen_buf_free(&b);
	gen_heap_free(&heap);
	free(plan);
}

/* Counts with bytes, or an end, that overflow 32 bits. */
TEST(huge_counts)
{
	static const struct {
		u8 kind;
		u8 flags;
	} fields[] = {
		{ MRPC_KIND_STRING, 0 }, { MRPC_KIND_BYTES, 0 },
		{ MRPC_KIND_BOOL, MRPC_FIELD_REPEATED }, { MRPC_KIND_INT32, MRPC_FIELD_REPEATED },
		{ MRPC_KIND_DOUBLE, MRPC_FIELD_REPEATED },
		{ MRPC_KIND_STRING, MRPC_FIELD_REPEATED },
		{ MRPC_KIND_BYTES, MRPC_FIELD_REPEATED },
		{ MRPC_KIND_MESSAGE, MRPC_FIELD_REPEATED },
	};
	static const u32 counts[] = {
		U32_MAX, U32_MAX - 6, U32_MAX - 7, 1U << 31, (1U << 31) - 1, 1U << 30, 1U << 29,
		(1U << 29) + 1, MAX_TOTAL, MAX_TOTAL - 7,
	};
	u64 words[] = { 0, 0x61, 0 };
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		struct mrpc_schema_plan *plan = one_field(fields[i].kind, fields[i].flags);

		for (j = 0; j < ARRAY_SIZE(counts); j++) {
			words[0] = ref(8, counts[j]);
			REFUSED(plan, words, 0, EMSGSIZE, "makes the message too large");
		}
		/* As much as may be, but more than is there. */
		words[0] = ref(8, 3);
		if (fields[i].flags && fields[i].kind == MRPC_KIND_DOUBLE)
			REFUSED(plan, words, 0, EINVAL, "is outside the send heap");
		words[0] = ref(8, 17);
		REFUSED(plan, words, 0, EINVAL, "is outside the send heap");
		free(plan);
	}
}

TEST(array_alignment)
{
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_INT64, MRPC_FIELD_REPEATED);
	u64 words[] = { ref(12, 1), 0, 0 };

	REFUSED(plan, words, 0, EINVAL, "is not aligned");
	free(plan);
	plan = one_field(MRPC_KIND_FLOAT, MRPC_FIELD_REPEATED);
	SNAPSHOT(plan, words, 0, ((u64[]){ ref(8, 1) }), 8, 0, 8);
	words[0] = ref(10, 1);
	REFUSED(plan, words, 0, EINVAL, "is not aligned");
	free(plan);
	plan = one_field(MRPC_KIND_STRING, MRPC_FIELD_REPEATED);
	words[0] = ref(12, 1);
	REFUSED(plan, words, 0, EINVAL, "is not aligned");
	free(plan);
}

TEST(text_is_utf8)
{
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_STRING, MRPC_FIELD_REPEATED);
	u64 words[] = { ref(8, 2), ref(24, 2), ref(26, 2), 0x8280a9c3 };

	/* "é", then two bytes that begin no character. */
	REFUSED(plan, words, 0, EINVAL, "is not UTF-8");
	words[2] = ref(24, 1);	/* half of one */
	REFUSED(plan, words, 0, EINVAL, "is not UTF-8");
	words[2] = ref(24, 2);
	SNAPSHOT(plan, words, 0, ((u64[]){ ref(8, 2), ref(24, 2), ref(27, 2), 0xa9c300a9c3 }),
		 24, 6, 0);
	free(plan);
}

static_assert(MRPC_MAX_DEPTH >= 100, "protobuf takes 100 levels");

/* A chain of @n messages, the last of which refers to @end. */
static u64 *chain(u32 n, u64 end)
{
	u64 *words = calloc(n, 8);
	u32 i;

	for (i = 0; i + 1 < n; i++)
		words[i] = ref(8 * (i + 1), 1);
	words[n - 1] = end;
	return words;
}

TEST(depth)
{
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_MESSAGE, 0);
	u64 *words = chain(MRPC_MAX_DEPTH + 1, 0);

	check_refused(__LINE__, plan, words, MRPC_MAX_DEPTH + 1, 0, EINVAL,
		      "is nested too deeply");
	words[MRPC_MAX_DEPTH - 1] = 0;
	check_snapshot(__LINE__, plan, words, MRPC_MAX_DEPTH + 1, 0, words, 8 * MRPC_MAX_DEPTH,
		       0, 0);
	/* One that refers to itself has no end. */
	words[5] = ref(40, 1);
	check_refused(__LINE__, plan, words, MRPC_MAX_DEPTH, 0, EINVAL, "is nested too deeply");
	free(words);
	free(plan);
}

/* The depth at which a leaf is refused is the same, though it needs no frame. */
TEST(depth_of_a_leaf)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	struct mrpc_msg_error err;
	struct gen_buf b;
	u64 *words;
	u32 i;

	gen_add_field(s, 1, MRPC_KIND_MESSAGE, 0, 0, NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_MESSAGE, 0, 1, NO_ONEOF);
	gen_add_type(s);
	plan = compiled(s);
	words = calloc(2 * MRPC_MAX_DEPTH + 2, 8);
	for (i = 0; i + 1 < MRPC_MAX_DEPTH; i++)
		words[2 * i] = ref(16 * (i + 1), 1);
	words[2 * MRPC_MAX_DEPTH - 1] = ref(16 * MRPC_MAX_DEPTH, 1);
	check_refused(__LINE__, plan, words, 2 * MRPC_MAX_DEPTH + 2, 0, EINVAL,
		      "is nested too deeply");
	words[2 * MRPC_MAX_DEPTH - 3] = words[2 * MRPC_MAX_DEPTH - 1];
	words[2 * MRPC_MAX_DEPTH - 1] = 0;
	CHECK_EQ(snapshot(plan, words, 2 * MRPC_MAX_DEPTH + 2, 0, &b, &err), 0);
	CHECK_EQ(mrpc_msg_verify(plan, 0, b.buf.head, &b.buf.len, &err), 0);
	gen_buf_free(&b);
	free(words);
	free(plan);
}

/* Each block refers twice to the next: 2^60 blocks, unfolded. */
static void check_sharing(u32 max_total, u32 blocks, int code, const char *what)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	struct mrpc_msg_error err;
	struct gen_buf b;
	struct gen_heap heap;
	const struct mrpc_msg_src src = { .at = gen_heap_at, .ctx = &heap };
	u64 *words;
	u32 i;

	gen_add_field(s, 1, MRPC_KIND_MESSAGE, 0, 0, NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_MESSAGE, 0, 0, NO_ONEOF);
	plan = compiled(s);
	words = calloc(2 * 60, 8);
	for (i = 0; i + 1 < 60; i++)
		words[2 * i] = words[2 * i + 1] = ref(16 * (i + 1), 1);
	heap = (struct gen_heap){ .mem = (u8 *)words, .size = 2 * 60 * 8 };
	gen_buf_init(&b, max_total);
	/* The growers here copy all at each call. */
	b.buf.head_cap = 16 * blocks;
	b.buf.head = malloc(b.buf.head_cap);
	CHECK_EQ(mrpc_msg_snapshot(plan, 0, &src, 0, &b.buf, &err), -code);
	CHECK_STR(err.what, what);
	CHECK(heap.accesses <= blocks + 1);
	CHECK_EQ(b.buf.head_cap, 16 * blocks);
	gen_buf_free(&b);
	gen_heap_free(&heap);
	free(plan);
}

TEST(sharing_does_not_explode)
{
	check_sharing(1 << 20, (1 << 20) / 16, EMSGSIZE, "makes the message too large");
}

/* Kernel memory is less than a message may be, and ends before it is taken. */
TEST(sharing_fills_no_kernel_memory)
{
	check_sharing(MRPC_MAX_MESSAGE, MRPC_MAX_HEAD / 16, EFBIG,
		      "makes the structures and text too large");
}

/* A thousand references to one text. */
TEST(shared_text)
{
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_STRING, MRPC_FIELD_REPEATED);
	u32 n = 1000, len = 1 << 16, i;
	struct mrpc_msg_error err;
	struct gen_buf b;
	struct gen_heap heap = { .mem = calloc(1, 8 + 8 * n + len), .size = 8 + 8 * n + len };
	const struct mrpc_msg_src src = { .at = gen_heap_at, .ctx = &heap };
	u64 *words = (u64 *)heap.mem;

	words[0] = ref(8, n);
	for (i = 0; i < n; i++)
		words[1 + i] = ref(8 + 8 * n, len);
	memset(heap.mem + 8 + 8 * n, 'a', len);
	gen_buf_init(&b, MRPC_MAX_MESSAGE);
	CHECK_EQ(mrpc_msg_snapshot(plan, 0, &src, 0, &b.buf, &err), -EFBIG);
	CHECK_STR(err.what, "makes the structures and text too large");
	CHECK(b.buf.head_cap < len);
	gen_buf_free(&b);
	gen_heap_free(&heap);
	free(plan);
}

/* Processor time to take and verify elements with a oneof of so many members. */
static double oneof_seconds(u32 members)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	struct timespec start, end;
	struct mrpc_msg_error err;
	struct gen_buf b;
	u32 n = 50000, i;
	u64 *words = calloc(1 + 2 * n, 8);

	gen_add_field(s, 1, MRPC_KIND_MESSAGE, MRPC_FIELD_REPEATED, 1, NO_ONEOF);
	gen_add_type(s);
	for (i = 0; i < members; i++)
		add(s, i + 1, MRPC_KIND_STRING, 0, 0);
	plan = compiled(s);
	words[0] = ref(8, n);
	for (i = 0; i < n; i++)
		words[1 + 2 * i] = members;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	CHECK_EQ(snapshot(plan, words, 1 + 2 * n, 0, &b, &err), 0);
	CHECK_EQ(mrpc_msg_verify(plan, 0, b.buf.head, &b.buf.len, &err), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	gen_buf_free(&b);
	free(words);
	free(plan);
	return end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9;
}

/* A block costs its bytes, not its type's fields: here 8000 in 16 bytes. */
TEST(a_large_oneof_costs_no_time)
{
	double small = oneof_seconds(8), large = oneof_seconds(8000);

	/* One visit for each member would make it hundreds of times. */
	CHECK_MSG(large < 20 * small, "%.3f s, and %.3f s for 8 members", large, small);
}

/* -- heads by hand -------------------------------------------------------- */

TEST(lengths_out_of_bounds)
{
	static const char structs[] = "is no length of a struct section with this root";
	static const char bytes[] = "is no length of a byte section";
	static const char total[] = "bytes are more than a message may have";
	static const struct {
		struct mrpc_msg_len len;
		const char *what;
	} cases[] = {
		{ { 0, 0, 0 }, structs }, { { 4, 0, 0 }, structs }, { { 12, 0, 0 }, structs },
		{ { 8, 0, 4 }, bytes }, { { U32_MAX - 7, 0, 0 }, total },
		{ { 8, U32_MAX, 0 }, total }, { { 8, U32_MAX - 5, 0 }, total },
		{ { 8, 0, U32_MAX - 7 }, total }, { { MRPC_MAX_MESSAGE, 1, 0 }, total },
		{ { U32_MAX - 7, U32_MAX, U32_MAX - 7 }, total },
		{ { 8, 0, MRPC_MAX_MESSAGE }, total },
		{ { 8, 0, 8 }, "is where byte blocks end, not their section" },
		{ { 8, 1, 0 }, "is where text ends, not its section" },
		{ { 16, 0, 0 }, "is where struct blocks end, not their section" },
	};
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_STRING, 0);
	struct mrpc_msg_error err;
	u64 *head = calloc(2, 8);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		CHECK_EQ(mrpc_msg_verify(plan, 0, head, &cases[i].len, &err), -EINVAL);
		CHECK_MSG(!strcmp(err.what, cases[i].what), "case %u: %s", i, err.what);
	}
	CHECK_EQ(mrpc_msg_verify(plan, 1, head, &cases[0].len, &err), -EINVAL);
	CHECK_EQ(mrpc_msg_verify(plan, 0, head, &(struct mrpc_msg_len){ 8, 0, 0 }, &err), 0);
	free(head);
	free(plan);
}

/* Heads that differ in more than a byte from any that is valid. */
TEST(heads_refused)
{
	struct mrpc_schema_plan *plan = one_field(MRPC_KIND_MESSAGE, 0);
	struct mrpc_msg_len len = { 8 * (MRPC_MAX_DEPTH + 1), 0, 0 };
	u64 *deep = chain(MRPC_MAX_DEPTH + 1, 0);
	struct mrpc_msg_error err;
	u64 words[4] = { ref(8, 2) };

	CHECK_EQ(mrpc_msg_verify(plan, 0, words, &(struct mrpc_msg_len){ 24, 0, 0 }, &err),
		 -EINVAL);
	CHECK_STR(err.what, "has a length other than 0 or 1");
	/* A cycle, and a block used twice. */
	words[0] = ref(0, 1);
	CHECK_EQ(mrpc_msg_verify(plan, 0, words, &(struct mrpc_msg_len){ 8, 0, 0 }, &err),
		 -EINVAL);
	CHECK_STR(err.what, "is not where the block before it ends");
	words[0] = words[1] = ref(8, 1);
	CHECK_EQ(mrpc_msg_verify(plan, 0, words, &(struct mrpc_msg_len){ 16, 0, 0 }, &err),
		 -EINVAL);
	CHECK_STR(err.what, "is not where the block before it ends");
	/* Too deep for any application to send. */
	CHECK_EQ(mrpc_msg_verify(plan, 0, deep, &len, &err), -EINVAL);
	CHECK_STR(err.what, "is nested too deeply");
	deep[MRPC_MAX_DEPTH - 1] = 0;
	len.structs -= 8;
	CHECK_EQ(mrpc_msg_verify(plan, 0, deep, &len, &err), 0);
	free(deep);
	free(plan);
}

/* -- explain --------------------------------------------------------------- */

TEST(explain)
{
	struct gen_schema *s = one_type();
	struct mrpc_schema_plan *plan;
	struct mrpc_msg_error err;
	struct gen_buf b;
	char text[128];
	u64 words[] = { ref(4096, 70000), 0, 0 };
	u32 n;
	int len;

	add(s, 2, MRPC_KIND_BYTES, 0, NO_ONEOF);
	add(s, 3, MRPC_KIND_BOOL, 0, NO_ONEOF);
	plan = compiled(s);
	CHECK_EQ(snapshot(plan, words, 3, 0, &b, &err), -EINVAL);
	gen_buf_free(&b);
	len = mrpc_msg_explain(plan, &err, text, sizeof(text));
	CHECK_STR(text, "t.T0.f0 (field 2): reference {off 4096, len 70000} "
		  "is outside the send heap");
	CHECK_EQ(len, strlen(text));
	for (n = 0; n < sizeof(text); n++) {
		char cut[128];

		memset(cut, 'x', sizeof(cut));
		CHECK_EQ(mrpc_msg_explain(plan, &err, cut, n), n ? min((int)n - 1, len) : 0);
		CHECK_EQ(cut[n], 'x');
		if (n)
			CHECK(!strncmp(cut, text, strlen(cut)));
	}
	words[0] = ref(-9, 1);
	CHECK_EQ(snapshot(plan, words, 3, 8, &b, &err), 0);
	gen_buf_free(&b);
	words[1] = ref(-9, 1);
	CHECK_EQ(snapshot(plan, words, 3, 8, &b, &err), -EINVAL);
	gen_buf_free(&b);
	mrpc_msg_explain(plan, &err, text, sizeof(text));
	CHECK_STR(text, "t.T0.f0 (field 2): reference {off -9, len 1} is outside the send heap");
	words[0] = 0;
	words[1] = 7;
	CHECK_EQ(mrpc_msg_verify(plan, 0, words, &(struct mrpc_msg_len){ 16, 0, 0 }, &err),
		 -EINVAL);
	mrpc_msg_explain(plan, &err, text, sizeof(text));
	CHECK_STR(text, "t.T0.f1 (field 3): 7 is not 0 or 1");
	words[1] = 0;
	CHECK_EQ(mrpc_msg_verify(plan, 0, words, &(struct mrpc_msg_len){ 24, 0, 0 }, &err),
		 -EINVAL);
	mrpc_msg_explain(plan, &err, text, sizeof(text));
	CHECK_STR(text, "message: 16 is where struct blocks end, not their section");
	CHECK_EQ(snapshot(plan, words, 3, 4, &b, &err), -EINVAL);
	gen_buf_free(&b);
	mrpc_msg_explain(plan, &err, text, sizeof(text));
	CHECK_STR(text, "t.T0: 4 is not aligned");
	/* Numbers of all lengths. */
	err = (struct mrpc_msg_error){ "w", 0, 0, INT64_MIN, ~0ULL };
	mrpc_msg_explain(plan, &err, text, sizeof(text));
	CHECK_STR(text, "t.T0.f0 (field 2): reference {off -9223372036854775808, "
		  "len 18446744073709551615} w");
	err = (struct mrpc_msg_error){ "w", 99, 99, 100, 0 };
	mrpc_msg_explain(plan, &err, text, sizeof(text));
	CHECK_STR(text, "message: 100 w");
	free(plan);
}
