/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * mrpc: the queue pair between an application and /dev/mrpc: what is submitted, what completes.
 * <linux/mrpc.h> includes it.
 */
#ifndef _UAPI_LINUX_MRPC_QUEUE_H
#define _UAPI_LINUX_MRPC_QUEUE_H

#include <linux/types.h>

enum mrpc_sqe_op {
	MRPC_OP_NOP = 0,	/* completes with its user_data */
	MRPC_OP_CALL = 1,	/* start a call */
	MRPC_OP_REPLY = 2,	/* answer a delivered request */
	MRPC_OP_CANCEL = 3,	/* cancel the call whose user_data is in @call */
	MRPC_OP_RELEASE = 4,	/* give receive blocks back; no completion */
	MRPC_OP_SEND = 5,	/* send a message of a stream: completes as MRPC_CQE_SENT */
	MRPC_OP_GRANT = 6,	/* messages of a stream were consumed; no completion */
	MRPC_OP_COLLECTIVE = 7,	/* an operation of a group: completes as MRPC_CQE_COLLECTIVE */
};

/* What all ranks of a group do together. "Block": the part of one rank. */
enum mrpc_collective {
	MRPC_ALLREDUCE,		/* each rank gets the reduction of all buffers */
	MRPC_ALLGATHER,		/* each rank gets the blocks of all */
	MRPC_REDUCE_SCATTER,	/* each rank gets its block of the reduction of all buffers */
	MRPC_BROADCAST,		/* each rank gets the buffer of the root */
	MRPC_REDUCE,		/* the root gets the reduction of all buffers */
	MRPC_GATHER,		/* the root gets the blocks of all */
	MRPC_SCATTER,		/* each rank gets its block of the root's buffer */
	MRPC_ALLTOALL,		/* each rank gets a block of each rank's buffer */
	MRPC_BARRIER,		/* completes when each rank has begun it */
	MRPC_NR_COLLECTIVES,
};

enum mrpc_algorithm {
	MRPC_ALGORITHM_CHOSEN,	/* the kernel chooses, by ranks and bytes */
	MRPC_RING,		/* each rank sends to the next one */
	MRPC_RECURSIVE,		/* halving and doubling */
	MRPC_BINOMIAL,		/* a tree of log2(ranks) levels */
	MRPC_DIRECT,		/* each rank sends to each other one, or to the root */
	MRPC_NR_ALGORITHMS,
};

/* Types of elements, in the byte order of the host. */
enum mrpc_elem {
	MRPC_ELEM_I32,
	MRPC_ELEM_I64,
	MRPC_ELEM_U8,
	MRPC_ELEM_F32,
	MRPC_ELEM_F64,
	MRPC_ELEM_BF16,
	MRPC_ELEM_F16,
	MRPC_NR_ELEMS,
};

/* Reductions. Integers wrap; AND and OR are for integers only. */
enum mrpc_reduce_op {
	MRPC_REDUCE_SUM,
	MRPC_REDUCE_MIN,
	MRPC_REDUCE_MAX,
	MRPC_REDUCE_PROD,
	MRPC_REDUCE_AND,
	MRPC_REDUCE_OR,
	MRPC_NR_REDUCE_OPS,
};

/* mrpc_sqe.flags */
/*
 * Copy the whole message at submission: its blocks are free when enter returns,
 * and no MRPC_CQE_SENT follows, but for a reply that comes too late: that
 * completes as MRPC_CQE_SENT with status MRPC_CANCELLED in any case
 */
#define MRPC_SQE_COPY	(1U << 0)
#define MRPC_SQE_TIMES	(1U << 1) /* append struct mrpc_times to the completion */
/*
 * CALL of a method whose client streams. It has no message, and MRPC_CQE_OPEN follows at once.
 * Not with MRPC_SQE_COPY
 */
#define MRPC_SQE_STREAM	(1U << 2)
#define MRPC_SQE_END	(1U << 3) /* SEND of a client: no more messages follow */
/* SEND without a message: with MRPC_SQE_END, or with metadata before a server's first message */
#define MRPC_SQE_EMPTY	(1U << 4)
/*
 * CALL, REPLY, SEND: the message may be compressed. Only the transport grpc does that, and if the
 * peer takes it. A client's SEND has it only behind a CALL that has it
 */
#define MRPC_SQE_COMPRESS	(1U << 5)
#define MRPC_SQE_FLAGS	(MRPC_SQE_COPY | MRPC_SQE_TIMES | MRPC_SQE_STREAM | MRPC_SQE_END | \
			 MRPC_SQE_EMPTY | MRPC_SQE_COMPRESS)

#define MRPC_RELEASE_MAX 12

