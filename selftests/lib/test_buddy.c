// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/buddy */
/*
 * The buddy allocator against a map that knows the owner of every unit. The
 * records are allocated to their exact size, so the sanitizer sees a step
 * outside.
 */
#include "lib/ds/buddy.h"
#include "rnd.h"
#include "tap.h"

#define MAX_UNITS	1100

struct heap {
	struct mrpc_buddy b;
	struct mrpc_buddy_unit *units;
	u32 nr;
	u32 free;
	u32 asks;		/* 0: not; mrpc_buddy_largest() is asked at each such allocation */
	u32 allocs;
	u32 size[MAX_UNITS];	/* units of the used block that starts here, or 0 */
	bool taken[MAX_UNITS];
};

static struct heap *heap_new(u32 nr)
{
	struct heap *h = calloc(1, sizeof(*h));

	if (!h)
		abort();
	h->units = malloc(nr * sizeof(*h->units));
	if (!h->units)
		abort();
	memset(h->units, 0xa5, nr * sizeof(*h->units));
	h->nr = nr;
	h->free = nr;
	mrpc_buddy_init(&h->b, h->units, nr * MRPC_BUDDY_UNIT);
	CHECK_EQ(h->b.nr_units, nr);
	CHECK_EQ(h->b.free_units, nr);
	return h;
}

static void heap_delete(struct heap *h)
{
	free(h->units);
	free(h);
}

/* Bytes of the used block at @off, or 0 if none starts there. */
static u32 used(const struct mrpc_buddy *b, u32 off)
{
	u32 u = off / MRPC_BUDDY_UNIT;

	if (off % MRPC_BUDDY_UNIT || u >= b->nr_units || b->units[u].state != MRPC_BUDDY_USED)
		return 0;
	return MRPC_BUDDY_UNIT << b->units[u].order;
}

static u32 units_for(u32 bytes)
{
	u32 n = 1;

	while ((u64)n * MRPC_BUDDY_UNIT < bytes)
		n *= 2;
	return n;
}

/* Is there a place for @n units, aligned to their size? */
static bool heap_has_room(const struct heap *h, u32 n)
{
	u32 start, i;

	for (start = 0; start + n <= h->nr; start += n) {
		for (i = 0; i < n && !h->taken[start + i]; i++)
			;
		if (i == n)
			return true;
	}
	return false;
}

/* Return: the block's first unit, or U32_MAX if there was no room. */
static u32 heap_alloc(struct heap *h, u32 bytes)
{
	bool ask = h->asks && ++h->allocs % h->asks == 0;
	u32 orders = ask ? mrpc_buddy_largest(&h->b) : 0;
	u32 taken = 0;
	s64 off = mrpc_buddy_alloc(&h->b, bytes, &taken);
	u32 n = units_for(bytes);
	u32 u, i;

	if (ask)
		CHECK_EQ(off >= 0, mrpc_buddy_order(bytes) < orders);
	if (off < 0) {
		CHECK_EQ(off, -ENOSPC);
		CHECK(!heap_has_room(h, n));
		CHECK_EQ(h->b.free_units, h->free);
		return U32_MAX;
	}
	CHECK_EQ(off % ((s64)n * MRPC_BUDDY_UNIT), 0);
	u = off / MRPC_BUDDY_UNIT;
	CHECK(u + n <= h->nr);
	for (i = 0; i < n; i++) {
		CHECK(!h->taken[u + i]);
		h->taken[u + i] = true;
	}
	h->size[u] = n;
	h->free -= n;
	CHECK_EQ(h->b.free_units, h->free);
	CHECK_EQ(taken, n * MRPC_BUDDY_UNIT);
	CHECK_EQ(used(&h->b, off), n * MRPC_BUDDY_UNIT);
	return u;
}

/* @off: anything; what must happen is known from the map. */
static void heap_free(struct heap *h, u32 off)
{
	u32 u = off / MRPC_BUDDY_UNIT;
	u32 n = off % MRPC_BUDDY_UNIT || u >= h->nr ? 0 : h->size[u];

	CHECK_EQ(used(&h->b, off), n * MRPC_BUDDY_UNIT);
	CHECK_EQ(mrpc_buddy_free(&h->b, off), n ? (s64)n * MRPC_BUDDY_UNIT : -EINVAL);
	CHECK_EQ(used(&h->b, off), 0);
	if (n) {
		h->size[u] = 0;
		memset(&h->taken[u], 0, n * sizeof(h->taken[0]));
		h->free += n;
	}
	CHECK_EQ(h->b.free_units, h->free);
}

