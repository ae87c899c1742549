// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The allocator of the send heap; see heap.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "heap.h"
#include "internal.h"

enum page_state {
	PAGE_INNER = 0,		/* inside a run, or not in a region */
	PAGE_FREE,		/* first page of a free run */
	PAGE_FREE_TAIL,		/* last page of a free run of several pages */
	PAGE_RUN,		/* first page of a block of whole pages */
	PAGE_SLAB,		/* any page of a slab */
};

/**
 * struct heap_page - what is known of one page
 * @state: enum page_state
 * @cls: SLAB: the size class
 * @first: the page is the first of its region, forever
 * @full: SLAB, first page: not in the list of slabs with free blocks
 * @head: SLAB, FREE_TAIL: first page of the slab or run
 * @nr: first pages: pages of the run or slab
 * @prev: first pages of free runs and of slabs with free blocks: list
 * @next: list
 * @nr_free: SLAB, first page: free blocks in @blocks
 * @blocks: SLAB, first page: free blocks, linked through their first word
 */
struct heap_page {
	u8 state;
	u8 cls;
	u8 first;
	u8 full;
	u32 head;
	u32 nr;
	u32 prev;
	u32 next;
	u32 nr_free;
	void *blocks;
};

/* Multiples of 16; from a page on multiples of a page, so that these are aligned to one. */
static const u32 class_size[HEAP_NR_CLASSES] = {
	16, 32, 48, 64, 80, 96, 112, 128,
	160, 192, 224, 256, 320, 384, 448, 512,
	640, 768, 896, 1024, 1280, 1536, 1792, 2048,
	2560, 3072, 3584, 4096, 8192, 12288, 16384, 20480,
	24576, 28672, 32768, 40960, 49152, 57344, 65536,
};

/* Class by size: in steps of 16 up to 1 KiB, of 256 above. */
static u8 small_class[1024 / 16 + 1];
static u8 large_class[HEAP_SLAB_MAX / 256 + 1];

/* Most blocks of a class in one thread's cache; half of it moves at a time. */
static u8 cache_max[HEAP_NR_CLASSES];

static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void tables_init(void)
{
	u32 i, cls = 0;

	for (i = 0; i < ARRAY_SIZE(small_class); i++) {
		if (i * 16 > class_size[cls])
			cls++;
		small_class[i] = cls;
	}
	for (i = 0, cls = 0; i < ARRAY_SIZE(large_class); i++) {
		while (i * 256 > class_size[cls])
			cls++;
		large_class[i] = cls;
	}
	for (cls = 0; cls < HEAP_NR_CLASSES; cls++) {
		u32 nr = (128u << 10) / class_size[cls];

		cache_max[cls] = nr < 4 ? 4 : nr > 128 ? 128 : nr;
	}
}

static u32 class_of(size_t len)
{
	return len <= 1024 ? small_class[(len + 15) / 16] : large_class[(len + 255) / 256];
}

static u32 slab_pages(u32 cls)
{
	u32 size = class_size[cls];

	if (size <= 1024)
		return 4;
	if (size <= 4096)
		return 8;
	return 4 * size / HEAP_PAGE;
}

size_t heap_good_size(size_t len)
{
	return len <= HEAP_SLAB_MAX ? class_size[class_of(len)] : ALIGN_UP(len, HEAP_PAGE);
}

static void *page_address(const struct heap *heap, u32 page)
{
	return heap->base + ((size_t)page << HEAP_PAGE_SHIFT);
}

static u32 page_of(const struct heap *heap, const void *p)
{
	return (u32)(((const u8 *)p - heap->base) >> HEAP_PAGE_SHIFT);
}

static void list_add(struct heap *heap, u32 *list, u32 page)
{
	heap->pages[page].prev = HEAP_NONE;
	heap->pages[page].next = *list;
	if (*list != HEAP_NONE)
		heap->pages[*list].prev = page;
	*list = page;
}

static void list_del(struct heap *heap, u32 *list, u32 page)
{
	struct heap_page *p = &heap->pages[page];

	if (p->prev != HEAP_NONE)
		heap->pages[p->prev].next = p->next;
	else
		*list = p->next;
	if (p->next != HEAP_NONE)
		heap->pages[p->next].prev = p->prev;
}

static u32 *bin_of(struct heap *heap, u32 nr)
{
	return &heap->bins[31 - __builtin_clz(nr)];
}

/* -- page runs; all under the lock ------------------------------------------ */

static void run_insert(struct heap *heap, u32 page, u32 nr)
{
	struct heap_page *p = &heap->pages[page];

	p->state = PAGE_FREE;
	p->nr = nr;
	if (nr > 1) {
		p[nr - 1].state = PAGE_FREE_TAIL;
		p[nr - 1].head = page;
	}
	list_add(heap, bin_of(heap, nr), page);
}

static void run_remove(struct heap *heap, u32 page)
{
	struct heap_page *p = &heap->pages[page];

	list_del(heap, bin_of(heap, p->nr), page);
	p[p->nr - 1].state = PAGE_INNER;
	p->state = PAGE_INNER;
}

