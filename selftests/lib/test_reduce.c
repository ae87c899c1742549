// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/reduce.c kmod/lib/group/reduce_fp.c kmod/lib/group/reduce_loop.h */
/*
 * Reductions: kmod/lib/group/reduce.c and reduce_fp.c, against a plain model. reduce_fp.c is there
 * twice: with sanitizers, and as "fast_" compiled as in the kernel, with vectors.
 */
#include "lib/group/reduce_fp.h"
#include "reduce_model.h"
#include "rnd.h"
#include "tap.h"

typedef void reduce_fn(u32 elem, u32 op, void *dst, const void *with, const void *src,
		       size_t count);

reduce_fn fast_reduce_fp, fast_reduce_fp_avx2;

static struct way {
	const char *name;
	reduce_fn *reduce;
} ways[] = {
	{ "fp", mrpc_reduce_fp },
	{ "fast fp", fast_reduce_fp },
	{ "plain", mrpc_reduce },	/* from here on: not for all, not on all processors */
#ifdef __x86_64__
	{ "avx2", mrpc_reduce_fp_avx2 },
	{ "fast avx2", fast_reduce_fp_avx2 },
#endif
};

static bool way_has(const struct way *w, u32 elem, u32 op)
{
	if (w->reduce == mrpc_reduce)
		return !mrpc_reduce_needs_fp(elem, op);
#ifdef __x86_64__
	if (w > &ways[2])
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
#endif
	return true;
}

#define FOR_EACH_OPERATION(elem, op)				\
	for (elem = 0; elem < MRPC_NR_ELEMS; elem++)		\
		for (op = 0; op < MRPC_NR_REDUCE_OPS; op++)	\
			if (!mrpc_reduce_check(elem, op))

/* -- operands ------------------------------------------------------------------- */

/* Bits of the mantissa of each type of floating point. */
static const u8 mantissa[MRPC_NR_ELEMS] = {
	[MRPC_ELEM_F32] = 23, [MRPC_ELEM_F64] = 52, [MRPC_ELEM_BF16] = 7, [MRPC_ELEM_F16] = 10,
};

static u64 special_integer(u32 elem, u32 n)
{
	const u32 bits = 8 * mrpc_elem_size(elem);
	const u64 ones = ~0ULL >> (64 - bits), sign = 1ULL << (bits - 1);
	const u64 all[] = { 0, 1, 2, ones, ones - 1, sign, sign - 1, sign + 1, ones / 3 };

	return all[n % ARRAY_SIZE(all)];
}

#define NR_SPECIALS	40

/* Zeros, the smallest, the largest, infinities, NaN of both kinds, what is near 1. */
static u64 special_float(u32 elem, u32 n)
{
	const u32 m = mantissa[elem];
	const u64 sign = 1ULL << (8 * mrpc_elem_size(elem) - 1), least = 1ULL << m;
	const u64 inf = (sign - 1) / least * least, one = inf / 2 / least * least;
	const u64 all[NR_SPECIALS / 2] = {
		0, 1, 2, least - 1, least, least + 1, one - 1, one, one + 1, one + least,
		one - m * least, one - (m + 1) * least, inf / 2, inf - 2, inf - 1, inf, inf + 1,
		inf + least / 2, inf + least / 2 + 1, sign - 1,
	};

	n %= NR_SPECIALS;
	return all[n / 2] | (n & 1 ? sign : 0);
}

/* Any number @n says which. */
static u64 special(u32 elem, u32 n)
{
	return elem < MRPC_ELEM_F32 ? special_integer(elem, n) : special_float(elem, n);
}

static u64 random_bits(u64 *rnd)
{
	u64 high = rnd_next(rnd);

	return high << 32 | rnd_next(rnd);
}

/* A quarter of them special, and a quarter of like size, so that sums round. */
static u64 random_elem(u32 elem, u64 *rnd)
{
	u64 bits = random_bits(rnd) >> (64 - 8 * mrpc_elem_size(elem));

	switch (rnd_below(rnd, 4)) {
	case 0:
		return special(elem, rnd_next(rnd));
	case 1:
		bits &= ~(3ULL << (8 * mrpc_elem_size(elem) - 3));
		return bits | 1ULL << (8 * mrpc_elem_size(elem) - 3);
	default:
		return bits;
	}
}

