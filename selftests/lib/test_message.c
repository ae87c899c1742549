// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/message kmod/lib/message/snapshot */
/*
 * Snapshot and verification of messages, kmod/lib/message/message.c and snapshot.c: the format, and
 * the text of an error. For what is refused, see test_message_refused.c.
 */
#include "words.h"

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