static void run_free(struct heap *heap, u32 page, u32 nr)
{
	u32 end = heap->size >> HEAP_PAGE_SHIFT, other;

	heap->free += (u64)nr << HEAP_PAGE_SHIFT;
	heap->pages[page].state = PAGE_INNER;

	other = page + nr;
	if (other < end && !heap->pages[other].first && heap->pages[other].state == PAGE_FREE) {
		nr += heap->pages[other].nr;
		run_remove(heap, other);
	}
	if (!heap->pages[page].first) {
		other = page - 1;
		if (heap->pages[other].state == PAGE_FREE_TAIL)
			other = heap->pages[other].head;
		if (heap->pages[other].state == PAGE_FREE) {
			nr += heap->pages[other].nr;
			page = other;
			run_remove(heap, other);
		}
	}
	run_insert(heap, page, nr);
}

static u32 run_find(struct heap *heap, u32 nr)
{
	u32 *bin = bin_of(heap, nr), page;

	/* Runs in the request's own bin can be too short. */
	for (page = *bin; page != HEAP_NONE; page = heap->pages[page].next)
		if (heap->pages[page].nr >= nr)
			return page;
	while (++bin < heap->bins + HEAP_NR_BINS)
		if (*bin != HEAP_NONE)
			return *bin;
	return HEAP_NONE;
}

static int grow_locked(struct heap *heap, u64 len)
{
	u32 page = heap->size >> HEAP_PAGE_SHIFT;
	int err;

	err = heap->map_region(heap, len);
	if (err)
		return err;
	heap->size += len;
	heap->pages[page].first = 1;
	run_free(heap, page, len >> HEAP_PAGE_SHIFT);
	return 0;
}

/* Doubles the heap, or at least makes room for @need bytes in one piece. */
static int grow_for(struct heap *heap, u64 need)
{
	u64 room = heap->limit - heap->size, len;

	need = ALIGN_UP(need, (u64)MRPC_REGION_ALIGN);
	if (room > heap->max_region)
		room = heap->max_region;
	if (need > room)
		return -ENOMEM;
	len = heap->size > need ? heap->size : need;
	if (len > room)
		len = room & ~(u64)(MRPC_REGION_ALIGN - 1);
	if (len < need)
		return -ENOMEM;
	if (!grow_locked(heap, len))
		return 0;
	return len > need ? grow_locked(heap, need) : -ENOMEM;
}

static u32 run_alloc(struct heap *heap, u32 nr)
{
	u32 page = run_find(heap, nr), have;

	if (page == HEAP_NONE) {
		if (grow_for(heap, (u64)nr << HEAP_PAGE_SHIFT))
			return HEAP_NONE;
		page = run_find(heap, nr);
	}
	have = heap->pages[page].nr;
	run_remove(heap, page);
	if (have > nr)
		run_insert(heap, page + nr, have - nr);
	heap->pages[page].nr = nr;
	heap->free -= (u64)nr << HEAP_PAGE_SHIFT;
	return page;
}

/* -- slabs; all under the lock ---------------------------------------------- */

static u32 slab_new(struct heap *heap, u32 cls)
{
	u32 nr = slab_pages(cls), size = class_size[cls], page, i;
	struct heap_page *p;
	u8 *mem;

	page = run_alloc(heap, nr);
	if (page == HEAP_NONE)
		return HEAP_NONE;
	p = &heap->pages[page];
	for (i = 0; i < nr; i++) {
		p[i].state = PAGE_SLAB;
		p[i].cls = cls;
		p[i].head = page;
	}
	mem = page_address(heap, page);
	p->nr_free = (nr << HEAP_PAGE_SHIFT) / size;
	p->blocks = NULL;
	for (i = p->nr_free; i-- > 0; ) {
		*(void **)(mem + (size_t)i * size) = p->blocks;
		p->blocks = mem + (size_t)i * size;
	}
	p->full = 0;
	list_add(heap, &heap->slabs[cls], page);
	return page;
}

static void *slab_take(struct heap *heap, u32 cls)
{
	u32 page = heap->slabs[cls];
	struct heap_page *p;
	void *block;

	if (page == HEAP_NONE) {
		page = slab_new(heap, cls);
		if (page == HEAP_NONE)
			return NULL;
	}
	p = &heap->pages[page];
	block = p->blocks;
	p->blocks = *(void **)block;
	if (--p->nr_free == 0) {
		list_del(heap, &heap->slabs[cls], page);
		p->full = 1;
	}
	return block;
}

static void slab_put(struct heap *heap, void *block)
{
	u32 page = heap->pages[page_of(heap, block)].head;
	struct heap_page *p = &heap->pages[page];
	u32 i, nr = p->nr;

	*(void **)block = p->blocks;
	p->blocks = block;
	p->nr_free++;
	if (p->full) {
		p->full = 0;
		list_add(heap, &heap->slabs[p->cls], page);
	}
	if (p->nr_free == (nr << HEAP_PAGE_SHIFT) / class_size[p->cls]) {
		list_del(heap, &heap->slabs[p->cls], page);
		for (i = 0; i < nr; i++)
			p[i].state = PAGE_INNER;
		run_free(heap, page, nr);
	}
}