/* -- tests ----------------------------------------------------------------------- */

#define MANY	4096

static u8 left[8 * MANY], right[8 * MANY], got[8 * MANY], want[8 * MANY];

/* Each result against the model, of all ways. */
static void check_many(u32 elem, u32 op)
{
	const u32 size = mrpc_elem_size(elem);
	const struct way *w;
	u64 a, b, is;
	u32 i;

	for (w = ways; w < ways + ARRAY_SIZE(ways); w++) {
		if (!way_has(w, elem, op))
			continue;
		w->reduce(elem, op, got, left, right, MANY);
		for (i = 0; i < MANY; i++) {
			a = elem_get(elem, left + i * size);
			b = elem_get(elem, right + i * size);
			is = elem_get(elem, got + i * size);
			CHECK_MSG(model_accepts(elem, op, a, b, is),
				  "%s, type %u, operation %u: %llx and %llx give %llx", w->name,
				  elem, op, (long long)a, (long long)b, (long long)is);
		}
	}
}

TEST(specials_with_specials)
{
	u32 elem, op, i;

	FOR_EACH_OPERATION(elem, op) {
		for (i = 0; i < MANY; i++) {
			elem_put(elem, left + i * mrpc_elem_size(elem), special(elem, i));
			elem_put(elem, right + i * mrpc_elem_size(elem), special(elem, i / NR_SPECIALS));
		}
		check_many(elem, op);
	}
}

TEST(random_operands)
{
	u32 elem, op, round, i;
	u64 rnd = 31;

	for (round = 0; round < 20; round++) {
		FOR_EACH_OPERATION(elem, op) {
			for (i = 0; i < MANY; i++) {
				elem_put(elem, left + i * mrpc_elem_size(elem),
					 random_elem(elem, &rnd));
				elem_put(elem, right + i * mrpc_elem_size(elem),
					 random_elem(elem, &rnd));
			}
			check_many(elem, op);
		}
	}
}

/* All f16, or all bf16, each with some hundred others. */
static void check_pairs(u32 elem, u32 op)
{
	u32 first, i, step;
	u64 rnd = 32;

	for (first = 0; first < 0x10000; first += MANY) {
		for (step = 0; step < 200; step++) {
			for (i = 0; i < MANY; i++) {
				elem_put(elem, left + 2 * i, first + i);
				elem_put(elem, right + 2 * i, rnd_next(&rnd) & 0xffff);
			}
			fast_reduce_fp(elem, op, got, left, right, MANY);
			for (i = 0; i < MANY; i++)
				CHECK(model_accepts(elem, op, elem_get(elem, left + 2 * i),
						    elem_get(elem, right + 2 * i),
						    elem_get(elem, got + 2 * i)));
		}
	}
}

TEST_LIMIT(all_f16_with_many, 120)
{
	check_pairs(MRPC_ELEM_F16, MRPC_REDUCE_SUM);
	check_pairs(MRPC_ELEM_F16, MRPC_REDUCE_PROD);
}

TEST_LIMIT(all_bf16_with_many, 120)
{
	check_pairs(MRPC_ELEM_BF16, MRPC_REDUCE_SUM);
	check_pairs(MRPC_ELEM_BF16, MRPC_REDUCE_PROD);
}

#define LONGEST		300
#define GUARD		0xa5

/*
 * At any place, of any length: the same bits, and nothing beside them is written. One half of them
 * in place, the other half from a third buffer.
 */
