/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loops of reductions, for reduce.c and reduce_fp.c. The first compiles them for general
 * registers, the second for vectors.
 *
 * A loop goes over blocks of a fixed size. So the compiler needs no code for a rest, and
 * vectorises at -O2. The rest of a buffer is copied to a block that is padded with zeros. It
 * passes the same instructions as all other elements: that makes the result of an element
 * independent of its place.
 */
#ifndef MRPC_LIB_GROUP_REDUCE_LOOP_H
#define MRPC_LIB_GROUP_REDUCE_LOOP_H

#include "lib/group/reduce.h"

/* Eight vectors of 16 bytes: one turn of a loop. */
#define MRPC_REDUCE_BLOCK	128

/** struct mrpc_reduce_table - the loop of each type and operation; NULL: there is none */
struct mrpc_reduce_table {
	void (*loop[MRPC_NR_ELEMS][MRPC_NR_REDUCE_OPS])(void *dst, const void *with,
							const void *src, size_t blocks);
};

/*
 * Before a loop that goes over one block. dst and with are the same, or share no byte. So no turn
 * writes what another one reads, which "restrict" cannot say.
 */
#ifdef __clang__
#define MRPC_REDUCE_IVDEP	/* it unrolls and checks itself */
#define MRPC_REDUCE_UNROLL
#else
#define MRPC_REDUCE_IVDEP	_Pragma("GCC ivdep")
#define MRPC_REDUCE_UNROLL	_Pragma("GCC unroll 8")
#endif

/*
 * Defines the loop @name. @type is what one turn takes from each buffer: an element, or several
 * of them in a word. @expr is the result of @a (from with) and @b (from src). @attr is an attribute
 * of the function.
 */
#define MRPC_REDUCE_LOOP(name, attr, type, expr)					\
static attr void name(void *dst, const void *with, const void *src, size_t blocks)	\
{											\
	/* At any address, of any type. */						\
	struct place {									\
		type v;									\
	} __packed __attribute__((__may_alias__));					\
	enum { NR = MRPC_REDUCE_BLOCK / sizeof(type) };					\
	const struct place *w = with, *s = src;						\
	struct place *d = dst;								\
	u32 i;										\
											\
	for (; blocks; blocks--, d += NR, w += NR, s += NR) {				\
		MRPC_REDUCE_IVDEP							\
		MRPC_REDUCE_UNROLL							\
		for (i = 0; i < NR; i++) {						\
			const type a = w[i].v, b = s[i].v;				\
											\
			d[i].v = (expr);						\
		}									\
	}										\
}

/*
 * Minimum and maximum of floating point as integers. The bits of a number that is not negative
 * grow with it. Those of a negative one grow with its magnitude: xor turns that round, and -0
 * gets less than +0. Positive NaN are then at the upper end and negative ones at the lower end.
 * @inf, the bits of infinity, says how many. Adding their number brings all of them to the lower
 * end, where they win a minimum. Subtracting it brings them to the upper end.
 */
#define MRPC_REDUCE_ORDERED(name, utype, stype, inf)					\
static inline utype name##_key(utype v)							\
{											\
	return v ^ (utype)((stype)v >> (8 * sizeof(v) - 1)) >> 1;			\
}											\
											\
static inline utype name##_min(utype a, utype b)					\
{											\
	const utype nans = ((utype)~(utype)0 >> 1) - (inf);				\
	const stype x = (utype)(name##_key(a) + nans), y = (utype)(name##_key(b) + nans); \
											\
	return x < y ? a : b;								\
}											\
											\
static inline utype name##_max(utype a, utype b)					\
{											\
	const utype nans = ((utype)~(utype)0 >> 1) - (inf);				\
	const stype x = (utype)(name##_key(a) - nans), y = (utype)(name##_key(b) - nans); \
											\
	return x < y ? b : a;								\
}

MRPC_REDUCE_ORDERED(mrpc_f64, u64, s64, 0x7ff0000000000000ULL)
MRPC_REDUCE_ORDERED(mrpc_f32, u32, s32, 0x7f800000)
MRPC_REDUCE_ORDERED(mrpc_bf16, u16, s16, 0x7f80)
MRPC_REDUCE_ORDERED(mrpc_f16, u16, s16, 0x7c00)

#define MRPC_REDUCE_MIN_MAX(elem)							\
	[MRPC_REDUCE_MIN] = elem##_min,							\
	[MRPC_REDUCE_MAX] = elem##_max

#define MRPC_REDUCE_SUM_PROD(elem)							\
	[MRPC_REDUCE_SUM] = elem##_sum,							\
	[MRPC_REDUCE_PROD] = elem##_prod

#define MRPC_REDUCE_INTEGER(set, elem)							\
	[MRPC_REDUCE_AND] = set##_and,							\
	[MRPC_REDUCE_OR] = set##_or,							\
	MRPC_REDUCE_MIN_MAX(set##_##elem), MRPC_REDUCE_SUM_PROD(set##_##elem)

/* Reduces @count elements by the loop that @t has. */
static inline void mrpc_reduce_run(const struct mrpc_reduce_table *t, u32 elem, u32 op, void *dst,
				   const void *with, const void *src, size_t count)
{
	size_t bytes = count * mrpc_elem_size(elem), rest = bytes % MRPC_REDUCE_BLOCK;
	u8 d[MRPC_REDUCE_BLOCK] = {}, s[MRPC_REDUCE_BLOCK] = {};

	t->loop[elem][op](dst, with, src, bytes / MRPC_REDUCE_BLOCK);
	if (!rest)
		return;
	memcpy(d, (const u8 *)with + bytes - rest, rest);
	memcpy(s, (const u8 *)src + bytes - rest, rest);
	t->loop[elem][op](d, d, s, 1);
	memcpy((u8 *)dst + bytes - rest, d, rest);
}

#endif /* MRPC_LIB_GROUP_REDUCE_LOOP_H */
