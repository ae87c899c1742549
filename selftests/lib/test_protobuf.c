// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/protobuf/decode kmod/lib/protobuf/encode kmod/lib/protobuf/scan */
/* Covers: kmod/lib/protobuf/varint kmod/lib/protobuf/number */
/*
 * Protobuf byte by byte: each kind of field, the rules of decode.h, what is malformed.
 */
#include "proto_all.h"

/* -- rules ----------------------------------------------------------------- */

/* What comes in, and the one encoding of what was understood; NULL: the same bytes. */
static const struct {
	const char *what;
	const char *in;
	const char *out;
	u32 unknown;
} good[] = {
	{ "nothing", "", NULL, 0 },
	{ "int32", "08 96 01", NULL, 0 },
	{ "int32 -1 has ten bytes", "08 ffffffffffffffffff01", NULL, 0 },
	{ "int32 in five bytes", "08 ffffffff0f", "08 ffffffffffffffffff01", 0 },
	{ "int32 of more bits is cut", "08 8180808010", "08 01", 0 },
	{ "INT_MIN", "08 80808080f8ffffffff01", NULL, 0 },
	{ "int64", "10 80808080808080808001", NULL, 0 },
	{ "uint32", "18 ffffffff0f", NULL, 0 },
	{ "uint32 of more bits is cut", "18 ffffffffffffffffff01", "18 ffffffff0f", 0 },
	{ "uint64", "20 ffffffffffffffffff01", NULL, 0 },
	{ "bits beyond 64 are dropped", "20 ffffffffffffffffff7f", "20 ffffffffffffffffff01", 0 },
	{ "sint32 -1", "28 01", NULL, 0 },
	{ "sint32, smallest", "28 ffffffff0f", NULL, 0 },
	{ "sint32, largest", "28 feffffff0f", NULL, 0 },
	{ "sint32 of more bits is cut", "28 8380808070", "28 03", 0 },
	{ "sint64, smallest", "30 ffffffffffffffffff01", NULL, 0 },
	{ "fixed32", "3d 01020304", NULL, 0 },
	{ "fixed64", "41 0102030405060708", NULL, 0 },
	{ "sfixed32", "4d ffffffff", NULL, 0 },
	{ "sfixed64", "51 ffffffffffffffff", NULL, 0 },
	{ "float", "5d 0000803f", NULL, 0 },
	{ "-0.0 is there", "5d 00000080 61 0000000000000080", NULL, 0 },
	{ "not a number stays as it is", "5d 0100a07f 61 010000000000f4ff", NULL, 0 },
	{ "bool", "68 01", NULL, 0 },
	{ "bool is true unless 0", "68 8080808080808080 8001", "68 01", 0 },
	{ "enum -1", "70 ffffffffffffffffff01", NULL, 0 },
	{ "string", "7a 03 'abc'", NULL, 0 },
	{ "string with a NUL", "7a 03 'a' 00 'c'", NULL, 0 },
	{ "bytes", "82 01 02 ff00", NULL, 0 },
	{ "the largest number", "f8ffffff0f 05", NULL, 0 },
	{ "zeros are not there", "08 00 18 00 3d 00000000 41 0000000000000000 68 00 7a 00 82 01 00",
	  "", 0 },
	{ "the last counts", "08 01 7a 01 'a' 08 02 7a 01 'b'", "08 02 7a 01 'b'", 0 },
	{ "the last is zero", "08 01 08 00", "", 0 },
	{ "optional", "90 01 05 9a 01 01 'x'", NULL, 0 },
	{ "optional, and zero", "90 01 00 9a 01 00", NULL, 0 },
	{ "long tag and length", "8880808000 01 fa8000 8180808000 'a'", "08 01 7a 01 'a'", 0 },
	{ "other order", "7a 01 'a' 08 01", "08 01 7a 01 'a'", 0 },

	{ "oneof", "a0 01 07", NULL, 0 },
	{ "oneof, zero", "a0 01 00", NULL, 0 },
	{ "oneof, empty text", "aa 01 00", NULL, 0 },
	{ "oneof, empty message", "b2 01 00", NULL, 0 },
	{ "oneof, the last member counts", "a0 01 07 aa 01 01 'a'", "aa 01 01 'a'", 0 },
	{ "oneof, a number in place of text", "aa 01 01 'a' a0 01 07", "a0 01 07", 0 },
	{ "oneof, a message in place of text", "aa 01 01 'a' b2 01 02 08 01", "b2 01 02 08 01", 0 },
	{ "oneof, another message", "b2 01 02 08 01 ba 01 02 10 05", "ba 01 02 10 05", 0 },
	{ "oneof, the same message is merged", "b2 01 02 08 01 b2 01 03 12 01 07",
	  "b2 01 05 08 01 12 01 07", 0 },
	{ "oneof, the same message is new after another member",
	  "b2 01 02 08 01 a0 01 07 b2 01 03 12 01 07", "b2 01 03 12 01 07", 0 },

	{ "packed int32", "c2 01 03 01 96 01", NULL, 0 },
	{ "packed, empty", "c2 01 00", "", 0 },
	{ "packed int32, one by one", "c0 01 01 c0 01 96 01", "c2 01 03 01 96 01", 0 },
	{ "packed int32, both", "c0 01 01 c2 01 02 02 03 c0 01 04 c2 01 00 c2 01 01 05",
	  "c2 01 05 01 02 03 04 05", 0 },
	{ "packed fixed32", "ca 01 08 01000000 02000000", NULL, 0 },
	{ "packed fixed32, in two", "ca 01 04 01000000 ca 01 04 02000000",
	  "ca 01 08 01000000 02000000", 0 },
	{ "packed fixed32, both", "cd 01 01000000 ca 01 04 02000000", "ca 01 08 01000000 02000000",
	  0 },
	{ "packed bools", "d2 01 05 01 00 80 01 00", "d2 01 04 01 00 01 00", 0 },
	{ "unpacked sint64", "d8 01 01 d8 01 02", NULL, 0 },
	{ "unpacked sint64 that came packed", "da 01 02 01 02", "d8 01 01 d8 01 02", 0 },
	{ "unpacked double", "e1 01 0102030405060708 e1 01 0000000000000000", NULL, 0 },
	{ "unpacked double that came packed", "e2 01 10 0102030405060708 0000000000000000",
	  "e1 01 0102030405060708 e1 01 0000000000000000", 0 },
	{ "strings", "ea 01 01 'a' ea 01 00 ea 01 02 'bc'", NULL, 0 },
	{ "bytes, repeated", "f2 01 01 ff f2 01 00", NULL, 0 },
	{ "strings, between others", "ea 01 01 'a' 08 01 ea 01 01 'b' f2 01 01 00 ea 01 01 'c'",
	  "08 01 ea 01 01 'a' ea 01 01 'b' ea 01 01 'c' f2 01 01 00", 0 },
	{ "messages", "fa 01 00 fa 01 02 08 01 fa 01 03 12 01 05", NULL, 0 },
	{ "messages in messages", "fa 01 08 2a 02 08 01 2a 02 08 02", NULL, 0 },

	{ "map", "82 02 05 0a 01 'k' 10 05", NULL, 0 },
	{ "map, value first", "82 02 05 10 05 0a 01 'k'", "82 02 05 0a 01 'k' 10 05", 0 },
	{ "map, no value", "82 02 03 0a 01 'k'", "82 02 05 0a 01 'k' 10 00", 0 },
	{ "map, no key", "82 02 02 10 05", "82 02 04 0a 00 10 05", 0 },
	{ "map, empty entry", "82 02 00", "82 02 04 0a 00 10 00", 0 },
	{ "map, the same key stays", "82 02 05 0a 01 'k' 10 05 82 02 05 0a 01 'k' 10 06", NULL, 0 },
	{ "map, key twice in an entry", "82 02 08 0a 01 'k' 0a 01 'l' 10 05",
	  "82 02 05 0a 01 'l' 10 05", 0 },
	{ "map of messages", "8a 02 06 08 01 12 02 08 07", NULL, 0 },
	{ "map of messages, no value", "8a 02 02 08 01", "8a 02 04 08 01 12 00", 0 },
	{ "map of messages, a value in two parts", "8a 02 0b 08 01 12 02 08 07 12 03 12 01 09",
	  "8a 02 09 08 01 12 05 08 07 12 01 09", 0 },

	{ "merge of scalars", "8a 01 02 08 01 8a 01 02 10 02", "8a 01 04 08 01 10 02", 0 },
	{ "merge, the last counts", "8a 01 02 08 01 8a 01 02 08 02", "8a 01 02 08 02", 0 },
	{ "merge with nothing", "8a 01 02 08 01 8a 01 00", "8a 01 02 08 01", 0 },
	{ "merge of arrays", "b2 01 04 12 02 01 02 b2 01 04 12 02 03 04",
	  "b2 01 06 12 04 01 02 03 04", 0 },
	{ "merge of arrays in the input", "b2 01 06 1a 04 01000000 b2 01 06 1a 04 02000000",
	  "b2 01 0a 1a 08 01000000 02000000", 0 },
	{ "merge of an array with none", "b2 01 06 1a 04 01000000 b2 01 02 08 05",
	  "b2 01 08 08 05 1a 04 01000000", 0 },
	{ "merge of messages", "b2 01 04 2a 02 08 01 b2 01 04 2a 02 08 02",
	  "b2 01 08 2a 02 08 01 2a 02 08 02", 0 },
	{ "merge below a merge", "b2 01 04 22 02 08 01 b2 01 05 22 03 12 01 02",
	  "b2 01 07 22 05 08 01 12 01 02", 0 },
	{ "merge below a message that is not merged", "b2 01 09 22 02 08 01 22 03 12 01 02",
	  "b2 01 07 22 05 08 01 12 01 02", 0 },

	{ "unknown varint", "98 7d 05 08 01", "08 01", 1 },
	{ "unknown fixed width", "9d 7d 01020304 99 7d 0102030405060708", "", 2 },
	{ "unknown bytes", "9a 7d 02 ffff", "", 1 },
	{ "unknown group", "9b 7d 08 01 9c 7d 08 02", "08 02", 1 },
	{ "unknown group in a group", "9b 7d 0b 12 01 'a' 0c 9c 7d 08 02", "08 02", 1 },
	{ "unknown field of a nested message", "8a 01 05 98 7d 05 08 01", "8a 01 02 08 01", 1 },
	{ "a scalar with another wire type", "0d 01020304 0a 01 05 09 0102030405060708 08 03",
	  "08 03", 3 },
	{ "text with another wire type", "78 05", "", 1 },
	{ "a message with another wire type", "88 01 05 8b 01 8c 01", "", 2 },
	{ "an array with another wire type", "c5 01 01020304 c8 01 05", "", 2 },
	{ "an array of messages with another wire type", "f8 01 05 fa 01 02 08 01",
	  "fa 01 02 08 01", 1 },
};

