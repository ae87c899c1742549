// SPDX-License-Identifier: GPL-2.0
/* crc32c of packets, as the kernel's crc32c() with the usual complements. */
#include <stddef.h>

#include "endpoint.h"

#define POLYNOMIAL	0x82f63b78U	/* Castagnoli's, reflected */

static u32 add_byte(u32 crc, u8 byte)
{
	static u32 table[256];
	u32 i, k, v;

	if (!table[1]) {
		for (i = 0; i < 256; i++) {
			for (v = i, k = 0; k < 8; k++)
				v = v & 1 ? v >> 1 ^ POLYNOMIAL : v >> 1;
			table[i] = v;
		}
	}
	return crc >> 8 ^ table[(crc ^ byte) & 0xff];
}

u32 endpoint_crc(const u8 *packet, u32 len)
{
	u32 field = offsetof(struct mrpc_prio_hdr, crc), crc = ~0U, i;

	for (i = 0; i < len; i++)
		crc = add_byte(crc, i >= field && i < field + 4 ? 0 : packet[i]);
	return ~crc;
}
