// SPDX-License-Identifier: GPL-2.0
#include <linux/mrpc.h>

#include "lib/group/choice.h"

#define MRPC_CHOICE_FEW		8		/* ranks */
#define MRPC_CHOICE_SMALL	(16 << 10)	/* bytes of all ranks together */
#define MRPC_CHOICE_PART	(16 << 10)	/* bytes of each rank: the least for a ring */

/* Bytes of @count elements, as long as they matter here. */
static u64 bytes_of(u64 count, u32 elem_size)
{
	return count > U32_MAX ? U32_MAX : count * elem_size;
}

/* @part: bytes that a rank sends to the next one at a time. @log: what has log2(ranks) rounds. */
static u8 choose(u32 ranks, u64 part, u8 log)
{
	if (ranks <= MRPC_CHOICE_FEW && part * ranks <= MRPC_CHOICE_SMALL)
		return MRPC_DIRECT;
	return part >= MRPC_CHOICE_PART ? MRPC_RING : log;
}

u8 mrpc_choose_algorithm(u32 collective, u32 ranks, u64 count, u32 elem_size)
{
	u64 bytes = bytes_of(count, elem_size);

	switch (collective) {
	case MRPC_ALLREDUCE:
		/* A tree has 2(n-1) messages in all, any other algorithm 2n log2(n) or more. */
		if (bytes <= MRPC_CHOICE_SMALL)
			return MRPC_BINOMIAL;
		return choose(ranks, bytes / ranks, MRPC_RECURSIVE);
	case MRPC_ALLGATHER:
	case MRPC_REDUCE_SCATTER:
		return choose(ranks, bytes, MRPC_RECURSIVE);
	case MRPC_BROADCAST:
	case MRPC_REDUCE:
		return choose(ranks, bytes / ranks, MRPC_BINOMIAL);
	case MRPC_BARRIER:
		return choose(ranks, 0, MRPC_RECURSIVE);
	case MRPC_GATHER:
	case MRPC_SCATTER:
		return ranks <= MRPC_CHOICE_FEW || bytes >= MRPC_CHOICE_PART ? MRPC_DIRECT :
									       MRPC_BINOMIAL;
	default:
		return MRPC_DIRECT;
	}
}
