// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Communicators; see comm.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "comm.h"
#include "error.h"
#include "group_calls.h"
#include "port.h"
#include "session.h"
#include "unique_id.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ncclComm *comms;	/* under the lock */

static void fail_unknown(const char *what, const void *comm)
{
	if (comm)
		fail(ncclInvalidArgument, "%s: there is no communicator %p, or it was destroyed",
		     what, comm);
	else
		fail(ncclInvalidArgument, "%s: the communicator is NULL", what);
}

struct ncclComm *comm_get(const char *what, const struct ncclComm *comm)
{
	struct ncclComm *c;

	pthread_mutex_lock(&lock);
	for (c = comms; c && c != comm; c = c->next)
		;
	if (c)
		__atomic_add_fetch(&c->users, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	if (!c)
		fail_unknown(what, comm);
	return c;
}

void comm_put(struct ncclComm *comm)
{
	if (__atomic_sub_fetch(&comm->users, 1, __ATOMIC_ACQ_REL))
		return;
	session_give(comm->session);
	pthread_mutex_destroy(&comm->lock);
	free(comm);
}

int comm_start(struct ncclComm *comm, const struct mrpc_group_op *op, mrpc_done_fn done, void *user,
	       const char **why)
{
	int status = MRPC_CANCELLED;

	*why = "the communicator was aborted";
	pthread_mutex_lock(&comm->lock);
	/* One that found no memory has no number: the next one would meet it at other ranks. */
	if (__atomic_load_n(&comm->error, __ATOMIC_RELAXED) == ncclSystemError) {
		status = MRPC_RESOURCE_EXHAUSTED;
		*why = "an earlier operation of the communicator has failed";
	} else if (comm->group) {
		status = mrpc_group_start(comm->group, op, done, user);
		*why = mrpc_last_error();
	}
	pthread_mutex_unlock(&comm->lock);
	return status;
}

void comm_failed(struct ncclComm *comm, ncclResult_t result)
{
	ncclResult_t none = ncclSuccess;

	__atomic_compare_exchange_n(&comm->error, &none, result, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/* -- creation --------------------------------------------------------------------------------- */

/* For a group that is there. */
static ncclResult_t add(struct mrpc_session *session, struct mrpc_group *group, ncclComm_t *comm)
{
	struct ncclComm *c = calloc(1, sizeof(*c));

	if (!c) {
		mrpc_group_abort(group);
		session_give(session);
		return fail(ncclSystemError, "ncclCommInitRank: out of memory");
	}
	c->session = session;
	c->group = group;
	c->ranks = (int)mrpc_group_ranks(group);
	c->rank = (int)mrpc_group_rank(group);
	c->users = 1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_lock(&lock);
	c->next = comms;
	comms = c;
	pthread_mutex_unlock(&lock);
	*comm = c;
	return ncclSuccess;
}

static ncclResult_t create(ncclComm_t *comm, int ranks, int rank, const struct unique_id *id)
{
	const struct mrpc_group_opts opts = { .token = id->token };
	struct mrpc_session *session = session_for_group();
	struct mrpc_group *group;
	const char *hint = "";
	int err;

	if (!session)
		return fail(ncclSystemError, "ncclCommInitRank: %s", mrpc_last_error());
	group = mrpc_group_create(session, id->address, (__u32)ranks, (__u32)rank, &opts);
	err = errno;
	session_created(session);
	if (group)
		return add(session, group, comm);
	session_give(session);
	if (err == EADDRNOTAVAIL)
		hint = ": rank 0 runs on the host where ncclGetUniqueId() was called";
	return fail(result_of_errno(err), "ncclCommInitRank: %s%s", mrpc_last_error(), hint);
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank)
{
	struct unique_id content;
	ncclResult_t result;

	if (!comm)
		return fail(ncclInvalidArgument, "ncclCommInitRank: the pointer is NULL");
	*comm = NULL;
	if (nranks < 1 || nranks > MRPC_GROUP_RANKS)
		return fail(ncclInvalidArgument, "ncclCommInitRank: %d ranks; there may be 1 to %u",
			    nranks, MRPC_GROUP_RANKS);
	if (rank < 0 || rank >= nranks)
		return fail(ncclInvalidArgument,
			    "ncclCommInitRank: rank %d; the ranks of %d are 0 to %d", rank, nranks,
			    nranks - 1);
	result = unique_id_decode(&id, &content);
	if (result != ncclSuccess)
		return fail(result, "ncclCommInitRank: %s", ncclGetLastError(NULL));
	result = create(comm, nranks, rank, &content);
	port_give(content.token);
	return result;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank,
				    ncclConfig_t *config)
{
	if (config && (config->size != sizeof(*config) || config->magic != NCCL_CONFIG_MAGIC))
		return fail(ncclInvalidArgument,
			    "ncclCommInitRankConfig: the config is not one of NCCL_CONFIG_INITIALIZER");
	if (config && config->blocking != 1 && config->blocking != NCCL_CONFIG_UNDEF_INT)
		return fail(ncclInvalidArgument,
			    "ncclCommInitRankConfig: blocking is %d, and must be 1: functions wait",
			    config->blocking);
	return ncclCommInitRank(comm, nranks, id, rank);
}

ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist)
{
	static const struct unique_id alone = { .address = "loop:alone" };

	(void)devlist;
	if (!comm)
		return fail(ncclInvalidArgument, "ncclCommInitAll: the pointer is NULL");
	if (ndev != 1)
		return fail(ncclInvalidUsage,
			    "ncclCommInitAll: %d ranks; a thread is one, see ncclCommInitRank()",
			    ndev);
	return create(comm, 1, 0, &alone);
}

/* -- the end ---------------------------------------------------------------------------------- */

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
	struct call barrier = { .what = "ncclCommFinalize", .op.collective = MRPC_BARRIER };
	ncclResult_t result = ncclInvalidArgument;
	struct ncclComm *c;

	if (call_is_queued("ncclCommFinalize", comm))
		return ncclInvalidUsage;
	c = comm_get("ncclCommFinalize", comm);
	if (!c)
		return result;
	if (c->finalized)
		result = fail(ncclInvalidUsage, "ncclCommFinalize: the communicator was finalized before");
	else
		barrier.comm = comm_get("ncclCommFinalize", comm);
	if (barrier.comm)
		result = call_run(&barrier);
	if (result == ncclSuccess)
		c->finalized = true;
	comm_put(c);
	return result;
}

/* Takes a communicator out of the list, so that it is found no more. NULL: the error is set. */
static struct ncclComm *take(const char *what, const struct ncclComm *comm)
{
	struct ncclComm **at, *c;