static void heap_check_used(const struct heap *h)
{
	u32 u;

	for (u = 0; u < h->nr; u++)
		CHECK_EQ(used(&h->b, u * MRPC_BUDDY_UNIT),
			 h->size[u] * MRPC_BUDDY_UNIT);
}

/* When all is free, everything can be had again in the largest blocks there are. */
static void heap_check_whole(struct heap *h)
{
	u32 u, n;

	for (u = 0; u < h->nr; u++)
		if (h->size[u])
			heap_free(h, u * MRPC_BUDDY_UNIT);
	CHECK_EQ(h->b.free_units, h->nr);
	for (n = 1U << (MRPC_BUDDY_ORDERS - 1); n; n /= 2)
		if (h->nr & n)
			CHECK(heap_alloc(h, n * MRPC_BUDDY_UNIT) != U32_MAX);
	CHECK_EQ(h->b.free_units, 0);
	CHECK_EQ(heap_alloc(h, 0), U32_MAX);
}

static u32 some_bytes(u64 *rnd, u32 nr)
{
	switch (rnd_below(rnd, 8)) {
	case 0:
		return 0;
	case 1:
		return (MRPC_BUDDY_UNIT << rnd_below(rnd, 12)) + rnd_below(rnd, 3) - 1;
	case 2:
		return rnd_below(rnd, 2 * nr) * MRPC_BUDDY_UNIT;
	default:
		return rnd_below(rnd, 16 * MRPC_BUDDY_UNIT);
	}
}

static u32 hostile_offset(u64 *rnd, u32 nr)
{
	switch (rnd_below(rnd, 4)) {
	case 0:
		return rnd_next(rnd);
	case 1:
		return rnd_below(rnd, nr * MRPC_BUDDY_UNIT);
	case 2:
		return (nr + rnd_below(rnd, 4)) * MRPC_BUDDY_UNIT;
	default:
		return rnd_below(rnd, nr) * MRPC_BUDDY_UNIT;
	}
}

TEST(buddy_random)
{
	static const u32 sizes[] = { 1, 2, 3, 7, 64, 100, 256, 511, 1000, 1024, MAX_UNITS };
	u64 rnd = 1;
	u32 s, i;

	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		struct heap *h = heap_new(sizes[s]);

		h->asks = 8;	/* not always: it merges the blocks that rest */
		for (i = 0; i < 60000; i++) {
			/* Tides: filled to the last unit, then nearly emptied. */
			u32 alloc = i / 500 % 2 ? 7 : 3;

			if (rnd_below(&rnd, 10) < alloc)
				heap_alloc(h, some_bytes(&rnd, h->nr));
			else
				heap_free(h, hostile_offset(&rnd, h->nr));
			if (i % 1000 == 0)
				heap_check_used(h);
		}
		heap_check_whole(h);
		heap_delete(h);
	}
}

/* Every size of region, filled with the smallest blocks and freed in three orders. */
TEST(buddy_every_size)
{
	u32 nr, u, order;

	for (nr = 1; nr <= 130; nr++) {
		for (order = 0; order < 3; order++) {
			struct heap *h = heap_new(nr);

			for (u = 0; u < nr; u++)
				CHECK(heap_alloc(h, 1) != U32_MAX);
			CHECK_EQ(heap_alloc(h, 1), U32_MAX);
			for (u = 0; u < nr; u++) {
				u32 off = order == 0 ? u :
					  order == 1 ? nr - 1 - u : (u * 97 + 13) % nr;

				if (h->size[off])
					heap_free(h, off * MRPC_BUDDY_UNIT);
			}
			heap_check_whole(h);
			heap_delete(h);
		}
	}
}

TEST(buddy_hostile_free)
{
	struct heap *h = heap_new(100);
	u32 a = heap_alloc(h, 8 * MRPC_BUDDY_UNIT);
	u32 i;

	heap_free(h, a * MRPC_BUDDY_UNIT + 1);
	heap_free(h, (a + 4) * MRPC_BUDDY_UNIT);
	heap_free(h, h->nr * MRPC_BUDDY_UNIT);
	heap_free(h, U32_MAX);
	heap_free(h, U32_MAX & ~(MRPC_BUDDY_UNIT - 1));
	CHECK_EQ(h->b.free_units, 92);
	heap_free(h, a * MRPC_BUDDY_UNIT);
	for (i = 0; i < 100; i++)	/* it rests, and must not rest twice */
		heap_free(h, a * MRPC_BUDDY_UNIT);
	heap_check_whole(h);
	heap_delete(h);
}

