/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The strategy of a group: the operator's choice of how its collectives are done. All ranks have the
 * same one for an operation. change.h says how they come to a new one. (MCCS, section 4.2.)
 */
#ifndef MRPC_LIB_GROUP_STRATEGY_H
#define MRPC_LIB_GROUP_STRATEGY_H

#include <linux/mrpc.h>

#include "lib/ds/types.h"
#include "lib/message/wire.h"

/**
 * struct mrpc_strategy - how collectives are done
 * @algorithm: enum mrpc_algorithm of each collective; MRPC_ALGORITHM_CHOSEN: that of the
 *	application, or else of the kernel
 * @order: the rank at each place of a ring or tree, a permutation
 */
struct mrpc_strategy {
	u8 algorithm[MRPC_NR_COLLECTIVES];
	u32 order[];
};

/**
 * struct mrpc_wire_strategy - the body of a STRATEGY frame: a rank reports for a change
 * @key: of the group
 * @last: number of the last operation that the sender has begun
 * @version: of the strategy that is to be used next
 * @ranks: of the group
 * @rank: of the sender
 * @proposer: the rank that has proposed the strategy
 * @algorithm: of each collective; the rest is zero
 * @order: the rank at each place
 */
struct mrpc_wire_strategy {
	__le64 key;
	__le64 last;
	__le32 version;
	__le32 ranks;
	__le32 rank;
	__le32 proposer;
	u8 algorithm[16];
	__le16 order[];
};

static_assert(sizeof(struct mrpc_wire_strategy) == MRPC_WIRE_STRATEGY_BODY);
static_assert(sizeof(((struct mrpc_wire_strategy *)NULL)->algorithm) >= MRPC_NR_COLLECTIVES);
static_assert(MRPC_GROUP_RANKS <= U16_MAX);

/**
 * struct mrpc_report - what a rank reports for a change, in the byte order of the host
 * @last: number of the last operation that it has begun
 * @version: of the strategy that is to be used next
 * @proposer: the rank that has proposed it
 */
struct mrpc_report {
	u64 last;
	u32 version;
	u32 proposer;
};

/** mrpc_strategy_bytes() - the size of a strategy of @ranks ranks */
static inline u32 mrpc_strategy_bytes(u32 ranks)
{
	return ALIGN(sizeof(struct mrpc_strategy) + ranks * sizeof(u32), 8);
}

/** mrpc_strategy_init() - the strategy of a group that begins: ranks in their order */
void mrpc_strategy_init(struct mrpc_strategy *s, u32 ranks);

/**
 * mrpc_strategy_check() - check a strategy from outside
 * @s: the strategy; any numbers
 * @ranks: entries of its order, at most MRPC_GROUP_RANKS
 * @why: out: a sentence that says what is wrong, @size bytes
 *
 * Return: true: it can be used.
 */
bool mrpc_strategy_check(const struct mrpc_strategy *s, u32 ranks, char *why, size_t size);

/** mrpc_report_bytes() - the size of a report of a group of @ranks ranks */
static inline u32 mrpc_report_bytes(u32 ranks)
{
	return MRPC_WIRE_STRATEGY_BODY + ranks * sizeof(__le16);
}

/**
 * mrpc_report_encode() - write a report
 * @r: the report
 * @s: the strategy that it is about
 * @key: of the group
 * @ranks: of the group
 * @rank: of the sender
 * @wire: mrpc_report_bytes() bytes
 */
void mrpc_report_encode(const struct mrpc_report *r, const struct mrpc_strategy *s, u64 key,
			u32 ranks, u32 rank, struct mrpc_wire_strategy *wire);

/**
 * mrpc_report_decode() - read and check a report
 * @wire: the body
 * @len: its bytes, at least MRPC_WIRE_STRATEGY_BODY
 * @key: of the group
 * @ranks: of the group
 * @rank: the rank that the connection is to
 * @r: out
 * @s: out: mrpc_strategy_bytes() bytes
 * @why: out: a sentence that says what is wrong, @size bytes
 *
 * Return: true: it is a report of that rank, with a strategy that can be used.
 */
bool mrpc_report_decode(const struct mrpc_wire_strategy *wire, u32 len, u64 key, u32 ranks,
			u32 rank, struct mrpc_report *r, struct mrpc_strategy *s, char *why,
			size_t size);

#endif /* MRPC_LIB_GROUP_STRATEGY_H */
