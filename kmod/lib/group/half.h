/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bf16 and f16 from and to f32, exact: rounded to nearest even, with subnormal numbers, infinities
 * and NaN. A NaN becomes quiet and keeps its sign and the upper bits of its payload, as the
 * instructions of F16C do.
 *
 * For files that the kernel compiles with floating point. Without branches, tables and shifts by a
 * variable: a loop of these functions vectorises on any processor with vectors.
 */
#ifndef MRPC_LIB_GROUP_HALF_H
#define MRPC_LIB_GROUP_HALF_H

#include "lib/ds/types.h"

static inline u32 mrpc_f32_bits(float f)
{
	u32 u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static inline float mrpc_f32_of_bits(u32 u)
{
	float f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

/*
 * @yes if @a is greater than @b. gcc makes branches of some conditional expressions, and then does
 * not vectorise. Signed numbers, because SSE2 has no comparison of unsigned ones.
 */
static inline u32 mrpc_if_greater(s32 a, s32 b, u32 yes, u32 no)
{
	return no ^ ((yes ^ no) & -(u32)(a > b));
}

/** mrpc_bf16_round() - @f as bf16 in the upper 16 bits of the result; the lower ones are 0 */
static inline u32 mrpc_bf16_round(float f)
{
	const u32 u = mrpc_f32_bits(f);
	const u32 even = u + 0x7fff + (u >> 16 & 1);

	return mrpc_if_greater(u & 0x7fffffff, 0x7f800000, u | 0x00400000, even) & 0xffff0000;
}

/** mrpc_f16_to_f32() - the value of the f16 in the lower 16 bits of @h; the upper ones are 0 */
static inline float mrpc_f16_to_f32(u32 h)
{
	const u32 a = (h & 0x7fff) << 13;
	/* The bias of the exponent is 15, and 127 in the result. */
	const u32 normal = a + (112 << 23);
	/* 2^-14 + the value has that value in its lowest bits: the subtraction is exact. */
	const u32 small = mrpc_f32_bits(mrpc_f32_of_bits(a + (113 << 23)) - 0x1p-14f);
	const u32 finite = mrpc_if_greater(0x00800000, a, small, normal);
	/* Infinity and NaN, quiet: the largest exponent stays the largest. */
	const u32 special = (a + (224 << 23)) | mrpc_if_greater(a, 0x0f800000, 0x00400000, 0);

	return mrpc_f32_of_bits((h & 0x8000) << 16 |
				mrpc_if_greater(a, 0x0f7fffff, special, finite));
}

/** mrpc_f16_round() - @f as f16 in the lower 16 bits of the result; the upper ones are 0 */
static inline u32 mrpc_f16_round(float f)
{
	const u32 u = mrpc_f32_bits(f);
	const u32 a = u & 0x7fffffff;
	const u32 normal = (a - (112 << 23) + 0xfff + (a >> 13 & 1)) >> 13;
	/* The sum's lowest bit is 2^-24, as that of a subnormal f16: the addition rounds. */
	const u32 small = mrpc_f32_bits(mrpc_f32_of_bits(a) + 0.5f) - 0x3f000000;
	const u32 finite = mrpc_if_greater(0x38800000, a, small, normal);
	const u32 nan = mrpc_if_greater(a, 0x7f800000, 0x200 | (a >> 13 & 0x3ff), 0);

	return (u >> 16 & 0x8000) | mrpc_if_greater(a, 0x477fffff, 0x7c00 | nan, finite);
}

#endif /* MRPC_LIB_GROUP_HALF_H */
