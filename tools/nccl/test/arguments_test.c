// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is refused without a communicator, and how. */
#include <pthread.h>
#include <stdint.h>

#include "memory.h"
#include "nccl.h"
#include "results.h"
#include "unique_id.h"

TEST(versions)
{
	int version;

	CHECK_EQ(ncclGetVersion(&version), ncclSuccess);
	CHECK_EQ(version, 21900);
	CHECK_EQ(version, NCCL_VERSION(2, 19, 0));
	CHECK_EQ(NCCL_VERSION(2, 8, 3), 2803);
	CHECK_EQ(NCCL_VERSION(3, 1, 2), 30102);
	CHECK_ERROR(ncclGetVersion(NULL), ncclInvalidArgument, "NULL");
}

TEST(error_strings)
{
	int i;

	for (i = 0; i < ncclNumResults; i++)
		CHECK(*ncclGetErrorString((ncclResult_t)i));
	CHECK_STR(ncclGetErrorString(ncclSuccess), "no error");
	CHECK_STR(ncclGetErrorString(ncclNumResults), "no result has this number");
	CHECK_STR(ncclGetErrorString((ncclResult_t)-1), "no result has this number");
}

static void *read_error(void *arg)
{
	strcpy(arg, ncclGetLastError(NULL));
	ncclGroupEnd();
	return NULL;
}

TEST(each_thread_has_its_error)
{
	char text[1024] = "none";
	pthread_t thread;

	CHECK_ERROR(ncclMemFree(text), ncclInvalidArgument, "not returned by ncclMemAlloc()");
	CHECK_EQ(pthread_create(&thread, NULL, read_error, text), 0);
	pthread_join(thread, NULL);
	CHECK_STR(text, "");
	CHECK(strstr(ncclGetLastError(NULL), "ncclMemFree"));
}

TEST(creation)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId id = { "other" };
	ncclComm_t comm = (void *)1;

	CHECK_ERROR(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument, "0 ranks; there may");
	CHECK(!comm);
	CHECK_ERROR(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument, "rank 2; the ranks");
	CHECK_ERROR(ncclCommInitRank(&comm, 2, id, -1), ncclInvalidArgument, "rank -1;");
	CHECK_ERROR(ncclCommInitRank(&comm, 2, id, 0), ncclInvalidArgument, "the ncclUniqueId");
	CHECK_ERROR(ncclCommInitRank(NULL, 2, id, 0), ncclInvalidArgument, "NULL");
	CHECK_ERROR(ncclCommInitRankConfig(&comm, 0, id, 0, &config), ncclInvalidArgument,
		    "0 ranks");
	CHECK_ERROR(ncclCommInitRankConfig(&comm, 0, id, 0, NULL), ncclInvalidArgument,
		    "0 ranks");
	config.blocking = 0;
	CHECK_ERROR(ncclCommInitRankConfig(&comm, 0, id, 0, &config), ncclInvalidArgument,
		    "blocking is 0");
	config.magic = 0;
	CHECK_ERROR(ncclCommInitRankConfig(&comm, 0, id, 0, &config), ncclInvalidArgument,
		    "INITIALIZER");
	CHECK_ERROR(ncclCommInitAll(&comm, 2, NULL), ncclInvalidUsage, "2 ranks; a thread is one");
	CHECK_ERROR(ncclCommInitAll(NULL, 1, NULL), ncclInvalidArgument, "NULL");
}

TEST(no_communicator)
{
	ncclComm_t none = (void *)0x1000;
	ncclResult_t error;
	int n = 0;

	CHECK_ERROR(ncclAllReduce(&n, &n, 1, ncclInt, ncclSum, NULL, NULL), ncclInvalidArgument,
		    "ncclAllReduce: the communicator is NULL");
	CHECK_ERROR(ncclBcast(&n, 1, ncclInt, 0, none, NULL), ncclInvalidArgument,
		    "ncclBcast: there is no communicator 0x1000, or it was destroyed");
	CHECK_ERROR(ncclCommDestroy(NULL), ncclInvalidArgument, "ncclCommDestroy");
	CHECK_ERROR(ncclCommFinalize(none), ncclInvalidArgument, "ncclCommFinalize");
	CHECK_ERROR(ncclCommAbort(none), ncclInvalidArgument, "ncclCommAbort");
	CHECK_ERROR(ncclCommCount(none, &n), ncclInvalidArgument, "ncclCommCount");
	CHECK_ERROR(ncclCommUserRank(none, &n), ncclInvalidArgument, "ncclCommUserRank");
	CHECK_ERROR(ncclCommCuDevice(none, &n), ncclInvalidArgument, "ncclCommCuDevice");
	CHECK_ERROR(ncclCommGetAsyncError(none, &error), ncclInvalidArgument, "AsyncError");
	CHECK_ERROR(ncclCommGetAsyncError(none, NULL), ncclInvalidArgument,
		    "ncclCommGetAsyncError: the place for the answer is NULL");
	CHECK_ERROR(ncclCommCount(none, NULL), ncclInvalidArgument, "NULL");
	CHECK_ERROR(ncclCommUserRank(none, NULL), ncclInvalidArgument, "NULL");
	CHECK_ERROR(ncclCommCuDevice(none, NULL), ncclInvalidArgument, "NULL");
}

TEST(what_is_not_there)
{
	int n = 0;

	CHECK_ERROR(ncclSend(&n, 1, ncclInt, 0, NULL, NULL), ncclInvalidUsage,
		    "ncclSend: a group of mrpc");
	CHECK_ERROR(ncclRecv(&n, 1, ncclInt, 0, NULL, NULL), ncclInvalidUsage,
		    "ncclRecv: a group of mrpc");
	CHECK_ERROR(ncclMemAlloc(NULL, 1), ncclInvalidArgument, "NULL");
	CHECK_ERROR(ncclMemAlloc((void **)&n, 0), ncclInvalidArgument, "0 bytes");
	CHECK_EQ(ncclMemFree(NULL), ncclSuccess);
	CHECK(!memory_is_ours(&n, sizeof(n)));
}

/* The outermost end says what was refused inside. */
TEST(groups_of_calls)
{
	int n = 0;

	CHECK_ERROR(ncclGroupEnd(), ncclInvalidUsage, "there was no ncclGroupStart()");
	CHECK_EQ(ncclGroupStart(), ncclSuccess);
	CHECK_EQ(ncclGroupStart(), ncclSuccess);
	CHECK_EQ(ncclSend(&n, 1, ncclInt, 0, NULL, NULL), ncclInvalidUsage);
	CHECK_EQ(ncclBcast(&n, 1, ncclInt, 0, NULL, NULL), ncclInvalidArgument);
	CHECK_EQ(ncclGroupEnd(), ncclSuccess);
	CHECK_ERROR(ncclGroupEnd(), ncclInvalidUsage, "ncclSend");
	CHECK_EQ(ncclGroupStart(), ncclSuccess);
	CHECK_EQ(ncclGroupEnd(), ncclSuccess);
	CHECK_ERROR(ncclGroupEnd(), ncclInvalidUsage, "there was no ncclGroupStart()");
}
