// SPDX-License-Identifier: GPL-2.0
#include "lib/message/utf8.h"

#define UTF8_HIGH_BITS	0x8080808080808080ULL

/*
 * Bytes of the character that starts at @s, not ASCII, or 0. The second byte's
 * range excludes overlong forms, surrogates and what is above 0x10ffff.
 */
static size_t utf8_char(const u8 *s, size_t len)
{
	u8 low = 0x80, high = 0xbf;
	size_t n, i;

	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len < n)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* Most text is: in words, of which the last may begin in the one before. */
static bool utf8_ascii(const u8 *s, size_t len)
{
	u64 any = 0;
	size_t i;

	if (len < 8) {
		for (i = 0; i < len; i++)
			any |= s[i];
		return any < 0x80;
	}
	for (i = 0; i < len - 8; i += 8)
		any |= get_unaligned_le64(s + i);
	any |= get_unaligned_le64(s + len - 8);
	return !(any & UTF8_HIGH_BITS);
}

bool mrpc_utf8_valid(const void *p, size_t len)
{
	const u8 *s = p;

	if (utf8_ascii(s, len))
		return true;
	while (len) {
		size_t n;

		if (len >= 8 && !(get_unaligned_le64(s) & UTF8_HIGH_BITS))
			n = 8;
		else if (*s < 0x80)
			n = 1;
		else
			n = utf8_char(s, len);
		if (!n)
			return false;
		s += n;
		len -= n;
	}
	return true;
}
