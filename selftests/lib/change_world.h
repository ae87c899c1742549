/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks that do operations by kmod/lib/group/schedule.h while their strategy changes, in one
 * process. Each rank has its struct mrpc_change. In each turn a random rank does one thing: its
 * application asks for an operation, its operator for a strategy, it begins an operation, sends, or
 * reads one message of a connection.
 *
 * A connection keeps the order, or lets reports overtake chunks that are not read yet. A chunk that
 * has not its turn stays, and nothing behind it is read.
 */
#ifndef CHANGE_WORLD_H
#define CHANGE_WORLD_H

#include "lib/group/change.h"
#include "lib/group/progress.h"

#define CHANGE_RANKS	8	/* the most */
#define CHANGE_OPS	48	/* the most of each rank */
#define CHANGE_QUEUE	4096	/* messages of a connection in all */

/**
 * struct change_case - what the world does
 * @ranks: number of ranks
 * @ops: operations of each rank
 * @changes: strategies that operators ask for, at most
 * @overtakes: reports overtake chunks
 * @no_barrier: each rank uses a new strategy as soon as it learns of it
 * @seed: of the turns
 */
struct change_case {
	u32 ranks;
	u32 ops;
	u32 changes;
	bool overtakes;
	bool no_barrier;
	u64 seed;
};

/**
 * struct change_message - a chunk or a report
 * @report: it is a report, of @r and @s
 * @gone: it has left its queue
 * @seq: chunk: the operation
 * @version: chunk: the strategy of its sender
 * @algorithm: chunk: that of its sender
 * @len: chunk: bytes
 */
struct change_message {
	bool report;
	bool gone;
	u64 seq;
	u32 version;
	u8 algorithm;
	u32 len;
	struct mrpc_report r;
	u8 s[64];
};

/**
 * struct change_rank - a rank
 * @c: its strategies
 * @s: the schedule of the operation that runs
 * @p: how far it has come
 * @running: an operation runs
 * @begun: number of the last operation that has begun
 * @asked: operations that the application has asked for
 * @version_of: the strategy by which each operation was done
 */
struct change_rank {
	struct mrpc_change *c;
	struct mrpc_schedule s;
	struct mrpc_progress p;
	bool running;
	u64 begun;
	u64 asked;
	u32 version_of[CHANGE_OPS + 1];
};

/**
 * struct change_line - a connection in one direction
 * @first: messages before it have left the queue
 * @end: messages in all
 * @head: the one that is being read, or NULL
 */
struct change_line {
	u32 first;
	u32 end;
	struct change_message *head;
	struct change_message queue[CHANGE_QUEUE];
};

/**
 * struct change_world - ranks and connections
 * @is: what the world does
 * @rnd: state of the random numbers
 * @asked: strategies that were taken for a change
 * @busy: those that were refused
 * @reports: reports that were sent
 * @fault: what is wrong, or empty
 */
struct change_world {
	struct change_case is;
	u64 rnd;
	u32 asked;
	u32 busy;
	u32 reports;
	char fault[256];
	struct change_rank rank[CHANGE_RANKS];
	struct change_line line[CHANGE_RANKS][CHANGE_RANKS];
};

/** change_world_begin() - begin; change_world_end() frees */
void change_world_begin(struct change_world *w, const struct change_case *is);

/** change_world_run() - run to the end. Return: whether there is no fault */
bool change_world_run(struct change_world *w);

void change_world_end(struct change_world *w);

/* What a rank does; each returns whether it could. */
bool change_ask(struct change_world *w, u32 rank);
bool change_propose(struct change_world *w, u32 rank);
bool change_send_report(struct change_world *w, u32 rank);
bool change_go_on(struct change_world *w, u32 rank);
bool change_read(struct change_world *w, u32 from, u32 rank);

#endif /* CHANGE_WORLD_H */