/* -- blocks ------------------------------------------------------------------ */

static RARE void *alloc_run(struct heap *heap, size_t len)
{
	void *block = NULL;
	u32 page;

	if (len > heap->max_region)
		return NULL;
	pthread_mutex_lock(&heap->lock);
	page = run_alloc(heap, ALIGN_UP(len, HEAP_PAGE) >> HEAP_PAGE_SHIFT);
	if (page != HEAP_NONE) {
		heap->pages[page].state = PAGE_RUN;
		block = page_address(heap, page);
	}
	pthread_mutex_unlock(&heap->lock);
	return block;
}

/* Fills the cache by half of what it may hold, and takes one more. */
static RARE void *refill(struct heap *heap, struct heap_cache *cache, u32 cls)
{
	u32 nr = cache ? cache_max[cls] / 2 : 0;
	void *block, *more;

	pthread_mutex_lock(&heap->lock);
	block = slab_take(heap, cls);
	while (block && nr--) {
		/* What is not needed now is no reason to grow the heap. */
		if (heap->slabs[cls] == HEAP_NONE)
			break;
		more = slab_take(heap, cls);
		*(void **)more = cache->bins[cls].first;
		cache->bins[cls].first = more;
		cache->bins[cls].nr++;
	}
	pthread_mutex_unlock(&heap->lock);
	return block;
}

void *heap_alloc(struct heap *heap, struct heap_cache *cache, size_t len)
{
	void *block;
	u32 cls;

	if (unlikely(len > HEAP_SLAB_MAX))
		return alloc_run(heap, len);
	cls = class_of(len);
	if (unlikely(!cache || !cache->bins[cls].first))
		return refill(heap, cache, cls);
	block = cache->bins[cls].first;
	cache->bins[cls].first = *(void **)block;
	cache->bins[cls].nr--;
	return block;
}

static RARE void cache_shrink(struct heap *heap, struct heap_cache *cache, u32 cls, u32 keep)
{
	void *block;

	pthread_mutex_lock(&heap->lock);
	while (cache->bins[cls].nr > keep) {
		block = cache->bins[cls].first;
		cache->bins[cls].first = *(void **)block;
		cache->bins[cls].nr--;
		slab_put(heap, block);
	}
	pthread_mutex_unlock(&heap->lock);
}

static RARE void free_locked(struct heap *heap, void *block)
{
	u32 page = page_of(heap, block);
	struct heap_page *p = &heap->pages[page];

	pthread_mutex_lock(&heap->lock);
	if (p->state == PAGE_SLAB)
		slab_put(heap, block);
	else if (p->state == PAGE_RUN && page_address(heap, page) == block)
		run_free(heap, page, p->nr);
	else
		abort();	/* not a block, or freed twice */
	pthread_mutex_unlock(&heap->lock);
}

void heap_free(struct heap *heap, struct heap_cache *cache, void *block)
{
	struct heap_page *p;

	if (!block)
		return;
	p = &heap->pages[page_of(heap, block)];
	if (unlikely(p->state != PAGE_SLAB || !cache)) {
		free_locked(heap, block);
		return;
	}
	*(void **)block = cache->bins[p->cls].first;
	cache->bins[p->cls].first = block;
	if (unlikely(++cache->bins[p->cls].nr > cache_max[p->cls]))
		cache_shrink(heap, cache, p->cls, cache_max[p->cls] / 2);
}

void heap_cache_flush(struct heap *heap, struct heap_cache *cache)
{
	u32 cls;

	for (cls = 0; cls < HEAP_NR_CLASSES; cls++)
		if (cache->bins[cls].nr)
			cache_shrink(heap, cache, cls, 0);
}

int heap_grow(struct heap *heap, u64 len)
{
	int err = -ENOMEM;

	len = ALIGN_UP(len, (u64)MRPC_REGION_ALIGN);
	pthread_mutex_lock(&heap->lock);
	if (len <= heap->max_region && len <= heap->limit - heap->size)
		err = grow_locked(heap, len);
	pthread_mutex_unlock(&heap->lock);
	return err;
}

int heap_init(struct heap *heap)
{
	size_t bytes = (heap->reserved >> HEAP_PAGE_SHIFT) * sizeof(struct heap_page);
	u32 i;

	pthread_once(&tables_once, tables_init);
	for (i = 0; i < HEAP_NR_BINS; i++)
		heap->bins[i] = HEAP_NONE;
	for (i = 0; i < HEAP_NR_CLASSES; i++)
		heap->slabs[i] = HEAP_NONE;
	/* Only the part for pages that exist is ever touched. */
	heap->pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (heap->pages == MAP_FAILED) {
		heap->pages = NULL;
		return -errno;
	}
	return -pthread_mutex_init(&heap->lock, NULL);
}

void heap_destroy(struct heap *heap)
{
	if (!heap->pages)
		return;
	munmap(heap->pages, (heap->reserved >> HEAP_PAGE_SHIFT) * sizeof(struct heap_page));
	heap->pages = NULL;
	pthread_mutex_destroy(&heap->lock);
}
