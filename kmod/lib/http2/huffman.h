/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_LIB_HTTP2_HUFFMAN_H
#define MRPC_LIB_HTTP2_HUFFMAN_H

#include "lib/ds/types.h"

/**
 * mrpc_huffman_decode() - decode a string in HPACK's Huffman code (RFC 7541, 5.2)
 * @in: the string
 * @len: its bytes, at most 2^28
 * @out: gets what it stands for
 * @room: bytes at @out; what is beyond them is checked and counted, but not written
 *
 * Return: bytes of the decoded string, at most 8/5 of @len; -EBADMSG: it contains EOS, or does not
 * end with less than 8 bits of ones.
 */
int mrpc_huffman_decode(const u8 *in, u32 len, u8 *out, u32 room);

#endif /* MRPC_LIB_HTTP2_HUFFMAN_H */
