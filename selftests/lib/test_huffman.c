// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/huffman */
/*
 * HPACK's Huffman code against an encoder that goes bit by bit, and every kind of wrong end.
 */
#include "hpack_sink.h"
#include "lib/http2/huffman.h"
#include "rnd.h"
#include "tap.h"

#define EOS	256
#define ROOM	4096

/* Decodes from and to blocks of the exact size. */
static int decode(const u8 *in, u32 len, u8 *out, u32 room)
{
	u8 *from = malloc(len), *to = malloc(room);
	int ret;

	memcpy(from, in, len);
	ret = mrpc_huffman_decode(from, len, to, room);
	if (ret > 0)
		memcpy(out, to, min((u32)ret, room));
	free(from);
	free(to);
	return ret;
}

/* A string of bits, as characters '0' and '1'. */
static u32 pack(u8 *out, const char *bits)
{
	u32 nr = 0;

	for (; *bits; bits++, nr++) {
		if (nr % 8 == 0)
			out[nr / 8] = 0;
		out[nr / 8] |= (*bits - '0') << (7 - nr % 8);
	}
	return (nr + 7) / 8;
}

static void append(char *bits, u32 symbol)
{
	u32 i = huffman_codes[symbol].bits;

	bits += strlen(bits);
	while (i--)
		*bits++ = '0' + (huffman_codes[symbol].code >> i & 1);
	*bits = 0;
}

/* Some codes, as RFC 7541 prints them. */
TEST(codes)
{
	static const struct {
		u32 symbol;
		const char *bits;
	} some[] = {
		{ 0, "1111111111000" }, { 1, "11111111111111111011000" },
		{ '\n', "111111111111111111111111111100" }, { ' ', "010100" }, { '0', "00000" },
		{ '%', "010101" }, { 'A', "100001" }, { 'X', "11111100" },
		{ '\\', "1111111111111110000" }, { 'a', "00011" }, { 'z', "1111011" },
		{ 127, "1111111111111111111111111100" }, { 128, "11111111111111100110" },
		{ 255, "11111111111111111111101110" }, { 249, "1111111111111111111111111110" },
		{ EOS, "111111111111111111111111111111" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(some); i++) {
		char bits[64] = "";

		append(bits, some[i].symbol);
		CHECK_STR(bits, some[i].bits);
	}
}

/* Each pair of symbols: each code at each place within a byte that it can follow another to. */
TEST(pairs)
{
	u8 in[2], coded[16], out[2];
	u32 len, i;

	for (i = 0; i < 65536; i++) {
		in[0] = i >> 8;
		in[1] = i;
		len = hpack_huffman(coded, in, 2);
		CHECK_EQ(mrpc_huffman_decode(coded, len, out, 2), 2);
		CHECK(!memcmp(in, out, 2));
	}
	CHECK_EQ(decode(coded, 0, out, 2), 0);
}

TEST(random_strings)
{
	static u8 in[300], coded[1200], out[300];
	u64 rnd = 1;
	u32 round, len, i;

	for (round = 0; round < 20000; round++) {
		u32 room = rnd_below(&rnd, 300);

		len = rnd_below(&rnd, sizeof(in));
		for (i = 0; i < len; i++)
			in[i] = rnd_below(&rnd, 4) ? 'a' + rnd_below(&rnd, 26) : rnd_next(&rnd);
		i = hpack_huffman(coded, in, len);
		CHECK_EQ(decode(coded, i, out, room), len);
		CHECK(!memcmp(in, out, min(len, room)));
	}
}

/* Behind each symbol: every number of ones up to 15, and a zero among the padding. */
TEST(ends)
{
	u8 coded[16], out[8];
	u32 symbol, ones, zero;

	for (symbol = 0; symbol < EOS; symbol++) {
		u32 used = huffman_codes[symbol].bits % 8;

		for (ones = 0; ones < 16; ones++) {
			char bits[64] = "";
			u32 len;

			if ((used + ones) % 8)
				continue;
			append(bits, symbol);
			strncat(bits, "1111111111111111", ones);
			len = pack(coded, bits);
			CHECK_EQ(decode(coded, len, out, 8), ones < 8 ? 1 : -EBADMSG);
			for (zero = 0; zero < ones && ones < 5; zero++) {
				bits[strlen(bits) - 1 - zero] = '0';
				len = pack(coded, bits);
				CHECK_EQ(decode(coded, len, out, 8), -EBADMSG);
				bits[strlen(bits) - 1 - zero] = '1';
			}
		}
	}
}

/* EOS at each place, at the end and with symbols behind it; also 30 ones that a string begins with. */
TEST(end_of_string)
{
	static const char before[] = { '0', ' ', 'z', '&', '!', 0, '~', '|' };
	u8 coded[32], out[32];
	u32 i, behind;

	for (i = 0; i <= sizeof(before); i++) {
		for (behind = 0; behind < 3; behind++) {
			char bits[200] = "";
			u32 len;

			if (i < sizeof(before))
				append(bits, (u8)before[i]);
			append(bits, EOS);
			if (behind)
				append(bits, behind == 1 ? 'a' : EOS);
			while (strlen(bits) % 8)
				strcat(bits, "1");
			len = pack(coded, bits);
			CHECK_EQ(decode(coded, len, out, sizeof(out)), -EBADMSG);
		}
	}
	memset(coded, 0xff, sizeof(coded));
	for (i = 1; i < sizeof(coded); i++)
		CHECK_EQ(decode(coded, i, out, sizeof(out)), -EBADMSG);
}

/* Every string of two bytes, and of three with a step: decoded, and encoded again, or refused. */
TEST(encoded_again)
{
	u8 coded[3], out[8], again[16];
	u32 i, refused = 0;
	int len;

	for (i = 0; i < 1 << 24; i += 61) {
		coded[0] = i >> 16;
		coded[1] = i >> 8;
		coded[2] = i;
		len = mrpc_huffman_decode(coded, 3, out, sizeof(out));
		if (len < 0) {
			refused++;
			continue;
		}
		CHECK(len <= 4);
		CHECK_EQ(hpack_huffman(again, out, len), 3);
		CHECK(!memcmp(coded, again, 3));
	}
	CHECK(refused > 1000);
}
