// SPDX-License-Identifier: GPL-2.0
/*
 * Heaps: the shared memory between an application and the kernel.
 *
 * The kernel makes the pages and maps them into the application, never the other way round. So
 * there is no pinning, and no user address on the data path. The memory controller charges the
 * process that asked for the pages.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/heap.h"
#include "core/large.h"
#include "lib/ds/buddy.h"

/**
 * mrpc_heap_init() - make an empty heap
 * @heap: the heap
 * @kind: enum mrpc_region_kind
 * @limit: most bytes that it may grow to
 */
void mrpc_heap_init(struct mrpc_heap *heap, u32 kind, u64 limit)
{
	heap->kind = kind;
	heap->limit = limit;
	spin_lock_init(&heap->lock);
}

/**
 * mrpc_region_free() - free a region that is in no heap
 * @region: the region, or NULL
 */
void mrpc_region_free(struct mrpc_region *region)
{
	if (!region)
		return;
	kvfree(region->units);
	kvfree(region->delivered);
	vfree(region->addr);
	kfree(region);
}

/**
 * mrpc_heap_destroy() - free all regions
 * @heap: the heap; only the caller has a reference
 *
 * Context: may sleep.
 */
void mrpc_heap_destroy(struct mrpc_heap *heap)
{
	u32 i;

	for (i = 0; i < heap->nr; i++)
		mrpc_region_free(heap->regions[i]);
	heap->nr = 0;
}

static struct mrpc_region *mrpc_region_new(u32 kind, u64 base, u64 len)
{
	u32 units = len >> MRPC_BUDDY_SHIFT;
	struct mrpc_region *region;

	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region)
		return NULL;
	region->base = base;
	region->len = len;
	region->addr = __vmalloc(len, MRPC_GFP_LARGE | __GFP_ZERO);
	if (!region->addr)
		goto err;
	if (kind == MRPC_REGION_RECV) {
		region->units = kvcalloc(units, sizeof(*region->units), GFP_KERNEL_ACCOUNT);
		region->delivered = kvcalloc(BITS_TO_LONGS(units), sizeof(long),
					     GFP_KERNEL_ACCOUNT);
		if (!region->units || !region->delivered)
			goto err;
		mrpc_buddy_init(&region->buddy, region->units, len);
	}
	return region;
err:
	mrpc_region_free(region);
	return NULL;
}

/**
 * mrpc_heap_region() - make the next region of a heap
 * @heap: the heap
 * @len: bytes
 *
 * Context: may sleep; the caller holds the session's mutex @making until it has called
 * mrpc_heap_publish() or mrpc_region_free().
 * Return: the region; -EINVAL for a length that is zero, unaligned or above the limit of
 * one region; -EDQUOT beyond the heap's limit; -ENOMEM.
 */
struct mrpc_region *mrpc_heap_region(struct mrpc_heap *heap, u64 len)
{
	struct mrpc_region *region;

	if (!len || len > MRPC_REGION_MAX || !IS_ALIGNED(len, MRPC_REGION_ALIGN))
		return ERR_PTR(-EINVAL);
	if (heap->nr == MRPC_MAX_REGIONS || heap->len + len > heap->limit)
		return ERR_PTR(-EDQUOT);
	region = mrpc_region_new(heap->kind, heap->len, len);
	return region ?: ERR_PTR(-ENOMEM);
}

/**
 * mrpc_heap_publish() - make a region visible
 * @heap: the heap
 * @region: from mrpc_heap_region()
 */
void mrpc_heap_publish(struct mrpc_heap *heap, struct mrpc_region *region)
{
	heap->regions[heap->nr] = region;
	heap->len += region->len;
	/* Pairs with the acquire in mrpc_heap_count(). */
	smp_store_release(&heap->nr, heap->nr + 1);
}

/* Returns the count of regions. Regions [0, count) are complete and stay. */
static u32 mrpc_heap_count(const struct mrpc_heap *heap)
{
	/* Pairs with the release in mrpc_heap_publish(). */
	return smp_load_acquire(&heap->nr);
}

/**
 * mrpc_heap_find() - find the region that holds a heap offset
 * @heap: the heap
 * @off: any number
 *
 * Return: the region, valid as long as the heap, or NULL.
 */
struct mrpc_region *mrpc_heap_find(struct mrpc_heap *heap, u64 off)
{
	u32 nr = mrpc_heap_count(heap);
	u32 i;

	for (i = 0; i < nr; i++) {
		struct mrpc_region *region = heap->regions[i];

		if (off - region->base < region->len && off >= region->base)
			return region;
	}
	return NULL;
}

/**
 * mrpc_heap_at() - return the kernel address of a piece of a heap
 * @ctx: the heap
 * @off: heap offset
 * @len: bytes
 *
 * Return: the address, or NULL if the bytes are not all in one region.
 */
const void *mrpc_heap_at(void *ctx, u64 off, u64 len)
{
	struct mrpc_region *region = mrpc_heap_find(ctx, off);

	if (!region || len > region->len - (off - region->base))
		return NULL;
	return region->addr + (off - region->base);
}
EXPORT_SYMBOL_GPL(mrpc_heap_at);

/**
 * mrpc_heap_page() - return the page that holds a heap offset
 * @heap: the heap
 * @off: an offset that mrpc_heap_at() has accepted
 */
struct page *mrpc_heap_page(struct mrpc_heap *heap, u64 off)
{
	return vmalloc_to_page(mrpc_heap_at(heap, off, 1));
}
EXPORT_SYMBOL_GPL(mrpc_heap_page);