static void check_places(const struct way *w, u32 elem, u32 op)
{
	static u8 d[64 + 8 * LONGEST + 64], s[64 + 8 * LONGEST], other[64 + 8 * LONGEST];
	const u32 size = mrpc_elem_size(elem);
	u32 at, count, from, i;
	u8 *with;

	w->reduce(elem, op, want, left, right, LONGEST);
	for (at = 0; at < 64; at++) {
		for (count = 0; count <= LONGEST; count++) {
			from = (7 * at + count) % 64;
			with = (at ^ count) & 1 ? other + (5 * at + count / 2) % 64 : d + at;
			memset(d, GUARD, sizeof(d));
			memcpy(with, left, count * size);
			memcpy(s + from, right, count * size);
			w->reduce(elem, op, d + at, with, s + from, count);
			CHECK_MSG(!memcmp(d + at, want, count * size),
				  "%s, type %u, operation %u: %u elements at %u and %u differ",
				  w->name, elem, op, count, at, from);
			CHECK(!memcmp(s + from, right, count * size));
			CHECK(with == d + at || !memcmp(with, left, count * size));
			for (i = 0; i < at; i++)
				CHECK_EQ(d[i], GUARD);
			for (i = at + count * size; i < at + count * size + 64; i++)
				CHECK_EQ(d[i], GUARD);
		}
	}
}

TEST_LIMIT(places_and_lengths, 180)
{
	const struct way *w;
	u32 elem, op, i;
	u64 rnd = 33;

	FOR_EACH_OPERATION(elem, op) {
		for (i = 0; i < LONGEST; i++) {
			elem_put(elem, left + i * mrpc_elem_size(elem), random_elem(elem, &rnd));
			elem_put(elem, right + i * mrpc_elem_size(elem), random_elem(elem, &rnd));
		}
		for (w = ways; w < ways + ARRAY_SIZE(ways); w++)
			if (way_has(w, elem, op))
				check_places(w, elem, op);
	}
}

/* min and max do not depend on the order of their operands, also with two NaN. */
TEST(choices_commute)
{
	static const u32 floats[] = { MRPC_ELEM_F32, MRPC_ELEM_F64, MRPC_ELEM_BF16, MRPC_ELEM_F16 };
	u32 i, k, op;
	u64 a, b, x, y;

	for (i = 0; i < ARRAY_SIZE(floats); i++) {
		for (k = 0; k < NR_SPECIALS * NR_SPECIALS; k++) {
			for (op = MRPC_REDUCE_MIN; op <= MRPC_REDUCE_MAX; op++) {
				a = x = special(floats[i], k);
				b = y = special(floats[i], k / NR_SPECIALS);
				mrpc_reduce(floats[i], op, &x, &x, &b, 1);
				mrpc_reduce(floats[i], op, &y, &y, &a, 1);
				CHECK_EQ(x, y);
			}
		}
	}
}

TEST(types_and_operations)
{
	static const u32 sizes[] = { 4, 8, 1, 4, 8, 2, 2 };
	u32 elem, op;

	for (elem = 0; elem < MRPC_NR_ELEMS; elem++) {
		CHECK_EQ(mrpc_elem_size(elem), sizes[elem]);
		for (op = 0; op < MRPC_NR_REDUCE_OPS; op++) {
			if (elem >= MRPC_ELEM_F32 && op >= MRPC_REDUCE_AND) {
				CHECK_EQ(mrpc_reduce_check(elem, op), -EOPNOTSUPP);
				continue;
			}
			CHECK_EQ(mrpc_reduce_check(elem, op), 0);
			CHECK_EQ(mrpc_reduce_needs_fp(elem, op),
				 elem >= MRPC_ELEM_F32 &&
				 (op == MRPC_REDUCE_SUM || op == MRPC_REDUCE_PROD));
		}
		CHECK_EQ(mrpc_reduce_check(elem, MRPC_NR_REDUCE_OPS), -EINVAL);
	}
	CHECK_EQ(mrpc_elem_size(MRPC_NR_ELEMS), 0);
	CHECK_EQ(mrpc_elem_size(~0U), 0);
	CHECK_EQ(mrpc_reduce_check(MRPC_NR_ELEMS, 0), -EINVAL);
	CHECK_EQ(mrpc_reduce_check(~0U, ~0U), -EINVAL);
	CHECK_EQ(mrpc_reduce_check(0, ~0U), -EINVAL);
}
