/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far one rank has come in a schedule. Messages are cut into chunks, by the rules of schedule.h
 * ("Pipelining"). An executor asks which chunk is next on each side, moves it, and says so.
 *
 * Sends: mrpc_progress_send() gives the next chunk, which counts as sent from then on.
 * mrpc_progress_freed() says that the chunk's bytes are read no more.
 *
 * Receives: mrpc_progress_recv() says which chunk is next, and may be asked any number of times.
 * mrpc_progress_received() says that its bytes are where they belong.
 *
 * The caller serialises all calls.
 */
#ifndef MRPC_LIB_GROUP_PROGRESS_H
#define MRPC_LIB_GROUP_PROGRESS_H

#include "lib/group/schedule.h"

#define MRPC_PROGRESS_SENDS	16	/* chunks that are sent at a time, the most */

/**
 * struct mrpc_progress_side - the position of one side
 * @nr: steps that are over
 * @done: bytes of step @nr that are over
 * @step: step @nr; not valid behind the last one
 */
struct mrpc_progress_side {
	u32 nr;
	u64 done;
	struct mrpc_step step;
};

/**
 * struct mrpc_progress - the position of one rank
 * @s: its schedule
 * @chunk: bytes of a chunk at most; whole elements
 * @send: what it sends next; before step @sent_after is a receive, or @sent_after is 0
 * @recv: what it receives next
 * @busy: a bit for each slot: its chunk is being sent
 * @of: the step of the chunk in each slot that is busy
 */
struct mrpc_progress {
	const struct mrpc_schedule *s;
	u32 chunk;
	struct mrpc_progress_side send;
	struct mrpc_progress_side recv;
	u32 busy;
	u32 of[MRPC_PROGRESS_SENDS];
};

/**
 * struct mrpc_chunk - a chunk that is next
 * @peer: the other rank; MRPC_NO_RANK: @len bytes are copied from @with to @at
 * @action: receive: enum mrpc_step_action
 * @slot: send: for mrpc_progress_freed()
 * @at: where the bytes are, or go to
 * @with: receive: the local operand of REDUCE and COPY
 * @len: bytes; 0: a message of a barrier
 */
struct mrpc_chunk {
	u32 peer;
	u8 action;
	u8 slot;
	struct mrpc_place at;
	struct mrpc_place with;
	u32 len;
};

enum mrpc_progress_next {
	MRPC_NEXT_CHUNK,	/* there is one */
	MRPC_NEXT_WAITS,	/* there is one, which waits for the other side, or for a slot */
	MRPC_NEXT_NONE,		/* the side is over */
};

/**
 * mrpc_progress_init() - begin
 * @p: the position
 * @s: the schedule, which outlives @p
 * @chunk: bytes of a chunk at most, a multiple of the element's size; not 0
 */
void mrpc_progress_init(struct mrpc_progress *p, const struct mrpc_schedule *s, u32 chunk);

/** mrpc_progress_send() - take the next chunk to send; @chunk is set for MRPC_NEXT_CHUNK */
enum mrpc_progress_next mrpc_progress_send(struct mrpc_progress *p, struct mrpc_chunk *chunk);

/** mrpc_progress_freed() - the chunk in @slot is read no more */
void mrpc_progress_freed(struct mrpc_progress *p, u8 slot);

/** mrpc_progress_recv() - look at the next chunk to receive, or to copy */
enum mrpc_progress_next mrpc_progress_recv(const struct mrpc_progress *p, struct mrpc_chunk *chunk);

/** mrpc_progress_received() - the chunk that mrpc_progress_recv() has shown last is over */
void mrpc_progress_received(struct mrpc_progress *p);

/** mrpc_progress_over() - return true if all is sent, received, and read no more */
static inline bool mrpc_progress_over(const struct mrpc_progress *p)
{
	return p->send.nr == p->s->steps && p->recv.nr == p->s->steps && !p->busy;
}

#endif /* MRPC_LIB_GROUP_PROGRESS_H */
