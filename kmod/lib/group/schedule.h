/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The steps of one rank in a collective: what it sends to which rank, what it receives from which
 * rank, and what becomes of the received bytes. A schedule is a small struct of the caller. A step
 * is computed from its number, in O(log n), without memory. So an executor may have two positions
 * in one schedule, one for what it sends and one for what it receives.
 *
 * The algorithms that exist:
 *
 *	=============  ========  =========  ========  ======
 *	collective     ring      recursive  binomial  direct
 *	=============  ========  =========  ========  ======
 *	AllReduce      x         x          x         x
 *	AllGather      x         x                    x
 *	ReduceScatter  x         x                    x
 *	Broadcast      x, chain             x         x
 *	Reduce         x, chain             x         x
 *	Gather                              x         x
 *	Scatter                             x         x
 *	AllToAll                                      x
 *	Barrier        x         x          x         x
 *	=============  ========  =========  ========  ======
 *
 * The others are refused: they send more bytes than one that exists, and save no step.
 *
 *  - ring: each rank sends to the next one only. A rank sends the least bytes that are possible:
 *    2(n-1)/n of the buffer for AllReduce, n-1 blocks for AllGather and ReduceScatter;
 *  - recursive: halving and doubling, for any n. The same bytes in 2 log2(n) or log2(n) rounds. In
 *    the round of distance d, place p exchanges blocks with p + d and p - d (mod n);
 *  - binomial: a tree with log2(n) levels. The whole buffer passes each edge;
 *  - direct: each rank sends to each other one, or to the root.
 *
 * Places. The order of the caller is a permutation: order[p] is the rank at place p. Recursive
 * AllGather and ReduceScatter, and the trees of Gather and Scatter, send the blocks of several
 * ranks in one range. So there a rank's place is its number. All others follow the order.
 *
 * Order of reduction. Each element is reduced along one path and then copied. So all ranks get the
 * same bits, also of floating point. "a + b" is: the rank that has a receives b, and reduces it
 * into a. x(p) is the element at place p:
 *
 *  - ring AllReduce and ReduceScatter, block of place b: x(b) + (x(b-1) + (... + (x(b+2) +
 *    x(b+1)))), places mod n;
 *  - ring Reduce, root at place r: the same with r in place of b;
 *  - direct AllReduce, ReduceScatter, Reduce, at place b: ((x(b) + x(b-1)) + x(b-2)) + ... for the
 *    first two, ((x(r) + x(r+1)) + x(r+2)) + ... for Reduce;
 *  - binomial, from the root's place r (AllReduce: 0): y(v) = ((x(v) + y(v+1)) + y(v+2)) + y(v+4)
 *    + ... for the children v + 2^k of v, with 2^k below the lowest bit of v that is set. v is
 *    (place - r) mod n;
 *  - recursive, block of place b: in the rounds of distance d = 2^k, from the largest to 1, place p
 *    reduces what p - d has for the block if (b - p) mod n < min(d, n - d).
 *
 * Messages. Each step with a peer is one message. Two ranks exchange their messages in the order of
 * the steps at both. What one rank sends in a step has the length that the other one expects. A
 * step with nothing to send or receive has no peer for it. Messages of a barrier have no bytes.
 *
 * Pipelining. An executor may cut a message into chunks. It does the sends in the order of the
 * steps, and the receives in the order of the steps. A copy counts as a receive. Both sides of the
 * executor run independently, except for two rules:
 *
 *  - a send waits for the receives of all steps before @sent_after. From the last of these it waits
 *    only for the bytes that it sends: where both ranges share bytes, chunk follows chunk. A
 *    message without bytes waits for all of it;
 *  - a receive waits until the sends of all steps before @recv_after no longer read their buffer.
 *
 * Then no schedule can stop, even if a channel between two ranks holds one chunk only: the steps of
 * all ranks have a common order in time, and the earliest one that is not over can always go on.
 */
#ifndef MRPC_LIB_GROUP_SCHEDULE_H
#define MRPC_LIB_GROUP_SCHEDULE_H

#include <linux/mrpc.h>

#include "lib/ds/types.h"

#define MRPC_SCHEDULE_RANKS	65536	/* the most */
#define MRPC_NO_RANK		U32_MAX

/* Why mrpc_schedule_init() refuses; 0: it does not. */
enum mrpc_schedule_fault {
	MRPC_SCHEDULE_OK,
	MRPC_SCHEDULE_BAD_COLLECTIVE,	/* no enum mrpc_collective */
	MRPC_SCHEDULE_BAD_ALGORITHM,	/* no enum mrpc_algorithm */
	MRPC_SCHEDULE_NOT_OFFERED,	/* the collective has no such algorithm */
	MRPC_SCHEDULE_BAD_RANKS,	/* none, or more than MRPC_SCHEDULE_RANKS */
	MRPC_SCHEDULE_BAD_RANK,		/* not below the number of ranks */
	MRPC_SCHEDULE_BAD_ROOT,		/* the same of the root */
	MRPC_SCHEDULE_BAD_ORDER,	/* names a rank that is not there, or lacks one */
	MRPC_SCHEDULE_BAD_ELEMENT,	/* of no bytes */
	MRPC_SCHEDULE_TOO_LARGE,	/* a buffer has more than S64_MAX bytes */
};