	pthread_mutex_lock(&lock);
	for (at = &comms; *at && *at != comm; at = &(*at)->next)
		;
	c = *at;
	if (c)
		*at = c->next;
	pthread_mutex_unlock(&lock);
	if (!c)
		fail_unknown(what, comm);
	return c;
}

static struct mrpc_group *take_group(struct ncclComm *c)
{
	struct mrpc_group *group;

	pthread_mutex_lock(&c->lock);
	group = c->group;
	c->group = NULL;
	pthread_mutex_unlock(&c->lock);
	return group;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
	ncclResult_t result = ncclSuccess;
	struct ncclComm *c;
	int status;

	if (call_is_queued("ncclCommDestroy", comm))
		return ncclInvalidUsage;
	c = take("ncclCommDestroy", comm);
	if (!c)
		return ncclInvalidArgument;
	if (c->finalized || c->error != ncclSuccess) {
		mrpc_group_abort(take_group(c));
	} else {
		status = mrpc_group_leave(take_group(c));
		if (status != MRPC_OK)
			result = fail(result_of_status(status), "ncclCommDestroy: %s",
				      mrpc_last_error());
	}
	comm_put(c);
	return result;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	struct ncclComm *c;

	if (call_is_queued("ncclCommAbort", comm))
		return ncclInvalidUsage;
	c = take("ncclCommAbort", comm);
	if (!c)
		return ncclInvalidArgument;
	mrpc_group_abort(take_group(c));
	comm_put(c);
	return ncclSuccess;
}

/* -- what a communicator says ----------------------------------------------------------------- */

/* The same as comm_get(), if there is a place for what the caller wants to know. */
static struct ncclComm *comm_get_to(const char *what, const struct ncclComm *comm, const void *out)
{
	if (out)
		return comm_get(what, comm);
	fail(ncclInvalidArgument, "%s: the place for the answer is NULL", what);
	return NULL;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
	struct ncclComm *c = comm_get_to("ncclCommGetAsyncError", comm, error);

	if (!c)
		return ncclInvalidArgument;
	*error = __atomic_load_n(&c->error, __ATOMIC_RELAXED);
	comm_put(c);
	return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
	struct ncclComm *c = comm_get_to("ncclCommCount", comm, count);

	if (!c)
		return ncclInvalidArgument;
	*count = c->ranks;
	comm_put(c);
	return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
	struct ncclComm *c = comm_get_to("ncclCommUserRank", comm, rank);

	if (!c)
		return ncclInvalidArgument;
	*rank = c->rank;
	comm_put(c);
	return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
	struct ncclComm *c = comm_get_to("ncclCommCuDevice", comm, device);

	if (!c)
		return ncclInvalidArgument;
	*device = 0;
	comm_put(c);
	return ncclSuccess;
}
