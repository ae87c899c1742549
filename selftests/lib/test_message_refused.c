// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/message kmod/lib/message/snapshot */
/*
 * Messages that snapshot or verification refuses: references outside, messages that are too large,
 * too deep or shared too often, and heads that no snapshot makes.
 */
#include <time.h>

#include "words.h"

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
