// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/hpack_decode kmod/lib/http2/hpack_encode kmod/lib/http2/hpack_table */
/*
 * HPACK: what the decoder refuses, what happens at each limit, and what the encoder does without
 * room, without a ring and after changes of the table's size.
 */
#include "hpack_sink.h"
#include "lib/http2/hpack_table.h"
#include "tap.h"

#define STR(s)	(const u8 *)(s), sizeof(s) - 1

static struct hpack_sink s;
static u8 block[1 << 20];

/* A decoder with one entry: "a" with the value "b", 34 bytes. */
static void begin(void)
{
	hpack_sink_init(&s);
	CHECK(!hpack_sink_decode(&s, STR("\x40\1a\1b")));
	CHECK_EQ(s.table.nr, 1);
}

static void end(void)
{
	CHECK(!s.wrong);
	hpack_sink_free(&s);
}

/* A literal with a new name of @nlen and a value of @vlen bytes; @first says which. */
static u32 put_literal(u8 *out, u8 first, u32 nlen, u32 vlen)
{
	u8 *begin = out;

	*out++ = first;
	out += hpack_int(out, 0, 7, nlen, 0);
	memset(out, 'n', nlen);
	out += nlen;
	out += hpack_int(out, 0, 7, vlen, 0);
	memset(out, 'v', vlen);
	return out + vlen - begin;
}

TEST(refused)
{
	static const struct {
		const char *what;
		const u8 *in;
		u32 len;
	} bad[] = {
		{ "index 0", STR("\x80") },
		{ "beyond the table", STR("\xbf") },
		{ "far beyond the table", STR("\xff\xff\xff\xff\x7e") },
		{ "name beyond the table", STR("\x7f\0\1x") },
		{ "name beyond the table, not added", STR("\x0f\x30\1x") },
		{ "name beyond the table, never indexed", STR("\x1f\x30\1x") },
		{ "integer without an end", STR("\xff") },
		{ "integer without an end, later", STR("\xff\x80\x80") },
		{ "integer of six bytes", STR("\x3f\x80\x80\x80\x80\x00") },
		{ "integer of 2^28", STR("\x3f\xe1\xff\xff\x7f") },
		{ "literal without a name", STR("\x40") },
		{ "name without its bytes", STR("\x40\2x") },
		{ "name without a value", STR("\x40\1x") },
		{ "value without its bytes", STR("\x40\1x\3yy") },
		{ "value of 2^28 - 1", STR("\x40\1x\x7f\x80\xff\xff\x7f") },
		{ "length without an end", STR("\x40\1x\x7f\x80") },
		{ "name with an index without a value", STR("\x41") },
		{ "padding of eight ones", STR("\x41\x82\x1f\xff") },
		{ "padding with a zero", STR("\x41\x81\x1e") },
		{ "EOS", STR("\x41\x84\xff\xff\xff\xff") },
		{ "wrong name", STR("\x40\x81\x1e\1x") },
		{ "size update behind a field", STR("\x82\x20") },
		{ "third size update", STR("\x20\x20\x20") },
		{ "size update of 4,097", STR("\x3f\xe2\x1f") },
		{ "size update without an end", STR("\x3f") },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin();
		/* The table's only entry is that with index 62. */
		if (bad[i].in[0] != 0xbf)
			CHECK_EQ(s.table.nr, 1);
		else
			mrpc_hpack_table_clear(&s.table);
		CHECK_MSG(hpack_sink_decode(&s, bad[i].in, bad[i].len) == -EBADMSG, "%s is accepted",
			  bad[i].what);
		end();
	}
}

