/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks of a group. Each is a thread of this process, with a session of its own. */
#ifndef TEST_GUEST_RANKS_H
#define TEST_GUEST_RANKS_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mrpc.h>

#include "tap.h"

#define RANKS	16		/* the most */
#define MS	1000
#define S	1000000
#define TCP	"tcp:127.0.0.1:7451"
#define LOOP	"loop:group"
#define COUNT	1000

/**
 * struct rank - a rank of the test
 * @rank: which one; a test may say a wrong number
 * @ranks: how many there are
 * @address: where all meet
 * @opts: how it creates the group
 * @delay_us: before it does that
 * @session: its session; NULL: it opens one
 * @group: NULL: it was not created, with @err and @why
 * @use: what it does then. If that is OK, it leaves the group with the others, unless it @stays
 * @created: there was a group
 * @status: what @use has returned
 */
struct rank {
	unsigned int rank;
	unsigned int ranks;
	const char *address;
	struct mrpc_group_opts opts;
	unsigned int delay_us;
	struct mrpc_session *session;
	struct mrpc_group *group;
	int err;
	char why[600];
	int (*use)(struct rank *r);
	bool stays;
	bool created;
	int status;
	pthread_t thread;
};

static struct rank ranks[RANKS + 1];

static inline void use(struct rank *r)
{
	CHECK_EQ(mrpc_group_rank(r->group), r->rank);
	CHECK_EQ(mrpc_group_ranks(r->group), r->ranks);
	r->status = r->use(r);
	if (r->status != MRPC_OK || r->stays)
		return;
	r->status = mrpc_group_leave(r->group);
	r->group = NULL;
	if (r->status != MRPC_OK)
		snprintf(r->why, sizeof(r->why), "%s", mrpc_last_error());
}

static inline void *rank_main(void *arg)
{
	struct rank *r = arg;

	usleep(r->delay_us);
	if (!r->session)
		r->session = mrpc_session_open(NULL);
	CHECK_MSG(r->session, "%s", mrpc_last_error());
	r->group = mrpc_group_create(r->session, r->address, r->ranks, r->rank, &r->opts);
	r->err = errno;
	r->created = r->group;
	if (!r->group)
		snprintf(r->why, sizeof(r->why), "%s", mrpc_last_error());
	else if (r->use)
		use(r);
	return NULL;
}

static inline void rank_start(struct rank *r)
{
	CHECK_EQ(pthread_create(&r->thread, NULL, rank_main, r), 0);
}

static inline void rank_wait(struct rank *r)
{
	pthread_join(r->thread, NULL);
}

static inline void rank_end(struct rank *r)
{
	mrpc_group_abort(r->group);
	mrpc_session_close(r->session);
	r->group = NULL;
	r->session = NULL;
}

/* @nr ranks that meet at @address. Tests then change what they like. */
static inline void prepare(unsigned int nr, const char *address, int (*use)(struct rank *r))
{
	unsigned int i;

	memset(ranks, 0, sizeof(ranks));
	for (i = 0; i < nr; i++) {
		ranks[i].rank = i;
		ranks[i].ranks = nr;
		ranks[i].address = address;
		ranks[i].use = use;
		ranks[i].opts.timeout_us = 20 * S;
	}
}

static inline void run_ranks(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		rank_start(&ranks[i]);
	for (i = 0; i < nr; i++)
		rank_wait(&ranks[i]);
}

static inline void check_ranks(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		CHECK_MSG(ranks[i].created, "rank %u: %s", i, ranks[i].why);
		CHECK_MSG(ranks[i].status == MRPC_OK, "rank %u: %s: %s", i,
			  mrpc_status_name(ranks[i].status), ranks[i].why);
	}
}

static inline void end_ranks(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		rank_end(&ranks[i]);
}

static inline void all_work(unsigned int nr)
{
	run_ranks(nr);
	check_ranks(nr);
	end_ranks(nr);
}

/* -- operations -------------------------------------------------------------------------- */

/* The element @i of what rank @rank has. */
static inline int32_t elem_of(unsigned int rank, unsigned int i)
{
	return (int32_t)(rank * 1000003 + i * 7);
}

static inline int32_t sum_of(unsigned int n, unsigned int i)
{
	int32_t sum = 0;
	unsigned int rank;

	for (rank = 0; rank < n; rank++)
		sum = (int32_t)((uint32_t)sum + (uint32_t)elem_of(rank, i));
	return sum;
}

static inline int note(struct rank *r, int status)
{
	if (status != MRPC_OK)
		snprintf(r->why, sizeof(r->why), "%s", mrpc_last_error());
	return status;
}

/* Each rank has @blocks times COUNT elements. */
static inline int32_t *buffer(struct rank *r, unsigned int blocks, bool filled)
{
	int32_t *p = mrpc_alloc(r->session, blocks * COUNT * sizeof(*p));
	unsigned int i;

	CHECK_MSG(p, "%s", mrpc_last_error());
	for (i = 0; i < blocks * COUNT; i++)
		p[i] = filled ? elem_of(r->rank, i) : -1;
	return p;
}

static inline int reducing(struct rank *r)
{
	const enum mrpc_elem e = MRPC_ELEM_I32;
	const enum mrpc_reduce_op sum = MRPC_REDUCE_SUM;
	int32_t *in = buffer(r, r->ranks, true), *out = buffer(r, 1, false);
	bool root = r->rank == r->ranks - 1;
	unsigned int i;
	int status;

	status = mrpc_group_allreduce(r->group, in, out, COUNT, e, sum);
	for (i = 0; i < COUNT && status == MRPC_OK; i++)
		CHECK_EQ(out[i], sum_of(r->ranks, i));
	if (status == MRPC_OK)
		status = mrpc_group_reduce(r->group, in, root ? out : NULL, COUNT, e, sum,
					   r->ranks - 1);
	for (i = 0; i < COUNT && root && status == MRPC_OK; i++)
		CHECK_EQ(out[i], sum_of(r->ranks, i));
	if (status == MRPC_OK)
		status = mrpc_group_reduce_scatter(r->group, in, out, COUNT, e, sum);
	for (i = 0; i < COUNT && status == MRPC_OK; i++)
		CHECK_EQ(out[i], sum_of(r->ranks, r->rank * COUNT + i));
	mrpc_free(r->session, in);
	mrpc_free(r->session, out);
	return note(r, status);
}

#endif /* TEST_GUEST_RANKS_H */
