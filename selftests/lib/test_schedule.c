// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/schedule kmod/lib/group/progress */
/*
 * Schedules of collectives: kmod/lib/group/schedule.c, run by a world of ranks on progress.c, with
 * channels of one chunk, against results that are computed without steps.
 */
#include "group_model.h"
#include "group_world.h"
#include "rnd.h"
#include "tap.h"

static struct world w;
static u32 order[WORLD_RANKS];

static const struct {
	u8 elem;
	u8 op;
} kinds[] = {
	{ MRPC_ELEM_I32, MRPC_REDUCE_SUM }, { MRPC_ELEM_F32, MRPC_REDUCE_SUM },
	{ MRPC_ELEM_F16, MRPC_REDUCE_SUM }, { MRPC_ELEM_BF16, MRPC_REDUCE_PROD },
	{ MRPC_ELEM_F64, MRPC_REDUCE_SUM }, { MRPC_ELEM_U8, MRPC_REDUCE_SUM },
	{ MRPC_ELEM_I64, MRPC_REDUCE_MIN }, { MRPC_ELEM_F64, MRPC_REDUCE_PROD },
};

static void shuffle(u32 n, u64 *rnd)
{
	u32 i, k;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i; i--) {
		k = rnd_below(rnd, i + 1);
		swap(order[i], order[k]);
	}
}

/* Counts around the number of ranks, none, and some more. */
static u64 random_count(u32 n, u64 *rnd)
{
	switch (rnd_below(rnd, 5)) {
	case 0:
		return rnd_below(rnd, n + 1);
	case 1:
		return n * (1 + rnd_below(rnd, 3));
	case 2:
		return rnd_below(rnd, 3);
	default:
		return rnd_below(rnd, 3 * n + 5);
	}
}

static struct world_case random_case(u32 collective, u32 algorithm, u32 n, u64 *rnd)
{
	struct world_case is = { .seed = (u64)rnd_next(rnd) << 32 | rnd_next(rnd) };
	u32 kind = rnd_below(rnd, ARRAY_SIZE(kinds));

	shuffle(n, rnd);
	is.c = (struct mrpc_schedule_config){
		.collective = collective, .algorithm = algorithm, .ranks = n,
		.root = rnd_below(rnd, n), .in_place = rnd_next(rnd) & 1,
		.order = rnd_next(rnd) & 1 ? order : NULL, .count = random_count(n, rnd),
		.elem_size = mrpc_elem_size(kinds[kind].elem),
	};
	is.elem = kinds[kind].elem;
	is.op = kinds[kind].op;
	is.chunk = 1 + rnd_below(rnd, rnd_next(rnd) & 1 ? 3 : 2 * n);
	return is;
}

/* Where the application finds the result. */
static const u8 *output(u32 rank)
{
	const struct mrpc_schedule_config *c = &w.is.c;
	const bool in_send = c->in_place && (c->collective == MRPC_REDUCE_SCATTER ||
					     (c->collective == MRPC_SCATTER && rank == c->root));

	if (in_send)
		return w.rank[rank].buf[MRPC_BUF_SEND] + rank * c->count * c->elem_size;
	return w.rank[rank].buf[MRPC_BUF_RECV];
}

/* The input is as it was, but where the result is in it. */
static void check_input(u32 rank)
{
	const struct mrpc_schedule_config *c = &w.is.c;
	const u64 own = c->count * c->elem_size, size = world_input_size(&w, rank);
	const struct world_rank *r = &w.rank[rank];
	const bool in_send = c->in_place && c->collective == MRPC_REDUCE_SCATTER;

	if (!size || !r->s.send_size)
		return;
	CHECK_EQ(r->s.send_size, size);
	if (!in_send) {
		CHECK(!memcmp(r->buf[MRPC_BUF_SEND], r->input, size));
		return;
	}
	CHECK(!memcmp(r->buf[MRPC_BUF_SEND], r->input, rank * own));
	CHECK(!memcmp(r->buf[MRPC_BUF_SEND] + (rank + 1) * own, r->input + (rank + 1) * own,
		      size - (rank + 1) * own));
}

