// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/group kmod/lib/group */
/*
 * Collective operations give each rank what a plain computation gives, bit for bit.
 */
#include <string.h>

#include "tap.h"
#include "lo.h"
#include "ranks.h"
#include "lib/group/reduce.h"
#include "lib/group/schedule.h"

#define HEAP	(8 << 20)
#define OUT	(4 << 20)	/* where results are in the send heap; inputs are below */
#define GUARD	0x5a

/* Numbers that each type can add and multiply without rounding. */
static int number(unsigned int rank, uint64_t i, unsigned int reduce)
{
	unsigned int v = (rank * 7 + i * 13 + i / 5) % 16;

	return reduce == MRPC_REDUCE_PROD ? 1 + v % 2 : v;
}

static uint16_t bf16_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits >> 16;
}

/* Small whole numbers only. */
static uint16_t f16_of(int v)
{
	int exp = 0;

	if (!v)
		return 0;
	while (v >> (exp + 1))
		exp++;
	return (exp + 15) << 10 | ((v << (10 - exp)) & 0x3ff);
}

static void put(uint8_t *at, uint64_t i, unsigned int elem, int v)
{
	switch (elem) {
	case MRPC_ELEM_I32:
		((int32_t *)at)[i] = v;
		return;
	case MRPC_ELEM_I64:
		((int64_t *)at)[i] = v;
		return;
	case MRPC_ELEM_U8:
		at[i] = v;
		return;
	case MRPC_ELEM_F32:
		((float *)at)[i] = v;
		return;
	case MRPC_ELEM_F64:
		((double *)at)[i] = v;
		return;
	case MRPC_ELEM_BF16:
		((uint16_t *)at)[i] = bf16_of(v);
		return;
	default:
		((uint16_t *)at)[i] = f16_of(v);
	}
}

static uint32_t size_of(unsigned int elem)
{
	static const uint32_t sizes[] = { 4, 8, 1, 4, 8, 2, 2 };

	return sizes[elem];
}

static int reduced(uint64_t i, unsigned int reduce)
{
	int v = number(0, i, reduce), w;
	unsigned int rank;

	for (rank = 1; rank < nr_ranks; rank++) {
		w = number(rank, i, reduce);
		switch (reduce) {
		case MRPC_REDUCE_SUM:
			v += w;
			break;
		case MRPC_REDUCE_MIN:
			v = w < v ? w : v;
			break;
		case MRPC_REDUCE_MAX:
			v = w > v ? w : v;
			break;
		case MRPC_REDUCE_PROD:
			v *= w;
			break;
		case MRPC_REDUCE_AND:
			v &= w;
			break;
		default:
			v |= w;
		}
	}
	return v;
}

/* Elements of the input and of the result of @rank. */
static uint64_t in_count(const struct mrpc_sqe *sqe, unsigned int rank)
{
	switch (sqe->collective) {
	case MRPC_REDUCE_SCATTER:
	case MRPC_ALLTOALL:
		return sqe->count * nr_ranks;
	case MRPC_SCATTER:
		return rank == sqe->root_rank ? sqe->count * nr_ranks : 0;
	case MRPC_BROADCAST:
		return rank == sqe->root_rank ? sqe->count : 0;
	default:
		return sqe->count;
	}
}

static uint64_t out_count(const struct mrpc_sqe *sqe, unsigned int rank)
{
	switch (sqe->collective) {
	case MRPC_ALLGATHER:
	case MRPC_ALLTOALL:
		return sqe->count * nr_ranks;
	case MRPC_GATHER:
		return rank == sqe->root_rank ? sqe->count * nr_ranks : 0;
	case MRPC_REDUCE:
		return rank == sqe->root_rank ? sqe->count : 0;
	default:
		return sqe->count;
	}
}

/* Element @i of the result of @rank. */
static int result(const struct mrpc_sqe *sqe, unsigned int rank, uint64_t i)
{
	uint64_t n = sqe->count;

	switch (sqe->collective) {
	case MRPC_ALLREDUCE:
	case MRPC_REDUCE:
		return reduced(i, sqe->reduce);
	case MRPC_REDUCE_SCATTER:
		return reduced(rank * n + i, sqe->reduce);
	case MRPC_BROADCAST:
		return number(sqe->root_rank, i, 0);
	case MRPC_SCATTER:
		return number(sqe->root_rank, rank * n + i, 0);
	case MRPC_ALLTOALL:
		return number(i / n, rank * n + i % n, 0);
	default:	/* AllGather, Gather */
		return number(i / n, i % n, 0);
	}
}

/*
 * Where a rank's input and result are, by @place: 0: apart; 1: in place; 2: apart, and at addresses
 * that are not aligned.
 */
static struct mrpc_sqe placed(struct mrpc_sqe sqe, unsigned int rank, unsigned int place)
{
	uint32_t block = sqe.count * size_of(sqe.elem) * rank;

