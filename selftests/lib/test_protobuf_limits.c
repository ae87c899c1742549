// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/protobuf/decode kmod/lib/protobuf/encode kmod/lib/protobuf/scan */
/* Covers: kmod/lib/message/schema */
/*
 * The limits of protobuf: nesting, merges, memory and time; and what is copied or stays by
 * reference.
 */
#include <time.h>

#include "proto_all.h"

/* Puts @len bytes of field @number around what is there. */
static void wrap(struct proto_bytes *b, u32 number)
{
	struct proto_bytes outer = { 0 };

	proto_append_varint(&outer, number << 3 | MRPC_PB_LEN);
	proto_append_varint(&outer, b->len);
	proto_append(&outer, b->p, b->len);
	free(b->p);
	*b = outer;
}

static int decode_ret(const struct mrpc_schema_plan *plan, const struct proto_bytes *b,
		      const char *what)
{
	struct proto_decoded d = proto_decode(plan, T_ALL, b->p, b->len, ARENA);

	if (d.ret)
		CHECK_STR(d.err.what, what);
	free(d.wire);
	return d.ret;
}

TEST(nesting)
{
	struct mrpc_schema_plan *plan = plan_of_all();
	struct proto_bytes b = { 0 };
	u32 i;

	/* The innermost has a field, and its parent an array: both forms of a child. */
	for (i = 1; i < MRPC_MAX_DEPTH; i++)
		wrap(&b, i == 1 ? 31 : 17);
	CHECK_EQ(decode_ret(plan, &b, NULL), 0);
	wrap(&b, 17);
	CHECK_EQ(decode_ret(plan, &b, "is where messages are nested too deeply"), -EINVAL);
	free(b.p);
	free(plan);
}

TEST(groups)
{
	struct mrpc_schema_plan *plan = plan_of_all();
	struct proto_bytes b = { 0 };
	u32 depth, i;

	for (depth = MRPC_PB_MAX_GROUPS; depth <= MRPC_PB_MAX_GROUPS + 1; depth++) {
		b.len = 0;
		for (i = 1; i <= depth; i++)
			proto_append_varint(&b, i << 3 | MRPC_PB_GROUP);
		for (i = depth; i; i--)
			proto_append_varint(&b, i << 3 | MRPC_PB_GROUP_END);
		CHECK_EQ(decode_ret(plan, &b, "is where groups are nested too deeply"),
			 depth > MRPC_PB_MAX_GROUPS ? -EINVAL : 0);
	}
	free(b.p);
	free(plan);
}

TEST(merges)
{
	struct mrpc_schema_plan *plan = plan_of_all();
	struct proto_bytes b = { 0 };
	u32 i;

	for (i = 0; i <= MRPC_PB_MAX_MERGES; i++)
		proto_append(&b, "\x8a\x01\x02\x08\x01", 5);
	CHECK_EQ(decode_ret(plan, &b, NULL), 0);
	/* The limit is for a whole message, not for each of its messages. */
	proto_append(&b, "\xb2\x01\x08\x22\x02\x08\x01\x22\x02\x08\x01", 11);
	CHECK_EQ(decode_ret(plan, &b, "is where too many fields occur again"), -EINVAL);
	free(b.p);
	free(plan);
}

/* Each size of arena up to what is needed: refused before it is used. */
TEST(arena)
{
	struct mrpc_schema_plan *plan = plan_of_all();
	struct proto_bytes b = hex("c2 01 03 010203 ea 01 01 'a' fa 01 02 08 01 b2 01 02 08 01 b2 01 03 12 01 05");
	struct proto_decoded d = proto_decode(plan, T_ALL, b.p, b.len, ARENA);
	u32 need = d.arena, i;

	CHECK_EQ(d.ret, 0);
	free(d.wire);
	for (i = 0; i <= need; i++) {
		d = proto_decode(plan, T_ALL, b.p, b.len, i);
		CHECK_EQ(d.ret, i < need ? -EMSGSIZE : 0);
		if (d.ret)
			CHECK_STR(d.err.what, "is where the message becomes too large");
		free(d.wire);
	}
	free(b.p);
	free(plan);
}

/* A type of 32 KiB, in a field, in an array, and twice in a oneof. */
static struct mrpc_schema_plan *plan_of_large(void)
{
	struct gen_schema *s = calloc(1, sizeof(*s));
	struct mrpc_schema_plan *plan;
	u32 i;