static void check_rank(u32 rank)
{
	const struct mrpc_schedule_config *c = &w.is.c;
	bool equal_blocks = c->collective != MRPC_ALLREDUCE || !(c->count % c->ranks) ||
			    c->algorithm == MRPC_BINOMIAL;
	u8 *want;
	u64 len;

	want = model_output(&w, rank, &len);
	CHECK_MSG(!len || !memcmp(output(rank), want, len),
		  "rank %u has a wrong result: collective %u, algorithm %u, %u ranks, root %u%s%s, "
		  "count %llu, type %u", rank, c->collective, c->algorithm, c->ranks, c->root,
		  c->in_place ? ", in place" : "", c->order ? ", an order" : "", (long long)c->count,
		  w.is.elem);
	free(want);
	check_input(rank);
	if (equal_blocks && c->collective != MRPC_BARRIER)
		CHECK_EQ(w.rank[rank].bytes, model_sent(&w, rank));
}

static void run(const struct world_case *is)
{
	char fault[256];
	u32 rank;

	CHECK_MSG(world_run(&w, is, fault), "%s", fault);
	for (rank = 0; rank < is->c.ranks; rank++)
		check_rank(rank);
	world_end(&w);
}

static void run_all(u32 n, u32 rounds, u64 *rnd)
{
	struct world_case is;
	u32 collective, algorithm, i;

	for (collective = 0; collective < MRPC_NR_COLLECTIVES; collective++) {
		for (algorithm = 0; algorithm < MRPC_NR_ALGORITHMS; algorithm++) {
			if (!mrpc_schedule_offers(collective, algorithm))
				continue;
			for (i = 0; i < rounds; i++) {
				is = random_case(collective, algorithm, n, rnd);
				run(&is);
			}
		}
	}
}

TEST_LIMIT(few_ranks, 180)
{
	u64 rnd = 41;
	u32 n;

	for (n = 1; n <= 17; n++)
		run_all(n, 30, &rnd);
}

TEST_LIMIT(more_ranks, 180)
{
	static const u32 numbers[] = { 19, 23, 31, 32, 33, 37, 61, 64 };
	u64 rnd = 42;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		run_all(numbers[i], 1, &rnd);
}

/* All ranks have the bits of rank 0, which depend on the order of reduction. */
TEST(all_reduce_gives_equal_bits)
{
	struct world_case is;
	u64 rnd = 43, differ = 0;
	u32 algorithm, i, rank, sizes;
	u8 first[8 * 256];

	for (i = 0; i < 200; i++) {
		for (algorithm = MRPC_RING; algorithm < MRPC_NR_ALGORITHMS; algorithm++) {
			is = random_case(MRPC_ALLREDUCE, algorithm, 2 + i % 15, &rnd);
			is.elem = MRPC_ELEM_F32;
			is.op = MRPC_REDUCE_SUM;
			is.c.elem_size = 4;
			is.c.count = 31;
			is.seed = 77 + i;	/* the input is the same for each algorithm */
			CHECK(world_run(&w, &is, (char[256]){}));
			sizes = is.c.count * 4;
			for (rank = 1; rank < is.c.ranks; rank++)
				CHECK(!memcmp(output(rank), output(0), sizes));
			differ += algorithm != MRPC_RING && memcmp(first, output(0), sizes);
			memcpy(first, output(0), sizes);
			world_end(&w);
		}
	}
	CHECK(differ > 100);	/* or the numbers do not show the order */
}

/* In a barrier no rank is ready before all have begun. */
TEST(barriers_wait_for_all)
{
	struct world_case is;
	u32 algorithm, n, late, rank, i;
	u64 rnd = 44;

	for (algorithm = MRPC_RING; algorithm < MRPC_NR_ALGORITHMS; algorithm++) {
		for (n = 2; n < 20; n++) {
			for (i = 0; i < 10; i++) {
				is = random_case(MRPC_BARRIER, algorithm, n, &rnd);
				late = rnd_below(&rnd, n);
				CHECK(!world_run_without(&w, &is, late));
				for (rank = 0; rank < n; rank++)
					CHECK(!world_ready(&w, rank));
				world_end(&w);
			}
		}
	}
}