/* A block that only exists when the resting ones are merged. */
TEST(buddy_resting_are_merged)
{
	struct heap *h = heap_new(8);
	u32 u;

	for (u = 0; u < 8; u++)
		CHECK(heap_alloc(h, 1) != U32_MAX);
	for (u = 0; u < 8; u++)
		heap_free(h, u * MRPC_BUDDY_UNIT);
	CHECK_EQ(h->b.nr_rest[0], 8);
	CHECK_EQ(heap_alloc(h, 8 * MRPC_BUDDY_UNIT), 0);
	heap_delete(h);
}

/* One call after another neither splits nor merges. */
TEST(buddy_steady_state)
{
	struct heap *h = heap_new(1024);
	u32 heads[MRPC_BUDDY_ORDERS];
	u32 first, i;

	first = heap_alloc(h, 1000);
	heap_free(h, first * MRPC_BUDDY_UNIT);
	memcpy(heads, h->b.heads, sizeof(heads));
	for (i = 0; i < 100; i++) {
		CHECK_EQ(heap_alloc(h, 1000), first);
		heap_free(h, first * MRPC_BUDDY_UNIT);
		CHECK(!memcmp(heads, h->b.heads, sizeof(heads)));
	}
	heap_delete(h);
}

/* As many blocks as rest, of each order, neither; one more is merged. */
TEST(buddy_many_rest)
{
	u32 blocks[MRPC_BUDDY_REST + 1], heads[MRPC_BUDDY_ORDERS], order, i, round;
	struct heap *h = heap_new(1024);

	for (order = 0; order < MRPC_BUDDY_REST_ORDERS; order++) {
		u32 nr = MRPC_BUDDY_REST >> order;

		for (i = 0; i <= nr; i++)
			blocks[i] = heap_alloc(h, MRPC_BUDDY_UNIT << order);
		for (i = 0; i <= nr; i++)
			heap_free(h, blocks[i] * MRPC_BUDDY_UNIT);
		CHECK_EQ(h->b.nr_rest[order], nr);
		memcpy(heads, h->b.heads, sizeof(heads));
		for (round = 0; round < 3; round++) {
			for (i = 0; i < nr; i++)	/* the latest first */
				CHECK_EQ(heap_alloc(h, MRPC_BUDDY_UNIT << order),
					 blocks[nr - 1 - i]);
			for (i = 0; i < nr; i++)
				heap_free(h, blocks[i] * MRPC_BUDDY_UNIT);
			CHECK(!memcmp(heads, h->b.heads, sizeof(heads)));
		}
	}
	heap_check_used(h);
	heap_check_whole(h);
	heap_delete(h);
}

TEST(buddy_large)
{
	static const u64 sizes[] = { 1ULL << 30, (1ULL << 30) + 65536, (3ULL << 30) + 768 };
	struct mrpc_buddy b;
	u32 i, taken;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u32 nr = sizes[i] / MRPC_BUDDY_UNIT;
		struct mrpc_buddy_unit *units = malloc((size_t)nr * sizeof(*units));
		s64 off, end = 0;

		CHECK(units);
		mrpc_buddy_init(&b, units, sizes[i]);
		CHECK_EQ(mrpc_buddy_alloc(&b, U32_MAX, &taken), -ENOSPC);
		CHECK_EQ(mrpc_buddy_alloc(&b, (1U << 31) + 1, &taken), -ENOSPC);
		CHECK_EQ(mrpc_buddy_alloc(&b, (1U << 30) + 1, &taken), -ENOSPC);
		for (off = 0; off >= 0; off = mrpc_buddy_alloc(&b, 1U << 30, &taken))
			end = max(end, off);
		CHECK_EQ(off, -ENOSPC);
		CHECK_EQ(end, (s64)(((sizes[i] >> 30) - 1) << 30));
		CHECK_EQ(mrpc_buddy_free(&b, end), 1LL << 30);
		CHECK_EQ(mrpc_buddy_free(&b, end), -EINVAL);
		CHECK_EQ(mrpc_buddy_alloc(&b, (1U << 30) - 1, &taken), end);
		free(units);
	}
}
