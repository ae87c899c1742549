// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/base64.h"

u32 mrpc_grpc_base64_encode(const u8 *in, u32 len, u8 *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	u32 n = 0, bits = 0, have = 0, i;

	for (i = 0; i < len; i++) {
		bits = bits << 8 | in[i];
		for (have += 8; have >= 6; have -= 6)
			out[n++] = digits[bits >> (have - 6) & 63];
	}
	if (have)
		out[n++] = digits[bits << (6 - have) & 63];
	return n;
}

static int base64_digit(u8 ch)
{
	if (ch >= 'A' && ch <= 'Z')
		return ch - 'A';
	if (ch >= 'a' && ch <= 'z')
		return ch - 'a' + 26;
	if (ch >= '0' && ch <= '9')
		return ch - '0' + 52;
	return ch == '+' ? 62 : ch == '/' ? 63 : -1;
}

int mrpc_grpc_base64_decode(const u8 *in, u32 len, u8 *out, u32 room)
{
	u32 n = 0, bits = 0, have = 0, pads = 0, i;

	/* Padding fills up four digits, or is not there. */
	while (len && !((len + pads) & 3) && pads < 2 && in[len - 1] == '=') {
		len--;
		pads++;
	}
	if ((len & 3) == 1)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		int digit = base64_digit(in[i]);

		if (digit < 0)
			return -EINVAL;
		bits = bits << 6 | digit;
		have += 6;
		if (have < 8)
			continue;
		if (n == room)
			return -ENOSPC;
		have -= 8;
		out[n++] = bits >> have;
	}
	return n;
}
