// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/grpc/inflate */
/*
 * Compressed messages, beside zlib's own reading of the same bytes. The first byte chooses the
 * encoding and the largest message.
 */
#include <zlib.h>

#include "fuzz.h"
#include "lib/grpc/encoding.h"
#include "lib/grpc/inflate.h"

#define MOST	(1 << 16)

static int grow(struct mrpc_grpc_inflated *x, u32 need)
{
	check(need > x->cap && need <= x->max + 1, "inflate: grows by nothing, or too much");
	x->out = realloc(x->out, need);
	x->cap = need;
	return x->out ? 0 : -ENOMEM;
}

/* What zlib says of it: bytes, or -1. */
static int inflate_peer(const u8 *data, size_t len, int bits, u8 *out, u32 room)
{
	z_stream z = { .next_in = (u8 *)data, .avail_in = len, .next_out = out, .avail_out = room };
	int ret;

	check(inflateInit2(&z, bits) == Z_OK, "zlib does not begin");
	ret = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return ret == Z_STREAM_END && !z.avail_in ? (int)z.total_out : -1;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static u8 out[MOST + 1];
	struct mrpc_grpc_inflated x = { .grow = grow };
	bool gzip;
	int err, n;

	if (!len)
		return 0;
	gzip = data[0] & 1;
	x.max = MOST >> (data[0] >> 1) % 17;
	data++;
	len--;
	err = mrpc_grpc_inflate(gzip ? MRPC_GRPC_GZIP : MRPC_GRPC_DEFLATE, data, len, &x);
	n = inflate_peer(data, len, gzip ? MAX_WBITS + 16 : MAX_WBITS, out, x.max);
	if (!err)
		check(x.len <= x.max, "inflate: too many bytes");
	/* zlib compares the CRC of a header of gzip, too. */
	if (!err && n < 0)
		check(gzip && len > 3 && data[3] & 2, "inflate: accepts what zlib refuses");
	if (n >= 0)
		check(!err && n == (int)x.len && !memcmp(out, x.out, n),
		      "inflate: refuses what zlib accepts, or reads it in another way");
	free(x.out);
	return 0;
}