	if (sqe.collective == MRPC_BARRIER)
		return sqe;
	sqe.input = place == 2 ? 3 : 64;
	sqe.output = place == 2 ? OUT + 1 : OUT;
	if (place != 1)
		return sqe;
	if (sqe.collective == MRPC_ALLGATHER || sqe.collective == MRPC_GATHER)
		sqe.input = sqe.output + block;
	else if (sqe.collective == MRPC_REDUCE_SCATTER || sqe.collective == MRPC_SCATTER)
		sqe.output = sqe.input + block;
	else
		sqe.input = sqe.output;
	return sqe;
}

static void fill(const struct mrpc_sqe *sqe, unsigned int rank)
{
	uint64_t n = in_count(sqe, rank), i;

	memset(ranks[rank].s.send + sqe->output, GUARD,
	       (out_count(sqe, rank) + 16) * size_of(sqe->elem));
	for (i = 0; i < n; i++)
		put(ranks[rank].s.send + sqe->input, i, sqe->elem, number(rank, i, sqe->reduce));
}

static void check_result(const struct mrpc_sqe *sqe, unsigned int rank)
{
	const uint8_t *at = ranks[rank].s.send + sqe->output;
	uint64_t n = out_count(sqe, rank), i;
	uint32_t size = size_of(sqe->elem);
	uint8_t want[8];

	for (i = 0; i < n; i++) {
		put(want, 0, sqe->elem, result(sqe, rank, i));
		CHECK_MSG(!memcmp(want, at + i * size, size),
			  "collective %u by %u, rank %u of %u, type %u, reduction %u, count %llu: element %llu",
			  sqe->collective, sqe->algorithm, rank, nr_ranks, sqe->elem, sqe->reduce,
			  (unsigned long long)sqe->count, (unsigned long long)i);
	}
	/* What is behind the result of the other ones is as it was. */
	if (n && sqe->input < sqe->output && sqe->collective != MRPC_SCATTER &&
	    sqe->collective != MRPC_REDUCE_SCATTER)
		for (i = n * size; i < n * size + 16; i++)
			CHECK_MSG(at[i] == GUARD, "collective %u by %u: byte %llu behind the result",
				  sqe->collective, sqe->algorithm, (unsigned long long)i);
}

static void run(const struct mrpc_sqe *sqe, unsigned int place)
{
	struct mrpc_sqe of[RANKS];
	unsigned int rank;

	for (rank = 0; rank < nr_ranks; rank++) {
		of[rank] = placed(*sqe, rank, place);
		if (sqe->collective != MRPC_BARRIER)
			fill(&of[rank], rank);
	}
	for (rank = 0; rank < nr_ranks; rank++)
		rank_submit(rank, of[rank]);
	ranks_complete();
	for (rank = 0; rank < nr_ranks && sqe->collective != MRPC_BARRIER; rank++)
		check_result(&of[rank], rank);
}

static const bool offered[MRPC_NR_COLLECTIVES][MRPC_NR_ALGORITHMS] = {
	[MRPC_ALLREDUCE] = { 1, 1, 1, 1, 1 },
	[MRPC_ALLGATHER] = { 1, 1, 1, 0, 1 },
	[MRPC_REDUCE_SCATTER] = { 1, 1, 1, 0, 1 },
	[MRPC_BROADCAST] = { 1, 1, 0, 1, 1 },
	[MRPC_REDUCE] = { 1, 1, 0, 1, 1 },
	[MRPC_GATHER] = { 1, 0, 0, 1, 1 },
	[MRPC_SCATTER] = { 1, 0, 0, 1, 1 },
	[MRPC_ALLTOALL] = { 1, 0, 0, 0, 1 },
	[MRPC_BARRIER] = { 1, 1, 1, 1, 1 },
};

static bool has_root(unsigned int collective)
{
	return collective == MRPC_BROADCAST || collective == MRPC_REDUCE ||
	       collective == MRPC_GATHER || collective == MRPC_SCATTER;
}

/* Each algorithm of each collective with @nr_counts @counts, not with any of those before @first. */
static void each_algorithm(const char *how, unsigned int nr, unsigned int first,
			   unsigned int nr_counts)
{
	static const uint64_t counts[] = { 1, 1001, 40000 };	/* little, odd, several chunks */
	struct mrpc_sqe sqe;
	unsigned int c, a, i;

	ranks_begin(how, nr, HEAP);
	for (c = 0; c < MRPC_NR_COLLECTIVES; c++) {
		for (a = 0; a < MRPC_NR_ALGORITHMS; a++) {
			for (i = first; i < first + nr_counts && offered[c][a]; i++) {
				sqe = (struct mrpc_sqe){
					.collective = c, .algorithm = a, .elem = MRPC_ELEM_F32,
					.count = counts[i], .root_rank = has_root(c) ? nr - 1 : 0,
				};
				if (c == MRPC_BARRIER) {
					sqe.count = 0;
					sqe.elem = 0;
				}
				run(&sqe, i);
			}
		}
	}
	ranks_end();
}

