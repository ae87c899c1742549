// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/grpc/inflate */
/* Messages that zlib has compressed: they come back, and what is damaged or too large does not. */
#include <zlib.h>

#include "lib/grpc/encoding.h"
#include "lib/grpc/inflate.h"
#include "rnd.h"
#include "tap.h"

#define ROOM	(1 << 20)
#define GZIP	(MAX_WBITS + 16)	/* for zlib: with the wrapper of gzip */

static u8 plain[ROOM], packed[2 * ROOM];
static u32 grown, largest;
static bool no_memory;

static int grow(struct mrpc_grpc_inflated *x, u32 need)
{
	CHECK(need > x->cap);
	grown++;
	largest = need;
	if (no_memory)
		return -ENOMEM;
	x->out = realloc(x->out, need);
	x->cap = need;
	return 0;
}

static void begin(struct mrpc_grpc_inflated *x, u32 max)
{
	free(x->out);
	*x = (struct mrpc_grpc_inflated){ .max = max, .grow = grow };
	grown = 0;
}

/* Compresses @len bytes of @plain. Return: bytes of @packed. */
static u32 pack(u32 len, int bits, int level, gz_header *header)
{
	z_stream z = { .next_in = plain, .avail_in = len };

	CHECK_EQ(deflateInit2(&z, level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
	if (header)
		CHECK_EQ(deflateSetHeader(&z, header), Z_OK);
	z.next_out = packed;
	z.avail_out = sizeof(packed);
	CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
	CHECK_EQ(deflateEnd(&z), Z_OK);
	return z.total_out;
}

/* Fills @plain with what can be compressed more or less. */
static void fill(u64 *rnd, u32 len)
{
	u32 letters = 1 + rnd_below(rnd, rnd_below(rnd, 2) ? 256 : 4), i;

	for (i = 0; i < len; i++)
		plain[i] = i > 300 && !rnd_below(rnd, 3) ? plain[i - 1 - rnd_below(rnd, 300)] :
							   rnd_below(rnd, letters);
}

static int inflate_packed(struct mrpc_grpc_inflated *x, u32 len, int bits, u32 max)
{
	begin(x, max);
	return mrpc_grpc_inflate(bits == GZIP ? MRPC_GRPC_GZIP : MRPC_GRPC_DEFLATE, packed, len, x);
}

TEST(comes_back)
{
	static const u32 lens[] = { 0, 1, 100, 4095, 4096, 4097, 65535, 65536, 65537, ROOM };
	struct mrpc_grpc_inflated x = { 0 };
	u64 rnd = 1;
	u32 i, n;

	for (i = 0; i < 200; i++) {
		u32 len = i < 80 ? lens[i % ARRAY_SIZE(lens)] : rnd_below(&rnd, 20000);
		int bits = i % 2 ? GZIP : MAX_WBITS;

		fill(&rnd, len);
		n = pack(len, bits, rnd_below(&rnd, 10), NULL);
		CHECK_EQ(inflate_packed(&x, n, bits, len), 0);
		CHECK_EQ(x.len, len);
		CHECK(!memcmp(x.out, plain, len));
		CHECK(largest <= len + 1);
		CHECK_EQ(inflate_packed(&x, n, bits, ROOM), 0);
		CHECK_EQ(x.len, len);
		if (len)
			CHECK_EQ(inflate_packed(&x, n, bits, len - 1), -EMSGSIZE);
	}
	free(x.out);
}

/* No prefix of a message is one, and no byte may follow it. */
TEST(cut)
{
	struct mrpc_grpc_inflated x = { 0 };
	u64 rnd = 2;
	u32 i, n;

	fill(&rnd, 500);
	for (i = 0; i < 2; i++) {
		int bits = i ? GZIP : MAX_WBITS;
		u32 at;

		n = pack(500, bits, 6, NULL);
		for (at = 0; at < n; at++)
			CHECK_MSG(inflate_packed(&x, at, bits, ROOM) == -EBADMSG, "%u of %u", at, n);
		CHECK_EQ(inflate_packed(&x, n, bits, ROOM), 0);
		packed[n] = 0;
		CHECK_EQ(inflate_packed(&x, n + 1, bits, ROOM), -EBADMSG);
	}
	/* The other encoding's wrapper, and a second member. */
	CHECK_EQ(inflate_packed(&x, n, MAX_WBITS, ROOM), -EBADMSG);
	memcpy(packed + n, packed, n);
	CHECK_EQ(inflate_packed(&x, 2 * n, GZIP, ROOM), -EBADMSG);
	free(x.out);
}

/* What is damaged is refused, or the damage is in bytes that say nothing. */
TEST(damaged)
{
	struct mrpc_grpc_inflated x = { 0 };
	u64 rnd = 3;
	u32 i, n, len = 700, fine = 0;

	fill(&rnd, len);
	for (i = 0; i < 2; i++) {
		int bits = i ? GZIP : MAX_WBITS, err;
		u32 bit;

		n = pack(len, bits, 6, NULL);
		for (bit = 0; bit < n * 8; bit++) {
			packed[bit / 8] ^= 1 << bit % 8;
			err = inflate_packed(&x, n, bits, ROOM);
			packed[bit / 8] ^= 1 << bit % 8;
			CHECK(!err || err == -EBADMSG || err == -EMSGSIZE);
			if (err)
				continue;
			fine++;
			CHECK(x.len == len && !memcmp(x.out, plain, len));
		}
	}
	/* Of gzip: the time, what the compressor was, and that it is text. Of zlib: the level. */
	CHECK_MSG(fine > 40 && fine < 80, "%u", fine);
	free(x.out);
}

TEST(optional_fields)
{
	struct mrpc_grpc_inflated x = { 0 };
	u64 rnd = 4;
	u32 i, n;

	fill(&rnd, 100);
	for (i = 0; i < 32; i++) {
		gz_header header = {
			.text = i & 16,
			.extra = i & 1 ? (u8 *)"extra" : NULL, .extra_len = 5,
			.name = i & 2 ? (u8 *)"name" : NULL,
			.comment = i & 4 ? (u8 *)"comment" : NULL,
			.hcrc = !!(i & 8),
		};
		u32 at;

		n = pack(100, GZIP, 6, &header);
		CHECK_EQ(inflate_packed(&x, n, GZIP, ROOM), 0);
		CHECK(x.len == 100 && !memcmp(x.out, plain, 100));
		for (at = 0; at < n; at++)
			CHECK_EQ(inflate_packed(&x, at, GZIP, ROOM), -EBADMSG);
	}
	packed[3] |= 0x20;
	CHECK_EQ(inflate_packed(&x, n, GZIP, ROOM), -EBADMSG);
	packed[3] &= ~0x20;
	packed[2] = 7;
	CHECK_EQ(inflate_packed(&x, n, GZIP, ROOM), -EBADMSG);
	/* An extra field beyond the end, and a name without an end. */
	CHECK_EQ((begin(&x, ROOM), mrpc_grpc_inflate(MRPC_GRPC_GZIP, (const u8 *)
		 "\x1f\x8b\x08\4\0\0\0\0\0\3\xff\xff", 12, &x)), -EBADMSG);
	CHECK_EQ((begin(&x, ROOM), mrpc_grpc_inflate(MRPC_GRPC_GZIP, (const u8 *)
		 "\x1f\x8b\x08\x08\0\0\0\0\0\3name", 14, &x)), -EBADMSG);
	free(x.out);
}

/* A thousand times what came: memory stays below twice what is accepted. */
TEST(bomb)
{
	struct mrpc_grpc_inflated x = { 0 };
	u32 n;

	memset(plain, 0, ROOM);
	n = pack(ROOM, GZIP, 9, NULL);
	CHECK(n < 1100);
	CHECK_EQ(inflate_packed(&x, n, GZIP, ROOM / 2), -EMSGSIZE);
	CHECK(x.cap <= ROOM / 2 + 1);
	CHECK_EQ(inflate_packed(&x, n, GZIP, ROOM), 0);
	CHECK(grown <= 9);
	no_memory = true;
	CHECK_EQ(inflate_packed(&x, n, GZIP, ROOM), -ENOMEM);
	no_memory = false;
	free(x.out);
}