	gen_add_method(s, 0, 0);
	gen_add_type(s);
	gen_add_field(s, 1, MRPC_KIND_MESSAGE, REPEATED, 1, NO_ONEOF);
	gen_add_field(s, 2, MRPC_KIND_MESSAGE, 0, 1, 0);
	gen_add_field(s, 3, MRPC_KIND_MESSAGE, 0, 1, 0);
	gen_add_type(s);
	for (i = 1; i <= MRPC_SCHEMA_MAX_STRUCT / 8; i++)
		gen_add_field(s, i, MRPC_KIND_INT64, 0, NO_TYPE, NO_ONEOF);
	plan = compile(s);
	CHECK_EQ(plan->types[1].size, MRPC_SCHEMA_MAX_STRUCT);
	free(s);
	return plan;
}

/* Two bytes stand for 32 KiB: the arena, not the input, is the bound. */
TEST(amplification)
{
	static const char *const pairs[] = { "0a 00 0a 00", "12 00 1a 00" };
	struct mrpc_schema_plan *plan = plan_of_large();
	struct proto_bytes b = { 0 };
	struct proto_decoded d;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct proto_bytes pair = hex(pairs[i]);
		clock_t begin;
		long ms;

		for (b.len = 0; b.len < 1 << 20;)
			proto_append(&b, pair.p, pair.len);
		begin = clock();
		d = proto_decode(plan, 0, b.p, b.len, 4 << 20);
		CHECK_EQ(d.ret, -EMSGSIZE);
		CHECK(d.arena <= 4 << 20);
		d = proto_decode(plan, 0, b.p, b.len, U32_MAX);
		/* An array of 16 GiB is beyond both limits. */
		CHECK_EQ(d.ret, i == 0 ? -EMSGSIZE : -EFBIG);
		CHECK(d.arena <= MRPC_MAX_HEAD);
		ms = (clock() - begin) / (CLOCKS_PER_SEC / 1000);
		NOTE("%s...: %ld ms", pairs[i], ms);
		CHECK(ms < 2000);
		free(pair.p);
	}
	free(b.p);
	free(plan);
}

/* 1 MiB of what could make the decoder look at it again and again. */
TEST(linear_time)
{
	static const char *const pieces[] = {
		"08 01", "98 7d 01", "9b 7d 9c 7d", "c0 01 01", "c2 01 01 01", "ca 01 00", "ea 01 00",
		"a0 01 00 aa 01 00", "fa 01 00", "7a 00", "8a 01 00", "82 02 00",
	};
	struct mrpc_schema_plan *plan = plan_of_all();
	struct proto_bytes b = { 0 };
	struct proto_decoded d;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		struct proto_bytes piece = hex(pieces[i]);
		clock_t begin = clock();
		long ms;

		for (b.len = 0; b.len < 1 << 20;)
			proto_append(&b, piece.p, piece.len);
		d = proto_decode(plan, T_ALL, b.p, b.len, 64 << 20);
		ms = (clock() - begin) / (CLOCKS_PER_SEC / 1000);
		CHECK_MSG(ms < 2000, "%s...: %ld ms", pieces[i], ms);
		free(d.wire);
		free(piece.p);
	}
	free(b.p);
	free(plan);
}

/* -- encoding -------------------------------------------------------------- */

/* A oneof with more members than its block has bytes: their number costs nothing. */
TEST(oneof_of_many)
{
	struct gen_schema *s = calloc(1, sizeof(*s));
	struct proto_bytes b = { 0 }, again;
	struct mrpc_schema_plan *plan;
	struct proto_decoded d;
	clock_t begin;
	u32 i, n = 8000;
	long ms;

	gen_add_method(s, 0, 0);
	gen_add_type(s);
	gen_add_field(s, 1, MRPC_KIND_MESSAGE, REPEATED, 1, NO_ONEOF);
	gen_add_type(s);
	for (i = 1; i <= n; i++)
		gen_add_field(s, i, MRPC_KIND_INT32, 0, NO_TYPE, i == 1 ? 0 : i % 3 ? 1 : 0);
	plan = compile(s);
	CHECK_EQ(plan->fields[plan->types[1].first_field + n - 1].members, n);
	for (i = 0; i < 50000; i++) {
		struct proto_bytes one = { 0 };
		u32 first = 3 * (i % 2000) + 3, second = 3 * (i % 1777) + 1;

		second += second == 1;
		proto_append_varint(&one, min(first, second) << 3);
		proto_append_varint(&one, i);
		proto_append_varint(&one, max(first, second) << 3);
		proto_append_varint(&one, i);
		wrap(&one, 1);
		proto_append(&b, one.p, one.len);
		free(one.p);
	}
	d = proto_decode(plan, 0, b.p, b.len, ARENA);
	CHECK_EQ(d.ret, 0);
	begin = clock();
	again = proto_encode_wire(plan, 0, d.wire, &d.len);
	ms = (clock() - begin) / (CLOCKS_PER_SEC / 1000);
	CHECK(again.len == b.len && !memcmp(again.p, b.p, b.len));
	CHECK_MSG(ms < 1000, "%ld ms", ms);
	free(again.p);
	free(d.wire);
	free(b.p);
	free(plan);
	free(s);
}

