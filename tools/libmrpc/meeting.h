/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ranks of a group find each other. Each rank serves mrpc.group.v1.Group while it creates the group.
 * At rank 0 the others join, and learn the key and all addresses. Each rank connects to those below
 * it, and attaches these connections. It then says that it is ready. Rank 0 answers when all are.
 */
#ifndef LIBMRPC_MEETING_H
#define LIBMRPC_MEETING_H

#include <pthread.h>

#include "internal.h"

#define MEETING_WHY	512	/* a sentence, with its NUL */

/**
 * struct seat - what rank 0 knows of another rank
 * @call: its call of Join or Ready, which waits; or NULL
 * @joined: it has come
 * @ready: it has a connection to each rank below it
 * @told: it was told that the meeting has failed
 * @until: when it gives up
 * @address: where it listens
 */
struct seat {
	struct mrpc_call *call;
	bool joined;
	bool ready;
	bool told;
	u64 until;
	char address[MRPC_ADDR_TEXT];
};

/**
 * struct meeting - one rank's part of it
 * @session: of the group
 * @ranks: how many there are
 * @rank: this one
 * @token: the same at all ranks
 * @until: when this rank gives up
 * @lock: for all that follows. Handlers take it, and the thread that creates the group
 * @changed: something has changed
 * @key: of the group; rank 0 draws it, others learn it
 * @group: the kernel's number; 0: there is none yet
 * @attached: ranks above this one that have attached their connection
 * @over: at rank 0: all ranks were told that the group is complete, or that it has failed
 * @status: MRPC_OK; MRPC_DEADLINE_EXCEEDED or MRPC_ABORTED: the meeting has failed
 * @why: and this says why
 * @refused: why a rank was refused last; "": none was
 * @seats: at rank 0: one for each rank, the first is not used
 */
struct meeting {
	struct mrpc_session *session;
	u32 ranks;
	u32 rank;
	const char *token;
	u64 until;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	u64 key;
	u32 group;
	u32 attached;
	bool over;
	int status;
	char why[MEETING_WHY];
	char refused[MEETING_WHY];
	struct seat *seats;
};

extern const struct mrpc_service_desc *const meeting_service;
/* Of that service, for mrpc_server_add(). Its context is the meeting. */
extern const void *const meeting_ops;

/* 0 or -errno, with the error set. */
int meeting_init(struct meeting *m);
void meeting_destroy(struct meeting *m);

/* The first failure counts. */
void meeting_fail(struct meeting *m, const char *fmt, ...) MRPC_PRINTF(2, 3);

/* Handlers that wait for the group go on. */
void meeting_set_group(struct meeting *m, u64 key, u32 group);

/* Have all ranks above this one attached their connections? 0 or -errno, with the error set. */
int meeting_check_attached(struct meeting *m);

/* -- at rank 0 -------------------------------------------------------------------------- */

/* Waits until all ranks have come, or are ready. Failures are in @m->status. */
void meeting_wait_joined(struct meeting *m);
void meeting_wait_ready(struct meeting *m);

/* Answers all calls that wait: with what they asked for, or with the failure. */
void meeting_answer(struct meeting *m);

/*
 * The same for the last time. After a failure it waits until all ranks that have come were told, or some
 * time has passed. Return: 0, or -errno of the failure, with the error set.
 */
int meeting_end(struct meeting *m);

/* -- at other ranks --------------------------------------------------------------------- */

/* Joins over @rank0. @addresses: set to @m->ranks texts of MRPC_ADDR_TEXT, for free(). 0 or -errno. */
int meeting_join(struct meeting *m, struct mrpc_conn *rank0, const char *address,
		 char (**addresses)[MRPC_ADDR_TEXT]);

/* Attaches the connection to rank @to. 0 or -errno, with the error set. */
int meeting_attach(struct meeting *m, u32 to, struct mrpc_conn *conn);

/* Says that this rank is ready, or cannot be because of @failure; waits for all. 0 or -errno. */
int meeting_ready(struct meeting *m, struct mrpc_conn *rank0, const char *failure);

#endif /* LIBMRPC_MEETING_H */