static void check_hex(const struct proto_bytes *b, const char *want, const char *what)
{
	struct proto_bytes w = hex(want);

	CHECK_MSG(b->len == w.len && !memcmp(b->p, w.p, w.len), "%s: other bytes", what);
	free(w.p);
}

TEST(rules)
{
	struct mrpc_schema_plan *plan = plan_of_all();
	u32 i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		struct proto_bytes in = hex(good[i].in), out;
		struct proto_decoded d = proto_decode(plan, T_ALL, in.p, in.len, ARENA);

		CHECK_MSG(!d.ret, "%s: %lld %s", good[i].what, (long long)d.err.off, d.err.what);
		CHECK_MSG(d.unknown == good[i].unknown, "%s: %u unknown", good[i].what, d.unknown);
		out = proto_encode_wire(plan, T_ALL, d.wire, &d.len);
		check_hex(&out, good[i].out ?: good[i].in, good[i].what);
		free(out.p);
		free(d.wire);
		free(in.p);
	}
	free(plan);
}

/* Each sample of above, cut behind each byte: refused, or what came until there. */
TEST(cut_behind_each_byte)
{
	struct mrpc_schema_plan *plan = plan_of_all();
	u32 i, len, accepted = 0, refused = 0;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		struct proto_bytes in = hex(good[i].in);

		for (len = 0; len < in.len; len++) {
			struct proto_decoded d = proto_decode(plan, T_ALL, in.p, len, ARENA);

			CHECK(!d.ret || d.ret == -EINVAL);
			CHECK_MSG(!d.ret || d.err.off <= len, "%s: %lld of %u", good[i].what,
				  (long long)d.err.off, len);
			accepted += !d.ret;
			refused += !!d.ret;
			free(d.wire);
		}
		free(in.p);
	}
	NOTE("%u accepted, %u refused", accepted, refused);
	CHECK(accepted > 100);
	CHECK(refused > 500);
	free(plan);
}

