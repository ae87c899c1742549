// SPDX-License-Identifier: GPL-2.0
/* Frames of HTTP/2: how they are written; see frame.h. */
#include "lib/http2/frame.h"

u8 *mrpc_h2_put_frame(u8 *out, u32 len, u8 type, u8 flags, u32 stream)
{
	put_unaligned_be24(len, out);
	out[3] = type;
	out[4] = flags;
	put_unaligned_be32(stream, out + 5);
	return out + MRPC_H2_FRAME_HEADER;
}

u32 mrpc_h2_put_headers(u8 *out, u32 room, u32 stream, const u8 *block, u32 len, bool end)
{
	u8 type = MRPC_H2_HEADERS, flags = end ? MRPC_H2_FLAG_END_STREAM : 0;
	u32 size = mrpc_h2_headers_size(len), n;

	if (len > room || size > room)
		return 0;
	do {
		n = min_t(u32, len, MRPC_H2_MAX_FRAME);
		len -= n;
		if (!len)
			flags |= MRPC_H2_FLAG_END_HEADERS;
		out = mrpc_h2_put_frame(out, n, type, flags, stream);
		memcpy(out, block, n);
		out += n;
		block += n;
		type = MRPC_H2_CONTINUATION;
		flags = 0;
	} while (len);
	return size;
}