/**
 * struct mrpc_sqe - one submission, 64 bytes
 * @op: enum mrpc_sqe_op
 * @flags: MRPC_SQE_*
 * @priority: 0 (least) to 255; 128 is the default an application should use
 * @resv: zero
 * @conn: connection (all but NOP and RELEASE)
 * @nr: RELEASE: number of @blocks
 * @user_data: returned in the completion, not interpreted
 * @call: REPLY: the token of the request; CANCEL: user_data of the call; SEND, GRANT: the token of
 *	the request, or of MRPC_CQE_OPEN or MRPC_CQE_MESSAGE
 * @method: CALL: index of the service in the connection's set << 16 | index of
 *	the method in the service's schema
 * @status: REPLY: enum mrpc_status. A reply that is not OK carries no message
 * @root: send heap offset of the message's root struct block. Offsets are in
 *	bytes, so that a heap has at most MRPC_MAX_HEAP of them
 * @meta: send heap offset of metadata. SEND: only of a server, with its first message
 * @meta_len: its bytes, 0 for none
 * @max_reply: CALL: largest reply in bytes, and largest message of a server's stream, 0 for the
 *	connection's limit. GRANT: bytes consumed, as MRPC_STREAM_WINDOW counts them
 * @timeout_us: CALL: time until the deadline, 0 for none
 * @detail: REPLY: send heap offset of the status detail (UTF-8)
 * @detail_len: its bytes, at most MRPC_MAX_DETAIL
 * @blocks: RELEASE: receive heap offsets (mrpc_cqe.block)
 * @group: COLLECTIVE: the group, in place of @conn
 * @count: COLLECTIVE: elements. ALLREDUCE, BROADCAST, REDUCE: of the buffer; BARRIER: 0; else of the
 *	block of each rank
 * @collective: COLLECTIVE: enum mrpc_collective
 * @algorithm: COLLECTIVE: enum mrpc_algorithm, the same at all ranks
 * @elem: COLLECTIVE: enum mrpc_elem
 * @reduce: COLLECTIVE: enum mrpc_reduce_op; zero if nothing is reduced
 * @root_rank: COLLECTIVE: the root; zero without one
 * @input: COLLECTIVE: send heap offset of the input. In place, as in NCCL, the input is where the
 *	result goes: @output, or this rank's block of it (ALLGATHER, GATHER at the root); and for
 *	REDUCE_SCATTER, and SCATTER at the root, @output is this rank's block of @input. Otherwise
 *	they do not overlap
 * @output: COLLECTIVE: send heap offset of the result. Other threads may see parts of it before the
 *	completion
 * @limit_us: COLLECTIVE: time from its begin until the group is given up, 0 for that of the group
 * @resv2, @resv3: COLLECTIVE: zero
 */
struct mrpc_sqe {
	__u8 op;
	__u8 flags;
	__u8 priority;
	__u8 resv;

	__extension__ union {
		__u32 conn;
		__u32 nr;
		__u32 group;
	};
	__aligned_u64 user_data;

	__extension__ union {
		__extension__ struct {
			__aligned_u64 call;
			__u32 method;
			__u32 status;
			__u32 root;
			__u32 meta;
			__u32 meta_len;
			__u32 max_reply;
			__aligned_u64 timeout_us;
			__u32 detail;
			__u32 detail_len;
		};
		__u32 blocks[MRPC_RELEASE_MAX];

		__extension__ struct {
			__aligned_u64 count;
			__u8 collective;
			__u8 algorithm;
			__u8 elem;
			__u8 reduce;
			__u32 root_rank;
			__u32 input;
			__u32 output;
			__u32 resv2[2];
			__aligned_u64 limit_us;
			__aligned_u64 resv3;
		};
	};
};

enum mrpc_cqe_type {
	MRPC_CQE_NOP = 0,
	MRPC_CQE_REPLY = 1,	/* a call's one terminal completion */
	MRPC_CQE_REQUEST = 2,	/* a request to serve */
	/*
	 * The send blocks of user_data may be reused. The status of a reply, or of a message of a
	 * stream, is MRPC_CANCELLED when it came too late: the peer does not get it
	 */
	MRPC_CQE_SENT = 3,
	MRPC_CQE_ERROR = 4,	/* an entry that is not a call was refused */
	MRPC_CQE_OPEN = 5,	/* a client's stream: @call is its token */
	/*
	 * A message of a stream. Without MRPC_CQE_BLOCK it is none; without MRPC_CQE_MORE it is the
	 * client's last. A server gets one with a status that is not OK, and without MORE, when the
	 * call has ended before its reply: cancelled, deadline, end of the connection
	 */
	MRPC_CQE_MESSAGE = 6,
	/*
	 * The end of a collective operation; @call is its number in the group, from 1. If the status
	 * is not OK, the group has ended, and the buffer of the result has anything. @call is 0: the
	 * operation was refused, and the group is as it was
	 */
	MRPC_CQE_COLLECTIVE = 7,
};

