/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_HEAP_H
#define MRPC_CORE_HEAP_H

#include <linux/mm_types.h>
#include <linux/mrpc.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "lib/ds/buddy.h"

struct page;
struct vm_fault;

/**
 * struct mrpc_region - one piece of shared memory
 *
 * MRPC_IOC_REGION makes it. It never changes afterwards, except @mapped, so readers need no lock.
 * It ends with its last reference. The heap holds one. Each mapping holds the session and so the
 * heap. Each message with byte blocks that still travel by reference holds the heap.
 *
 * @addr: kernel address, virtually contiguous, charged to the creator's memcg
 * @base: heap offset of the first byte
 * @len: bytes
 * @mapped: receive region: the application has mapped it, so blocks may be placed in it.
 *	Before that a thread that is told of a block would find nothing at its address
 * @buddy: receive region: its allocator, under mrpc_heap.lock
 * @delivered: receive region: a bit for each unit where a block starts that the
 *	application has been told of, and so may release. Atomic: the thread that
 *	clears it frees the block
 */
struct mrpc_region {
	void *addr;
	u32 base;
	u32 len;
	bool mapped;
	struct mrpc_buddy buddy;
	struct mrpc_buddy_unit *units;
	unsigned long *delivered;
};

/**
 * struct mrpc_heap - the send or the receive heap of a session
 *
 * Embedded in the session; ends with it.
 *
 * @kind: enum mrpc_region_kind
 * @nr: published regions; written under the session's mutex @making with release
 *	semantics after regions[nr] is complete
 * @regions: [0, nr) are valid and immutable
 * @len: sum of the regions' lengths; under the session's mutex @making
 * @limit: highest @len
 * @used: receive heap: bytes of allocated blocks; under @lock
 * @failed: receive heap: allocations that found no room; under @lock
 * @lock: protects the receive regions' allocators; taken in process context only
 */
struct mrpc_heap {
	u32 kind;
	u32 nr;
	struct mrpc_region *regions[MRPC_MAX_REGIONS];
	u64 len;
	u64 limit;
	u64 used;
	u64 failed;
	spinlock_t lock;
};

void mrpc_heap_init(struct mrpc_heap *heap, u32 kind, u64 limit);
void mrpc_heap_destroy(struct mrpc_heap *heap);
struct mrpc_region *mrpc_heap_region(struct mrpc_heap *heap, u64 len);
void mrpc_heap_publish(struct mrpc_heap *heap, struct mrpc_region *region);
void mrpc_region_free(struct mrpc_region *region);
bool mrpc_heap_mapped(struct mrpc_heap *heap, u64 off);
vm_fault_t mrpc_heap_fault(struct mrpc_heap *heap, struct vm_fault *vmf, u64 off);
struct mrpc_region *mrpc_heap_find(struct mrpc_heap *heap, u64 off);
const void *mrpc_heap_at(void *heap, u64 off, u64 len);
struct page *mrpc_heap_page(struct mrpc_heap *heap, u64 off);
u32 mrpc_heap_largest(struct mrpc_heap *heap);
void *mrpc_heap_alloc(struct mrpc_heap *heap, u32 bytes, u32 *off, bool *never);
void mrpc_heap_cancel(struct mrpc_heap *heap, u32 off, u32 dirty);
void mrpc_heap_deliver(struct mrpc_heap *heap, u32 off);
int mrpc_heap_release(struct mrpc_heap *heap, const u32 *blocks, u32 nr);

#endif /* MRPC_CORE_HEAP_H */
