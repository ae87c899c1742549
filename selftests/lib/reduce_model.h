/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a reduction of two elements has to give, by plain C and the compiler's types. Elements are
 * bits in a u64.
 */
#ifndef REDUCE_MODEL_H
#define REDUCE_MODEL_H

#include "lib/group/reduce.h"

static inline u64 elem_get(u32 elem, const void *at)
{
	u64 bits = 0;

	memcpy(&bits, at, mrpc_elem_size(elem));
	return bits;
}

static inline void elem_put(u32 elem, void *at, u64 bits)
{
	memcpy(at, &bits, mrpc_elem_size(elem));
}

/* Every type of floating point fits into a double. */
static inline double elem_value(u32 elem, u64 bits)
{
	u32 high = bits << 16, word = bits;
	_Float16 half;
	double d;
	float f;

	switch (elem) {
	case MRPC_ELEM_F64:
		memcpy(&d, &bits, sizeof(d));
		return d;
	case MRPC_ELEM_F16:
		memcpy(&half, &bits, sizeof(half));
		return half;
	default:
		memcpy(&f, elem == MRPC_ELEM_BF16 ? &high : &word, sizeof(f));
		return f;
	}
}

static inline bool elem_is_nan(u32 elem, u64 bits)
{
	return elem >= MRPC_ELEM_F32 && __builtin_isnan(elem_value(elem, bits));
}

static inline bool elem_is_negative(u32 elem, u64 bits)
{
	return bits >> (8 * mrpc_elem_size(elem) - 1);
}

/* The bf16 nearest to @f, which is no NaN; of two, the even one. */
static inline u64 bf16_nearest(float f)
{
	u32 u, cut;

	memcpy(&u, &f, sizeof(u));
	cut = u & 0xffff;
	return (u >> 16) + (cut > 0x8000 || (cut == 0x8000 && (u >> 16) & 1));
}

static inline u64 model_round(u32 elem, float f)
{
	_Float16 half = f;
	u64 bits = 0;

	if (elem == MRPC_ELEM_BF16)
		return bf16_nearest(f);
	if (elem == MRPC_ELEM_F16)
		memcpy(&bits, &half, sizeof(half));
	else
		memcpy(&bits, &f, sizeof(f));
	return bits;
}

static inline u64 model_integer(u32 elem, u32 op, u64 a, u64 b)
{
	const u32 shift = 64 - 8 * mrpc_elem_size(elem);
	const bool less = elem == MRPC_ELEM_U8 ? a < b : (s64)(a << shift) < (s64)(b << shift);

	switch (op) {
	case MRPC_REDUCE_SUM:
		return (a + b) << shift >> shift;
	case MRPC_REDUCE_PROD:
		return (a * b) << shift >> shift;
	case MRPC_REDUCE_MIN:
		return less ? a : b;
	case MRPC_REDUCE_MAX:
		return less ? b : a;
	case MRPC_REDUCE_AND:
		return a & b;
	default:
		return a | b;
	}
}

/* The result for operands of which none is NaN, or is to be NaN. */
static inline u64 model_floating(u32 elem, u32 op, u64 a, u64 b)
{
	const double x = elem_value(elem, a), y = elem_value(elem, b);
	bool less = x < y || (x == y && elem_is_negative(elem, a));
	double d;
	u64 bits;

	if (op == MRPC_REDUCE_MIN)
		return less ? a : b;
	if (op == MRPC_REDUCE_MAX)
		return less ? b : a;
	if (elem != MRPC_ELEM_F64)
		return model_round(elem, op == MRPC_REDUCE_SUM ? (float)x + (float)y :
							     (float)x * (float)y);
	d = op == MRPC_REDUCE_SUM ? x + y : x * y;
	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

/* Whether @is is a right result of @a and @b. */
static inline bool model_accepts(u32 elem, u32 op, u64 a, u64 b, u64 is)
{
	const bool a_nan = elem_is_nan(elem, a), b_nan = elem_is_nan(elem, b);
	const bool choice = op == MRPC_REDUCE_MIN || op == MRPC_REDUCE_MAX;
	u64 want;

	if (elem < MRPC_ELEM_F32)
		return is == model_integer(elem, op, a, b);
	if (choice && (a_nan || b_nan))
		return (a_nan && is == a) || (b_nan && is == b);
	if (a_nan || b_nan)
		return elem_is_nan(elem, is);
	want = model_floating(elem, op, a, b);
	return is == want || (elem_is_nan(elem, want) && elem_is_nan(elem, is));
}

#endif /* REDUCE_MODEL_H */
