// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Groups of calls, wrong use and the ends of communicators, with the module.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include <mrpc.h>

#include "ranks.h"
#include "unique_id.h"

#define MS	1000

/* -- groups of calls -------------------------------------------------------------------------- */

#define MANY	(MRPC_GROUP_PENDING + 4)	/* more than may be under way */

/* Blocks that a thread may allocate; less than 0: any number. */
static __thread int blocks_left = -1;

void *__real_mrpc_alloc(struct mrpc_session *session, size_t len);
void __real_mrpc_free(struct mrpc_session *session, void *block);
void *__wrap_mrpc_alloc(struct mrpc_session *session, size_t len);
void __wrap_mrpc_free(struct mrpc_session *session, void *block);

void *__wrap_mrpc_alloc(struct mrpc_session *session, size_t len)
{
	if (!blocks_left) {
		errno = ENOMEM;
		return NULL;
	}
	blocks_left -= blocks_left > 0;
	return __real_mrpc_alloc(session, len);
}

void __wrap_mrpc_free(struct mrpc_session *session, void *block)
{
	blocks_left += blocks_left >= 0;
	__real_mrpc_free(session, block);
}

static void many(struct rank *r)
{
	int64_t *in = calloc(MANY, sizeof(*in)), *out = calloc(MANY, sizeof(*out));
	int i;

	CHECK_OK(ncclGroupStart());
	for (i = 0; i < MANY; i++) {
		in[i] = i;
		CHECK_OK(ncclGroupStart());
		CHECK_OK(ncclAllReduce(&in[i], &out[i], 1, ncclInt64, ncclSum, r->comm, NULL));
		CHECK_OK(ncclGroupEnd());
	}
	CHECK_EQ(out[MANY - 1], 0);
	CHECK_OK(ncclGroupEnd());
	for (i = 0; i < MANY; i++)
		CHECK_EQ(out[i], i * r->ranks);
	free(in);
	free(out);
}

TEST(many_calls)
{
	run_ranks(2, many);
}

/* Two communicators in one group of calls; each rank names them in another order. */
static void two_communicators(struct rank *r)
{
	int32_t *first, *second;
	ncclComm_t other;
	ncclUniqueId id;
	int i;

	/* All ranks say the same, so that they need not tell each other. */
	setenv("NCCL_COMM_ID", "127.0.0.1:7461", 1);
	CHECK_OK(ncclGetUniqueId(&id));
	CHECK_OK(ncclCommInitRank(&other, r->ranks, id, r->ranks - 1 - r->rank));
	CHECK_OK(ncclMemAlloc((void **)&first, MANY * sizeof(*first)));
	CHECK_OK(ncclMemAlloc((void **)&second, MANY * sizeof(*second)));
	CHECK_OK(ncclGroupStart());
	for (i = 0; i < 2 * MANY; i++) {
		bool is_first = (i < MANY) == !r->rank;
		int32_t *p = is_first ? &first[i % MANY] : &second[i % MANY];

		*p = i % MANY;
		CHECK_OK(ncclAllReduce(p, p, 1, ncclInt, is_first ? ncclSum : ncclMax,
				       is_first ? r->comm : other, NULL));
	}
	CHECK_ERROR(ncclCommDestroy(other), ncclInvalidUsage, "has a ncclAllReduce");
	CHECK_OK(ncclGroupEnd());
	for (i = 0; i < MANY; i++) {
		CHECK_EQ(first[i], i * r->ranks);
		CHECK_EQ(second[i], i);
	}
	CHECK_OK(ncclCommDestroy(other));
}

TEST(calls_of_two_communicators)
{
	run_ranks(2, two_communicators);
}

/* Copies of few calls fit into the memory at a time: the others follow. */
static void little_memory(struct rank *r)
{
	int32_t in[8], out[8], i;

	blocks_left = 2 * 3 + 1;
	CHECK_OK(ncclGroupStart());
	for (i = 0; i < 8; i++) {
		in[i] = i;
		CHECK_OK(ncclAllReduce(&in[i], &out[i], 1, ncclInt, ncclSum, r->comm, NULL));
	}
	CHECK_OK(ncclGroupEnd());
	for (i = 0; i < 8; i++)
		CHECK_EQ(out[i], i * r->ranks);
	CHECK_EQ(blocks_left, 2 * 3 + 1);
	/* Those of one do not fit. The communicator is as it was. */
	blocks_left = 1;
	CHECK_ERROR(ncclAllReduce(in, out, 8, ncclInt, ncclSum, r->comm, NULL), ncclSystemError,
		    "ncclAllReduce: no memory for copies of buffers");
	CHECK_EQ(blocks_left, 1);
	blocks_left = 2;
	CHECK_OK(ncclAllReduce(in, out, 8, ncclInt, ncclSum, r->comm, NULL));
}

TEST(little_memory_for_copies)
{
	run_ranks(2, little_memory);
}

/* -- wrong use -------------------------------------------------------------------------------- */

