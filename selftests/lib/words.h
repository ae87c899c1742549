/* SPDX-License-Identifier: GPL-2.0 */
/* Schemas and messages by hand: a heap is words of 8 bytes. */
#ifndef WORDS_H
#define WORDS_H

#include "gen.h"
#include "tap.h"

#define NO_TYPE		MRPC_SCHEMA_NO_TYPE
#define NO_ONEOF	MRPC_SCHEMA_NO_ONEOF
#define MAX_TOTAL	(64U << 20)

/* -- schemas by hand ------------------------------------------------------- */

static inline struct gen_schema *one_type(void)
{
	struct gen_schema *s = calloc(1, sizeof(*s));

	CHECK(s);
	gen_add_method(s, 0, 0);
	gen_add_type(s);
	return s;
}

static inline void add(struct gen_schema *s, u32 number, u8 kind, u8 flags, u16 oneof)
{
	gen_add_field(s, number, kind, flags, NO_TYPE, oneof);
}

static inline struct mrpc_schema_plan *compiled(struct gen_schema *s)
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
static inline struct mrpc_schema_plan *one_field(u8 kind, u8 flags)
{
	struct gen_schema *s = one_type();

	gen_add_field(s, 1, kind, flags, kind == MRPC_KIND_MESSAGE ? 0 : NO_TYPE, NO_ONEOF);
	return compiled(s);
}

/* -- heaps by hand: words of 8 bytes --------------------------------------- */

static inline u64 ref(s32 off, u32 len)
{
	return (u64)len << 32 | (u32)off;
}

static inline int snapshot(const struct mrpc_schema_plan *plan, const u64 *words, u32 n, u32 root,
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
static inline void check_snapshot(int line, const struct mrpc_schema_plan *plan, const u64 *words,
				  u32 n, u32 root, const u64 *head, u32 structs, u32 text,
				  u32 bytes)
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

static inline void check_refused(int line, const struct mrpc_schema_plan *plan, const u64 *words,
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

#endif /* WORDS_H */
