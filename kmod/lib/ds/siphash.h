/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SipHash: in the kernel, the kernel's own; in user space, the code below. mrpc_siphash() is
 * SipHash-2-4 with a 64-bit result. mrpc_hsiphash() has fewer rounds and 32 bits. It is for hash
 * tables whose hashes no other party can see.
 */
#ifndef MRPC_LIB_DS_SIPHASH_H
#define MRPC_LIB_DS_SIPHASH_H

#ifdef __KERNEL__

#include <linux/siphash.h>

static inline u64 mrpc_siphash(const void *data, size_t len, const u64 key[2])
{
	siphash_key_t k = { { key[0], key[1] } };

	return siphash(data, len, &k);
}

static inline u32 mrpc_hsiphash(const void *data, size_t len, const u64 key[2])
{
	hsiphash_key_t k = { { key[0], key[1] } };

	return hsiphash(data, len, &k);
}

#else

#include "lib/ds/types.h"

static inline u64 siphash_rol(u64 v, u32 by)
{
	return v << by | v >> (64 - by);
}

static inline void siphash_rounds(u64 *v, u32 n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = siphash_rol(v[1], 13) ^ v[0];
		v[3] = siphash_rol(v[3], 16) ^ v[2];
		v[0] = siphash_rol(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = siphash_rol(v[1], 17) ^ v[2];
		v[3] = siphash_rol(v[3], 21) ^ v[0];
		v[2] = siphash_rol(v[2], 32);
	}
}

static inline u64 siphash_of(const void *data, size_t len, const u64 key[2], u32 rounds,
			     u32 last_rounds)
{
	u64 v[4] = {
		key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL,
		key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL,
	};
	const u8 *p = data;
	size_t left = len;
	u64 word;

	for (; left >= 8; left -= 8, p += 8) {
		word = get_unaligned_le64(p);
		v[3] ^= word;
		siphash_rounds(v, rounds);
		v[0] ^= word;
	}
	word = (u64)len << 56;
	while (left--)
		word |= (u64)p[left] << 8 * left;
	v[3] ^= word;
	siphash_rounds(v, rounds);
	v[0] ^= word;
	v[2] ^= 0xff;
	siphash_rounds(v, last_rounds);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static inline u64 mrpc_siphash(const void *data, size_t len, const u64 key[2])
{
	return siphash_of(data, len, key, 2, 4);
}

static inline u32 mrpc_hsiphash(const void *data, size_t len, const u64 key[2])
{
	return siphash_of(data, len, key, 1, 3);
}

#endif /* __KERNEL__ */

#endif /* MRPC_LIB_DS_SIPHASH_H */
