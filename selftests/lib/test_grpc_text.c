// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/grpc/timeout kmod/lib/grpc/percent kmod/lib/grpc/base64 */
/* Values of gRPC's header fields: grpc-timeout, grpc-message, and base64. */
#include "lib/grpc/base64.h"
#include "lib/grpc/percent.h"
#include "lib/grpc/timeout.h"
#include "lib/message/utf8.h"
#include "rnd.h"
#include "tap.h"

/* A copy in memory of its exact size, so that reading behind it is caught. */
static u8 *exact(const void *p, u32 len)
{
	u8 *copy = malloc(len ? len : 1);

	memcpy(copy, p, len);
	return copy;
}

/* -- timeout --------------------------------------------------------------- */

static int parse(const char *text, u64 *us)
{
	u8 *copy = exact(text, strlen(text));
	int err = mrpc_grpc_timeout_parse(copy, strlen(text), us);

	free(copy);
	return err;
}

TEST(timeout_parse)
{
	static const struct {
		const char *text;
		int err;
		u64 us;
	} rows[] = {
		{ "1H", 0, 3600000000ULL }, { "1M", 0, 60000000 }, { "1S", 0, 1000000 },
		{ "1m", 0, 1000 }, { "1u", 0, 1 }, { "1n", 0, 1 }, { "1000n", 0, 1 },
		{ "1001n", 0, 2 }, { "99999999n", 0, 100000 }, { "00000007u", 0, 7 },
		{ "99999999u", 0, 99999999 }, { "99999999S", 0, 99999999000000ULL },
		{ "99999999M", 0, 0 /* 190 years */ }, { "99999999H", 0, 0 },
		/* S64_MAX / 4 ns are 640511 hours and some, and 38430716 minutes. */
		{ "640511H", 0, 640511 * 3600000000ULL }, { "640512H", 0, 0 },
		{ "38430716M", 0, 38430716 * 60000000ULL }, { "38430717M", 0, 0 },
		{ "0n", -ETIME, 0 }, { "0H", -ETIME, 0 }, { "00000000S", -ETIME, 0 },
		{ "", -EINVAL, 0 }, { "S", -EINVAL, 0 }, { "1", -EINVAL, 0 },
		{ "1s", -EINVAL, 0 }, { "1h", -EINVAL, 0 }, { "1N", -EINVAL, 0 },
		{ "1U", -EINVAL, 0 }, { "-1S", -EINVAL, 0 }, { "+1S", -EINVAL, 0 },
		{ "1.5S", -EINVAL, 0 }, { "1 S", -EINVAL, 0 }, { " 1S", -EINVAL, 0 },
		{ "1S ", -EINVAL, 0 }, { "1SS", -EINVAL, 0 }, { "0x1S", -EINVAL, 0 },
		{ "100000000n", -EINVAL, 0 }, { "000000001S", -EINVAL, 0 },
		{ "18446744073709551617S", -EINVAL, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 us = 0;
		int err = parse(rows[i].text, &us);

		CHECK_MSG(err == rows[i].err, "'%s': %d", rows[i].text, err);
		if (!err)
			CHECK_MSG(us == rows[i].us, "'%s': %llu", rows[i].text,
				  (unsigned long long)us);
	}
}

TEST(timeout_format)
{
	static const struct {
		u64 us;
		const char *text;
	} rows[] = {
		{ 0, "0u" }, { 1, "1u" }, { 999, "999u" }, { 1000, "1000u" },
		{ 99999999, "99999999u" }, { 100000000, "100000m" }, { 100000001, "100001m" },
		{ 99999999000ULL, "99999999m" }, { 99999999001ULL, "100000S" },
		{ 99999999000000ULL, "99999999S" }, { 99999999000001ULL, "1666667M" },
		{ 99999999ULL * 60000000, "99999999M" }, { 99999999ULL * 60000000 + 1, "1666667H" },
		{ 99999999ULL * 3600000000, "99999999H" }, { U64_MAX, "99999999H" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u8 *out = malloc(MRPC_GRPC_TIMEOUT_LEN);
		u32 len = mrpc_grpc_timeout_format(rows[i].us, out);

		CHECK_MSG(len == strlen(rows[i].text) && !memcmp(out, rows[i].text, len),
			  "%llu: '%.*s', not '%s'", (unsigned long long)rows[i].us, (int)len, out,
			  rows[i].text);
		free(out);
	}
}

/* Never earlier than said, and less than a part in a thousand later. */
TEST(timeout_round_trip)
{
	u64 rnd = 7;
	u32 i;

	for (i = 0; i < 300000; i++) {
		u64 us = ((u64)rnd_next(&rnd) << 32 | rnd_next(&rnd)) >> rnd_below(&rnd, 63);
		u8 out[MRPC_GRPC_TIMEOUT_LEN];
		u64 again = 1;
		u32 len;

		if (!us || us > (u64)S64_MAX / 4 / 1000 / 2)
			continue;
		len = mrpc_grpc_timeout_format(us, out);
		CHECK(len >= 2 && len <= sizeof(out));
		CHECK_EQ(mrpc_grpc_timeout_parse(out, len, &again), 0);
		CHECK_MSG(again >= us && again - us <= us / 1000, "%llu became %llu",
			  (unsigned long long)us, (unsigned long long)again);
	}
}

/* -- percent encoding ------------------------------------------------------ */

struct row {
	const char *text;
	const char *coded;
};

static u32 decode(const char *in, u32 len, u8 *out, u32 room)
{
	u8 *copy = exact(in, len), *to = malloc(room ? room : 1);
	u32 n = mrpc_grpc_percent_decode(copy, len, to, room);

	memcpy(out, to, min(n, room));
	free(copy);
	free(to);
	return n;
}

TEST(percent_both_ways)
{
	static const struct row rows[] = {
		{ "", "" }, { "plain", "plain" }, { "100%", "100%25" }, { "a b", "a b" },
		{ " ", "%20" }, { "  ", "%20%20" }, { " a ", "%20a%20" }, { "~}", "~}" },
		{ "\x7f", "%7F" }, { "\n", "%0A" }, { "%41", "%2541" }, { "!#$&", "!#$&" },
		{ "test status message", "test status message" },
		{ "\t\ntest with whitespace\r\nand Unicode BMP \xe2\x98\xba and non-BMP "
		  "\xf0\x9f\x98\x88\t\n",
		  "%09%0Atest with whitespace%0D%0Aand Unicode BMP %E2%98%BA and non-BMP "
		  "%F0%9F%98%88%09%0A" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 len = strlen(rows[i].text), want = strlen(rows[i].coded), n;
		u8 *out = malloc(MRPC_GRPC_PERCENT_LEN(len) + 1), back[512];

		n = mrpc_grpc_percent_encode((const u8 *)rows[i].text, len, out);
		CHECK_MSG(n == want && !memcmp(out, rows[i].coded, n), "'%s': '%.*s'",
			  rows[i].text, (int)n, out);
		n = decode(rows[i].coded, want, back, sizeof(back));
		CHECK_MSG(n == len && !memcmp(back, rows[i].text, n), "'%s': '%.*s'",
			  rows[i].coded, (int)n, back);
		free(out);
	}
}

TEST(percent_decode_what_others_write)
{
	static const struct row rows[] = {
		{ "%", "%" }, { "%%", "%%" }, { "%4", "%4" }, { "%4g", "%4g" }, { "%G1", "%G1" },
		{ "A%", "%41%" }, { "%A", "%%41" }, { "%4A", "%4%41" }, { "ok:", "%6f%6B%3a" },
		{ "a b", "a%20b" }, { "tab\there", "tab\there" },
		/* What is no character of UTF-8 becomes a question mark for each byte. */
		{ "?", "%80" }, { "?(", "%C3%28" }, { "?x", "%FFx" },
		{ "???", "%ED%A0%80" }, { "??", "%C0%80" }, { "?", "\xe2" }, { "a??", "a\xe2\x98" },
		{ "\xc3\xa9", "\xc3\xa9" }, { "????", "%F4%90%80%80" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u8 back[64];
		u32 n = decode(rows[i].coded, strlen(rows[i].coded), back, sizeof(back));

		CHECK_MSG(n == strlen(rows[i].text) && !memcmp(back, rows[i].text, n),
			  "'%s': '%.*s'", rows[i].coded, (int)n, back);
	}
}

TEST(percent_cut_at_a_character)
{
	static const struct {
		const char *coded;
		u32 room;
		const char *text;
	} rows[] = {
		{ "abc", 0, "" }, { "abc", 2, "ab" }, { "abc", 3, "abc" },
		{ "a%C3%A9", 2, "a" }, { "a%C3%A9", 3, "a\xc3\xa9" },
		{ "a%C3%A9b", 3, "a\xc3\xa9" }, { "%E2%98%BA", 1, "" }, { "%E2%98%BA", 2, "" },
		{ "%E2%98%BA%E2%98%BA", 5, "\xe2\x98\xba" },
		{ "%F0%9F%98%88", 3, "" }, { "x%F0%9F%98%88", 4, "x" },
		{ "%F0%9F%98%88%F0", 4, "\xf0\x9f\x98\x88" },
		/* Not a character: nothing is lost on its account. */
		{ "ab%80", 2, "ab" }, { "%80%80%80%80%80%80", 5, "?????" },
		{ "%41%2", 2, "A%" }, { "%4", 1, "%" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u8 back[64];
		u32 n = decode(rows[i].coded, strlen(rows[i].coded), back, rows[i].room);

		CHECK_MSG(n == strlen(rows[i].text) && !memcmp(back, rows[i].text, n),
			  "'%s' in %u: '%.*s'", rows[i].coded, rows[i].room, (int)n, back);
	}
}

/* Any bytes: the room is kept, what comes is UTF-8, and a text comes through. */
TEST(percent_random)
{
	u64 rnd = 3;
	u32 i, j;

	for (i = 0; i < 100000; i++) {
		static const char some[] = "%%%%0123456789abcdefABCDEF "
					   "\xc3\xa9\xe2\x98\xba\xf0\x9f";
		char in[48];
		u32 len = rnd_below(&rnd, sizeof(in)), room = rnd_below(&rnd, 24), n, coded;
		u8 out[24], again[24], text[72];

		for (j = 0; j < len; j++)
			in[j] = rnd_below(&rnd, 4) ? some[rnd_below(&rnd, sizeof(some) - 1)] :
						     (char)rnd_next(&rnd);
		n = decode(in, len, out, room);
		CHECK(n <= room && mrpc_utf8_valid(out, n));
		coded = mrpc_grpc_percent_encode(out, n, text);
		CHECK_EQ(decode((char *)text, coded, again, room), n);
		CHECK(!memcmp(out, again, n));
	}
}

/* -- base64 ---------------------------------------------------------------- */

TEST(base64_vectors)
{
	/* RFC 4648, section 10; and the two digits that other alphabets have not. */
	static const struct row rows[] = {
		{ "", "" }, { "f", "Zg" }, { "fo", "Zm8" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg" },
		{ "fooba", "Zm9vYmE" }, { "foobar", "Zm9vYmFy" }, { "\xfb\xff\xbf", "+/+/" },
	};
	static const char *const pads[] = { "", "", "==", "=" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 len = strlen(rows[i].text), want = strlen(rows[i].coded);
		u8 *out = malloc(want + 1), back[16];
		char padded[16];
		u8 *in;

		CHECK_EQ(MRPC_GRPC_BASE64_LEN(len), want);
		CHECK_EQ(mrpc_grpc_base64_encode((const u8 *)rows[i].text, len, out), want);
		CHECK(!memcmp(out, rows[i].coded, want));
		CHECK_EQ(mrpc_grpc_base64_decode(out, want, back, len), len);
		CHECK(!memcmp(back, rows[i].text, len));
		snprintf(padded, sizeof(padded), "%s%s", rows[i].coded, pads[want % 4]);
		in = exact(padded, strlen(padded));
		CHECK_EQ(mrpc_grpc_base64_decode(in, strlen(padded), back, len), len);
		CHECK(!memcmp(back, rows[i].text, len));
		free(in);
		free(out);
	}
}

TEST(base64_refused)
{
	static const char *const bad[] = {
		"A", "AAAAA", "=", "==", "===", "====", "A=", "A==", "A===", "AA=", "AAA==",
		"AAAA=", "AAAA====", "AA==AA==", "AA=A", "=AAA", "AA A", " AAA", "AA\n", "AA-_", "AA,A",
		"AA\x80""A", "AA.A", "@AAA", "[AAA", "`AAA", "{AAA", "AAAA==",
	};
	u8 out[16];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		int n = mrpc_grpc_base64_decode((const u8 *)bad[i], strlen(bad[i]), out,
						sizeof(out));

		CHECK_MSG(n == -EINVAL, "'%s': %d", bad[i], n);
	}
	/* Bits without a byte are not looked at. */
	CHECK_EQ(mrpc_grpc_base64_decode((const u8 *)"Zh==", 4, out, 1), 1);
	CHECK_EQ(out[0], 'f');
	CHECK_EQ(mrpc_grpc_base64_decode((const u8 *)"Zm9v", 4, out, 2), -ENOSPC);
	CHECK_EQ(mrpc_grpc_base64_decode((const u8 *)"Zg", 2, out, 0), -ENOSPC);
}

TEST(base64_every_digit)
{
	u8 out[3];
	u32 c, digits = 0;

	for (c = 0; c < 256; c++) {
		u8 in[4] = { 'A', 'A', 'A', c };
		int n = mrpc_grpc_base64_decode(in, 4, out, 3);
		u8 again[4];

		if (n < 0 || c == '=')
			continue;
		digits++;
		CHECK_EQ(n, 3);
		CHECK_EQ(mrpc_grpc_base64_encode(out, 3, again), 4);
		CHECK_EQ(again[3], c);
	}
	CHECK_EQ(digits, 64);
}

TEST(base64_random)
{
	u64 rnd = 11;
	u32 i, j;

	for (i = 0; i < 50000; i++) {
		u32 len = rnd_below(&rnd, 70), digits = MRPC_GRPC_BASE64_LEN(len);
		u8 in[70], *text = malloc(digits + 1), *back = malloc(len + 1);

		for (j = 0; j < len; j++)
			in[j] = rnd_next(&rnd);
		CHECK_EQ(mrpc_grpc_base64_encode(in, len, text), digits);
		CHECK_EQ(mrpc_grpc_base64_decode(text, digits, back, len), len);
		CHECK(!memcmp(in, back, len));
		free(text);
		free(back);
	}
}
