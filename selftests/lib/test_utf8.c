// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/utf8 */
/* UTF-8 validation: kmod/lib/message/utf8.c. */
#include "tap.h"
#include "lib/message/utf8.h"

/* At the end of a block of its own, so that reading beyond it is caught. */
static bool valid(const void *s, size_t len)
{
	u8 *copy = malloc(len ? len : 1);
	bool ret;

	memcpy(copy, s, len);
	ret = mrpc_utf8_valid(copy, len);
	free(copy);
	return ret;
}

/* The encoding of a code point, or what would be one, in @n bytes. */
static void put(u8 *to, u32 code, u32 n)
{
	static const u8 lead[] = { 0, 0, 0xc0, 0xe0, 0xf0, 0xf8, 0xfc };
	u32 i;

	for (i = n - 1; i; i--, code >>= 6)
		to[i] = 0x80 | (code & 0x3f);
	to[0] = lead[n] | code;
}

TEST(every_code_point)
{
	u32 code, n;
	u8 s[6];

	for (code = 0; code < 0x200000; code++) {
		u32 shortest = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

		for (n = shortest; n <= 4; n++) {
			bool good = n == shortest && code <= 0x10ffff &&
				    (code < 0xd800 || code > 0xdfff);

			put(s, code, n);
			CHECK_MSG(mrpc_utf8_valid(s, n) == good, "U+%04x in %u bytes", code, n);
		}
	}
	put(s, 0x200000, 5);
	CHECK(!valid(s, 5));
	put(s, 0x4000000, 6);
	CHECK(!valid(s, 6));
}

/* Another opinion on every sequence of up to three bytes, by the RFC's table. */
TEST(every_short_sequence)
{
	u32 a, b, c;

	for (a = 0; a < 256; a++) {
		u8 one[1] = { a };

		CHECK_EQ(valid(one, 1), a < 0x80);
		for (b = 0; b < 256; b++) {
			bool tail = b >= 0x80 && b < 0xc0;
			bool two = (a < 0x80 && b < 0x80) || (a >= 0xc2 && a <= 0xdf && tail);
			u8 s[3] = { a, b };

			CHECK_EQ(mrpc_utf8_valid(s, 2), two);
			for (c = 0; c < 256; c++) {
				bool tail2 = c >= 0x80 && c < 0xc0;
				bool three = (two && c < 0x80) ||
					     (a < 0x80 && b >= 0xc2 && b <= 0xdf && tail2) ||
					     (a == 0xe0 && b >= 0xa0 && tail && tail2) ||
					     (a >= 0xe1 && a <= 0xec && tail && tail2) ||
					     (a == 0xed && tail && b <= 0x9f && tail2) ||
					     ((a == 0xee || a == 0xef) && tail && tail2);

				s[2] = c;
				CHECK_MSG(mrpc_utf8_valid(s, 3) == three, "%02x %02x %02x",
					  a, b, c);
			}
		}
	}
}

/* A bad byte is found wherever it stands in runs of ASCII. */
TEST(bad_byte_at_every_place)
{
	u8 s[40];
	u32 len, at;

	memset(s, 'a', sizeof(s));
	for (len = 0; len <= sizeof(s); len++) {
		CHECK(valid(s, len));
		for (at = 0; at < len; at++) {
			s[at] = 0x80;
			CHECK(!valid(s, len));
			s[at] = 0xf0;
			CHECK(!valid(s, len));
			s[at] = 0;
			CHECK(valid(s, len));
			s[at] = 'a';
		}
	}
}

TEST(truncated_characters)
{
	const char *text = "aaaaaaa\xf0\x9f\x90\x9f";
	u32 len;

	for (len = 0; len <= 11; len++)
		CHECK_EQ(valid(text, len), len <= 7 || len == 11);
}