/* Blocks around the size from which on they stay where they are. */
TEST(cuts)
{
	static struct mrpc_pb_levels levels;
	static const u32 lens[] = {
		0, 1, MRPC_PB_CUT - 1, MRPC_PB_CUT, MRPC_PB_CUT + 1, 70000,
	};
	struct mrpc_schema_plan *plan = plan_of_all();
	u8 *junk = calloc(1, 70000);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		struct proto_bytes b = { 0 }, again;
		struct mrpc_pb_cut cuts[2];
		struct mrpc_pb_input in;
		struct mrpc_pb_size size;
		struct proto_decoded d;
		u8 *buf;

		/* Bytes, and a packed array of fixed width. */
		proto_append(&b, junk, lens[i]);
		wrap(&b, 16);
		proto_append_varint(&b, 25 << 3 | MRPC_PB_LEN);
		proto_append_varint(&b, lens[i] / 4 * 4);
		proto_append(&b, junk, lens[i] / 4 * 4);
		d = proto_decode(plan, T_ALL, b.p, b.len, ARENA);
		CHECK_EQ(d.ret, 0);
		in = (struct mrpc_pb_input){
			.plan = plan, .len = d.len, .head = d.wire,
			.bytes = d.wire + mrpc_msg_head_len(&d.len),
		};
		CHECK_EQ(mrpc_pb_size(&in, &levels, U32_MAX, &size), 0);
		CHECK_EQ(size.nr_cuts, lens[i] < MRPC_PB_CUT ? 0 : 2);
		CHECK(size.buf_len < (lens[i] < MRPC_PB_CUT ? 2 * MRPC_PB_CUT : 0) + 20);
		buf = malloc(size.buf_len + 1);
		CHECK_EQ(mrpc_pb_encode(&in, &levels, &size, buf, cuts), 0);
		if (size.nr_cuts) {
			CHECK_EQ(cuts[0].len, lens[i]);
			CHECK_EQ(cuts[1].len, lens[i] / 4 * 4);
			CHECK_EQ(cuts[1].at, size.buf_len);
		}
		again = proto_encode(&in);
		CHECK_MSG(lens[i] < 4 || (again.len == b.len && !memcmp(again.p, b.p, b.len)),
			  "%u: bytes", lens[i]);
		free(buf);
		free(again.p);
		free(d.wire);
		free(b.p);
	}
	free(junk);
	free(plan);
}

/* An array of varints that is not in kernel memory: the caller must copy it. */
TEST(varints_by_reference)
{
	static struct mrpc_pb_levels levels;
	struct mrpc_schema_plan *plan = plan_of_all();
	struct proto_bytes b = hex("c2 01 03 010203");
	struct proto_decoded d = proto_decode(plan, T_ALL, b.p, b.len, ARENA);
	struct mrpc_msg_seg seg = { .src = 0, .len = 12 };
	const struct mrpc_seg_index segs = { .segs = &seg };
	const struct mrpc_msg_src src = { 0 };	/* never asked */
	struct mrpc_pb_input in = {
		.plan = plan, .len = d.len, .head = d.wire, .segs = &segs, .src = &src,
	};
	struct mrpc_pb_size size;

	CHECK_EQ(d.ret, 0);
	CHECK_EQ(mrpc_pb_size(&in, &levels, U32_MAX, &size), -ENODATA);
	in.bytes = d.wire + mrpc_msg_head_len(&d.len);
	CHECK_EQ(mrpc_pb_size(&in, &levels, U32_MAX, &size), 0);
	CHECK_EQ(size.total, b.len);
	free(d.wire);
	free(b.p);
	free(plan);
}