static const struct {
	const char *in;
	const char *what;
	u32 off;
} bad[] = {
	{ "80", "is where a field needs more bytes than are left", 0 },
	{ "8080808080", "is where a varint is too long", 0 },
	{ "808080808000", "is where a varint is too long", 0 },
	{ "08", "is where a field needs more bytes than are left", 1 },
	{ "08 80", "is where a field needs more bytes than are left", 1 },
	{ "08 ffffffffffffffffffff01", "is where a varint is too long", 1 },
	{ "08 8080808080808080808000", "is where a varint is too long", 1 },
	{ "98 7d 8080808080808080808000", "is where a varint is too long", 2 },
	{ "3d 010203", "is where a field needs more bytes than are left", 1 },
	{ "41 01020304050607", "is where a field needs more bytes than are left", 1 },
	{ "9d 7d 010203", "is where a field needs more bytes than are left", 2 },
	{ "00 01", "is where a field has the number 0", 0 },
	{ "02 00", "is where a field has the number 0", 0 },
	{ "0e 01", "is where a field has an unknown wire type", 1 },
	{ "0f 01", "is where a field has an unknown wire type", 1 },
	{ "8080808010 01", "is where a tag has more than 32 bits", 0 },
	{ "7a 04 'abc'", "is where a length is beyond the message's end", 1 },
	{ "7a ffffffff0f", "is where a length is beyond the message's end", 1 },
	{ "7a ffffffff7f", "is where a length is beyond the message's end", 1 },
	{ "7a 808080808000", "is where a varint is too long", 1 },
	{ "8a 01 02 7a 01 'abc'", "is where a length is beyond the message's end", 4 },
	{ "8a 01 01 08 01", "is where a field needs more bytes than are left", 4 },
	{ "8a 01 03 08 01", "is where a length is beyond the message's end", 2 },
	{ "0c", "is where a group ends that did not begin", 1 },
	{ "9c 7d", "is where a group ends that did not begin", 2 },
	{ "9b 7d 08 01 0c", "is where a group ends that did not begin", 5 },
	{ "9b 7d 08 01", "is where a field needs more bytes than are left", 4 },
	{ "9b 7d 00 9c 7d", "is where a field has the number 0", 2 },
	{ "8a 01 03 9b 7d 08 9c 7d", "is where a field needs more bytes than are left", 6 },
	{ "ca 01 05 0100000002", "is where an array has a part of an element", 3 },
	{ "e2 01 04 01000000", "is where an array has a part of an element", 3 },
	{ "c2 01 02 01 80", "is where an array has a part of a varint", 3 },
	{ "c2 01 0b 8080808080808080808001", "is where a varint is too long", 3 },
	{ "08 01 ea 01 01 'a' c2 01 02 01 80", "is where an array has a part of a varint", 9 },
	{ "ea 01 01 'a' 0e", "is where a field has an unknown wire type", 5 },
};