/* -- numbers of steps and bytes ------------------------------------------------------- */

static struct mrpc_schedule_config config(u32 collective, u32 algorithm, u32 n)
{
	return (struct mrpc_schedule_config){
		.collective = collective, .algorithm = algorithm, .ranks = n, .count = 1,
		.elem_size = 1,
	};
}

static u32 log2_up(u32 n)
{
	u32 l = 0;

	while (1ULL << l < n)
		l++;
	return l;
}

TEST(steps_grow_as_the_logarithm)
{
	struct mrpc_schedule s;
	struct mrpc_schedule_config c;
	u32 collective, algorithm, n;

	for (n = 1; n <= MRPC_SCHEDULE_RANKS; n = n * 5 / 4 + 1) {
		for (collective = 0; collective < MRPC_NR_COLLECTIVES; collective++) {
			for (algorithm = MRPC_RECURSIVE; algorithm <= MRPC_BINOMIAL; algorithm++) {
				if (!mrpc_schedule_offers(collective, algorithm))
					continue;
				c = config(collective, algorithm, n);
				c.rank = n / 2;
				CHECK_EQ(mrpc_schedule_init(&s, &c), MRPC_SCHEDULE_OK);
				CHECK(s.steps <= 4 * log2_up(n) + 3);
			}
		}
	}
}

/* The largest world, with the largest buffers: no step leaves its buffer. */
TEST(the_largest)
{
	struct mrpc_schedule_config c;
	struct mrpc_schedule s;
	struct mrpc_step t;
	u32 collective, algorithm, i;
	u64 rnd = 45, sizes[3];

	for (collective = 0; collective < MRPC_BARRIER; collective++) {
		for (algorithm = 0; algorithm < MRPC_NR_ALGORITHMS; algorithm++) {
			if (!mrpc_schedule_offers(collective, algorithm))
				continue;
			for (i = 0; i < 200; i++) {
				c = config(collective, algorithm,
					   MRPC_SCHEDULE_RANKS - rnd_below(&rnd, 9));
				c.rank = rnd_below(&rnd, c.ranks);
				c.root = rnd_below(&rnd, c.ranks);
				c.in_place = rnd_next(&rnd) & 1;
				c.elem_size = 8;
				c.count = S64_MAX / 8 / c.ranks;
				CHECK_EQ(mrpc_schedule_init(&s, &c), MRPC_SCHEDULE_OK);
				sizes[MRPC_BUF_SEND] = s.send_size;
				sizes[MRPC_BUF_RECV] = s.recv_size;
				sizes[MRPC_BUF_WORK] = s.work_size;
				CHECK(s.work_size <= c.count * 8 * c.ranks);
				mrpc_schedule_step(&s, rnd_below(&rnd, s.steps), &t);
				CHECK(!t.send.len || t.send.at.off + t.send.len <= sizes[t.send.at.buf]);
				CHECK(!t.recv.len || t.recv.at.off + t.recv.len <= sizes[t.recv.at.buf]);
				CHECK(t.to == MRPC_NO_RANK || t.to < c.ranks);
				CHECK(t.from == MRPC_NO_RANK || t.from < c.ranks);
				c.count++;
				CHECK_EQ(mrpc_schedule_init(&s, &c), MRPC_SCHEDULE_TOO_LARGE);
			}
		}
	}
}

/* -- refused -------------------------------------------------------------------------- */

static enum mrpc_schedule_fault fault_of(struct mrpc_schedule_config c)
{
	struct mrpc_schedule s;

	return mrpc_schedule_init(&s, &c);
}

