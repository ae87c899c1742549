/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host-memory subset of NCCL's C interface, on groups of mrpc.
 *
 * Buffers are host memory, and there is no GPU. A program of collective operations that takes its
 * memory from ncclMemAlloc(), malloc() or elsewhere, and gives NULL as the stream, compiles against
 * this header and links with -lmrpc-nccl. Names, numbers and arguments are those of NCCL. What this
 * header does not declare is not there. Documentation/nccl.rst tells the differences.
 *
 * Threads. All functions can be called by any thread. One thread at a time uses a communicator;
 * only ncclCommAbort() and ncclCommGetAsyncError() may be called meanwhile. ncclCommFinalize() and
 * ncclCommDestroy() wait for all ranks. So ranks of one process call them in a thread each. A
 * process that has used these functions does not use them in a forked child.
 */
#ifndef _MRPC_NCCL_H
#define _MRPC_NCCL_H

#include <limits.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of NCCL that these functions are declared in. */
#define NCCL_MAJOR	2
#define NCCL_MINOR	19
#define NCCL_PATCH	0
#define NCCL_SUFFIX	""

/* Up to 2.8 the number has one digit for the minor version, then two. */
#define NCCL_VERSION(major, minor, patch) \
	((major) > 2 || (minor) > 8 ? (major) * 10000 + (minor) * 100 + (patch) : \
				      (major) * 1000 + (minor) * 100 + (patch))
#define NCCL_VERSION_CODE	NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)

/* For programs that find out which library they are compiled against. */
#define MRPC_NCCL	1

#define NCCL_UNIQUE_ID_BYTES	128
#define NCCL_COMM_NULL		NULL

typedef struct ncclComm *ncclComm_t;
typedef struct CUstream_st *cudaStream_t;	/* NULL is the only one */

typedef struct {
	char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

/*
 * What functions return. If it is not ncclSuccess, ncclGetLastError() has a sentence.
 *
 * ncclSystemError: the kernel or the module refused something, such as memory. ncclInvalidArgument,
 * ncclInvalidUsage: the program is wrong; the second also where ranks disagree. ncclRemoteError: a
 * rank is lost, has left, or does not answer. No function returns ncclUnhandledCudaError or
 * ncclInProgress.
 */
typedef enum {
	ncclSuccess		= 0,
	ncclUnhandledCudaError	= 1,
	ncclSystemError		= 2,
	ncclInternalError	= 3,
	ncclInvalidArgument	= 4,
	ncclInvalidUsage	= 5,
	ncclRemoteError		= 6,
	ncclInProgress		= 7,
	ncclNumResults		= 8
} ncclResult_t;

/* ncclAvg is the sum, divided by the number of ranks: integers towards zero. Integers wrap. */
typedef enum {
	ncclSum		= 0,
	ncclProd	= 1,
	ncclMax		= 2,
	ncclMin		= 3,
	ncclAvg		= 4,
	ncclNumOps	= 5
} ncclRedOp_t;

/* ncclMax and ncclMin are not offered for ncclInt8, ncclUint32 and ncclUint64. */
typedef enum {
	ncclInt8	= 0,	ncclChar	= 0,
	ncclUint8	= 1,
	ncclInt32	= 2,	ncclInt		= 2,
	ncclUint32	= 3,
	ncclInt64	= 4,
	ncclUint64	= 5,
	ncclFloat16	= 6,	ncclHalf	= 6,
	ncclFloat32	= 7,	ncclFloat	= 7,
	ncclFloat64	= 8,	ncclDouble	= 8,
	ncclBfloat16	= 9,
	ncclNumTypes	= 10
} ncclDataType_t;

/* -- errors ----------------------------------------------------------------------------------- */

/* NCCL_VERSION_CODE of this header, as the library was compiled. */
ncclResult_t ncclGetVersion(int *version);

/* What a result means in general; never NULL. */
const char *ncclGetErrorString(ncclResult_t result);

/*
 * What the last function that failed in this thread said; never NULL, and valid until the next
 * failure in this thread. @comm does not matter, and may be NULL.
 */
const char *ncclGetLastError(ncclComm_t comm);

/* -- communicators ---------------------------------------------------------------------------- */

/**
 * ncclGetUniqueId() - name a communicator that is about to be created
 * @id: for ncclCommInitRank() at all ranks; the program takes it to them
 *
 * The name has the address at which rank 0 will listen, and a random token that the others must
 * know. So rank 0 runs on the caller's host, in its network namespace. The address is that of an
 * interface: NCCL_SOCKET_IFNAME in the environment says which. The port is free, and stays the
 * caller's until its ncclCommInitRank() returns.
 *
 * With NCCL_COMM_ID, host:port, in the environment the name has that address and no token. It is
 * then the same at all ranks, and each rank may call this function itself.
 *
 * Return: ncclSuccess; ncclInvalidArgument; ncclInvalidUsage: a variable says what cannot be;
 * ncclSystemError.
 */
ncclResult_t ncclGetUniqueId(ncclUniqueId *id);

/* struct ncclConfig: what a program leaves to the library */
#define NCCL_CONFIG_UNDEF_INT	INT_MIN

#define NCCL_CONFIG_MAGIC	0x6d727063u	/* tells that the structure was initialized */

/**
 * struct ncclConfig - how to create a communicator
 * @size: bytes of the structure, set by NCCL_CONFIG_INITIALIZER
 * @magic: set by it
 * @version: set by it
 * @blocking: 1, or undefined. Others are refused: all functions wait
 */
typedef struct ncclConfig {
	size_t size;
	unsigned int magic;
	unsigned int version;
	int blocking;
} ncclConfig_t;

#define NCCL_CONFIG_INITIALIZER \
	{ sizeof(ncclConfig_t), NCCL_CONFIG_MAGIC, NCCL_VERSION_CODE, NCCL_CONFIG_UNDEF_INT }

/**
 * ncclCommInitRank() - be one rank of a communicator
 * @comm: the communicator
 * @nranks: number of ranks, at most 1024
 * @id: what ncclGetUniqueId() has returned
 * @rank: this one, from 0
 *
 * Waits, at most 60 s, until all ranks have called it, also within a group of calls. So a thread is
 * one rank of a communicator; others can be threads of the same process.
 *
 * Return: ncclSuccess; ncclInvalidArgument; ncclInvalidUsage: ranks disagree, or one comes twice;
 * ncclRemoteError: ranks are missing; ncclSystemError: such as without the module.
 */
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank);