TEST(malformed)
{
	struct mrpc_schema_plan *plan = plan_of_all();
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct proto_bytes in = hex(bad[i].in);
		struct proto_decoded d = proto_decode(plan, T_ALL, in.p, in.len, ARENA);

		CHECK_MSG(d.ret == -EINVAL && !d.by_snapshot, "%s: %d", bad[i].in, d.ret);
		CHECK_MSG(!strcmp(d.err.what, bad[i].what), "%s: %s", bad[i].in, d.err.what);
		CHECK_MSG(d.err.off == bad[i].off, "%s: %lld", bad[i].in, (long long)d.err.off);
		CHECK(d.err.type < plan->nr_types);
		free(in.p);
	}
	free(plan);
}

/* The snapshot judges text, of which a later value may be rid. */
TEST(text_that_is_not_utf8)
{
	static const char *const texts[] = {
		"7a 01 ff", "7a 02 c3 28", "7a 03 eda080", "9a 01 01 80", "aa 01 02 c080",
		"ea 01 01 'a' ea 01 01 80", "82 02 03 0a 01 80",
	};
	struct mrpc_schema_plan *plan = plan_of_all();
	struct proto_decoded d;
	struct proto_bytes in;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		in = hex(texts[i]);
		d = proto_decode(plan, T_ALL, in.p, in.len, ARENA);
		CHECK_MSG(d.ret == -EINVAL && d.by_snapshot, "%s: %d", texts[i], d.ret);
		CHECK_STR(d.err.what, "is not UTF-8");
		free(in.p);
	}
	in = hex("7a 01 ff 7a 01 'a'");
	d = proto_decode(plan, T_ALL, in.p, in.len, ARENA);
	CHECK_EQ(d.ret, 0);
	free(d.wire);
	free(in.p);
	free(plan);
}

