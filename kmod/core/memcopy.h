/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Blocks of bytes, copied as the kernel copies what it has from users.
 *
 * The kernel's memcpy() is a loop of moves where a processor does not have fast short string
 * instructions (FSRM), whereas copies from and to users are string instructions from 64 bytes
 * on. So should be those which mrpc makes in their place.
 */
#ifndef MRPC_CORE_MEMCOPY_H
#define MRPC_CORE_MEMCOPY_H

#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>

struct sk_buff;

#define MRPC_BLOCK_MIN	256	/* bytes that are worth a string instruction's beginning */

/* mrpc_block_memcpy_is_best() - does memcpy() use string instructions itself? */
static __always_inline bool mrpc_block_memcpy_is_best(void)
{
#if defined(CONFIG_UML)
	return false;	/* its memcpy() is not patched for the processor: a loop of moves */
#elif defined(CONFIG_X86_64)
	return cpu_feature_enabled(X86_FEATURE_FSRM);
#else
	return true;
#endif
}

void mrpc_block_copy_many(void *to, const void *from, size_t len);
int mrpc_block_from_skb_many(const struct sk_buff *skb, u32 at, void *to, u32 len);
void mrpc_block_to_skb(struct sk_buff *skb, u32 at, const void *from, u32 len);

/**
 * mrpc_block_copy() - copy bytes that may be many
 * @to: where to; does not overlap with @from
 * @from: where from; may be memory that an application can write to
 * @len: bytes
 *
 * Context: any.
 */
static __always_inline void mrpc_block_copy(void *to, const void *from, size_t len)
{
	if (len < MRPC_BLOCK_MIN)
		memcpy(to, from, len);
	else
		mrpc_block_copy_many(to, from, len);
}

/**
 * mrpc_block_from_skb() - copy bytes of a packet that may be many
 * @skb: the packet, which has them
 * @at: where in it
 * @to: where to
 * @len: how many
 *
 * Context: any.
 * Return: 0, or -EFAULT if the processor cannot read them all.
 */
static __always_inline int mrpc_block_from_skb(const struct sk_buff *skb, u32 at, void *to, u32 len)
{
	return len < MRPC_BLOCK_MIN ? skb_copy_bits(skb, at, to, len) :
				      mrpc_block_from_skb_many(skb, at, to, len);
}

#endif /* MRPC_CORE_MEMCOPY_H */
