// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions that need no floating point. This file has no floating-point type: the kernel compiles
 * it for general registers.
 */
#include "lib/group/reduce.h"
#include "lib/group/reduce_loop.h"

#define LOOP(name, type, expr) MRPC_REDUCE_LOOP(plain_##name, noinline, type, expr)
#include "lib/group/reduce_integer.h"

static const struct mrpc_reduce_table plain = { {
	[MRPC_ELEM_I32] = { MRPC_REDUCE_INTEGER(plain, i32) },
	[MRPC_ELEM_I64] = { MRPC_REDUCE_INTEGER(plain, i64) },
	[MRPC_ELEM_U8] = { MRPC_REDUCE_INTEGER(plain, u8) },
	[MRPC_ELEM_F32] = { MRPC_REDUCE_MIN_MAX(plain_f32) },
	[MRPC_ELEM_F64] = { MRPC_REDUCE_MIN_MAX(plain_f64) },
	[MRPC_ELEM_BF16] = { MRPC_REDUCE_MIN_MAX(plain_bf16) },
	[MRPC_ELEM_F16] = { MRPC_REDUCE_MIN_MAX(plain_f16) },
} };

static const u8 elem_sizes[MRPC_NR_ELEMS] = {
	[MRPC_ELEM_I32] = 4,
	[MRPC_ELEM_I64] = 8,
	[MRPC_ELEM_U8] = 1,
	[MRPC_ELEM_F32] = 4,
	[MRPC_ELEM_F64] = 8,
	[MRPC_ELEM_BF16] = 2,
	[MRPC_ELEM_F16] = 2,
};

u32 mrpc_elem_size(u32 elem)
{
	return elem < MRPC_NR_ELEMS ? elem_sizes[elem] : 0;
}

int mrpc_reduce_check(u32 elem, u32 op)
{
	if (elem >= MRPC_NR_ELEMS || op >= MRPC_NR_REDUCE_OPS)
		return -EINVAL;
	if (elem >= MRPC_ELEM_F32 && op >= MRPC_REDUCE_AND)
		return -EOPNOTSUPP;
	return 0;
}

bool mrpc_reduce_needs_fp(u32 elem, u32 op)
{
	return !plain.loop[elem][op];
}

void mrpc_reduce(u32 elem, u32 op, void *dst, const void *with, const void *src, size_t count)
{
	mrpc_reduce_run(&plain, elem, op, dst, with, src, count);
}
