/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups: ranks that do collective operations together. <mrpc.h> includes this.
 *
 * Four processes sum 1000 numbers, each with its own rank from 0 to 3:
 *
 *	struct mrpc_group *g = mrpc_group_create(s, "tcp:10.0.0.1:7000", 4, rank, NULL);
 *	float *x = mrpc_alloc(s, 1000 * sizeof(*x));
 *
 *	if (!g)
 *		errx(1, "%s", mrpc_last_error());
 *	... fill x ...
 *	if (mrpc_group_allreduce(g, x, x, 1000, MRPC_ELEM_F32, MRPC_REDUCE_SUM) != MRPC_OK)
 *		errx(1, "%s", mrpc_last_error());
 *
 * All ranks do the same operations in the same order. One that fails at a rank fails at all, and
 * ends the group.
 */
#ifndef _MRPC_GROUP_H
#define _MRPC_GROUP_H

#include <mrpc.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MRPC_GROUP_TOKEN	64	/* bytes of a token, at most */

/**
 * struct mrpc_group_opts - how to create a group
 * @timeout_us: until all ranks must be there, at this and at all other ranks; 0 for 60 s
 * @limit_us: how long an operation may take; 0 for 600 s
 * @token: the same at all ranks, at most MRPC_GROUP_TOKEN bytes: a rank with another one is refused.
 *	NULL for none
 * @listen: where this rank lets others connect, as for mrpc_server_listen(). NULL: at the address by
 *	which it reaches rank 0, at any free port. Rank 0 listens where all meet, and needs none
 * @server_tls: NULL, or TLS for the connections that others make
 * @client_tls: NULL, or TLS for the connections that this rank makes
 * @resv: zero
 */
struct mrpc_group_opts {
	__u64 timeout_us;
	__u64 limit_us;
	const char *token;
	const char *listen;
	struct mrpc_tls *server_tls;
	struct mrpc_tls *client_tls;
	__u64 resv[4];
};

/**
 * mrpc_group_create() - be one rank of a group
 * @session: the session, without a server while this function runs
 * @address: where rank 0 listens, for example "tcp:10.0.0.1:7000". The ranks meet there
 * @ranks: number of ranks, at most MRPC_GROUP_RANKS
 * @rank: this one, from 0
 * @opts: or NULL
 *
 * Waits until all ranks have come, and each has a connection to each other one. If one does not
 * come, or says something else than the others, all of them learn it.
 *
 * Return: the group; NULL with errno: ETIMEDOUT: ranks are missing; EEXIST: the rank is there
 * already; EACCES: the token is another one; EBUSY: the session has a server, or another thread
 * creates a group in it; EINVAL and others.
 */
struct mrpc_group *mrpc_group_create(struct mrpc_session *session, const char *address,
				     __u32 ranks, __u32 rank, const struct mrpc_group_opts *opts);

/**
 * mrpc_group_leave() - leave the group together with all other ranks
 * @group: the group, which is freed whatever the outcome; NULL is allowed
 *
 * Waits as mrpc_group_barrier() until all ranks have called this function. So the operations before
 * it are complete at all ranks.
 *
 * Return: MRPC_OK; any other status: not all ranks have come here, and mrpc_last_error() says why.
 */
int mrpc_group_leave(struct mrpc_group *group);

/*
 * Leaves the group at once. Operations that are not complete fail with MRPC_CANCELLED, here and at
 * other ranks; so do later ones that need this rank. NULL is allowed.
 */
void mrpc_group_abort(struct mrpc_group *group);

__u32 mrpc_group_ranks(const struct mrpc_group *group);
__u32 mrpc_group_rank(const struct mrpc_group *group);

/* -- operations ------------------------------------------------------------------------------- */

/* mrpc_group_op.flags */
#define MRPC_GROUP_PRIORITY	(1U << 0)	/* @priority is set */

/**
 * struct mrpc_group_op - what all ranks do together
 * @collective: enum mrpc_collective
 * @algorithm: enum mrpc_algorithm; 0: the kernel chooses
 * @elem: enum mrpc_elem
 * @reduce: enum mrpc_reduce_op, if something is reduced
 * @root: the root, of a collective that has one
 * @flags: MRPC_GROUP_*
 * @priority: of its bytes among those of calls, 0 (least) to 255; MRPC_PRIORITY_DEFAULT without the
 *	flag
 * @count: elements. ALLREDUCE, BROADCAST, REDUCE: of the buffer; BARRIER: 0; else of the block of
 *	each rank
 * @input: block of mrpc_alloc(), or a part of one; NULL if the rank has no input
 * @output: the same for the result
 * @limit_us: time that it may take from its begin; 0 for the limit of the group
 * @qp: mrpc_group_start(): NULL for the calling thread's own
 * @resv: zero
 *
 * In place, as in NCCL, the input is where the result goes: @output, or this rank's block of it
 * (ALLGATHER, GATHER at the root); and for REDUCE_SCATTER, and SCATTER at the root, @output is this
 * rank's block of @input. Otherwise they do not overlap.
 */
