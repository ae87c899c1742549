// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/choice */
/* The algorithm of collectives that name none, against what the schedules of all ranks send. */
#include "lib/group/choice.h"
#include "lib/group/schedule.h"
#include "tap.h"

#define RANKS	24

static u8 chosen(u32 collective, u32 ranks, u64 count)
{
	u8 algorithm = mrpc_choose_algorithm(collective, ranks, count, 4);

	CHECK_MSG(mrpc_schedule_offers(collective, algorithm), "collective %u, %u ranks, %llu: %u",
		  collective, ranks, (unsigned long long)count, algorithm);
	return algorithm;
}

/* What the rank that sends most sends: in bytes, and to how many others. And what all send. */
struct load {
	u64 bytes;
	u32 peers;
	u32 steps;
	u32 in_all;	/* messages of all ranks */
};

static struct load load_of(u32 collective, u8 algorithm, u32 ranks, u64 count)
{
	struct mrpc_schedule_config c = {
		.collective = collective, .algorithm = algorithm, .ranks = ranks, .count = count,
		.elem_size = 4,
	};
	struct load most = { 0 };

	for (c.rank = 0; c.rank < ranks; c.rank++) {
		bool sent_to[RANKS] = { false };
		struct load load = { 0 };
		struct mrpc_schedule s;
		struct mrpc_step step;
		u32 i;

		CHECK_EQ(mrpc_schedule_init(&s, &c), MRPC_SCHEDULE_OK);
		for (i = 0; i < s.steps; i++) {
			mrpc_schedule_step(&s, i, &step);
			if (step.to == MRPC_NO_RANK)
				continue;
			load.bytes += step.send.len;
			load.steps++;
			load.peers += !sent_to[step.to];
			sent_to[step.to] = true;
		}
		most.in_all += load.steps;
		most.bytes = max(most.bytes, load.bytes);
		most.peers = max(most.peers, load.peers);
		most.steps = max(most.steps, load.steps);
	}
	return most;
}

TEST(it_is_always_offered)
{
	static const u64 counts[] = { 0, 1, 1000, 4096, 100000, 1ULL << 32, 1ULL << 40, U64_MAX };
	static const u32 ranks[] = { 1, 2, 3, 7, 8, 9, 16, 17, 1000, 1024, 65536 };
	u32 collective, i, j;

	for (collective = 0; collective < MRPC_NR_COLLECTIVES; collective++)
		for (i = 0; i < ARRAY_SIZE(counts); i++)
			for (j = 0; j < ARRAY_SIZE(ranks); j++)
				chosen(collective, ranks[j], counts[i]);
	CHECK_EQ(mrpc_choose_algorithm(MRPC_NR_COLLECTIVES, 4, 1, 4), MRPC_DIRECT);
	CHECK_EQ(mrpc_choose_algorithm(U32_MAX, 4, 1, 4), MRPC_DIRECT);
}

/* With many bytes no other algorithm has a rank that sends fewer bytes, or that to fewer ranks. */
TEST(many_bytes_are_sent_once)
{
	struct load mine, other;
	u32 collective, n, a;
	u8 algorithm;

	for (collective = 0; collective < MRPC_NR_COLLECTIVES; collective++) {
		for (n = 2; n <= RANKS; n++) {
			algorithm = chosen(collective, n, n << 20);
			mine = load_of(collective, algorithm, n, n << 20);
			for (a = 0; a < MRPC_NR_ALGORITHMS; a++) {
				if (!mrpc_schedule_offers(collective, a))
					continue;
				other = load_of(collective, a, n, n << 20);
				CHECK_MSG(mine.bytes <= other.bytes, "%u of %u: %u has %llu, %u %llu",
					  collective, n, algorithm, (unsigned long long)mine.bytes,
					  a, (unsigned long long)other.bytes);
				CHECK(algorithm != MRPC_RING || mine.peers <= other.peers);
			}
		}
	}
}

/*
 * With few bytes no rank sends more messages than a tree, or a round to all, takes. Halving and doubling
 * sends a range of blocks that wraps in two messages.
 */
TEST(few_bytes_take_few_messages)
{
	u32 n, levels, most;
	struct load load;

	for (n = 2; n <= RANKS; n++) {
		for (levels = 0; 1u << levels < n; levels++)
			;
		load = load_of(MRPC_ALLREDUCE, chosen(MRPC_ALLREDUCE, n, 16), n, 16);
		most = n <= 8 ? 2 * (n - 1) : 3 * levels;
		CHECK_MSG(load.steps <= most, "%u ranks: %u messages", n, load.steps);
		load = load_of(MRPC_BROADCAST, chosen(MRPC_BROADCAST, n, 16), n, 16);
		most = n <= 8 ? n - 1 : levels;
		CHECK_MSG(load.steps <= most, "%u ranks: %u messages", n, load.steps);
		load = load_of(MRPC_BARRIER, chosen(MRPC_BARRIER, n, 0), n, 0);
		most = n <= 8 ? 2 * (n - 1) : levels;
		CHECK_MSG(load.steps <= most, "%u ranks: %u messages", n, load.steps);
	}
}

/* No other algorithm has fewer messages of all ranks together. */
TEST(small_sums_take_the_fewest_messages)
{
	static const u64 counts[] = { 1, 16, 256, 4096 };
	u32 n, i, a, mine;

	for (n = 2; n <= RANKS; n++) {
		for (i = 0; i < ARRAY_SIZE(counts); i++) {
			mine = load_of(MRPC_ALLREDUCE, chosen(MRPC_ALLREDUCE, n, counts[i]), n,
				       counts[i]).in_all;
			for (a = 0; a < MRPC_NR_ALGORITHMS; a++)
				if (mrpc_schedule_offers(MRPC_ALLREDUCE, a) && counts[i] >= n)
					CHECK_MSG(mine <= load_of(MRPC_ALLREDUCE, a, n,
								  counts[i]).in_all,
						  "%u ranks, %llu: %u messages", n,
						  (unsigned long long)counts[i], mine);
		}
	}
}

/* A ring of many ranks would take many rounds for small parts. */
TEST(many_ranks_need_large_parts_for_a_ring)
{
	CHECK_EQ(chosen(MRPC_ALLREDUCE, 1024, 1 << 20), MRPC_RECURSIVE);
	CHECK_EQ(chosen(MRPC_ALLREDUCE, 1024, 8 << 20), MRPC_RING);
	CHECK_EQ(chosen(MRPC_ALLGATHER, 1024, 1 << 10), MRPC_RECURSIVE);
	CHECK_EQ(chosen(MRPC_ALLGATHER, 1024, 8 << 10), MRPC_RING);
	CHECK_EQ(chosen(MRPC_BROADCAST, 1024, 1 << 20), MRPC_BINOMIAL);
	CHECK_EQ(chosen(MRPC_BROADCAST, 1024, 8 << 20), MRPC_RING);
}