TEST(accepted)
{
	static const struct {
		const u8 *in;
		u32 len, nr;
	} good[] = {
		{ STR(""), 0 },
		{ STR("\x20\x3f\xe1\x1f"), 0 },		/* two size updates, to 0 and to 4,096 */
		{ STR("\xbe\x82"), 2 },
		{ STR("\x40\0\0"), 1 },			/* empty name, empty value */
		{ STR("\x40\x80\x80"), 1 },		/* the same in the Huffman code */
		{ STR("\x0f\x80\x80\x80\x00\0"), 1 },	/* 15 in five bytes */
		{ STR("\x7f\x80\x00\1x"), 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		begin();
		/* Index 63. */
		CHECK(!hpack_sink_decode(&s, STR("\x40\1c\1d")));
		CHECK_EQ(hpack_sink_decode(&s, good[i].in, good[i].len), 0);
		CHECK_EQ(s.nr, good[i].nr);
		end();
	}
}

TEST(no_ring)
{
	struct mrpc_hpack_sink none = { NULL, NULL };
	struct mrpc_hpack_table t;

	mrpc_hpack_table_init(&t);
	CHECK_EQ(mrpc_hpack_decode(&t, STR("\x82"), &none), -ENOMEM);
}

/* All of a block's first fields are delivered up to each limit, and none beyond. */
TEST(number_of_fields)
{
	u32 nr;

	for (nr = 0; nr <= MRPC_HPACK_END_FIELDS + 1; nr++) {
		int want = nr > MRPC_HPACK_END_FIELDS ? -EMSGSIZE :
			   nr > MRPC_HPACK_MAX_FIELDS ? -E2BIG : 0;

		/* The last one is an insertion. */
		memset(block, 0xbe, nr);
		begin();
		CHECK_EQ(hpack_sink_decode(&s, block, nr + put_literal(block + nr, 0x40, 1, 0)),
			 nr + 1 > MRPC_HPACK_END_FIELDS ? -EMSGSIZE :
			 nr + 1 > MRPC_HPACK_MAX_FIELDS ? -E2BIG : 0);
		CHECK_EQ(s.nr, min(nr + 1, (u32)MRPC_HPACK_MAX_FIELDS));
		if (nr + 1 <= MRPC_HPACK_END_FIELDS)
			CHECK_EQ(s.table.nr, 2);
		CHECK_EQ(hpack_sink_decode(&s, block, nr), want);
		end();
	}
}

/* The buffer's last byte is used, and one more is too large; also behind another field. */
TEST(list_size)
{
	static const u32 over[] = { 0, 1, 2, 31, 32, 33, 4000, 20000, 32768 };
	u32 before, i, len;

	for (before = 0; before < 2; before++) {
		for (i = 0; i < ARRAY_SIZE(over); i++) {
			u32 vlen = MRPC_HPACK_MAX_LIST - 32 - 10 - before * 34 + over[i];

			begin();
			block[0] = 0xbe;
			len = before + put_literal(block + before, 0x40, 10, vlen);
			/* Decoded for the table all the same. */
			len += put_literal(block + len, 0x40, 3, 100);
			block[len++] = 0x88;
			CHECK_EQ(hpack_sink_decode(&s, block, len), -E2BIG);
			CHECK_EQ(s.nr, before + !over[i]);
			CHECK_EQ(s.table.nr, 1);
			CHECK_EQ(s.table.size, 3 + 100 + 32);
			CHECK_EQ(hpack_sink_decode(&s, STR("\xbe")), 0);
			CHECK(s.fields[0].nlen == 3 && !memcmp(s.fields[0].name, "nnn", 3));
			CHECK(s.fields[0].vlen == 100 && s.fields[0].value[99] == 'v');
			end();
		}
	}
}

/* Names that go beyond the buffer, with a value behind; both forms of strings. */
TEST(long_names)
{
	static const u32 lens[] = { 1, 6250, 6251, 6252, 6400, 16384, 17000 };
	static u8 name[17000], value[400];
	u32 i, huffman, len, before;

	memset(name, 'a', sizeof(name));
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		for (huffman = 0; huffman < 2; huffman++) {
			begin();
			before = put_literal(block, 0x00, 100, 10000);
			block[before] = 0x40;
			len = before + 1;
			len += hpack_string(block + len, name, lens[i], huffman, 0);
			len += hpack_string(block + len, value, sizeof(value), huffman, 0);
			CHECK_EQ(hpack_sink_decode(&s, block, len), i ? -E2BIG : 0);
			CHECK_EQ(s.nr, i ? 1 : 2);
			CHECK_EQ(s.table.nr, i ? 0 : 2);
			CHECK_EQ(hpack_sink_decode(&s, block + before, len - before),
				 lens[i] < 16384 - 400 ? 0 : -E2BIG);
			end();
		}
	}
}

/* An entry that goes beyond the buffer. */
TEST(long_entry)
{
	u32 len = put_literal(block, 0x40, 1000, 3000), i;

	begin();
	CHECK(!hpack_sink_decode(&s, block, len));
	for (i = 1; i <= 6; i++) {
		memset(block, 0xbe, i);
		CHECK_EQ(hpack_sink_decode(&s, block, i), i > 4 ? -E2BIG : 0);
		CHECK_EQ(s.nr, min(i, 4U));
	}
	end();
}

