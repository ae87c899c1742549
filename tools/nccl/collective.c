// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Operations: arguments are checked, and become a call for the kernel.
 */
#include <stdint.h>

#include "comm.h"
#include "error.h"
#include "group_calls.h"
#include "types.h"

/**
 * struct request - the arguments of a function
 * @what: its name
 * @collective: the operation
 * @input: sendbuff
 * @output: recvbuff
 * @count: elements; of the block of each rank, where the operation has blocks
 * @type: of the elements
 * @reduces: @op counts
 * @op: the reduction
 * @root: 0 without one
 * @comm: the communicator
 * @stream: NULL
 */
struct request {
	const char *what;
	enum mrpc_collective collective;
	const void *input;
	void *output;
	size_t count;
	ncclDataType_t type;
	bool reduces;
	ncclRedOp_t op;
	int root;
	ncclComm_t comm;
	cudaStream_t stream;
};

/* Fills in what of the call does not depend on the communicator. */
static ncclResult_t check_arguments(const struct request *r, struct call *call)
{
	enum mrpc_reduce_op reduce;
	ncclResult_t result;

	if (r->stream)
		return fail(ncclInvalidArgument,
			    "%s: the stream is %p, and must be NULL: there are no streams here",
			    r->what, (void *)r->stream);
	if (!type_size(r->type))
		return fail(ncclInvalidArgument, "%s: no type of elements %d, at most %d", r->what,
			    (int)r->type, ncclNumTypes - 1);
	if (r->reduces) {
		result = find_reduction(r->what, r->op, r->type, &reduce);
		if (result != ncclSuccess)
			return result;
		call->op.reduce = reduce;
		call->average = r->op == ncclAvg;
	}
	call->what = r->what;
	call->type = r->type;
	call->op.collective = r->collective;
	call->op.elem = type_elem(r->type);
	call->op.count = r->count;
	return ncclSuccess;
}

/*
 * The kernel would refuse it only when other calls of a group have begun. @block: where the block of
 * this rank is in a buffer of all ranks' blocks.
 */
static ncclResult_t check_overlap(const struct request *r, const struct buffers *b, size_t block)
{
	uintptr_t in = (uintptr_t)b->input, out = (uintptr_t)b->output;
	bool in_place;

	if (r->collective == MRPC_ALLGATHER)
		in_place = in == out + block;
	else if (r->collective == MRPC_REDUCE_SCATTER)
		in_place = out == in + block;
	else
		in_place = in == out;
	if (in_place || !b->input_size || !b->output_size || in >= out + b->output_size ||
	    out >= in + b->input_size)
		return ncclSuccess;
	return fail(ncclInvalidArgument, "%s: sendbuff and recvbuff overlap, and it is not in place",
		    r->what);
}

/* Fills in the buffers that this rank has. */
static ncclResult_t check_buffers(const struct request *r, struct call *call)
{
	bool scatters = r->collective == MRPC_REDUCE_SCATTER, is_root = r->root == r->comm->rank;
	size_t size = type_size(r->type), ranks = (size_t)r->comm->ranks;
	bool gathers = r->collective == MRPC_ALLGATHER;
	size_t most = MRPC_REGION_MAX / size;
	struct buffers *b = &call->buffers;

	if (scatters || gathers)
		most /= ranks;
	if (r->count > most)
		return fail(ncclInvalidArgument,
			    "%s: %zu elements; there may be %zu, as a buffer has at most 1 GiB",
			    r->what, r->count, most);
	if (is_root || r->collective != MRPC_BROADCAST)
		b->input_size = r->count * size * (scatters ? ranks : 1);
	if (is_root || r->collective != MRPC_REDUCE)
		b->output_size = r->count * size * (gathers ? ranks : 1);
	b->input = r->input;
	b->output = r->output;
	if ((b->input_size && !b->input) || (b->output_size && !b->output))
		return fail(ncclInvalidArgument, "%s: the %s is NULL, and this rank needs one",
			    r->what, b->input_size && !b->input ? "sendbuff" : "recvbuff");
	return check_overlap(r, b, r->count * size * (size_t)r->comm->rank);
}