struct mrpc_group_op {
	__u32 collective;
	__u32 algorithm;
	__u32 elem;
	__u32 reduce;
	__u32 root;
	__u32 flags;
	__u32 priority;
	__u32 resv0;
	__u64 count;
	const void *input;
	void *output;
	__u64 limit_us;
	struct mrpc_qp *qp;
	__u64 resv[4];
};

#ifdef __cplusplus
#define MRPC_GROUP_OP_NONE	{}
#else
#define MRPC_GROUP_OP_NONE	{ 0 }
#endif

/**
 * mrpc_group_run() - do an operation, and wait for its end
 * @group: the group
 * @op: the operation
 *
 * A signal does not end the wait: other ranks depend on this one.
 *
 * Return: the status. If it is not MRPC_OK, mrpc_last_error() says why; the group has ended, unless the
 * operation was refused before it began.
 */
int mrpc_group_run(struct mrpc_group *group, const struct mrpc_group_op *op);

/**
 * mrpc_group_start() - begin an operation
 * @group: the group
 * @op: the operation
 * @done: called at its end, as for mrpc_call_async(). The result has a status and a detail
 * @user: for @done
 *
 * The buffers are the kernel's until then. Operations run one after the other, in the order in which
 * they are submitted; at most MRPC_GROUP_PENDING of a group are not complete.
 *
 * Return: MRPC_OK, and @done will be called; any other status: it will not be, and mrpc_last_error()
 * says why.
 */
int mrpc_group_start(struct mrpc_group *group, const struct mrpc_group_op *op, mrpc_done_fn done,
		     void *user);

/* -- the same by name ------------------------------------------------------------------------- */

static inline int mrpc_group_do(struct mrpc_group *group, enum mrpc_collective collective,
				const void *input, void *output, __u64 count, enum mrpc_elem elem,
				enum mrpc_reduce_op reduce, __u32 root)
{
	struct mrpc_group_op op = MRPC_GROUP_OP_NONE;

	op.collective = collective;
	op.input = input;
	op.output = output;
	op.count = count;
	op.elem = elem;
	op.reduce = reduce;
	op.root = root;
	return mrpc_group_run(group, &op);
}

static inline int mrpc_group_allreduce(struct mrpc_group *group, const void *input, void *output,
				       __u64 count, enum mrpc_elem elem, enum mrpc_reduce_op reduce)
{
	return mrpc_group_do(group, MRPC_ALLREDUCE, input, output, count, elem, reduce, 0);
}

/* @count: of the block of each rank; here and where nothing else is said */
static inline int mrpc_group_allgather(struct mrpc_group *group, const void *input, void *output,
				       __u64 count, enum mrpc_elem elem)
{
	return mrpc_group_do(group, MRPC_ALLGATHER, input, output, count, elem, MRPC_REDUCE_SUM, 0);
}

static inline int mrpc_group_reduce_scatter(struct mrpc_group *group, const void *input,
					    void *output, __u64 count, enum mrpc_elem elem,
					    enum mrpc_reduce_op reduce)
{
	return mrpc_group_do(group, MRPC_REDUCE_SCATTER, input, output, count, elem, reduce, 0);
}

/* @count: of @buffer, which the root has filled, and the others get */
static inline int mrpc_group_broadcast(struct mrpc_group *group, void *buffer, __u64 count,
				       enum mrpc_elem elem, __u32 root)
{
	return mrpc_group_do(group, MRPC_BROADCAST, buffer, buffer, count, elem, MRPC_REDUCE_SUM,
			     root);
}

/* @count: of @input; @output: at the root, else NULL */
static inline int mrpc_group_reduce(struct mrpc_group *group, const void *input, void *output,
				    __u64 count, enum mrpc_elem elem, enum mrpc_reduce_op reduce,
				    __u32 root)
{
	return mrpc_group_do(group, MRPC_REDUCE, input, output, count, elem, reduce, root);
}

/* @output: at the root, else NULL */
static inline int mrpc_group_gather(struct mrpc_group *group, const void *input, void *output,
				    __u64 count, enum mrpc_elem elem, __u32 root)
{
	return mrpc_group_do(group, MRPC_GATHER, input, output, count, elem, MRPC_REDUCE_SUM, root);
}

/* @input: at the root, else NULL */
static inline int mrpc_group_scatter(struct mrpc_group *group, const void *input, void *output,
				     __u64 count, enum mrpc_elem elem, __u32 root)
{
	return mrpc_group_do(group, MRPC_SCATTER, input, output, count, elem, MRPC_REDUCE_SUM, root);
}

static inline int mrpc_group_alltoall(struct mrpc_group *group, const void *input, void *output,
				      __u64 count, enum mrpc_elem elem)
{
	return mrpc_group_do(group, MRPC_ALLTOALL, input, output, count, elem, MRPC_REDUCE_SUM, 0);
}

/* Returns when each rank has called it. */
static inline int mrpc_group_barrier(struct mrpc_group *group)
{
	return mrpc_group_do(group, MRPC_BARRIER, MRPC_NULL, MRPC_NULL, 0, MRPC_ELEM_I32,
			     MRPC_REDUCE_SUM, 0);
}

#ifdef __cplusplus
}
#endif

#endif /* _MRPC_GROUP_H */
