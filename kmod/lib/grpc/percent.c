// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/percent.h"
#include "lib/message/utf8.h"

u32 mrpc_grpc_percent_encode(const u8 *text, u32 len, u8 *out)
{
	static const char hex[] = "0123456789ABCDEF";
	u32 n = 0, i;

	for (i = 0; i < len; i++) {
		u8 ch = text[i];
		bool end = !i || i == len - 1;

		if (ch >= ' ' && ch <= '~' && ch != '%' && !(end && ch == ' ')) {
			out[n++] = ch;
			continue;
		}
		out[n++] = '%';
		out[n++] = hex[ch >> 4];
		out[n++] = hex[ch & 15];
	}
	return n;
}

static int hex_value(u8 ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	ch |= 0x20;
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* The byte that an escape at @in stands for; -1: there is none. */
static int percent_escape(const u8 *in, u32 len)
{
	int high, low;

	if (len < 3 || in[0] != '%')
		return -1;
	high = hex_value(in[1]);
	low = hex_value(in[2]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static bool utf8_continues(u8 ch)
{
	return (ch & 0xc0) == 0x80;
}

/* Where to cut @out so that the character which @next continues is not in it. */
static u32 percent_cut(const u8 *out, u32 n, u8 next)
{
	u32 start = n, i;

	if (!n || !utf8_continues(next))
		return n;
	for (i = 0; i < 3 && start; i++)
		if (!utf8_continues(out[--start]))
			break;
	return out[start] >= 0xc0 ? start : n;
}

static void percent_mend(u8 *text, u32 len)
{
	u32 i = 0;

	while (i < len) {
		u8 ch = text[i];
		u32 n = ch < 0x80 ? 1 : ch < 0xe0 ? 2 : ch < 0xf0 ? 3 : 4;

		if (n <= len - i && mrpc_utf8_valid(text + i, n))
			i += n;
		else
			text[i++] = '?';
	}
}

u32 mrpc_grpc_percent_decode(const u8 *in, u32 len, u8 *out, u32 room)
{
	u32 n = 0, i = 0;

	while (i < len) {
		int escaped = percent_escape(in + i, len - i);
		u8 ch = escaped < 0 ? in[i] : escaped;

		if (n == room) {
			n = percent_cut(out, n, ch);
			break;
		}
		out[n++] = ch;
		i += escaped < 0 ? 1 : 3;
	}
	percent_mend(out, n);
	return n;
}
