// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/hpack_decode kmod/lib/http2/hpack_encode kmod/lib/http2/hpack_table kmod/lib/http2/huffman */
/*
 * HPACK beside libnghttp2: the same blocks to both decoders, each encoder's blocks to the other's
 * decoder.
 */
#include "hpack_nghttp2.h"
#include "rnd.h"
#include "tap.h"

static u8 script[1 << 17];
static u64 rnd;

/* Each pair of symbols, in strings that nghttp2 writes in the Huffman code. */
TEST(huffman)
{
	static u8 value[4096], out[8192];
	nghttp2_hd_deflater *theirs;
	nghttp2_nv nv = { (u8 *)"x", value, 1, 0, NGHTTP2_NV_FLAG_NO_INDEX };
	struct hpack_sink s;
	u32 symbol, i;
	ssize_t len;

	nghttp2_hd_deflate_new(&theirs, MRPC_HPACK_TABLE_SIZE);
	hpack_sink_init(&s);
	/* Many characters of five bits make up for those of thirty. */
	for (symbol = 0; symbol < 256; symbol++) {
		for (i = 0, nv.valuelen = 0; i < 256; i++) {
			value[nv.valuelen++] = symbol;
			value[nv.valuelen++] = i;
			memset(value + nv.valuelen, "012aceiost"[i % 10], 14);
			nv.valuelen += 14;
		}
		len = nghttp2_hd_deflate_hd(theirs, out, sizeof(out), &nv, 1);
		CHECK(len > 0 && len < (ssize_t)nv.valuelen);
		CHECK_EQ(hpack_sink_decode(&s, out, len), 0);
		CHECK_EQ(s.nr, 1);
		CHECK_EQ(s.fields[0].vlen, nv.valuelen);
		CHECK(!memcmp(s.fields[0].value, value, nv.valuelen));
		CHECK_EQ(s.fields[0].flags, MRPC_HPACK_NEVER_INDEXED);
	}
	nghttp2_hd_deflate_del(theirs);
	hpack_sink_free(&s);
}

static u32 put_len(u8 *out, u32 len)
{
	out[0] = len >> 8;
	out[1] = len;
	return len + 2;
}

static u32 random_string(u8 *out)
{
	u32 len = rnd_below(&rnd, rnd_below(&rnd, 30) ? 20 : 2000), coded, i;
	static u8 text[2000];

	for (i = 0; i < len; i++)
		text[i] = rnd_below(&rnd, 8) ? 'a' + rnd_below(&rnd, 3) : rnd_next(&rnd);
	coded = hpack_string(out, text, len, rnd_below(&rnd, 2), 0);
	return coded;
}

/* A block that is right, but for its indexes and lengths now and then. */
static u32 random_block(u8 *out)
{
	u32 fields = rnd_below(&rnd, rnd_below(&rnd, 10) ? 8 : 100), len = 0, i, form, index;

	for (i = 0; i < fields; i++) {
		form = rnd_below(&rnd, i ? 4 : 5);
		index = rnd_below(&rnd, rnd_below(&rnd, 4) ? 64 : 80) + !form;
		if (form == 4) {
			len += hpack_int(out + len, 0x20, 5, rnd_below(&rnd, 4097), 0);
			continue;
		}
		len += hpack_int(out + len, form == 0 ? 0x80 : form == 1 ? 0x40 : form == 2 ? 0 : 0x10,
				 form == 0 ? 7 : form == 1 ? 6 : 4, index, rnd_below(&rnd, 50) ? 0 : 1);
		if (form && !index)
			len += random_string(out + len);
		if (form)
			len += random_string(out + len);
	}
	return len;
}

/* Blocks that are mostly right, and the same with bytes that are changed. */
TEST(blocks)
{
	u32 round, accepted = 0, blocks = 0;

	rnd = 1;
	for (round = 0; round < 6000; round++) {
		u32 len = 0, i;
		const char *what;

		for (i = rnd_below(&rnd, 12); i && len < sizeof(script) / 4; i--, blocks++) {
			u32 block = random_block(script + len + 2);

			if (block >= HPACK_PAIR_BLOCK)
				break;
			len += put_len(script + len, block);
		}
		for (i = rnd_below(&rnd, 4); i == 3 && len; i = rnd_below(&rnd, 4))
			script[rnd_below(&rnd, len)] ^= 1U << rnd_below(&rnd, 8);
		what = hpack_pair_blocks(script, len, &accepted);
		CHECK_MSG(!what, "round %u: %s", round, what);
	}
	NOTE("%u of %u blocks accepted", accepted, blocks);
	CHECK(accepted > blocks / 8);
}

/* Any bytes. */
TEST(bytes)
{
	u32 round, accepted = 0, i;

	rnd = 2;
	for (round = 0; round < 30000; round++) {
		u32 len = rnd_below(&rnd, 24);
		const char *what;

		for (i = 0; i < len; i++)
			script[i + 2] = rnd_next(&rnd);
		what = hpack_pair_blocks(script, put_len(script, len), &accepted);
		CHECK_MSG(!what, "round %u: %s", round, what);
	}
	CHECK(accepted > 100);
}

/* Fields for both encoders, with changes of the table's size. */
TEST(fields)
{
	u32 round, blocks = 0, i, len;

	rnd = 3;
	for (round = 0; round < 2000; round++) {
		const char *what;

		len = rnd_below(&rnd, 4000);
		for (i = 0; i < len; i++)
			script[i] = rnd_below(&rnd, 3) ? rnd_below(&rnd, 16) : rnd_next(&rnd);
		what = hpack_ends_run(script, len, &blocks);
		CHECK_MSG(!what, "round %u: %s", round, what);
	}
	NOTE("%u blocks", blocks);
	CHECK(blocks > 1000);
}