#define REFUSED(why, ...)								\
	do {										\
		struct mrpc_schedule_config c = {					\
			.collective = MRPC_ALLREDUCE, .algorithm = MRPC_RING, .ranks = 4, \
			.count = 1, .elem_size = 4, __VA_ARGS__				\
		};									\
		CHECK_EQ(fault_of(c), MRPC_SCHEDULE_##why);				\
	} while (0)

#pragma GCC diagnostic ignored "-Woverride-init"

TEST(refused)
{
	static const u32 twice[] = { 0, 1, 1, 3 }, beyond[] = { 0, 1, 2, 4 };

	REFUSED(OK, .rank = 3);
	REFUSED(BAD_COLLECTIVE, .collective = MRPC_NR_COLLECTIVES);
	REFUSED(BAD_COLLECTIVE, .collective = 255);
	REFUSED(BAD_ALGORITHM, .algorithm = MRPC_NR_ALGORITHMS);
	REFUSED(BAD_ALGORITHM, .algorithm = 255);
	REFUSED(BAD_RANKS, .ranks = 0);
	REFUSED(BAD_RANKS, .ranks = MRPC_SCHEDULE_RANKS + 1);
	REFUSED(BAD_RANKS, .ranks = ~0U);
	REFUSED(BAD_RANK, .rank = 4);
	REFUSED(BAD_RANK, .rank = ~0U);
	REFUSED(OK, .root = 4);		/* ignored */
	REFUSED(BAD_ROOT, .collective = MRPC_BROADCAST, .root = 4);
	REFUSED(BAD_ROOT, .collective = MRPC_REDUCE, .root = ~0U);
	REFUSED(BAD_ROOT, .collective = MRPC_GATHER, .algorithm = MRPC_DIRECT, .root = 4);
	REFUSED(BAD_ROOT, .collective = MRPC_SCATTER, .algorithm = MRPC_BINOMIAL, .root = 4);
	REFUSED(BAD_ORDER, .order = beyond);
	REFUSED(BAD_ORDER, .order = twice, .rank = 2);
	REFUSED(BAD_ORDER, .collective = MRPC_BROADCAST, .order = twice, .root = 2);
	REFUSED(BAD_ELEMENT, .elem_size = 0);
	REFUSED(OK, .collective = MRPC_BARRIER, .elem_size = 0, .count = ~0ULL);
	REFUSED(TOO_LARGE, .count = ~0ULL);
	REFUSED(TOO_LARGE, .count = 1ULL << 62);
	REFUSED(TOO_LARGE, .count = 1ULL << 60);
	REFUSED(TOO_LARGE, .count = 1ULL << 59);
	REFUSED(OK, .count = (1ULL << 59) - 1);
	REFUSED(TOO_LARGE, .count = 1ULL << 32, .elem_size = ~0U);
}

/* The table of schedule.h. */
TEST(offered)
{
	static const char *const table[MRPC_NR_COLLECTIVES] = {
		[MRPC_ALLREDUCE] = ".xxxx", [MRPC_ALLGATHER] = ".xx.x",
		[MRPC_REDUCE_SCATTER] = ".xx.x", [MRPC_BROADCAST] = ".x.xx",
		[MRPC_REDUCE] = ".x.xx", [MRPC_GATHER] = "...xx", [MRPC_SCATTER] = "...xx",
		[MRPC_ALLTOALL] = "....x", [MRPC_BARRIER] = ".xxxx",
	};
	u32 collective, algorithm;
	bool has;

	for (collective = 0; collective < MRPC_NR_COLLECTIVES; collective++) {
		for (algorithm = 0; algorithm < MRPC_NR_ALGORITHMS; algorithm++) {
			has = table[collective][algorithm] == 'x';
			CHECK_EQ(mrpc_schedule_offers(collective, algorithm), has);
			CHECK_EQ(fault_of(config(collective, algorithm, 4)),
				 has ? MRPC_SCHEDULE_OK : MRPC_SCHEDULE_NOT_OFFERED);
		}
		CHECK(!mrpc_schedule_offers(collective, MRPC_NR_ALGORITHMS));
	}
	CHECK(!mrpc_schedule_offers(MRPC_NR_COLLECTIVES, 0));
	CHECK(!mrpc_schedule_offers(~0U, ~0U));
}
