/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The allocator of the send heap: size classes in slabs, page runs for what is
 * larger, and a cache per thread so that the usual allocation takes no lock.
 *
 * Heap memory is shared with the kernel, which only reads it. All bookkeeping
 * but the links between free blocks is elsewhere, and no block crosses from one
 * region into another.
 */
#ifndef LIBMRPC_HEAP_H
#define LIBMRPC_HEAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_PAGE_SHIFT		12
#define HEAP_PAGE		(1u << HEAP_PAGE_SHIFT)
#define HEAP_SLAB_MAX		65536	/* largest size class */
#define HEAP_NR_CLASSES		39
#define HEAP_NR_BINS		20
#define HEAP_NONE		UINT32_MAX

struct heap_page;

/**
 * struct heap - one heap
 * @base: its address
 * @reserved: bytes of address space at @base
 * @limit: most bytes of regions
 * @size: bytes of regions; @lock
 * @free: bytes in free page runs; @lock
 * @max_region: most bytes of one region
 * @map_region: adds a region of the given bytes at @base + @size; 0 or -errno
 * @lock: for all but the caches
 * @pages: one per page of @reserved; those of live blocks can be read unlocked
 * @bins: free runs of [2^i, 2^(i+1)) pages, by first page; @lock
 * @slabs: slabs with free blocks of each class, by first page; @lock
 */
struct heap {
	uint8_t *base;
	uint64_t reserved;
	uint64_t limit;
	uint64_t size;
	uint64_t free;
	uint64_t max_region;
	int (*map_region)(struct heap *heap, uint64_t len);
	pthread_mutex_t lock;
	struct heap_page *pages;
	uint32_t bins[HEAP_NR_BINS];
	uint32_t slabs[HEAP_NR_CLASSES];
};

/* One thread's free blocks, by class. Zero is empty. */
struct heap_cache {
	struct {
		void *first;
		uint32_t nr;
	} bins[HEAP_NR_CLASSES];
};

/*
 * The caller has set @base, @reserved, @limit, @max_region and @map_region, and
 * the rest to zero. 0 or -errno.
 */
int heap_init(struct heap *heap);
void heap_destroy(struct heap *heap);

/* Adds a region of @len bytes, for example the first. 0 or -errno. */
int heap_grow(struct heap *heap, uint64_t len);

/* NULL if the heap is full. @cache may be NULL: then under the lock. */
void *heap_alloc(struct heap *heap, struct heap_cache *cache, size_t len);
void heap_free(struct heap *heap, struct heap_cache *cache, void *p);

/* How many bytes heap_alloc() really reserves for @len. After a heap_init(). */
size_t heap_good_size(size_t len);

/* Returns everything in the cache to the heap. */
void heap_cache_flush(struct heap *heap, struct heap_cache *cache);

#endif /* LIBMRPC_HEAP_H */
