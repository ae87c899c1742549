// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/inflate.h"
#include "lib/grpc/encoding.h"

#ifdef __KERNEL__
#include <linux/crc32.h>
#include <linux/sched.h>
#include <linux/zlib.h>

static int inflate_begin(z_stream *z, void *workspace, int bits)
{
	z->workspace = workspace;
	return zlib_inflateInit2(z, bits);
}

static u32 gzip_crc(const u8 *buf, u32 len)
{
	return ~crc32_le(~0U, buf, len);
}
#else
#include <zlib.h>

#define zlib_inflate_workspacesize()	1
#define zlib_inflate	inflate
#define zlib_inflateEnd	inflateEnd
#define cond_resched()	do { } while (0)

static int inflate_begin(z_stream *z, void *workspace, int bits)
{
	(void)workspace;
	return inflateInit2(z, bits);
}

static u32 gzip_crc(const u8 *buf, u32 len)
{
	return crc32(0, buf, len);
}
#endif

#define INFLATE_STEP	65536U	/* bytes that are made before others may run */
#define INFLATE_FIRST	4096U
#define INFLATE_RATIO	4	/* what a message is expected to grow by */

/* Flags of a gzip header. */
#define GZIP_FHCRC	BIT(1)
#define GZIP_FEXTRA	BIT(2)
#define GZIP_FNAME	BIT(3)
#define GZIP_FCOMMENT	BIT(4)
#define GZIP_RESERVED	0xe0

/* Skips a text with its NUL. Return: the position behind it, or -EBADMSG. */
static s64 gzip_skip_text(const u8 *in, u32 len, u32 at)
{
	const u8 *end = at < len ? memchr(in + at, 0, len - at) : NULL;

	return end ? end + 1 - in : -EBADMSG;
}

/* Reads the header of gzip. Return: its bytes, or -EBADMSG. The CRC of a header is not compared. */
static s64 gzip_header(const u8 *in, u32 len)
{
	s64 at = MRPC_GZIP_HEADER;
	u8 flags;

	if (len < MRPC_GZIP_HEADER || in[0] != 0x1f || in[1] != 0x8b || in[2] != 8)
		return -EBADMSG;
	flags = in[3];
	if (flags & GZIP_RESERVED)
		return -EBADMSG;
	if (flags & GZIP_FEXTRA) {
		if (len < at + 2)
			return -EBADMSG;
		at += 2 + get_unaligned_le16(in + at);
	}
	if (flags & GZIP_FNAME)
		at = gzip_skip_text(in, len, at);
	if (at >= 0 && flags & GZIP_FCOMMENT)
		at = gzip_skip_text(in, len, at);
	if (at >= 0 && flags & GZIP_FHCRC)
		at += 2;
	return at > len ? -EBADMSG : at;
}

/* Compares the trailer of gzip with what was inflated. Return: 0 or -EBADMSG. */
static int gzip_check(const u8 *trailer, const struct mrpc_grpc_inflated *x)
{
	return gzip_crc(x->out, x->len) == get_unaligned_le32(trailer) &&
	       x->len == get_unaligned_le32(trailer + 4) ? 0 : -EBADMSG;
}

/* Makes room for more. Return: bytes that may be made now, or -ENOMEM. */
static s64 inflate_room(struct mrpc_grpc_inflated *x, u32 in_len)
{
	u64 need = max_t(u64, (u64)in_len * INFLATE_RATIO, INFLATE_FIRST);
	int err;

	if (x->len == x->cap) {
		need = min_t(u64, max_t(u64, need, 2ULL * x->cap), (u64)x->max + 1);
		err = x->grow(x, need);
		if (err)
			return err;
	}
	return min(x->cap - x->len, INFLATE_STEP);
}

/* Inflates until the compressed bytes end. As mrpc_grpc_inflate(). */
static int inflate_all(z_stream *z, u32 in_len, struct mrpc_grpc_inflated *x)
{
	s64 room;
	int ret;

	do {
		room = inflate_room(x, in_len);
		if (room < 0)
			return room;
		z->next_out = x->out + x->len;
		z->avail_out = room;
		ret = zlib_inflate(z, Z_SYNC_FLUSH);
		x->len += room - z->avail_out;
		if (ret != Z_OK && ret != Z_STREAM_END)
			return -EBADMSG;	/* also if more bytes had to come */
		if (x->len > x->max)
			return -EMSGSIZE;
		cond_resched();
	} while (ret != Z_STREAM_END);
	return z->avail_in ? -EBADMSG : 0;
}

u32 mrpc_grpc_inflate_workspace(void)
{
	return zlib_inflate_workspacesize();
}

int mrpc_grpc_inflate(u8 encoding, const u8 *in, u32 len, struct mrpc_grpc_inflated *x)
{
	bool gzip = encoding == MRPC_GRPC_GZIP;
	z_stream z = { 0 };
	s64 at = 0;
	int err;

	if (gzip)
		at = gzip_header(in, len);
	if (at < 0 || (gzip && len - at < MRPC_GZIP_TRAILER))
		return -EBADMSG;
	if (inflate_begin(&z, x->workspace, gzip ? -MAX_WBITS : MAX_WBITS) != Z_OK)
		return -ENOMEM;
	z.next_in = (u8 *)in + at;
	z.avail_in = len - at - (gzip ? MRPC_GZIP_TRAILER : 0);
	err = inflate_all(&z, len, x);
	zlib_inflateEnd(&z);
	if (!err && gzip)
		err = gzip_check(in + len - MRPC_GZIP_TRAILER, x);
	return err;
}