static void refused(struct rank *r)
{
	int32_t in = 1, out = 0, both[3] = { 0 };
	cudaStream_t stream = (void *)0x10;

	CHECK_ERROR(ncclAllReduce(&in, &out, 1, ncclInt, ncclSum, r->comm, stream),
		    ncclInvalidArgument, "ncclAllReduce: the stream is 0x10, and must be NULL");
	CHECK_ERROR(ncclAllReduce(&in, &out, 1, ncclNumTypes, ncclSum, r->comm, NULL),
		    ncclInvalidArgument, "no type of elements 10, at most 9");
	CHECK_ERROR(ncclAllReduce(&in, NULL, 1, ncclInt, ncclSum, r->comm, NULL),
		    ncclInvalidArgument, "the recvbuff is NULL");
	CHECK_ERROR(ncclAllReduce(NULL, &out, 1, ncclInt, ncclSum, r->comm, NULL),
		    ncclInvalidArgument, "the sendbuff is NULL");
	CHECK_ERROR(ncclAllReduce(both, both + 1, 2, ncclInt, ncclSum, r->comm, NULL),
		    ncclInvalidArgument, "sendbuff and recvbuff overlap, and it is not in place");
	CHECK_ERROR(ncclAllGather(both + 1 - r->rank, both, 1, ncclInt, r->comm, NULL),
		    ncclInvalidArgument, "overlap");
	CHECK_ERROR(ncclReduceScatter(both, both + 1 - r->rank, 1, ncclInt, ncclSum, r->comm, NULL),
		    ncclInvalidArgument, "overlap");
	CHECK_ERROR(ncclBcast(&in, 1, ncclInt, 2, r->comm, NULL), ncclInvalidArgument,
		    "root 2; the ranks of 2 are 0 to 1");
	CHECK_ERROR(ncclBcast(&in, 1, ncclInt, -1, r->comm, NULL), ncclInvalidArgument, "root -1");
	CHECK_ERROR(ncclAllGather(&in, &out, (128 << 20) + 1, ncclInt, r->comm, NULL),
		    ncclInvalidArgument, "134217729 elements; there may be 134217728");
	CHECK_ERROR(ncclAllReduce(&in, &out, SIZE_MAX, ncclInt, ncclSum, r->comm, NULL),
		    ncclInvalidArgument, "there may be 268435456");
	/* One that is refused takes the others of its group of calls with it. */
	CHECK_OK(ncclGroupStart());
	CHECK_OK(ncclAllReduce(&in, &out, 1, ncclInt, ncclSum, r->comm, NULL));
	CHECK_EQ(ncclBcast(&in, 1, ncclInt, 5, r->comm, NULL), ncclInvalidArgument);
	CHECK_ERROR(ncclGroupEnd(), ncclInvalidArgument, "ncclBcast: root 5");
	CHECK_EQ(out, 0);
	CHECK_OK(ncclAllReduce(&in, &out, 1, ncclInt, ncclSum, r->comm, NULL));
	CHECK_EQ(out, 2);
}

TEST(bad_arguments)
{
	run_ranks(2, refused);
}

static void disagree(struct rank *r)
{
	int32_t p[20] = { 0 };
	ncclResult_t error;

	CHECK_OK(ncclCommGetAsyncError(r->comm, &error));
	CHECK_EQ(error, ncclSuccess);
	CHECK_ERROR(ncclAllReduce(p, p, r->rank ? 10 : 20, ncclInt, ncclSum, r->comm, NULL),
		    ncclInvalidUsage, "elements, this one");
	CHECK_MSG(strstr(ncclGetLastError(NULL), "ncclAllReduce: operation 1: rank "), "%s",
		  ncclGetLastError(NULL));
	CHECK_OK(ncclCommGetAsyncError(r->comm, &error));
	CHECK_EQ(error, ncclInvalidUsage);
	CHECK_ERROR(ncclAllReduce(p, p, 1, ncclInt, ncclSum, r->comm, NULL), ncclInvalidUsage,
		    "the group has ended");
}

TEST(ranks_that_disagree)
{
	run_ranks(2, disagree);
}

/* -- the end ---------------------------------------------------------------------------------- */

static void finalize(struct rank *r)
{
	ncclComm_t comm = r->comm;
	int32_t n = 1;

	CHECK_OK(ncclCommFinalize(comm));
	CHECK_ERROR(ncclCommFinalize(comm), ncclInvalidUsage, "was finalized before");
	CHECK_ERROR(ncclBcast(&n, 1, ncclInt, 0, comm, NULL), ncclInvalidUsage, "was finalized");
	CHECK_OK(ncclCommDestroy(comm));
	CHECK_ERROR(ncclCommDestroy(comm), ncclInvalidArgument, "or it was destroyed");
	CHECK_ERROR(ncclBcast(&n, 1, ncclInt, 0, comm, NULL), ncclInvalidArgument, "was destroyed");
	r->comm = NULL;
}

TEST(finalized_and_destroyed)
{
	run_ranks(3, finalize);
}

static void leave(struct rank *r)
{
	int32_t n = 1;

	if (r->rank) {
		CHECK_ERROR(ncclAllReduce(&n, &n, 1, ncclInt, ncclSum, r->comm, NULL),
			    ncclRemoteError, "rank 0");
		return;
	}
	usleep(50 * MS);
	CHECK_OK(ncclCommAbort(r->comm));
	r->comm = NULL;
}

