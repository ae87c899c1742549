// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Types of elements and reductions; see types.h.
 *
 * The kernel wraps integers, so sums and products of signed and unsigned ones have the same bits.
 * Their order differs: ncclMax and ncclMin are offered for the kernel's own types only.
 */
#include <stdint.h>
#include <string.h>

#include "error.h"
#include "types.h"

/**
 * struct type - a type of elements
 * @name: of NCCL
 * @size: bytes
 * @elem: the kernel's
 * @other_order: how the kernel orders the elements, if that is not the order of the type
 */
struct type {
	const char *name;
	size_t size;
	enum mrpc_elem elem;
	const char *other_order;
};

static const struct type types[ncclNumTypes] = {
	[ncclInt8] = { "ncclInt8", 1, MRPC_ELEM_U8, "unsigned" },
	[ncclUint8] = { "ncclUint8", 1, MRPC_ELEM_U8, NULL },
	[ncclInt32] = { "ncclInt32", 4, MRPC_ELEM_I32, NULL },
	[ncclUint32] = { "ncclUint32", 4, MRPC_ELEM_I32, "signed" },
	[ncclInt64] = { "ncclInt64", 8, MRPC_ELEM_I64, NULL },
	[ncclUint64] = { "ncclUint64", 8, MRPC_ELEM_I64, "signed" },
	[ncclFloat16] = { "ncclFloat16", 2, MRPC_ELEM_F16, NULL },
	[ncclFloat32] = { "ncclFloat32", 4, MRPC_ELEM_F32, NULL },
	[ncclFloat64] = { "ncclFloat64", 8, MRPC_ELEM_F64, NULL },
	[ncclBfloat16] = { "ncclBfloat16", 2, MRPC_ELEM_BF16, NULL },
};

size_t type_size(ncclDataType_t type)
{
	return (unsigned int)type < ncclNumTypes ? types[type].size : 0;
}

enum mrpc_elem type_elem(ncclDataType_t type)
{
	return types[type].elem;
}

ncclResult_t find_reduction(const char *what, ncclRedOp_t op, ncclDataType_t type,
			    enum mrpc_reduce_op *reduce)
{
	static const enum mrpc_reduce_op reductions[ncclNumOps] = {
		[ncclSum] = MRPC_REDUCE_SUM,
		[ncclProd] = MRPC_REDUCE_PROD,
		[ncclMax] = MRPC_REDUCE_MAX,
		[ncclMin] = MRPC_REDUCE_MIN,
		[ncclAvg] = MRPC_REDUCE_SUM,
	};
	const struct type *t = &types[type];

	if ((unsigned int)op >= ncclNumOps)
		return fail(ncclInvalidArgument, "%s: no reduction %d, at most %d", what, (int)op,
			    ncclNumOps - 1);
	if ((op == ncclMax || op == ncclMin) && t->other_order)
		return fail(ncclInvalidArgument,
			    "%s: %s of %s is not offered: the kernel orders them as %s", what,
			    op == ncclMax ? "ncclMax" : "ncclMin", t->name, t->other_order);
	*reduce = reductions[op];
	return ncclSuccess;
}

/* -- division --------------------------------------------------------------------------------- */

static uint16_t bf16_divide(uint16_t a, int by)
{
	uint32_t bits = (uint32_t)a << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	f /= (float)by;
	memcpy(&bits, &f, sizeof(bits));
	if (f != f)		/* it stays a NaN */
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Elements may be at any address. @quotient: of the element a */
#define DIVIDE(name, type, quotient)						\
	static void divide_##name(void *elements, size_t count, int by)		\
	{									\
		char *p = elements, *end = p + count * sizeof(type);		\
		type a;								\
										\
		for (; p < end; p += sizeof(a)) {				\
			memcpy(&a, p, sizeof(a));				\
			a = (type)(quotient);					\
			memcpy(p, &a, sizeof(a));				\
		}								\
	}

DIVIDE(i8, int8_t, a / by)
DIVIDE(u8, uint8_t, a / by)
DIVIDE(i32, int32_t, a / by)
DIVIDE(u32, uint32_t, a / (uint32_t)by)
DIVIDE(i64, int64_t, a / by)
DIVIDE(u64, uint64_t, a / (uint64_t)by)
DIVIDE(f16, _Float16, (float)a / (float)by)
DIVIDE(f32, float, a / (float)by)
DIVIDE(f64, double, a / by)
DIVIDE(bf16, uint16_t, bf16_divide(a, by))

void divide(ncclDataType_t type, void *elements, size_t count, int by)
{
	static void (*const loops[ncclNumTypes])(void *elements, size_t count, int by) = {
		[ncclInt8] = divide_i8,
		[ncclUint8] = divide_u8,
		[ncclInt32] = divide_i32,
		[ncclUint32] = divide_u32,
		[ncclInt64] = divide_i64,
		[ncclUint64] = divide_u64,
		[ncclFloat16] = divide_f16,
		[ncclFloat32] = divide_f32,
		[ncclFloat64] = divide_f64,
		[ncclBfloat16] = divide_bf16,
	};

	loops[type](elements, count, by);
}
