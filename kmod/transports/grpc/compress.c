// SPDX-License-Identifier: GPL-2.0
/*
 * Compression of single messages: gzip and deflate come in, gzip goes out.
 *
 * Nothing is kept from message to message. The memory that zlib needs, 43 KiB to inflate and 268 KiB
 * to deflate, exists while a message is at work.
 */
#include <linux/crc32.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/unaligned.h>
#include <linux/zlib.h>

#include "core/link.h"
#include "lib/grpc/inflate.h"
#include "lib/grpc/prefix.h"
#include "transports/grpc/compress.h"
#include "transports/grpc/link.h"
#include "transports/grpc/payload.h"
#include "transports/grpc/receive.h"
#include "transports/grpc/stream.h"

#define GRPC_DEFLATE_STEP	65536U	/* bytes that are taken before others may run */
#define GRPC_DEFLATE_KVECS	8
#define GRPC_DEFLATE_MEM	8	/* zlib's default for memLevel */

static int grpc_grow_inflated(struct mrpc_grpc_inflated *x, u32 need)
{
	u8 *out = kvmalloc(need, GFP_KERNEL_ACCOUNT);

	if (!out)
		return -ENOMEM;
	if (x->len)
		memcpy(out, x->out, x->len);
	kvfree(x->out);
	x->out = out;
	x->cap = need;
	return 0;
}

/**
 * grpc_inflate() - inflate the message of a stream, which has come whole
 * @gl: the link; the caller owns the receive claim
 * @s: the stream
 * @made: out: bytes that were inflated, also after a failure
 *
 * Context: process; may sleep. Return: as mrpc_grpc_inflate().
 */
int grpc_inflate(struct grpc_link *gl, struct grpc_stream *s, u32 *made)
{
	struct mrpc_grpc_inflated x = {
		.max = gl->link->max_message,
		.workspace = kvmalloc(mrpc_grpc_inflate_workspace(), GFP_KERNEL_ACCOUNT),
		.grow = grpc_grow_inflated,
	};
	int err;

	err = x.workspace ? mrpc_grpc_inflate(s->encoding, s->msg, s->want, &x) : -ENOMEM;
	kvfree(x.workspace);
	*made = x.len;
	if (err) {
		kvfree(x.out);
		return err;
	}
	grpc_msg_free(gl, s);
	s->msg = x.out;
	s->msg_cap = x.cap;
	s->want = x.len;
	s->have = x.len;
	return 0;
}

/* Deflates the bytes of @walk. Return: their CRC-32, or -E2BIG: there is no room for the result. */
static s64 grpc_deflate_all(z_stream *z, struct grpc_payload *walk)
{
	struct kvec kv[GRPC_DEFLATE_KVECS];
	u32 crc = ~0U, nr, i, bytes;

	while (grpc_payload_left(walk)) {
		nr = grpc_payload_vector(walk, GRPC_DEFLATE_STEP, kv, ARRAY_SIZE(kv), &bytes);
		for (i = 0; i < nr; i++) {
			crc = crc32_le(crc, kv[i].iov_base, kv[i].iov_len);
			z->next_in = kv[i].iov_base;
			z->avail_in = kv[i].iov_len;
			if (zlib_deflate(z, Z_NO_FLUSH) != Z_OK || z->avail_in)
				return -E2BIG;
		}
		grpc_payload_advance(walk, bytes);
		cond_resched();
	}
	if (zlib_deflate(z, Z_FINISH) != Z_STREAM_END)
		return -E2BIG;
	return ~crc;
}

/* Writes a payload in gzip to @out, @room bytes. Return: bytes, or -E2BIG. */
static s64 grpc_gzip(const struct grpc_payload *p, void *workspace, u8 *out, u32 room)
{
	static const u8 header[MRPC_GZIP_HEADER] = { 0x1f, 0x8b, 8, [9] = 255 };
	z_stream z = { .workspace = workspace };
	struct grpc_payload walk = *p;
	s64 crc;

	memcpy(out, header, sizeof(header));
	z.next_out = out + sizeof(header);
	z.avail_out = room - sizeof(header) - MRPC_GZIP_TRAILER;
	if (zlib_deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, GRPC_DEFLATE_MEM,
			      Z_DEFAULT_STRATEGY) != Z_OK)
		return -E2BIG;
	grpc_payload_advance(&walk, MRPC_GRPC_PREFIX);
	crc = grpc_deflate_all(&z, &walk);
	zlib_deflateEnd(&z);
	if (crc < 0)
		return crc;
	put_unaligned_le32(crc, z.next_out);
	put_unaligned_le32(p->total - MRPC_GRPC_PREFIX, z.next_out + 4);
	return z.next_out + MRPC_GZIP_TRAILER - out;
}

/**
 * grpc_deflate() - compress a message, in gzip
 * @p: the message, encoded, of which nothing is sent
 *
 * Leaves it as it is if it gets no smaller, or there is no memory. If the application changes a
 * block meanwhile, the peer finds a wrong CRC-32 and ends the call.
 *
 * Context: owner of the transmit claim; may sleep.
 */
void grpc_deflate(struct grpc_payload *p)
{
	u32 room = p->total - MRPC_GRPC_PREFIX;
	const struct mrpc_rpc *rpc = p->rpc;
	void *workspace;
	s64 len = -E2BIG;
	u8 *out;

	if (room <= MRPC_GZIP_HEADER + MRPC_GZIP_TRAILER)
		return;
	out = kvmalloc(p->total, GFP_KERNEL_ACCOUNT);
	workspace = kvmalloc(zlib_deflate_workspacesize(MAX_WBITS, GRPC_DEFLATE_MEM),
			     GFP_KERNEL_ACCOUNT);
	if (out && workspace)
		len = grpc_gzip(p, workspace, out + MRPC_GRPC_PREFIX, room);
	kvfree(workspace);
	if (len < 0) {
		kvfree(out);
		return;
	}
	grpc_payload_free(p);
	mrpc_grpc_prefix_write(out, true, len);
	p->rpc = rpc;
	p->buf = out;
	p->buf_len = MRPC_GRPC_PREFIX + len;
	p->total = p->buf_len;
}
