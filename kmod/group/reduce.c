// SPDX-License-Identifier: GPL-2.0
/*
 * Reduction of chunks, with the vector registers of the processor.
 *
 * Between kernel_fpu_begin() and kernel_fpu_end() the thread cannot be preempted. So a chunk is
 * reduced in pieces of a few microseconds.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/sizes.h>

#include "group/reduce.h"
#include "lib/group/reduce.h"
#include "lib/group/reduce_fp.h"

#define MRPC_REDUCE_PIECE	SZ_8K	/* bytes between begin and end */
#define MRPC_REDUCE_VECTOR	SZ_1K	/* bytes from which vectors are worth begin and end */

#if defined(CONFIG_ARCH_HAS_KERNEL_FPU_SUPPORT)
#include <linux/fpu.h>
#define MRPC_REDUCE_FP	1
#elif defined(CONFIG_UML)
#include <asm/fpu/api.h>
#define kernel_fpu_available()	true
#define MRPC_REDUCE_FP	1
#else
#define kernel_fpu_available()	false
#define kernel_fpu_begin()	do { } while (0)
#define kernel_fpu_end()	do { } while (0)
#define MRPC_REDUCE_FP	0
#endif

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>

static void mrpc_reduce_piece(u32 elem, u32 op, void *dst, const void *with, const void *src,
			      size_t count)
{
	if (boot_cpu_has(X86_FEATURE_AVX2) && boot_cpu_has(X86_FEATURE_F16C))
		mrpc_reduce_fp_avx2(elem, op, dst, with, src, count);
	else
		mrpc_reduce_fp(elem, op, dst, with, src, count);
}
#else
static void mrpc_reduce_piece(u32 elem, u32 op, void *dst, const void *with, const void *src,
			      size_t count)
{
	if (MRPC_REDUCE_FP)
		mrpc_reduce_fp(elem, op, dst, with, src, count);
}
#endif

/**
 * mrpc_reduce_offered() - check that this host can do an operation
 * @elem: enum mrpc_elem, from an application
 * @op: enum mrpc_reduce_op, from an application
 *
 * Return: 0; -EINVAL: there is no such type or operation; -EOPNOTSUPP: not with this type, or
 * not on this host.
 */
int mrpc_reduce_offered(u32 elem, u32 op)
{
	int err = mrpc_reduce_check(elem, op);

	if (!err && mrpc_reduce_needs_fp(elem, op) && !kernel_fpu_available())
		err = -EOPNOTSUPP;
	return err;
}

/**
 * mrpc_reduce_chunk() - dst[i] = op(with[i], src[i])
 * @elem: enum mrpc_elem
 * @op: an operation that mrpc_reduce_offered() accepts
 * @dst: kernel address; an application may write there meanwhile
 * @with: kernel address, as @dst; the same, or nothing of it
 * @src: kernel address
 * @bytes: whole elements
 *
 * Context: process.
 */
void mrpc_reduce_chunk(u32 elem, u32 op, void *dst, const void *with, const void *src, u32 bytes)
{
	u32 size = mrpc_elem_size(elem), n;

	if (!mrpc_reduce_needs_fp(elem, op) &&
	    (bytes < MRPC_REDUCE_VECTOR || !kernel_fpu_available())) {
		mrpc_reduce(elem, op, dst, with, src, bytes / size);
		return;
	}
	for (; bytes; bytes -= n, dst += n, with += n, src += n) {
		n = min(bytes, MRPC_REDUCE_PIECE);
		kernel_fpu_begin();
		mrpc_reduce_piece(elem, op, dst, with, src, n / size);
		kernel_fpu_end();
	}
}
