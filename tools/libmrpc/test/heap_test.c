// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The allocator of the send heap.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include "../heap.h"
#include "tap.h"

#define MIB	(1u << 20)

static unsigned int regions;
static uint64_t refuse_above = UINT64_MAX;

static int map_region(struct heap *heap, uint64_t len)
{
	if (len > refuse_above)
		return -ENOMEM;
	regions++;
	return mprotect(heap->base + heap->size, len, PROT_READ | PROT_WRITE) ? -errno : 0;
}

static void setup(struct heap *heap, uint64_t limit, uint64_t max_region)
{
	memset(heap, 0, sizeof(*heap));
	heap->reserved = limit;
	heap->limit = limit;
	heap->max_region = max_region;
	heap->map_region = map_region;
	heap->base = mmap(NULL, limit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);
	regions = 0;
	refuse_above = UINT64_MAX;
	CHECK_EQ(heap_init(heap), 0);
	CHECK_EQ(heap_grow(heap, MIB), 0);
}

static void teardown(struct heap *heap)
{
	munmap(heap->base, heap->reserved);
	heap_destroy(heap);
}

TEST(sizes_and_alignment)
{
	struct heap_cache cache = { 0 };
	struct heap heap;
	size_t len;

	setup(&heap, 256 * MIB, 64 * MIB);
	for (len = 1; len < 300000; len += len < 5000 ? 1 : 997) {
		char *p = heap_alloc(&heap, &cache, len);

		CHECK(p && heap_good_size(len) >= len);
		CHECK_EQ((uintptr_t)p % (len >= 4096 ? 4096 : 16), 0);
		memset(p, 0xaa, heap_good_size(len));
		heap_free(&heap, &cache, p);
	}
	heap_cache_flush(&heap, &cache);
	CHECK_EQ(heap.free, heap.size);
	teardown(&heap);
}

/* Random sizes, each block filled with its own pattern: nothing may overlap. */
TEST(random_blocks_do_not_overlap)
{
	enum { NR = 2000, ROUNDS = 200000 };
	static struct { unsigned char *p; size_t len; } blocks[NR];
	struct heap_cache cache = { 0 };
	struct heap heap;
	unsigned int i, k, seed = 1;
	size_t j;

	setup(&heap, 512 * MIB, 16 * MIB);
	for (i = 0; i < ROUNDS; i++) {
		k = (unsigned int)rand_r(&seed) % NR;
		if (blocks[k].p) {
			for (j = 0; j < blocks[k].len; j += 1 + j / 8)
				CHECK(blocks[k].p[j] == (unsigned char)k);
			heap_free(&heap, i % 3 ? &cache : NULL, blocks[k].p);
			blocks[k].p = NULL;
			continue;
		}
		blocks[k].len = 1 + ((size_t)rand_r(&seed) >> (rand_r(&seed) % 20 + 12));
		blocks[k].p = heap_alloc(&heap, i % 5 ? &cache : NULL, blocks[k].len);
		CHECK(blocks[k].p != NULL);
		memset(blocks[k].p, (int)k, blocks[k].len);
	}
	for (k = 0; k < NR; k++)
		heap_free(&heap, &cache, blocks[k].p);
	heap_cache_flush(&heap, &cache);
	CHECK_EQ(heap.free, heap.size);
	NOTE("%u regions, %llu bytes", regions, (unsigned long long)heap.size);
	teardown(&heap);
}

TEST(grows_and_no_block_crosses_regions)
{
	static void *blocks[64];
	struct heap heap;
	unsigned int i;

	setup(&heap, 64 * MIB, 16 * MIB);
	/* Regions are of 1, 1, 2, 4, 8, 16, 16 and 16 MiB. */
	for (i = 0; i < 64; i++) {
		blocks[i] = heap_alloc(&heap, NULL, 900000);
		if (!blocks[i])
			break;
		uint64_t off = (uint64_t)((uint8_t *)blocks[i] - heap.base);
		uint64_t border;

		for (border = MIB; border < 32 * MIB; border *= 2)
			CHECK(off >= border || off + 900000 <= border);
	}
	CHECK(i > 50);
	CHECK_EQ(heap.size, 64 * MIB);
	while (i--)
		heap_free(&heap, NULL, blocks[i]);
	CHECK_EQ(heap.free, heap.size);
	/* All came together again: the largest region is one run. */
	blocks[0] = heap_alloc(&heap, NULL, 16 * MIB);
	CHECK(blocks[0] != NULL);
	CHECK(!heap_alloc(&heap, NULL, 16 * MIB + 1));
	teardown(&heap);
}

TEST(full_heap_gives_null_and_recovers)
{
	struct heap_cache cache = { 0 };
	void **blocks = calloc(100000, sizeof(*blocks));
	struct heap heap;
	unsigned int i, nr;

	setup(&heap, 4 * MIB, 4 * MIB);
	for (nr = 0; (blocks[nr] = heap_alloc(&heap, &cache, 200)); nr++)
		;
	CHECK(nr > 4 * MIB / 224 * 9 / 10);
	CHECK(!heap_alloc(&heap, &cache, 5 * MIB));
	CHECK(!heap_alloc(&heap, &cache, SIZE_MAX / 2));
	for (i = 0; i < nr; i++)
		heap_free(&heap, &cache, blocks[i]);
	heap_cache_flush(&heap, &cache);
	CHECK_EQ(heap.free, 4 * MIB);
	teardown(&heap);
	free(blocks);
}

TEST(kernel_that_refuses_to_double)
{
	struct heap heap;
	void *p;

	setup(&heap, 64 * MIB, 64 * MIB);
	refuse_above = 128 << 10;
	CHECK(heap_alloc(&heap, NULL, MIB) != NULL);
	p = heap_alloc(&heap, NULL, 100000);
	CHECK(p != NULL);
	CHECK(!heap_alloc(&heap, NULL, 200000));
	teardown(&heap);
}

/* Blocks allocated by one thread and freed by another. */
static struct {
	struct heap heap;
	pthread_mutex_t lock;
	void *queue[256];
	unsigned int head, tail;
} shared;

static void *churn(void *arg)
{
	struct heap_cache cache = { 0 };
	unsigned int seed = (unsigned int)(uintptr_t)arg, i;
	void *p, *old;

	for (i = 0; i < 100000; i++) {
		size_t len = 1 + (size_t)rand_r(&seed) % 3000;

		p = heap_alloc(&shared.heap, &cache, len);
		CHECK(p != NULL);
		if (!p)
			break;
		memset(p, (int)seed, len);
		pthread_mutex_lock(&shared.lock);
		old = shared.queue[shared.tail++ % 256];
		shared.queue[(shared.tail - 1) % 256] = p;
		pthread_mutex_unlock(&shared.lock);
		heap_free(&shared.heap, &cache, old);
	}
	heap_cache_flush(&shared.heap, &cache);
	return NULL;
}

TEST(threads)
{
	pthread_t threads[4];
	uintptr_t i;

	setup(&shared.heap, 64 * MIB, 16 * MIB);
	pthread_mutex_init(&shared.lock, NULL);
	for (i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 256; i++)
		heap_free(&shared.heap, NULL, shared.queue[i]);
	CHECK_EQ(shared.heap.free, shared.heap.size);
	teardown(&shared.heap);
}
