// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/hpack_decode kmod/lib/http2/hpack_encode kmod/lib/http2/hpack_table kmod/lib/http2/huffman */
/*
 * HPACK beside libnghttp2: the first byte chooses blocks for both decoders, or fields for both
 * encoders. Fields, errors and tables must be the same.
 */
#include "fuzz.h"
#include "hpack_nghttp2.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	const char *what;
	u32 nr = 0;

	if (!len)
		return 0;
	if (data[0] & 1)
		what = hpack_ends_run(data + 1, len - 1, &nr);
	else
		what = hpack_pair_blocks(data + 1, len - 1, &nr);
	check(!what, what);
	return 0;
}