/* The same; @config may be NULL. */
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank,
				    ncclConfig_t *config);

/*
 * A communicator of one rank. @ndev must be 1, because a thread is one rank; @devlist does not
 * matter. Return: as ncclCommInitRank(); ncclInvalidUsage for another @ndev.
 */
ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist);

/*
 * Waits until all ranks have called it. The communicator then takes no further operation, and is to
 * be destroyed.
 */
ncclResult_t ncclCommFinalize(ncclComm_t comm);

/*
 * Frees the communicator, whatever the outcome. Without ncclCommFinalize() before it, this waits
 * until all ranks have called it. If an operation has failed, it does not wait.
 */
ncclResult_t ncclCommDestroy(ncclComm_t comm);

/*
 * Frees the communicator and does not wait. Operations that are not complete fail with
 * ncclRemoteError, at all ranks.
 */
ncclResult_t ncclCommAbort(ncclComm_t comm);

/* @error: what the first failed operation of the communicator returned, or ncclSuccess */
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error);

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank);

/* There is no device: 0. */
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device);

/* -- memory ----------------------------------------------------------------------------------- */

/**
 * ncclMemAlloc() - memory that the kernel moves without a copy by this library
 * @ptr: the memory, aligned to 16, from a page on to a page; not zeroed
 * @size: bytes, at least 1
 *
 * A process has at most 1 GiB, together with the copies that operations make of other memory.
 *
 * Return: ncclSuccess; ncclInvalidArgument; ncclSystemError: no memory, or no module.
 */
ncclResult_t ncclMemAlloc(void **ptr, size_t size);

/* NULL is allowed. ncclInvalidArgument for what ncclMemAlloc() has not returned. */
ncclResult_t ncclMemFree(void *ptr);

/* -- operations ------------------------------------------------------------------------------- */

/*
 * All ranks call the same operations in the same order. An operation is complete when its function
 * returns; within a group of calls when ncclGroupEnd() returns. @stream is NULL.
 *
 * Buffers may be any memory. What is not from ncclMemAlloc() is copied to such memory and back.
 * Input and output do not overlap, or are in place: the same buffer; for ncclAllGather() the input
 * is this rank's block of the output, for ncclReduceScatter() the output is this rank's block of
 * the input. A buffer has at most 1 GiB.
 *
 * Return: ncclSuccess; ncclInvalidArgument: refused, and the communicator is as it was;
 * ncclInvalidUsage: refused, or ranks disagree; ncclRemoteError: a rank is lost, or the operation
 * takes longer than 600 s; ncclSystemError: no memory. An operation that has begun and fails, fails
 * at all ranks, as do all operations after it.
 */
ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
			   ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
			   cudaStream_t stream);

/* @recvbuff matters at @root only. */
ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count,
			ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm,
			cudaStream_t stream);

/* @sendbuff matters at @root only. */
ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
			   ncclDataType_t datatype, int root, ncclComm_t comm,
			   cudaStream_t stream);

/* ncclBroadcast() in place. */
ncclResult_t ncclBcast(void *buff, size_t count, ncclDataType_t datatype, int root,
		       ncclComm_t comm, cudaStream_t stream);

/* @sendcount: elements of each rank */
ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount,
			   ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream);

/* @recvcount: elements of each rank's result */
ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount,
			       ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
			       cudaStream_t stream);

/* Groups of mrpc do not send from one rank to one other: always ncclInvalidUsage. */
ncclResult_t ncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer,
		      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer,
		      ncclComm_t comm, cudaStream_t stream);

/**
 * ncclGroupStart() - begin a group of calls of this thread
 *
 * Operations that the thread calls until ncclGroupEnd() begin there, in this order, and are under
 * way together. One does not use the result of another one. Groups nest: the outermost end counts.
 *
 * Return: ncclSuccess.
 */
ncclResult_t ncclGroupStart(void);

/*
 * Does the operations of the group, and waits for them. If one was refused when it was called, none
 * begins, and this returns that error. Other errors: those of the first operation that fails;
 * ncclInvalidUsage without ncclGroupStart().
 */
ncclResult_t ncclGroupEnd(void);

#ifdef __cplusplus
}
#endif

#endif /* _MRPC_NCCL_H */