/* The field that passes the limit is an entry that the table holds whole. */
TEST(last_field_is_kept)
{
	u32 len, vlen;

	for (vlen = 3900; vlen <= 4070; vlen++) {
		begin();
		len = put_literal(block, 0x00, 1, 16384 - 33 - 100);
		len += put_literal(block + len, 0x40, 4, vlen);
		CHECK_EQ(hpack_sink_decode(&s, block, len), -E2BIG);
		CHECK_EQ(s.nr, 1);
		CHECK_EQ(s.table.nr, vlen + 36 <= 4096 - 34 ? 2 : vlen + 36 <= 4096);
		if (vlen + 36 <= 4096) {
			CHECK_EQ(hpack_sink_decode(&s, STR("\xbe")), 0);
			CHECK_EQ(s.fields[0].vlen, vlen);
			memset(block, 'v', vlen);
			CHECK(!memcmp(s.fields[0].value, block, vlen));
			CHECK(!memcmp(s.fields[0].name, "nnnn", 4));
		}
		end();
	}
}

TEST(list_that_ends_the_connection)
{
	u32 over, len;

	for (over = 0; over < 2; over++) {
		begin();
		len = put_literal(block, 0x40, 5, 65536 - 5 - 32 - 34 + over);
		block[len++] = 0x40;
		len += hpack_string(block + len, STR("c"), false, 0);
		len += hpack_string(block + len, STR("d"), false, 0);
		CHECK_EQ(hpack_sink_decode(&s, block, len), over ? -EMSGSIZE : -E2BIG);
		CHECK_EQ(s.nr, 0);
		end();
	}
	/* A value of 1 MiB, in the Huffman code. */
	begin();
	len = 1;
	block[0] = 0x41;
	len += hpack_int(block + len, 0x80, 7, 600000, 0);
	memset(block + len, 0, 600000);
	CHECK_EQ(hpack_sink_decode(&s, block, len + 600000), -EMSGSIZE);
	end();
}

/* A name from the entry that its own insertion evicts; an entry that is too large. */
TEST(eviction)
{
	u32 len;

	begin();
	len = put_literal(block, 0x40, 2000, 2000);
	CHECK(!hpack_sink_decode(&s, block, len));
	CHECK_EQ(s.table.nr, 2);
	CHECK(!hpack_sink_decode(&s, STR("\x7e\3xyz")));
	CHECK_EQ(s.table.nr, 1);
	CHECK_EQ(s.table.size, 2035);
	CHECK(!hpack_sink_decode(&s, STR("\xbe")));
	memset(block, 'n', 2000);
	CHECK(s.fields[0].nlen == 2000 && !memcmp(s.fields[0].name, block, 2000));
	CHECK(!memcmp(s.fields[0].value, "xyz", 3));

	len = put_literal(block, 0x40, 64, 4000);
	CHECK(!hpack_sink_decode(&s, block, len));
	CHECK_EQ(s.table.size, 4096);
	len = put_literal(block, 0x40, 65, 4000);
	CHECK(!hpack_sink_decode(&s, block, len));
	CHECK_EQ(s.nr, 1);
	CHECK(!s.table.nr && !s.table.size);
	end();
}

/* 128 entries, without strings. */
TEST(full_table)
{
	u32 i;

	begin();
	for (i = 0; i < 1000; i++) {
		CHECK(!hpack_sink_decode(&s, STR("\x40\0\0")));
		CHECK_EQ(s.table.nr, min(i + 2, (u32)MRPC_HPACK_SLOTS - (i < 127)));
	}
	CHECK(!hpack_sink_decode(&s, STR("\xff\x3e")));
	CHECK_EQ(hpack_sink_decode(&s, STR("\xff\x3f")), -EBADMSG);
	end();
}

static struct mrpc_hpack_field text_field(const char *name, const char *value)
{
	return (struct mrpc_hpack_field){ name, value, strlen(name), strlen(value),
					  MRPC_HPACK_INDEX };
}

/* Each room that is too small changes nothing; the exact one is enough for any field. */
TEST(no_room)
{
	struct mrpc_hpack_field f[2] = { text_field("name", "value"), text_field("other", "") };
	u8 ring[MRPC_HPACK_TABLE_SIZE];
	struct mrpc_hpack_table t, before;
	u32 room = mrpc_hpack_room(f, 2), i;

	mrpc_hpack_table_init(&t);
	mrpc_hpack_table_give(&t, ring);
	mrpc_hpack_encoder_limit(&t, 0);
	mrpc_hpack_encoder_limit(&t, 4096);
	before = t;
	for (i = 0; i < room; i++) {
		u8 *out = malloc(i);

		CHECK_EQ(mrpc_hpack_encode(&t, f, 2, out, i), -ENOSPC);
		CHECK(!memcmp(&t, &before, sizeof(t)));
		free(out);
	}
	CHECK(mrpc_hpack_encode(&t, f, 2, block, room) > 0);
	f[0].nlen = U32_MAX;
	f[1].vlen = U32_MAX;
	CHECK_EQ(mrpc_hpack_encode(&t, f, 2, block, U32_MAX), -ENOSPC);
}

