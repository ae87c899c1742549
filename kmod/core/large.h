/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of which a user or a peer says how much it is. */
#ifndef MRPC_CORE_LARGE_H
#define MRPC_CORE_LARGE_H

#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

/* An allocation that does not fit in the caller's cgroup fails. It kills no process there. */
#define MRPC_GFP_LARGE	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

/**
 * mrpc_large_alloc() - allocate memory of any size
 * @bytes: how much
 *
 * Up to 64 KiB it is like any other memory of the kernel; beyond, it is MRPC_GFP_LARGE.
 *
 * Context: process; may sleep. Return: memory for kvfree(), or NULL.
 */
static inline void *mrpc_large_alloc(u64 bytes)
{
	if (bytes <= SZ_64K)
		return kvmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return __vmalloc(bytes, MRPC_GFP_LARGE);
}

#endif /* MRPC_CORE_LARGE_H */
