// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/half.h */
/*
 * bf16 and f16 from and to f32: kmod/lib/group/half.h, all inputs, against the compiler's
 * _Float16, the processor's F16C, and rounding as a definition has it. The Makefile compiles this
 * file as the kernel does reduce_fp.c, with vectors and without sanitizers.
 */
#include <immintrin.h>
#include <math.h>

#include "lib/group/half.h"
#include "tap.h"

#define NR_AT_ONCE	4096

static u32 in[NR_AT_ONCE], ours[NR_AT_ONCE], theirs[NR_AT_ONCE];

/* Every value of 32 bits, NR_AT_ONCE at a time. */
static bool next_inputs(u32 *first)
{
	u32 i;

	for (i = 0; i < NR_AT_ONCE; i++)
		in[i] = *first + i;
	*first += NR_AT_ONCE;
	return *first;
}

static void check_outputs(const char *what)
{
	u32 i;

	if (!memcmp(ours, theirs, sizeof(ours)))
		return;
	for (i = 0; i < NR_AT_ONCE; i++)
		CHECK_MSG(ours[i] == theirs[i], "%s of %08x: %08x, not %08x", what, in[i], ours[i],
			  theirs[i]);
}

static u32 f32_of_float16(u16 h)
{
	_Float16 f;

	memcpy(&f, &h, sizeof(f));
	return mrpc_f32_bits(f);
}

static u16 float16_of_f32(u32 u)
{
	_Float16 f = mrpc_f32_of_bits(u);
	u16 h;

	memcpy(&h, &f, sizeof(h));
	return h;
}

static bool is_nan(u32 u)
{
	return (u & 0x7fffffff) > 0x7f800000;
}

TEST(all_f16_to_f32)
{
	u32 h, u;

	for (h = 0; h < 0x10000; h++) {
		u = mrpc_f32_bits(mrpc_f16_to_f32(h));
		if ((h & 0x7fff) > 0x7c00)	/* sign and payload, and quiet */
			CHECK_EQ(u, (h & 0x8000) << 16 | 0x7fc00000 | (h & 0x3ff) << 13);
		else
			CHECK_EQ(u, f32_of_float16(h));
	}
}

/* There and back is the same, but that a NaN becomes quiet. */
TEST(all_there_and_back)
{
	u32 h;

	for (h = 0; h < 0x10000; h++) {
		CHECK_EQ(mrpc_f16_round(mrpc_f16_to_f32(h)), (h & 0x7fff) > 0x7c00 ? h | 0x200 : h);
		CHECK_EQ(mrpc_bf16_round(mrpc_f32_of_bits(h << 16)) >> 16,
			 (h & 0x7fff) > 0x7f80 ? h | 0x40 : h);
	}
}

/* The upper half, and one more if what is cut off is more than a half, or a half of an odd one. */
static u32 bf16_of_f32(u32 u)
{
	u32 cut = u & 0xffff, up = cut > 0x8000 || (cut == 0x8000 && u & 0x10000);

	return is_nan(u) ? (u | 0x400000) >> 16 : (u >> 16) + up;
}

TEST_LIMIT(all_f32_to_bf16, 180)
{
	u32 first = 0, i;

	do {
		next_inputs(&first);
		for (i = 0; i < NR_AT_ONCE; i++)
			ours[i] = mrpc_bf16_round(mrpc_f32_of_bits(in[i]));
		for (i = 0; i < NR_AT_ONCE; i++)
			theirs[i] = bf16_of_f32(in[i]) << 16;
		check_outputs("bf16");
	} while (first);
}

/* The conversion gives the nearer neighbour. Exact arithmetic says which one that is. */
TEST(bf16_is_the_nearest)
{
	static const u32 cuts[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0xffff };
	double value, below, above;
	u32 h, i, got;

	for (h = 0; h < 0x7f7f; h++) {
		for (i = 0; i < ARRAY_SIZE(cuts); i++) {
			got = mrpc_bf16_round(mrpc_f32_of_bits(h << 16 | cuts[i])) >> 16;
			value = mrpc_f32_of_bits(h << 16 | cuts[i]);
			below = value - mrpc_f32_of_bits(h << 16);
			above = mrpc_f32_of_bits((h + 1) << 16) - value;
			CHECK_EQ(got, below < above || (below == above && !(h & 1)) ? h : h + 1);
		}
	}
}

/* Where the result changes, and one input of 61 elsewhere. */
TEST_LIMIT(f32_to_f16_as_the_compiler_does, 180)
{
	u64 u, h;
	int d;

	for (u = 0; u <= U32_MAX; u += 61)
		if (!is_nan(u))
			CHECK_EQ(mrpc_f16_round(mrpc_f32_of_bits(u)), float16_of_f32(u));
	for (h = 0; h < 0x7c00; h++) {
		/* Half-way between two f16 */
		u = mrpc_f32_bits((f32_of_float16(h) ? mrpc_f16_to_f32(h) : 0) / 2 +
				  (h == 0x7bff ? 0x1p15f : mrpc_f16_to_f32(h + 1) / 2));
		for (d = -2; d <= 2; d++) {
			CHECK_EQ(mrpc_f16_round(mrpc_f32_of_bits(u + d)), float16_of_f32(u + d));
			CHECK_EQ(mrpc_f16_round(-mrpc_f32_of_bits(u + d)),
				 float16_of_f32((u + d) | 0x80000000));
		}
	}
}

#ifdef __x86_64__
static __attribute__((target("f16c"))) void f16_by_processor(void)
{
	u16 h[8];
	u32 i, j;

	for (i = 0; i < NR_AT_ONCE; i += 8) {
		__m256 f = _mm256_loadu_ps((const float *)&in[i]);

		_mm_storeu_si128((__m128i *)h, _mm256_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT));
		for (j = 0; j < 8; j++)
			theirs[i + j] = h[j];
	}
}

TEST_LIMIT(all_f32_to_f16_as_the_processor_does, 180)
{
	u32 first = 0, i;

	if (!__builtin_cpu_supports("f16c"))
		SKIP("no F16C");
	do {
		next_inputs(&first);
		for (i = 0; i < NR_AT_ONCE; i++)
			ours[i] = mrpc_f16_round(mrpc_f32_of_bits(in[i]));
		f16_by_processor();
		check_outputs("f16");
	} while (first);
}
#endif
