// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of blocks of bytes, out of packets and into them.
 */
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "core/memcopy.h"

#ifdef CONFIG_X86_64

static void mrpc_block_words(void *to, const void *from, size_t words)
{
	asm volatile("rep movsq" : "+D" (to), "+S" (from), "+c" (words) : : "memory");
}

#else

static void mrpc_block_words(void *to, const void *from, size_t words)
{
	memcpy(to, from, words * 8);
}

#endif

/* mrpc_block_copy_many() - mrpc_block_copy() for many bytes */
void mrpc_block_copy_many(void *to, const void *from, size_t len)
{
	size_t words = len / 8 * 8;

	instrument_memcpy_before(to, from, words);
	mrpc_block_words(to, from, len / 8);
	instrument_memcpy_after(to, from, words, 0);
	memcpy(to + words, from + words, len - words);
}
EXPORT_SYMBOL_GPL(mrpc_block_copy_many);

/* Returns true if mrpc_block_walk() can reach the bytes. */
static bool mrpc_block_walks(const struct sk_buff *skb, u32 at, u32 len)
{
	return len >= MRPC_BLOCK_MIN && at >= skb_headlen(skb) && !skb_has_frag_list(skb) &&
	       skb_frags_readable(skb) && !IS_ENABLED(CONFIG_HIGHMEM);
}

/* Copies between @mem and the pages of a packet. Return: bytes that the packet does not have. */
static __always_inline u32 mrpc_block_walk(const struct sk_buff *skb, u32 at, void *mem, u32 len,
					   bool out)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);
	const skb_frag_t *frag = shared->frags, *end = frag + shared->nr_frags;
	u32 n;

	for (at -= skb_headlen(skb); len && frag < end; frag++) {
		u32 size = skb_frag_size(frag);
		void *page;

		if (at >= size) {
			at -= size;
			continue;
		}
		page = skb_frag_address(frag) + at;
		n = min(size - at, len);
		mrpc_block_copy(out ? mem : page, out ? page : mem, n);
		mem += n;
		len -= n;
		at = 0;
	}
	return len;
}

/* mrpc_block_from_skb_many() - mrpc_block_from_skb() for many bytes */
int mrpc_block_from_skb_many(const struct sk_buff *skb, u32 at, void *to, u32 len)
{
	if (!mrpc_block_walks(skb, at, len))
		return skb_copy_bits(skb, at, to, len);
	return mrpc_block_walk(skb, at, to, len, true) ? -EFAULT : 0;
}
EXPORT_SYMBOL_GPL(mrpc_block_from_skb_many);

/**
 * mrpc_block_to_skb() - copy bytes into a packet
 * @skb: the packet; only the caller has it and its pages; it has room for the bytes
 * @at: position in the packet
 * @from: source of the bytes
 * @len: number of bytes
 *
 * Context: any.
 */
void mrpc_block_to_skb(struct sk_buff *skb, u32 at, const void *from, u32 len)
{
	if (!mrpc_block_walks(skb, at, len))
		skb_store_bits(skb, at, from, len);
	else
		mrpc_block_walk(skb, at, (void *)from, len, false);
}
EXPORT_SYMBOL_GPL(mrpc_block_to_skb);
