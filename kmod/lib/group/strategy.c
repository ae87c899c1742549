// SPDX-License-Identifier: GPL-2.0
#ifndef __KERNEL__
#include <stdio.h>
#endif

#include "lib/group/operation.h"
#include "lib/group/schedule.h"
#include "lib/group/strategy.h"

void mrpc_strategy_init(struct mrpc_strategy *s, u32 ranks)
{
	u32 place;

	memset(s->algorithm, MRPC_ALGORITHM_CHOSEN, sizeof(s->algorithm));
	for (place = 0; place < ranks; place++)
		s->order[place] = place;
}

static bool check_algorithms(const struct mrpc_strategy *s, char *why, size_t size)
{
	u32 i;

	for (i = 0; i < MRPC_NR_COLLECTIVES; i++) {
		if (s->algorithm[i] == MRPC_ALGORITHM_CHOSEN ||
		    mrpc_schedule_offers(i, s->algorithm[i]))
			continue;
		if (s->algorithm[i] >= MRPC_NR_ALGORITHMS)
			snprintf(why, size, "%s has no algorithm %u, at most %u",
				 mrpc_collective_name(i), s->algorithm[i], MRPC_NR_ALGORITHMS - 1);
		else
			snprintf(why, size, "%s is not done by %s", mrpc_collective_name(i),
				 mrpc_algorithm_name(s->algorithm[i]));
		return false;
	}
	return true;
}

bool mrpc_strategy_check(const struct mrpc_strategy *s, u32 ranks, char *why, size_t size)
{
	u64 seen[MRPC_GROUP_RANKS / 64] = { 0 };
	u32 place, rank;

	for (place = 0; place < ranks; place++) {
		rank = s->order[place];
		if (rank >= ranks) {
			snprintf(why, size, "the order has rank %u at place %u, but ranks go to %u",
				 rank, place, ranks - 1);
			return false;
		}
		if (seen[rank / 64] >> rank % 64 & 1) {
			snprintf(why, size, "the order has rank %u twice, at place %u again", rank,
				 place);
			return false;
		}
		seen[rank / 64] |= 1ULL << rank % 64;
	}
	return check_algorithms(s, why, size);
}

void mrpc_report_encode(const struct mrpc_report *r, const struct mrpc_strategy *s, u64 key,
			u32 ranks, u32 rank, struct mrpc_wire_strategy *wire)
{
	u32 place;

	*wire = (struct mrpc_wire_strategy){
		.key = cpu_to_le64(key),
		.last = cpu_to_le64(r->last),
		.version = cpu_to_le32(r->version),
		.ranks = cpu_to_le32(ranks),
		.rank = cpu_to_le32(rank),
		.proposer = cpu_to_le32(r->proposer),
	};
	memcpy(wire->algorithm, s->algorithm, sizeof(s->algorithm));
	for (place = 0; place < ranks; place++)
		wire->order[place] = cpu_to_le16(s->order[place]);
}

/* Whether the rest of the algorithms, which no collective has, is zero. */
static bool rest_is_zero(const struct mrpc_wire_strategy *wire)
{
	u32 i;

	for (i = MRPC_NR_COLLECTIVES; i < sizeof(wire->algorithm); i++)
		if (wire->algorithm[i])
			return false;
	return true;
}

/* Checks all but the strategy. */
static bool check_report(const struct mrpc_wire_strategy *wire, u32 len, u64 key, u32 ranks,
			 u32 rank, char *why, size_t size)
{
	const struct mrpc_sender is = { .key = key, .ranks = ranks, .rank = rank };
	const struct mrpc_sender says = {
		.key = le64_to_cpu(wire->key),
		.ranks = le32_to_cpu(wire->ranks),
		.rank = le32_to_cpu(wire->rank),
	};

	if (!mrpc_sender_check(&says, &is, why, size))
		return false;
	if (len != mrpc_report_bytes(ranks))
		snprintf(why, size, "rank %u sends a strategy of %u bytes, not %u", rank, len,
			 mrpc_report_bytes(ranks));
	else if (le32_to_cpu(wire->proposer) >= ranks)
		snprintf(why, size, "rank %u sends a strategy of rank %u, but ranks go to %u", rank,
			 le32_to_cpu(wire->proposer), ranks - 1);
	else if (!rest_is_zero(wire))
		snprintf(why, size, "rank %u sends a strategy with reserved bytes that are not zero",
			 rank);
	else
		return true;
	return false;
}

bool mrpc_report_decode(const struct mrpc_wire_strategy *wire, u32 len, u64 key, u32 ranks,
			u32 rank, struct mrpc_report *r, struct mrpc_strategy *s, char *why,
			size_t size)
{
	u32 place;

	if (!check_report(wire, len, key, ranks, rank, why, size))
		return false;
	*r = (struct mrpc_report){
		.last = le64_to_cpu(wire->last),
		.version = le32_to_cpu(wire->version),
		.proposer = le32_to_cpu(wire->proposer),
	};
	memcpy(s->algorithm, wire->algorithm, sizeof(s->algorithm));
	for (place = 0; place < ranks; place++)
		s->order[place] = le16_to_cpu(wire->order[place]);
	return mrpc_strategy_check(s, ranks, why, size);
}
