/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Communicators: groups of mrpc. */
#ifndef MRPC_NCCL_COMM_H
#define MRPC_NCCL_COMM_H

#include <pthread.h>
#include <stdbool.h>

#include <mrpc.h>

#include "nccl.h"

/**
 * struct ncclComm - a communicator
 * @session: its session
 * @ranks: how many
 * @rank: this one
 * @lock: keeps an abort by another thread from a begin of an operation
 * @group: the group, under @lock; NULL: the communicator was aborted
 * @finalized: it takes no further operation
 * @error: what the first operation that failed returned; atomic
 * @begun: operations that have begun and are not waited for; of the thread that uses it
 * @users: the program, and calls that are not over; atomic
 * @next: in the list of communicators that are not destroyed
 */
struct ncclComm {
	struct mrpc_session *session;
	int ranks;
	int rank;
	pthread_mutex_t lock;
	struct mrpc_group *group;
	bool finalized;
	ncclResult_t error;
	unsigned int begun;
	unsigned int users;
	struct ncclComm *next;
};

/*
 * Finds a communicator that the program names, for comm_put(). NULL with the error set: there is
 * none. @what is the function that needs it.
 */
struct ncclComm *comm_get(const char *what, const struct ncclComm *comm);
void comm_put(struct ncclComm *comm);

/*
 * As mrpc_group_start(), in the calling thread's own queue pair. Return: a status; if it is not
 * MRPC_OK, @why says why.
 */
int comm_start(struct ncclComm *comm, const struct mrpc_group_op *op, mrpc_done_fn done, void *user,
	       const char **why);

/* An operation has failed, and so have all later ones: for ncclCommGetAsyncError(). */
void comm_failed(struct ncclComm *comm, ncclResult_t result);

#endif /* MRPC_NCCL_COMM_H */
