/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reductions with floating-point and vector registers: all operations on all types (reduce.h).
 *
 * In the kernel the caller is between kernel_fpu_begin() and kernel_fpu_end(), which forbid
 * preemption: so it reduces a bounded piece at a time. Elsewhere the caller has the default
 * environment: round to nearest, and subnormal numbers are not flushed to zero.
 */
#ifndef MRPC_LIB_GROUP_REDUCE_FP_H
#define MRPC_LIB_GROUP_REDUCE_FP_H

#include "lib/group/reduce.h"

/**
 * mrpc_reduce_fp() - dst[i] = op(with[i], src[i])
 * @elem: enum mrpc_elem
 * @op: an operation that mrpc_reduce_check() accepts for @elem
 * @dst: @count elements
 * @with: @count elements: @dst itself, or such as do not overlap with it
 * @src: @count elements, which do not overlap with @dst
 * @count: number of elements
 *
 * Context: floating point is allowed.
 */
void mrpc_reduce_fp(u32 elem, u32 op, void *dst, const void *with, const void *src, size_t count);

#ifdef __x86_64__
/** mrpc_reduce_fp_avx2() - mrpc_reduce_fp() for a processor that has AVX2 and F16C */
void mrpc_reduce_fp_avx2(u32 elem, u32 op, void *dst, const void *with, const void *src,
			 size_t count);
#endif

#endif /* MRPC_LIB_GROUP_REDUCE_FP_H */