static ncclResult_t check(const struct request *r, struct call *call)
{
	ncclResult_t result = check_arguments(r, call);

	if (result != ncclSuccess)
		return result;
	if (r->root < 0 || r->root >= r->comm->ranks)
		return fail(ncclInvalidArgument, "%s: root %d; the ranks of %d are 0 to %d",
			    r->what, r->root, r->comm->ranks, r->comm->ranks - 1);
	call->op.root = (__u32)r->root;
	if (r->comm->finalized)
		return fail(ncclInvalidUsage, "%s: the communicator was finalized", r->what);
	return check_buffers(r, call);
}

static ncclResult_t submit(const struct request *r)
{
	struct call call = { .comm = comm_get(r->what, r->comm) };
	ncclResult_t result;

	if (!call.comm)
		return call_refused(ncclInvalidArgument);
	result = check(r, &call);
	if (result == ncclSuccess)
		return call_submit(&call);
	comm_put(call.comm);
	return call_refused(result);
}

ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
			   ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
			   cudaStream_t stream)
{
	return submit(&(struct request){
		.what = "ncclAllReduce", .collective = MRPC_ALLREDUCE, .input = sendbuff,
		.output = recvbuff, .count = count, .type = datatype, .reduces = true, .op = op,
		.comm = comm, .stream = stream,
	});
}

ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count,
			ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm,
			cudaStream_t stream)
{
	return submit(&(struct request){
		.what = "ncclReduce", .collective = MRPC_REDUCE, .input = sendbuff,
		.output = recvbuff, .count = count, .type = datatype, .reduces = true, .op = op,
		.root = root, .comm = comm, .stream = stream,
	});
}

ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
			   ncclDataType_t datatype, int root, ncclComm_t comm,
			   cudaStream_t stream)
{
	return submit(&(struct request){
		.what = "ncclBroadcast", .collective = MRPC_BROADCAST, .input = sendbuff,
		.output = recvbuff, .count = count, .type = datatype, .root = root, .comm = comm,
		.stream = stream,
	});
}

ncclResult_t ncclBcast(void *buff, size_t count, ncclDataType_t datatype, int root,
		       ncclComm_t comm, cudaStream_t stream)
{
	return submit(&(struct request){
		.what = "ncclBcast", .collective = MRPC_BROADCAST, .input = buff, .output = buff,
		.count = count, .type = datatype, .root = root, .comm = comm, .stream = stream,
	});
}

ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount,
			   ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream)
{
	return submit(&(struct request){
		.what = "ncclAllGather", .collective = MRPC_ALLGATHER, .input = sendbuff,
		.output = recvbuff, .count = sendcount, .type = datatype, .comm = comm,
		.stream = stream,
	});
}

ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount,
			       ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
			       cudaStream_t stream)
{
	return submit(&(struct request){
		.what = "ncclReduceScatter", .collective = MRPC_REDUCE_SCATTER, .input = sendbuff,
		.output = recvbuff, .count = recvcount, .type = datatype, .reduces = true, .op = op,
		.comm = comm, .stream = stream,
	});
}

static ncclResult_t refuse_pair(const char *what)
{
	fail(ncclInvalidUsage, "%s: a group of mrpc does not send from one rank to one other",
	     what);
	return call_refused(ncclInvalidUsage);
}

ncclResult_t ncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer,
		      ncclComm_t comm, cudaStream_t stream)
{
	(void)sendbuff, (void)count, (void)datatype, (void)peer, (void)comm, (void)stream;
	return refuse_pair("ncclSend");
}

ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer,
		      ncclComm_t comm, cudaStream_t stream)
{
	(void)recvbuff, (void)count, (void)datatype, (void)peer, (void)comm, (void)stream;
	return refuse_pair("ncclRecv");
}
