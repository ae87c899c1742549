/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks that run the schedules of kmod/lib/group/schedule.h in one process, each by its struct
 * mrpc_progress. A channel from rank to rank holds one chunk. In each turn a random rank tries to
 * send or to receive one chunk. If no rank can go on before all are ready, the world has stopped: a
 * fault.
 *
 * A send is over some time after the chunk has arrived, as one without a copy is. Sends are over in
 * any order. Until then the chunk's bytes in the sender's buffer have to stay as they are.
 */
#ifndef GROUP_WORLD_H
#define GROUP_WORLD_H

#include "lib/group/progress.h"
#include "lib/group/reduce.h"

#define WORLD_RANKS	64	/* the most */

/**
 * struct world_case - what all ranks do
 * @c: the same for all ranks, but for @c.rank
 * @elem: enum mrpc_elem
 * @op: enum mrpc_reduce_op
 * @chunk: elements of a chunk at most
 * @seed: of the turns, and of the input
 */
struct world_case {
	struct mrpc_schedule_config c;
	u32 elem;
	u32 op;
	u32 chunk;
	u64 seed;
};

/**
 * struct world_sent - a chunk that a rank still sends
 * @at: where it is in the sender's buffers
 * @len: bytes of it
 * @message: bytes of the message that it is of
 * @arrived: the receiver has it
 * @data: what was sent
 */
struct world_sent {
	struct mrpc_place at;
	u32 len;
	u64 message;
	bool arrived;
	u8 data[];
};

/**
 * struct world_rank - a rank
 * @s: its schedule
 * @p: how far it has come
 * @sent: the chunks in the slots of @p that are busy
 * @buf: its buffers, of enum mrpc_buffer
 * @input: a copy of its input
 * @bytes: that it has sent
 */
struct world_rank {
	struct mrpc_schedule s;
	struct mrpc_progress p;
	struct world_sent *sent[MRPC_PROGRESS_SENDS];
	u8 *buf[3];
	u8 *input;
	u64 bytes;
};

/**
 * struct world - ranks and channels
 * @is: what the ranks do
 * @late: a rank that does nothing; MRPC_NO_RANK: none
 * @rank: the ranks
 * @channel: the chunk in the channel from rank to rank, or NULL
 */
struct world {
	struct world_case is;
	u32 late;
	struct world_rank rank[WORLD_RANKS];
	struct world_sent *channel[WORLD_RANKS][WORLD_RANKS];
};

/** world_input_size() - bytes of the input of @rank; 0: it has none */
u64 world_input_size(const struct world *w, u32 rank);

/**
 * world_run() - begin, and run until all ranks are ready
 * @w: the world, not in use
 * @is: what the ranks do
 * @fault: set to a sentence that says what is wrong
 *
 * Return: false: @fault says why. world_end() has to be called anyway.
 */
bool world_run(struct world *w, const struct world_case *is, char fault[256]);

/**
 * world_run_without() - the same, but rank @late does nothing
 *
 * Return: whether all ranks are ready anyway.
 */
bool world_run_without(struct world *w, const struct world_case *is, u32 late);

/** world_ready() - whether @rank has done all its steps */
bool world_ready(const struct world *w, u32 rank);

void world_end(struct world *w);

#endif /* GROUP_WORLD_H */
