/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of operations: done at once, or at the end of a group of calls. */
#ifndef MRPC_NCCL_GROUP_CALLS_H
#define MRPC_NCCL_GROUP_CALLS_H

#include <stdbool.h>

#include <mrpc.h>

#include "comm.h"
#include "memory.h"
#include "nccl.h"

struct batch;

enum call_state {
	CALL_WAITS,
	CALL_BEGUN,
	CALL_OVER,
	CALL_LOST,	/* it has begun, and cannot be waited for */
};

/**
 * struct call - a call of an operation
 * @what: the function
 * @comm: its communicator, a reference
 * @op: for the kernel, but for the buffers
 * @buffers: the program's side
 * @type: of the elements
 * @average: the result is divided by the number of ranks
 * @state: how far it is
 * @batch: the calls that are done together
 * @next: of @batch
 */
struct call {
	const char *what;
	struct ncclComm *comm;
	struct mrpc_group_op op;
	struct buffers buffers;
	ncclDataType_t type;
	bool average;
	enum call_state state;
	struct batch *batch;
	struct call *next;
};

/* Does a call at once, and waits for its end. Takes the reference of the call. */
ncclResult_t call_run(const struct call *call);

/* The same, but within a group of calls it is done at the end. */
ncclResult_t call_submit(const struct call *call);

/* An operation was refused: a group of calls fails, too. Return: @result. */
ncclResult_t call_refused(ncclResult_t result);

/* Has the group of calls one of this communicator? If so, the error of @what is set. */
bool call_is_queued(const char *what, const struct ncclComm *comm);

#endif /* MRPC_NCCL_GROUP_CALLS_H */
