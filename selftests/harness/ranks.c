// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"

struct rank ranks[RANKS];
unsigned int nr_ranks;

void ranks_open(unsigned int nr, uint32_t heap)
{
	unsigned int i;

	nr_ranks = nr;
	for (i = 0; i < nr; i++) {
		memset(&ranks[i], 0, sizeof(ranks[i]));
		raw_open(&ranks[i].s, heap, 1 << 20);
		raw_qp(&ranks[i].qp, &ranks[i].s, 64, 256, MRPC_QP_SERVE);
	}
}

/* -- connections -------------------------------------------------------------------- */

/* A connection that one thread makes, and that another thread accepts. */
struct dial {
	struct rank *from;
	char addr[64];
	int conn;
};

static void *dial(void *arg)
{
	struct dial *d = arg;
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe;

	d->conn = raw_connect(&d->from->s, d->addr);
	if (d->conn < 0)
		raw_die("connect to %s: %s", d->addr, d->from->s.why);
	/* The other end has its number from this call. */
	sqe = raw_sqe(d->conn, RAW_ECHO, raw_blob(&d->from->s, 1, 10, NULL));
	if (raw_call(&d->from->s, &sqe, &cqe) || cqe.status != MRPC_OK)
		raw_die("the call that tells the connection: status %u", cqe.status);
	raw_done(&d->from->s, &cqe);
	raw_free(&d->from->s, sqe.root);
	return NULL;
}

static void connect_two(unsigned int from, unsigned int to, const char *addr)
{
	struct dial d = { .from = &ranks[from] };
	struct rank *r = &ranks[to];
	struct mrpc_sqe reply;
	struct mrpc_cqe cqe;
	pthread_t thread;

	snprintf(d.addr, sizeof(d.addr), "%s", addr);
	if (pthread_create(&thread, NULL, dial, &d))
		raw_die("no thread");
	raw_expect(&r->qp, &cqe, MRPC_CQE_REQUEST, RANKS_WAIT);
	r->conn[from] = cqe.conn;
	reply = raw_reply_to(&cqe, MRPC_OK);
	reply.flags = MRPC_SQE_COPY;
	reply.root = raw_blob(&r->s, 1, 10, NULL);
	raw_done(&r->s, &cqe);
	raw_push(&r->qp, &reply);
	raw_enter(&r->qp, 0, 0);
	pthread_join(thread, NULL);
	raw_free(&r->s, reply.root);
	ranks[from].conn[to] = d.conn;
}

void ranks_connect(const char *how)
{
	unsigned int i, j;
	char addr[64];

	for (i = 1; i < nr_ranks; i++) {
		if (!strcmp(how, "loop"))
			snprintf(addr, sizeof(addr), "loop:rank-%d-%u", getpid(), i);
		else
			snprintf(addr, sizeof(addr), "%.*s:127.0.0.1:0", (int)strlen(how) - 1, how);
		if (raw_serve(&ranks[i].s, addr) < 0)
			raw_die("serve at %s: %s", addr, ranks[i].s.why);
		if (strcmp(how, "loop"))
			snprintf(addr, sizeof(addr), "%.*s:127.0.0.1:%u", (int)strlen(how) - 1, how,
				 ranks[i].s.port);
		for (j = 0; j < i; j++)
			connect_two(j, i, addr);
	}
}

/* -- groups ------------------------------------------------------------------------ */

int rank_join(struct rank *r, unsigned int rank, unsigned int nr, uint64_t key, uint64_t limit_us)
{
	struct mrpc_group_new g = {
		.size = sizeof(g),
		.key = key,
		.ranks = nr,
		.rank = rank,
		.limit_us = limit_us,
		.explain = { .buf = (uintptr_t)r->s.why, .len = sizeof(r->s.why) },
	};
	int err;

	r->s.why[0] = 0;
	err = raw_ioctl(r->s.fd, MRPC_IOC_GROUP, &g);
	if (!err)
		r->group = g.id;
	return err;
}

int rank_link(struct rank *r, unsigned int to, uint32_t conn)
{
	struct mrpc_group_link l = {
		.size = sizeof(l),
		.group = r->group,
		.rank = to,
		.conn = conn,
		.explain = { .buf = (uintptr_t)r->s.why, .len = sizeof(r->s.why) },
	};

	r->s.why[0] = 0;
	return raw_ioctl(r->s.fd, MRPC_IOC_GROUP_LINK, &l);
}

int rank_leave(struct rank *r)
{
	struct mrpc_group_end e = { .size = sizeof(e), .group = r->group };

	return raw_ioctl(r->s.fd, MRPC_IOC_GROUP_END, &e);
}

void ranks_join(uint64_t key, uint64_t limit_us)
{
	unsigned int i, j;
	int err;

	for (i = 0; i < nr_ranks; i++) {
		err = rank_join(&ranks[i], i, nr_ranks, key, limit_us);
		if (err)
			raw_die("rank %u joins: %s: %s", i, strerror(-err), ranks[i].s.why);
		for (j = 0; j < nr_ranks; j++) {
			err = j == i ? 0 : rank_link(&ranks[i], j, ranks[i].conn[j]);
			if (err)
				raw_die("rank %u to %u: %s: %s", i, j, strerror(-err),
					ranks[i].s.why);
		}
	}
}

void ranks_begin(const char *how, unsigned int nr, uint32_t heap)
{
	ranks_open(nr, heap);
	ranks_connect(how);
	ranks_join(0x6b6579, 0);
}

void ranks_end(void)
{
	unsigned int i;

	for (i = 0; i < nr_ranks; i++)
		raw_close(&ranks[i].s);
}

/* -- operations -------------------------------------------------------------------- */

void rank_submit(unsigned int rank, struct mrpc_sqe sqe)
{
	struct rank *r = &ranks[rank];
	int err;

	sqe.op = MRPC_OP_COLLECTIVE;
	sqe.group = r->group;
	if (!raw_push(&r->qp, &sqe))
		raw_die("rank %u: the submission queue is full", rank);
	err = raw_enter(&r->qp, 0, 0);
	if (err)
		raw_die("rank %u: enter: %s", rank, strerror(-err));
}

void ranks_submit(const struct mrpc_sqe *sqe)
{
	unsigned int i;

	for (i = 0; i < nr_ranks; i++)
		rank_submit(i, *sqe);
}

uint32_t rank_complete(unsigned int rank)
{
	struct rank *r = &ranks[rank];

	raw_expect(&r->qp, &r->cqe, MRPC_CQE_COLLECTIVE, RANKS_WAIT * raw_patience());
	raw_detail(&r->s, &r->cqe, r->why, sizeof(r->why));
	raw_done(&r->s, &r->cqe);
	return r->cqe.status;
}

void ranks_complete(void)
{
	unsigned int i;

	for (i = 0; i < nr_ranks; i++)
		if (rank_complete(i) != MRPC_OK)
			raw_die("rank %u: status %u: %s", i, ranks[i].cqe.status, ranks[i].why);
}
