/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reduction of two buffers, element by element: dst = op(with, src).
 *
 * Three functions do it, with the same results:
 *
 *  - mrpc_reduce() uses general registers only, so it runs in any context. It has what integer
 *    instructions can do exactly: all operations on integers, min and max of all types;
 *  - mrpc_reduce_fp() has all operations on all types. It uses vector registers (reduce_fp.h);
 *  - mrpc_reduce_fp_avx2() is the same for processors with AVX2 and F16C.
 *
 * The rules:
 *
 *  - i32 and i64 are signed and u8 is unsigned. Sums and products wrap;
 *  - "and" and "or" are for integers only. For floating point both are refused;
 *  - f32 and f64 are IEEE 754 with round to nearest even and subnormal numbers;
 *  - a bf16 or f16 sum or product is computed in f32 and rounded once, to nearest even;
 *  - min and max choose one of the operands, as it is, as minimum and maximum of IEEE 754-2019 do:
 *    -0 is less than +0, and a NaN wins. Which of two NaN wins does not depend on their order.
 *    They differ from IEEE 754 in one thing: a signalling NaN stays so. They also differ from the
 *    min and max of NCCL, which lose a NaN on some GPUs;
 *  - a sum or product is a quiet NaN if an operand is NaN, or if the operation is invalid. The
 *    processor chooses the sign and the payload of that NaN.
 *
 * The result of an element depends only on its two operands: not on alignment, count or place.
 * The three functions may differ in the sign and payload of a NaN only, and so may different
 * processors. So an AllReduce computes each element once and copies the result (schedule.h).
 *
 * Elements are in the byte order of the host. The buffers may have any alignment. dst may be the
 * same as with. Otherwise they must not overlap.
 */
#ifndef MRPC_LIB_GROUP_REDUCE_H
#define MRPC_LIB_GROUP_REDUCE_H

#include <linux/mrpc.h>

#include "lib/ds/types.h"

/** mrpc_elem_size() - bytes of an element of type @elem; 0: there is no such type */
u32 mrpc_elem_size(u32 elem);

/**
 * mrpc_reduce_check() - whether an operation exists
 * @elem: enum mrpc_elem, from a hostile caller
 * @op: enum mrpc_reduce_op, from a hostile caller
 *
 * Return: 0; -EINVAL: the type or the operation is unknown; -EOPNOTSUPP: "and" or "or" of
 * floating point.
 */
int mrpc_reduce_check(u32 elem, u32 op);

/**
 * mrpc_reduce_needs_fp() - whether only mrpc_reduce_fp() can do it
 * @elem: enum mrpc_elem
 * @op: an operation that mrpc_reduce_check() accepts for @elem
 */
bool mrpc_reduce_needs_fp(u32 elem, u32 op);

/**
 * mrpc_reduce() - dst[i] = op(with[i], src[i]), without floating point
 * @elem: enum mrpc_elem
 * @op: an operation that mrpc_reduce_check() accepts for @elem and that needs no floating point
 * @dst: @count elements
 * @with: @count elements: @dst itself, or such as do not overlap with it
 * @src: @count elements, which do not overlap with @dst
 * @count: number of elements
 */
void mrpc_reduce(u32 elem, u32 op, void *dst, const void *with, const void *src, size_t count);

#endif /* MRPC_LIB_GROUP_REDUCE_H */