TEST_LIMIT(algorithms_1_loop, 0) { each_algorithm("loop", 1, 0, 3); }
TEST_LIMIT(algorithms_2_loop, 0) { each_algorithm("loop", 2, 0, 3); }
TEST_LIMIT(algorithms_5_loop, 0) { each_algorithm("loop", 5, 0, 3); }
TEST_LIMIT(algorithms_16_loop, 0) { each_algorithm("loop", 16, 1, 1); }
TEST_LIMIT(algorithms_3_tcp, 0) { each_algorithm("tcp4", 3, 0, 3); }
TEST_LIMIT(algorithms_4_tcp, 0) { each_algorithm("tcp4", 4, 0, 3); }
TEST_LIMIT(algorithms_16_tcp, 0) { each_algorithm("tcp4", 16, 1, 1); }

/* The link loses packets, doubles them, and changes their order. */
TEST_LIMIT(bad_link, 0)
{
	if (!lo_bend("netem delay 1ms 1ms loss 1% reorder 25% duplicate 1%"))
		SKIP("this kernel has no netem");
	each_algorithm("tcp4", 4, 2, 1);
	lo_restore();
}

/* 256 MiB and an odd rest, in place, by the algorithm that the kernel chooses. */
static void large(const char *how, unsigned int nr, uint64_t bytes)
{
	struct mrpc_sqe sqe = {
		.collective = MRPC_ALLREDUCE, .elem = MRPC_ELEM_I64, .count = bytes / 8 + 3,
	};
	unsigned int rank;
	uint64_t *at, i;

	ranks_begin(how, nr, bytes + (1 << 16));
	for (rank = 0; rank < nr; rank++) {
		at = (uint64_t *)ranks[rank].s.send;
		for (i = 0; i < sqe.count; i++)
			at[i] = i * (rank + 3);
	}
	ranks_submit(&sqe);
	ranks_complete();
	for (rank = 0; rank < nr; rank++) {
		at = (uint64_t *)ranks[rank].s.send;
		for (i = 0; i < sqe.count && at[i] == i * (nr * 3 + nr * (nr - 1) / 2); i++)
			;
		CHECK_MSG(i == sqe.count, "rank %u: element %llu is wrong", rank,
			  (unsigned long long)i);
	}
	ranks_end();
}

TEST_LIMIT(large_loop, 0) { large("loop", 2, 256 << 20); }
TEST_LIMIT(large_tcp, 0) { large("tcp4", 4, 64 << 20); }

/* Each type and reduction, of odd length and at odd addresses. */
static void each_type(const char *how)
{
	struct mrpc_sqe sqe = { .collective = MRPC_ALLREDUCE, .count = 1003 };

	ranks_begin(how, 3, HEAP);
	for (sqe.elem = 0; sqe.elem < MRPC_NR_ELEMS; sqe.elem++) {
		bool whole = sqe.elem <= MRPC_ELEM_U8;

		for (sqe.reduce = 0; sqe.reduce <= (whole ? MRPC_REDUCE_OR : MRPC_REDUCE_PROD);
		     sqe.reduce++)
			run(&sqe, 2);
	}
	ranks_end();
}

TEST(types_loop) { each_type("loop"); }
TEST(types_tcp) { each_type("tcp4"); }

/* Operations that are in flight at once complete in their order. */
static void several(const char *how)
{
	struct mrpc_sqe sqe = {
		.collective = MRPC_ALLREDUCE, .elem = MRPC_ELEM_I32, .count = 20000,
	};
	unsigned int rank, i;

	ranks_begin(how, 4, HEAP);
	for (rank = 0; rank < nr_ranks; rank++) {
		memset(ranks[rank].s.send, 0, HEAP);
		for (i = 0; i < 10; i++) {
			sqe.user_data = 100 + i;
			sqe.input = i * 100000;
			sqe.output = OUT + i * 100000;
			((int32_t *)(ranks[rank].s.send + sqe.input))[i] = rank + i;
			rank_submit(rank, sqe);
		}
	}
	for (i = 0; i < 10; i++) {
		ranks_complete();
		for (rank = 0; rank < nr_ranks; rank++) {
			CHECK_EQ(ranks[rank].cqe.user_data, 100 + i);
			CHECK_EQ(ranks[rank].cqe.call, 1 + i);
			CHECK_EQ(((int32_t *)(ranks[rank].s.send + OUT + i * 100000))[i], 6 + 4 * i);
		}
	}
	ranks_end();
}

TEST(several_loop) { several("loop"); }
TEST(several_tcp) { several("tcp4"); }
