// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions with floating-point and vector registers.
 *
 * The kernel compiles this file, and no other one of this folder, with CC_FLAGS_FPU and without
 * CC_FLAGS_NO_FPU. It calls these functions only between kernel_fpu_begin() and kernel_fpu_end().
 *
 * The loops are portable, and gcc vectorises them at -O2 -ftree-vectorize. Only f16 uses
 * instructions of a processor: F16C saves 97 % of the instructions. tools/bench/reduce counts them.
 */
#include "lib/group/half.h"
#include "lib/group/reduce_fp.h"
#include "lib/group/reduce_loop.h"

/* Both bf16 of a word, each of them in the upper half of a f32. */
#define BF16_PAIR(op)									\
	(mrpc_bf16_round(mrpc_f32_of_bits(a << 16) op mrpc_f32_of_bits(b << 16)) >> 16 |	\
	 mrpc_bf16_round(mrpc_f32_of_bits(a & 0xffff0000) op				\
			 mrpc_f32_of_bits(b & 0xffff0000)))

#define F16_PAIR(op)									\
	(mrpc_f16_round(mrpc_f16_to_f32(a & 0xffff) op mrpc_f16_to_f32(b & 0xffff)) |	\
	 mrpc_f16_round(mrpc_f16_to_f32(a >> 16) op mrpc_f16_to_f32(b >> 16)) << 16)

#define FLOATING(elem)								\
	[MRPC_REDUCE_MIN] = elem##_min,							\
	[MRPC_REDUCE_MAX] = elem##_max,							\
	[MRPC_REDUCE_SUM] = elem##_sum,							\
	[MRPC_REDUCE_PROD] = elem##_prod

#define TABLE(set) { {									\
	[MRPC_ELEM_I32] = { MRPC_REDUCE_INTEGER(set, i32) },				\
	[MRPC_ELEM_I64] = { MRPC_REDUCE_INTEGER(set, i64) },				\
	[MRPC_ELEM_U8] = { MRPC_REDUCE_INTEGER(set, u8) },				\
	[MRPC_ELEM_F32] = { FLOATING(set##_f32) },				\
	[MRPC_ELEM_F64] = { FLOATING(set##_f64) },				\
	[MRPC_ELEM_BF16] = { FLOATING(set##_bf16) },				\
	[MRPC_ELEM_F16] = { FLOATING(set##_f16) },				\
} }

#define LOOP(name, type, expr) MRPC_REDUCE_LOOP(vector_##name, noinline, type, expr)
#include "lib/group/reduce_integer.h"
#include "lib/group/reduce_float.h"
LOOP(f16_sum, u32, F16_PAIR(+))
LOOP(f16_prod, u32, F16_PAIR(*))
#undef LOOP

static const struct mrpc_reduce_table vector = TABLE(vector);

void mrpc_reduce_fp(u32 elem, u32 op, void *dst, const void *with, const void *src, size_t count)
{
	mrpc_reduce_run(&vector, elem, op, dst, with, src, count);
}

/* sparse does not know these instructions. */
#if defined(__x86_64__) && !defined(__CHECKER__)

#define AVX2 __attribute__((__target__("avx2,f16c")))

#define LOOP(name, type, expr) MRPC_REDUCE_LOOP(avx2_##name, AVX2, type, expr)
#include "lib/group/reduce_integer.h"
#include "lib/group/reduce_float.h"
#undef LOOP

/* Eight f16, at any address. */
struct f16x8 {
	__attribute__((__vector_size__(16))) short v;
} __packed __attribute__((__may_alias__));

#define TO_F32(half)	__builtin_ia32_vcvtph2ps256((half).v)
#define TO_F16(single)	__builtin_ia32_vcvtps2ph256(single, 0)	/* 0: to nearest even */

/* As MRPC_REDUCE_LOOP(), for f16. */
#define F16C_LOOP(name, op)								\
static AVX2 void name(void *dst, const void *with, const void *src, size_t blocks)	\
{											\
	enum { NR = MRPC_REDUCE_BLOCK / sizeof(struct f16x8) };				\
	const struct f16x8 *w = with, *s = src;						\
	struct f16x8 *d = dst;								\
	u32 i;										\
											\
	for (; blocks; blocks--, d += NR, w += NR, s += NR) {				\
		MRPC_REDUCE_IVDEP							\
		MRPC_REDUCE_UNROLL							\
		for (i = 0; i < NR; i++)						\
			d[i].v = TO_F16(TO_F32(w[i]) op TO_F32(s[i]));			\
	}										\
}

F16C_LOOP(avx2_f16_sum, +)
F16C_LOOP(avx2_f16_prod, *)

static const struct mrpc_reduce_table avx2 = TABLE(avx2);

void mrpc_reduce_fp_avx2(u32 elem, u32 op, void *dst, const void *with, const void *src,
			 size_t count)
{
	mrpc_reduce_run(&avx2, elem, op, dst, with, src, count);
}

#endif
