/* SPDX-License-Identifier: GPL-2.0 */
/* Which algorithm does a collective if the application names none. */
#ifndef MRPC_LIB_GROUP_CHOICE_H
#define MRPC_LIB_GROUP_CHOICE_H

#include "lib/ds/types.h"

/**
 * mrpc_choose_algorithm() - choose the algorithm of a collective
 * @collective: enum mrpc_collective, or any other number
 * @ranks: number of ranks, at least 1
 * @count: elements, as in struct mrpc_schedule_config
 * @elem_size: bytes of an element
 *
 * All ranks of an operation choose the same one, because all of this is the same at all ranks.
 *  - AllReduce of few bytes: a tree, which has the fewest messages in all. A message costs more
 *    than its bytes.
 *  - Few bytes of others: the fewest rounds. Up to 8 ranks that is one round, or two, in which each
 *    rank sends to all others.
 *  - Many bytes: a ring. Each rank sends the fewest bytes, and only to one other. A ring costs a
 *    round for each rank, so the part of a rank must be large.
 *  - Otherwise halving and doubling, or a tree.
 *
 * Return: one that mrpc_schedule_offers(); MRPC_DIRECT if @collective is none.
 */
u8 mrpc_choose_algorithm(u32 collective, u32 ranks, u64 count, u32 elem_size);

#endif /* MRPC_LIB_GROUP_CHOICE_H */