/**
 * mrpc_heap_mapped() - note that a part of a receive region is being mapped
 * @heap: the heap
 * @off: heap offset; mrpc_heap_at() has accepted it
 *
 * Return: true the first time: there is room now.
 */
bool mrpc_heap_mapped(struct mrpc_heap *heap, u64 off)
{
	struct mrpc_region *region = mrpc_heap_find(heap, off);

	return !xchg(&region->mapped, true);
}

/**
 * mrpc_heap_fault() - handle a page fault in a mapping of a heap
 * @heap: the heap
 * @vmf: the fault
 * @off: heap offset of the faulting page
 */
vm_fault_t mrpc_heap_fault(struct mrpc_heap *heap, struct vm_fault *vmf, u64 off)
{
	const void *addr = mrpc_heap_at(heap, off, PAGE_SIZE);

	if (!addr)
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page(addr);
	get_page(vmf->page);
	return 0;
}

/**
 * mrpc_heap_alloc() - allocate a block for an incoming message
 * @heap: a receive heap
 * @bytes: its size
 * @off: out: heap offset
 * @never: out, on failure: the heap could not hold it even if it were empty
 *
 * Context: process.
 * Return: its kernel address, or NULL.
 */
void *mrpc_heap_alloc(struct mrpc_heap *heap, u32 bytes, u32 *off, bool *never)
{
	u32 nr = mrpc_heap_count(heap);
	void *addr = NULL;
	u32 i;

	*never = true;
	spin_lock(&heap->lock);
	for (i = 0; i < nr; i++) {
		struct mrpc_region *region = heap->regions[i];
		u32 taken;
		s64 at;

		if (!READ_ONCE(region->mapped))
			continue;
		at = mrpc_buddy_alloc(&region->buddy, bytes, &taken);
		if (at < 0) {
			/* A buddy allocator: an empty region holds half its size at least. */
			if (bytes <= rounddown_pow_of_two(region->len))
				*never = false;
			continue;
		}
		*off = region->base + at;
		heap->used += taken;
		addr = region->addr + at;
		break;
	}
	if (!addr)
		heap->failed++;
	spin_unlock(&heap->lock);
	return addr;
}

/**
 * mrpc_heap_largest() - find what the heap has room for
 * @heap: a receive heap
 *
 * Return: number of orders of which mrpc_heap_alloc() finds a block now: see mrpc_buddy_largest().
 */
u32 mrpc_heap_largest(struct mrpc_heap *heap)
{
	u32 nr = mrpc_heap_count(heap), orders = 0, i;

	spin_lock(&heap->lock);
	for (i = 0; i < nr; i++)
		if (READ_ONCE(heap->regions[i]->mapped))
			orders = max(orders, mrpc_buddy_largest(&heap->regions[i]->buddy));
	spin_unlock(&heap->lock);
	return orders;
}

/**
 * mrpc_heap_cancel() - free a block that was never delivered
 * @heap: a receive heap
 * @off: the block
 * @dirty: bytes that may have been written. They are zeroed, because the application can read them
 *	and must never see content that was not accepted
 */
void mrpc_heap_cancel(struct mrpc_heap *heap, u32 off, u32 dirty)
{
	struct mrpc_region *region = mrpc_heap_find(heap, off);
	u8 *addr = region->addr + (off - region->base);
	u32 done, n;
	s64 freed;

	/* It may be 1 GiB: yield the processor in between. */
	for (done = 0; done < dirty; done += n) {
		n = min_t(u32, dirty - done, SZ_1M);
		memset(addr + done, 0, n);
		if (n == SZ_1M)
			cond_resched();
	}
	spin_lock(&heap->lock);
	freed = mrpc_buddy_free(&region->buddy, off - region->base);
	if (!WARN_ON_ONCE(freed < 0))
		heap->used -= freed;
	spin_unlock(&heap->lock);
}

/**
 * mrpc_heap_deliver() - allow the application to release a block from now on
 * @heap: a receive heap
 * @off: the block
 */
void mrpc_heap_deliver(struct mrpc_heap *heap, u32 off)
{
	struct mrpc_region *region = mrpc_heap_find(heap, off);

	set_bit((off - region->base) >> MRPC_BUDDY_SHIFT, region->delivered);
}

/* Releases one block. Under the lock. Return: as mrpc_heap_release(). */
static int mrpc_heap_release_one(struct mrpc_heap *heap, u32 off)
{
	struct mrpc_region *region = mrpc_heap_find(heap, off);
	s64 freed;
	u32 at;

	if (!region || !IS_ALIGNED(off - region->base, MRPC_BUDDY_UNIT))
		return -EINVAL;
	at = off - region->base;
	/* Only one of several releases gets it. Atomic: blocks are delivered without the lock. */
	if (!test_and_clear_bit(at >> MRPC_BUDDY_SHIFT, region->delivered))
		return -EINVAL;
	freed = mrpc_buddy_free(&region->buddy, at);
	if (!WARN_ON_ONCE(freed < 0))
		heap->used -= freed;
	return 0;
}

/**
 * mrpc_heap_release() - release blocks for the application
 * @heap: a receive heap
 * @blocks: offsets from the application, in kernel memory: any numbers
 * @nr: number of blocks, small
 *
 * Return: 0, or -EINVAL if no delivered block starts at one of them.
 */
int mrpc_heap_release(struct mrpc_heap *heap, const u32 *blocks, u32 nr)
{
	int err = 0;
	u32 i;

	spin_lock(&heap->lock);
	for (i = 0; i < nr; i++)
		if (mrpc_heap_release_one(heap, blocks[i]))
			err = -EINVAL;
	spin_unlock(&heap->lock);
	return err;
}