/* -- values in memory ------------------------------------------------------ */

static const struct {
	u32 number;
	const char *in;
	u64 value;
} values[] = {
	{ 1, "08 ffffffffffffffffff01", 0xffffffff },
	{ 1, "08 80808080f8ffffffff01", 0x80000000 },
	{ 2, "10 80808080f8ffffffff01", 0xffffffff80000000 },
	{ 3, "18 ffffffff0f", 0xffffffff },
	{ 4, "20 80808080808080808001", 1ULL << 63 },
	{ 5, "28 03", 0xfffffffe },
	{ 5, "28 ffffffff0f", 0x80000000 },
	{ 6, "30 ffffffffffffffffff01", 1ULL << 63 },
	{ 6, "30 04", 2 },
	{ 7, "3d 01020304", 0x04030201 },
	{ 8, "41 0102030405060708", 0x0807060504030201 },
	{ 9, "4d feffffff", 0xfffffffe },
	{ 10, "51 feffffffffffffff", ~1ULL },
	{ 11, "5d 0000803f", 0x3f800000 },
	{ 12, "61 000000000000f03f", 0x3ff0000000000000 },
	{ 13, "68 7f", 1 },
	{ 14, "70 ffffffffffffffffff01", 0xffffffff },
	{ 18, "90 01 05", 5 },
	{ 20, "a0 01 05", 5 },
};

TEST(values_in_memory)
{
	struct mrpc_schema_plan *plan = plan_of_all();
	const struct mrpc_type *t = &plan->types[T_ALL];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		const struct mrpc_field *f = &plan->fields[t->first_field + values[i].number - 1];
		struct proto_bytes in = hex(values[i].in);
		struct proto_decoded d = proto_decode(plan, T_ALL, in.p, in.len, ARENA);
		u64 value = 0;

		CHECK_EQ(d.ret, 0);
		memcpy(&value, d.wire + f->offset, f->elem_size);
		CHECK_MSG(value == values[i].value, "%s: %#llx", values[i].in, (long long)value);
		free(d.wire);
		free(in.p);
	}
	free(plan);
}

TEST(varint_sizes)
{
	u32 bits, i;

	for (bits = 0; bits < 64; bits++) {
		for (i = 0; i < 3; i++) {
			u64 v = (1ULL << bits) + i - 1, got = ~v;
			u8 bytes[MRPC_PB_MAX_VARINT];
			u32 n = mrpc_pb_varint_size(v);

			CHECK(n <= sizeof(bytes));
			memset(bytes, 0xff, sizeof(bytes));
			mrpc_pb_varint_put(bytes, v);
			CHECK_EQ(mrpc_pb_varint_get(bytes, sizeof(bytes), sizeof(bytes), &got), n);
			CHECK_EQ(got, v);
			CHECK_EQ(mrpc_pb_varint_get(bytes, n - 1, sizeof(bytes), &got), 0);
			CHECK_EQ(mrpc_pb_varint_get(bytes, n, n - 1, &got), 0);
		}
	}
}