/* The longest forms stay within what mrpc_hpack_room() says. */
TEST(room)
{
	static u8 text[300000], ring[MRPC_HPACK_TABLE_SIZE];
	static const u32 lens[] = { 0, 1, 126, 127, 254, 255, 16510, 16511, 290000 };
	struct mrpc_hpack_field f = { text, text, 0, 0, MRPC_HPACK_INDEX };
	struct mrpc_hpack_table t;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		for (j = 0; j < ARRAY_SIZE(lens); j++) {
			mrpc_hpack_table_init(&t);
			mrpc_hpack_table_give(&t, ring);
			mrpc_hpack_encoder_limit(&t, 3000);
			mrpc_hpack_encoder_limit(&t, 4000);
			f.nlen = lens[i];
			f.vlen = lens[j];
			CHECK(mrpc_hpack_encode(&t, &f, 1, block, sizeof(block)) <=
			      (int)mrpc_hpack_room(&f, 1));
		}
	}
}

/* RFC 7541, 4.2: the smallest and the last size, when they have to be said. */
TEST(size_updates)
{
	static const struct {
		u32 limits[3], nr;
		const u8 *want;
		u32 len;
	} cases[] = {
		{ { 0 }, 0, STR("") },
		{ { 4096 }, 1, STR("") },
		{ { 65536 }, 1, STR("") },
		{ { U32_MAX }, 1, STR("") },
		{ { 0 }, 1, STR("\x20") },
		{ { 30 }, 1, STR("\x3e") },
		{ { 100, 100 }, 2, STR("\x3f\x45") },
		{ { 100, 4096 }, 2, STR("\x3f\x45\x3f\xe1\x1f") },
		{ { 0, 100 }, 2, STR("\x20\x3f\x45") },
		{ { 100, 0 }, 2, STR("\x20") },
		{ { 100, 0, 30 }, 3, STR("\x20\x3e") },
		{ { 30, 100, 70000 }, 3, STR("\x3e\x3f\xe1\x1f") },
	};
	u8 ring[MRPC_HPACK_TABLE_SIZE];
	struct mrpc_hpack_table t;
	u64 before;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		mrpc_hpack_table_init(&t);
		mrpc_hpack_table_give(&t, ring);
		for (j = 0; j < cases[i].nr; j++) {
			before = t.generation;
			mrpc_hpack_encoder_limit(&t, cases[i].limits[j]);
			CHECK(t.generation != before);
		}
		before = t.generation;
		CHECK_EQ(mrpc_hpack_encode(&t, NULL, 0, block, sizeof(block)), cases[i].len);
		CHECK(!memcmp(block, cases[i].want, cases[i].len));
		/* A block with updates is no template. */
		CHECK_EQ(t.generation != before, cases[i].len != 0);
		CHECK_EQ(mrpc_hpack_encode(&t, NULL, 0, block, sizeof(block)), 0);
	}
}

/* Without a ring nothing is added; a field that is too large for the table is not added. */
TEST(not_added)
{
	struct mrpc_hpack_field f = text_field("name", "value");
	u8 ring[MRPC_HPACK_TABLE_SIZE];
	struct mrpc_hpack_table t;
	u64 before;

	mrpc_hpack_table_init(&t);
	CHECK_EQ(mrpc_hpack_encode(&t, &f, 1, block, 100), 12);
	CHECK_EQ(block[0], 0);
	mrpc_hpack_table_give(&t, ring);
	mrpc_hpack_encoder_limit(&t, 40);
	CHECK_EQ(mrpc_hpack_encode(&t, &f, 1, block, 100), 14);
	CHECK_EQ(block[2], 0);
	mrpc_hpack_encoder_limit(&t, 41);
	CHECK_EQ(mrpc_hpack_encode(&t, &f, 1, block, 100), 14);
	CHECK_EQ(block[2], 0x40);
	CHECK_EQ(t.size, 41);
	/* From now on a template. */
	before = t.generation;
	CHECK_EQ(mrpc_hpack_encode(&t, &f, 1, block, 100), 1);
	CHECK_EQ(block[0], 0xbe);
	CHECK_EQ(t.generation, before);
	f.mode = MRPC_HPACK_PLAIN;
	CHECK_EQ(mrpc_hpack_encode(&t, &f, 1, block, 100), 1);
	/* The name's index is used, the value's is not. */
	f.mode = MRPC_HPACK_NEVER;
	CHECK_EQ(mrpc_hpack_encode(&t, &f, 1, block, 100), 8);
	CHECK_EQ(block[0], 0x1f);
	CHECK_EQ(block[1], 62 - 15);
	CHECK_EQ(t.generation, before);
}