/* mrpc_cqe.flags */
#define MRPC_CQE_BLOCK	(1U << 0) /* @block is valid and must be released */
/* REPLY: the call's send blocks are free: no MRPC_CQE_SENT follows */
#define MRPC_CQE_FREED	(1U << 1)
#define MRPC_CQE_TIMES	(1U << 2) /* struct mrpc_times is in the block */
/* REQUEST, MESSAGE: further messages of this call follow (never set for unary calls) */
#define MRPC_CQE_MORE	(1U << 3)
#define MRPC_CQE_LOCAL	(1U << 4) /* the status was made by this host */
#define MRPC_CQE_FULL	(1U << 5) /* the receive heap had no room for the detail */
/*
 * REPLY, with LOCAL: the server has not executed the call, and will not: it was refused at
 * submission, or the connection ended before it had taken all of the request
 */
#define MRPC_CQE_UNSENT	(1U << 6)
/* REPLY, REQUEST, MESSAGE: the message came compressed */
#define MRPC_CQE_COMPRESSED	(1U << 7)

/**
 * struct mrpc_cqe - one completion, 64 bytes
 * @user_data: of the submission; MESSAGE: of the call; 0 for REQUEST, and for MESSAGE at a server
 * @type: enum mrpc_cqe_type
 * @flags: MRPC_CQE_*
 * @status: enum mrpc_status
 * @conn: the connection; COLLECTIVE: the group
 * @call: REQUEST: token for the reply; OPEN, MESSAGE: token of the stream
 * @method: REQUEST: as in struct mrpc_sqe, in the numbering of the listener
 * @block: receive heap offset: the message's root struct block is its start
 * @msg_len: bytes of the message, 0 for none
 * @meta_len: bytes of metadata, at round_up(msg_len, 8) from @block
 * @detail_len: bytes of detail, after the metadata rounded up to 8
 * @priority: of the call
 * @resv: zero
 * @deadline_ns: REQUEST: the deadline, CLOCK_MONOTONIC; 0 for none
 * @resv2: zero
 *
 * With MRPC_CQE_TIMES a struct mrpc_times follows the detail, rounded up to 8.
 */
struct mrpc_cqe {
	__aligned_u64 user_data;
	__u8 type;
	__u8 flags;
	__u16 status;
	__u32 conn;
	__aligned_u64 call;
	__u32 method;
	__u32 block;
	__u32 msg_len;
	__u32 meta_len;
	__u32 detail_len;
	__u8 priority;
	__u8 resv[3];
	__aligned_u64 deadline_ns;
	__aligned_u64 resv2;
};

/* Stage time stamps, CLOCK_MONOTONIC in nanoseconds; 0: did not happen here. */
struct mrpc_times {
	__aligned_u64 submit;	/* descriptor taken */
	__aligned_u64 marshal;	/* message snapshot complete */
	__aligned_u64 transmit;	/* last byte given to the link */
	__aligned_u64 receive;	/* first byte of the reply (or request) seen */
	__aligned_u64 deliver;	/* placed in the receive heap */
};

/**
 * struct mrpc_ring - head and tail of one ring, each on a cache line of its own
 * @head: next entry to consume; written by the consumer with release semantics
 * @tail: next entry to produce; written by the producer with release semantics
 *
 * Both are free-running; the slot is the counter modulo the entries.
 */
struct mrpc_ring {
	__u32 head;
	__u32 resv0[15];
	__u32 tail;
	__u32 resv1[15];
};

/*
 * What a mapping of a queue pair holds: this, then the submission entries at
 * mrpc_qp_setup.sq_off, then the completion entries at .cq_off.
 */
struct mrpc_qp_head {
	struct mrpc_ring sq;	/* produced by the application */
	struct mrpc_ring cq;	/* produced by the kernel */
	__u32 flags;		/* MRPC_QP_*, written by the kernel */
	__u32 resv[15];
};

/*
 * Work waits in the kernel for room in the completion queue or for a thread in
 * enter. The kernel sets it, and signals the eventfd, when such work appears;
 * enter clears it, and sets it again if it leaves work behind. An application
 * that waits elsewhere than in enter looks at it before it sleeps, and enters if
 * it is set.
 */
#define MRPC_QP_PENDING	(1U << 0)

#endif /* _UAPI_LINUX_MRPC_QUEUE_H */