TEST(a_rank_aborts)
{
	run_ranks(2, leave);
}

static void *abort_soon(void *comm)
{
	usleep(100 * MS);
	CHECK_OK(ncclCommAbort(comm));
	return NULL;
}

/* Another thread ends an operation that waits for a rank, and one that has not begun. */
static void wait_in_vain(struct rank *r)
{
	int32_t n = 1;
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, abort_soon, r->comm), 0);
	if (r->rank) {
		CHECK_OK(ncclGroupStart());
		CHECK_OK(ncclAllReduce(&n, &n, 1, ncclInt, ncclSum, r->comm, NULL));
		pthread_join(thread, NULL);
		CHECK_ERROR(ncclGroupEnd(), ncclRemoteError, "the communicator was aborted");
	} else {
		CHECK_EQ(ncclAllReduce(&n, &n, 1, ncclInt, ncclSum, r->comm, NULL),
			 ncclRemoteError);
		pthread_join(thread, NULL);
	}
	r->comm = NULL;
}

TEST(another_thread_aborts)
{
	run_ranks(2, wait_in_vain);
}

/* -- meeting ---------------------------------------------------------------------------------- */

/* Rank 0 is elsewhere, and cannot listen at the address. */
TEST(a_foreign_address)
{
	const struct unique_id content = { .address = "tcp:192.0.2.1:7000" };
	ncclUniqueId id;
	ncclComm_t comm;

	unique_id_encode(&id, &content);
	CHECK_ERROR(ncclCommInitRank(&comm, 2, id, 0), ncclSystemError,
		    "rank 0 runs on the host where ncclGetUniqueId() was called");
}

/* The id has the token. A process with another one is refused, and the others wait on. */
static void *join_late(void *arg)
{
	struct rank *r = arg;
	ncclUniqueId other = r->id;

	other.internal[sizeof("mrpc-nccl-1")] ^= 1;
	CHECK_ERROR(ncclCommInitRank(&r->comm, r->ranks, other, r->rank), ncclInvalidUsage,
		    "the token is not that of rank 0");
	CHECK_OK(ncclCommInitRank(&r->comm, r->ranks, r->id, r->rank));
	CHECK_OK(ncclCommDestroy(r->comm));
	return NULL;
}

TEST(another_token)
{
	struct rank late = { .rank = 1, .ranks = 2 };
	pthread_t thread;
	ncclComm_t comm;

	setenv("NCCL_SOCKET_IFNAME", "lo", 1);
	CHECK_OK(ncclGetUniqueId(&late.id));
	CHECK_EQ(pthread_create(&thread, NULL, join_late, &late), 0);
	CHECK_OK(ncclCommInitRank(&comm, 2, late.id, 0));
	CHECK_OK(ncclCommDestroy(comm));
	pthread_join(thread, NULL);
}

static struct rank threads[3];

/* The communicators of several ranks in one group of calls: they are in different sessions. */
static void all_at_once(void)
{
	int32_t p[3] = { 0, 1, 2 };
	int i;

	CHECK_OK(ncclGroupStart());
	for (i = 0; i < 3; i++)
		CHECK_OK(ncclAllReduce(&p[i], &p[i], 1, ncclInt, ncclSum, threads[i].comm, NULL));
	CHECK_OK(ncclGroupEnd());
	for (i = 0; i < 3; i++)
		CHECK_EQ(p[i], 3);
}

static void *thread_end(void *arg)
{
	struct rank *r = arg;

	CHECK_OK(ncclCommDestroy(r->comm));
	return NULL;
}

static void *thread_main(void *arg)
{
	struct rank *r = arg;
	int32_t *p, n;

	CHECK_OK(ncclCommInitRank(&r->comm, r->ranks, r->id, r->rank));
	CHECK_OK(ncclCommUserRank(r->comm, &n));
	CHECK_EQ(n, r->rank);
	CHECK_OK(ncclMemAlloc((void **)&p, sizeof(*p)));
	*p = r->rank;
	CHECK_OK(ncclAllReduce(p, p, 1, ncclInt, ncclSum, r->comm, NULL));
	CHECK_EQ(*p, 3);
	CHECK_OK(ncclMemFree(p));
	return NULL;
}

TEST(ranks_are_threads)
{
	pthread_t ids[3];
	ncclUniqueId id;
	int i;

	setenv("NCCL_SOCKET_IFNAME", "lo", 1);
	CHECK_OK(ncclGetUniqueId(&id));
	for (i = 0; i < 3; i++) {
		threads[i] = (struct rank){ .rank = i, .ranks = 3, .id = id };
		CHECK_EQ(pthread_create(&ids[i], NULL, thread_main, &threads[i]), 0);
	}
	for (i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
	all_at_once();
	for (i = 0; i < 3; i++)
		CHECK_EQ(pthread_create(&ids[i], NULL, thread_end, &threads[i]), 0);
	for (i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
}
