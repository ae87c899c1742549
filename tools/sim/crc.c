// SPDX-License-Identifier: GPL-2.0
/*
 * crc32c of packets, as the kernel's crc32c() with the usual complements.
 *
 * Half of the simulator's time goes by here, so eight bytes are taken at a time: table[k] has
 * what a byte makes of the sum when k bytes follow it.
 */
#include <stddef.h>

#include "endpoint.h"

#define POLYNOMIAL	0x82f63b78U	/* Castagnoli's, reflected */

static u32 table[8][256];

__attribute__((constructor)) static void make_tables(void)
{
	u32 i, k, v;

	for (i = 0; i < 256; i++) {
		for (v = i, k = 0; k < 8; k++)
			v = v & 1 ? v >> 1 ^ POLYNOMIAL : v >> 1;
		table[0][i] = v;
	}
	for (k = 1; k < 8; k++)
		for (i = 0; i < 256; i++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

static u32 add_eight(u32 crc, const u8 *p)
{
	return table[7][p[0] ^ (crc & 0xff)] ^ table[6][p[1] ^ (crc >> 8 & 0xff)] ^
	       table[5][p[2] ^ (crc >> 16 & 0xff)] ^ table[4][p[3] ^ crc >> 24] ^
	       table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
}

static u32 add(u32 crc, const u8 *p, u32 len)
{
	for (; len >= 8; len -= 8, p += 8)
		crc = add_eight(crc, p);
	for (; len; len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return crc;
}

u32 endpoint_crc(const u8 *packet, u32 len)
{
	static const u8 zeros[4];
	u32 field = offsetof(struct mrpc_prio_hdr, crc), crc;

	if (len < field + 4)	/* which is not all there */
		return ~add(add(~0U, packet, min(len, field)), zeros, len - min(len, field));
	crc = add(add(~0U, packet, field), zeros, 4);
	return ~add(crc, packet + field + 4, len - field - 4);
}