enum mrpc_buffer {
	MRPC_BUF_SEND,	/* what the application gives; only read, unless the result is in it */
	MRPC_BUF_RECV,	/* where the application wants the result */
	MRPC_BUF_WORK,	/* of the executor, @work_size bytes */
};

enum mrpc_step_action {
	MRPC_STEP_STORE,	/* received bytes go to @recv */
	MRPC_STEP_REDUCE,	/* @recv = op(@with, received bytes); @with may be @recv itself */
	MRPC_STEP_COPY,		/* @recv = @with; nothing is sent or received */
};

/**
 * struct mrpc_place - a place in a buffer
 * @off: offset in bytes
 * @buf: enum mrpc_buffer
 */
struct mrpc_place {
	u64 off;
	u8 buf;
};

/**
 * struct mrpc_range - bytes of a buffer; whole elements
 * @at: where they begin
 * @len: number of bytes
 */
struct mrpc_range {
	struct mrpc_place at;
	u64 len;
};

/**
 * struct mrpc_step - one step of one rank
 * @to: rank that gets @send; MRPC_NO_RANK: none
 * @from: rank that sends @recv; MRPC_NO_RANK: none
 * @sent_after: the send depends on the receives of steps before this one (see above)
 * @recv_after: the receive depends on the sends of steps before this one (see above)
 * @action: enum mrpc_step_action
 * @send: what to send; it shares no byte with @recv
 * @recv: what to write
 * @with: REDUCE, COPY: the local operand, as long as @recv
 */
struct mrpc_step {
	u32 to;
	u32 from;
	u32 sent_after;
	u32 recv_after;
	u8 action;
	struct mrpc_range send;
	struct mrpc_range recv;
	struct mrpc_place with;
};

/**
 * struct mrpc_schedule_config - what a rank is to do; may come from a hostile caller
 * @collective: enum mrpc_collective
 * @algorithm: enum mrpc_algorithm
 * @in_place: input and output share memory, as in NCCL. AllReduce, Broadcast, Reduce, AllToAll:
 *	both are MRPC_BUF_RECV. AllGather, Gather: the input is this rank's block of MRPC_BUF_RECV.
 *	ReduceScatter, Scatter: the output is this rank's block of MRPC_BUF_SEND. For Reduce,
 *	Broadcast, Gather and Scatter it concerns the root only
 * @ranks: number of ranks
 * @rank: this one
 * @root: of Broadcast, Reduce, Gather and Scatter; else ignored
 * @order: the rank at each place, @ranks numbers, which outlive the schedule; NULL: place p has
 *	rank p. The caller knows that no rank is in it twice
 * @count: elements of the buffer of AllReduce, Broadcast and Reduce; elements of the block of each
 *	rank for the others; ignored for Barrier
 * @elem_size: bytes of an element
 */
struct mrpc_schedule_config {
	u8 collective;
	u8 algorithm;
	bool in_place;
	u32 ranks;
	u32 rank;
	u32 root;
	const u32 *order;
	u64 count;
	u32 elem_size;
};

/**
 * struct mrpc_schedule - the steps of one rank
 * @c: what the caller asked for
 * @steps: number of steps
 * @send_size: bytes of MRPC_BUF_SEND that are used; 0: there is no such buffer
 * @recv_size: the same of MRPC_BUF_RECV
 * @work_size: the same of MRPC_BUF_WORK
 * @bytes: @count elements, in bytes
 * @quot: AllReduce: elements of a block
 * @rem: AllReduce: so many blocks, the first ones, have one element more
 * @place: of this rank
 * @virt: place counted from the root's
 * @levels: log2 of @ranks, rounded up
 * @in: the input
 * @out: the output
 * @copies: the own part has to be copied from @in to @out
 */
struct mrpc_schedule {
	struct mrpc_schedule_config c;
	u32 steps;
	u64 send_size;
	u64 recv_size;
	u64 work_size;
	/* private: */
	u64 bytes;
	u64 quot;
	u64 rem;
	u32 place;
	u32 virt;
	u32 levels;
	struct mrpc_place in;
	struct mrpc_place out;
	bool copies;
};

/** mrpc_schedule_offers() - whether @collective has @algorithm; any numbers */
bool mrpc_schedule_offers(u32 collective, u32 algorithm);

/**
 * mrpc_schedule_init() - begin a schedule
 * @s: the schedule
 * @c: what is to be done
 *
 * It looks for the places of the rank and the root in @c->order, in O(n).
 *
 * Return: enum mrpc_schedule_fault.
 */
enum mrpc_schedule_fault mrpc_schedule_init(struct mrpc_schedule *s,
					    const struct mrpc_schedule_config *c);

/**
 * mrpc_schedule_step() - a step
 * @s: the schedule
 * @nr: its number, below @s->steps
 * @step: set by the function
 */
void mrpc_schedule_step(const struct mrpc_schedule *s, u32 nr, struct mrpc_step *step);

#endif /* MRPC_LIB_GROUP_SCHEDULE_H */
