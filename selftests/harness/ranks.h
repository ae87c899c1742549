/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks of a group, each a session of this process with a queue pair, and a connection from each to
 * each other one.
 */
#ifndef RANKS_H
#define RANKS_H

#include "raw.h"

#define RANKS		16	/* the most */
#define RANKS_WAIT	(30 * RAW_S)

/**
 * struct rank - a rank
 * @s: the session
 * @qp: its queue pair
 * @group: the group, in this session
 * @conn: the connection to each other rank
 * @cqe: the completion that ranks_complete() has got
 * @why: its detail
 */
struct rank {
	struct raw s;
	struct raw_qp qp;
	uint32_t group;
	uint32_t conn[RANKS];
	struct mrpc_cqe cqe;
	char why[MRPC_MAX_DETAIL + 1];
};

extern struct rank ranks[RANKS];
extern unsigned int nr_ranks;

/* Opens @nr sessions with @heap bytes to send. */
void ranks_open(unsigned int nr, uint32_t heap);
/* Connects each to each other one: @how is "tcp4", "loop" ... */
void ranks_connect(const char *how);
/* One group of all ranks, and all connections are its own. */
void ranks_join(uint64_t key, uint64_t limit_us);
/* All of that. */
void ranks_begin(const char *how, unsigned int nr, uint32_t heap);
/* Leaves the group, and closes all sessions. */
void ranks_end(void);

/* One rank's part: 0 or -errno; raw.why says more. */
int rank_join(struct rank *r, unsigned int rank, unsigned int nr, uint64_t key, uint64_t limit_us);
int rank_link(struct rank *r, unsigned int to, uint32_t conn);
int rank_leave(struct rank *r);

/* Submits an operation at one rank, or at all. */
void rank_submit(unsigned int rank, struct mrpc_sqe sqe);
void ranks_submit(const struct mrpc_sqe *sqe);
/* Waits for the next completion of a rank; dies if none comes. Return: its status. */
uint32_t rank_complete(unsigned int rank);
/* Waits for one of each rank, each of which must be OK. */
void ranks_complete(void);

#endif /* RANKS_H */
