/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * mrpc: the interface between applications and /dev/mrpc.
 *
 * One open file is one session. A session owns regions (shared memory), queue
 * pairs, schemas, connections and listeners; all end with the last reference
 * to the file. Every ioctl argument starts with its own size, unknown trailing
 * bytes must be zero, and every structure has the same layout for 32-bit and
 * 64-bit applications.
 */
#ifndef _UAPI_LINUX_MRPC_H
#define _UAPI_LINUX_MRPC_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MRPC_UAPI_VERSION	1

#define MRPC_HASH_LEN		32	/* SHA-256 of a schema */
#define MRPC_NAME_LEN		1024	/* bytes of a service's, method's, message's or field's name */
#define MRPC_ADDR_LEN		128	/* as struct sockaddr_storage */
#define MRPC_IDENTITY_LEN	256	/* a name of a peer, with a NUL */
#define MRPC_TRANSPORT_LEN	16
#define MRPC_COMM_LEN		16
#define MRPC_MAX_SERVICES	32	/* schemas in one connect or serve */
#define MRPC_MAX_META		8192	/* bytes of encoded metadata */
#define MRPC_MAX_DETAIL		512	/* bytes of a status detail */
#define MRPC_MAX_COPY		65536	/* largest message with MRPC_SQE_COPY */
#define MRPC_MAX_DEPTH		100	/* nesting of messages, the root being the first */
#define MRPC_MAX_QPS		64	/* queue pairs of a session */
#define MRPC_MAX_SCHEMAS	256	/* schemas of a session */
#define MRPC_MAX_REGIONS	64	/* regions of one heap of a session */
#define MRPC_REGION_ALIGN	(64U << 10)	/* a region's length is a multiple of it */
#define MRPC_REGION_MAX		(1U << 30)	/* bytes of one region */
#define MRPC_MAX_HEAP		(1U << 31)	/* bytes of one heap of a session */
#define MRPC_MAX_MESSAGE	(1U << 30)	/* bytes of one message */
#define MRPC_MAX_HEAD		(16U << 20)	/* of these, struct blocks and text */

/*
 * Streams. In each direction at most a window and one message are sent and not yet granted. A
 * message counts its bytes, those of its metadata, and MRPC_STREAM_MESSAGE
 */
#define MRPC_STREAM_WINDOW	(256U << 10)
#define MRPC_STREAM_MESSAGE	256
#define MRPC_STREAM_UNSENT	64	/* messages of a stream whose send blocks are not free */

#define MRPC_MAX_GROUPS		64	/* groups of a session */
#define MRPC_GROUP_RANKS	1024	/* ranks of a group */
#define MRPC_GROUP_PENDING	256	/* operations of a group that are not complete */

/* Status codes: the names and numbers of gRPC. */
enum mrpc_status {
	MRPC_OK = 0,
	MRPC_CANCELLED = 1,
	MRPC_UNKNOWN = 2,
	MRPC_INVALID_ARGUMENT = 3,
	MRPC_DEADLINE_EXCEEDED = 4,
	MRPC_NOT_FOUND = 5,
	MRPC_ALREADY_EXISTS = 6,
	MRPC_PERMISSION_DENIED = 7,
	MRPC_RESOURCE_EXHAUSTED = 8,
	MRPC_FAILED_PRECONDITION = 9,
	MRPC_ABORTED = 10,
	MRPC_OUT_OF_RANGE = 11,
	MRPC_UNIMPLEMENTED = 12,
	MRPC_INTERNAL = 13,
	MRPC_UNAVAILABLE = 14,
	MRPC_DATA_LOSS = 15,
	MRPC_UNAUTHENTICATED = 16,
	MRPC_STATUS_MAX = 16,
};

/**
 * struct mrpc_ref - a reference inside a message
 * @off: signed distance in bytes from the message's root struct block
 * @len: bytes of a string or bytes field; elements of a repeated field; 1 for a
 *	present message field. 0 means absent or empty, and @off is then ignored
 *	by the sender's kernel and 0 at the receiver.
 *
 * A string's bytes are followed by a NUL that @len does not count; the
 * sender's application need not write it.
 */
struct mrpc_ref {
	__s32 off;
	__u32 len;
};

/*
 * Metadata is a sequence of entries, each this header, @klen bytes of key
 * ([a-z0-9._-]) and @vlen bytes of value, without padding.
 */
struct mrpc_meta_entry {
	__u16 klen;
	__u16 vlen;
};

/* -- queue pair ----------------------------------------------------------- */

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
 * @algorithm: COLLECTIVE: enum mrpc_algorithm
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

/* -- ioctls --------------------------------------------------------------- */

/*
 * Where an ioctl that can fail for many reasons explains itself: a buffer of
 * the application that receives a NUL-terminated English sentence.
 */
struct mrpc_explain {
	__aligned_u64 buf;	/* user pointer, 0 for none */
	__u32 len;
	__u32 resv;
};

/**
 * struct mrpc_setup - MRPC_IOC_SETUP, once, before anything else
 * @size: sizeof(struct mrpc_setup)
 * @flags: zero
 * @send_limit: most bytes of send regions; 0 for the default, which is written
 *	back
 * @recv_limit: the same for receive regions
 * @name: what operators see; empty for the process's name
 * @session: out: id in dumps
 * @version: out: MRPC_UAPI_VERSION
 * @copy_threshold: out: messages up to this size are always copied whole
 * @max_calls: out: calls in flight per connection
 * @features: out: zero
 */
struct mrpc_setup {
	__u32 size;
	__u32 flags;
	__aligned_u64 send_limit;
	__aligned_u64 recv_limit;
	char name[MRPC_COMM_LEN];
	__u32 session;
	__u32 version;
	__u32 copy_threshold;
	__u32 max_calls;
	__aligned_u64 features;
};

enum mrpc_region_kind {
	MRPC_REGION_SEND = 0,	/* written by the application */
	MRPC_REGION_RECV = 1,	/* written by the kernel, read-only mapping */
};

/**
 * struct mrpc_region_add - MRPC_IOC_REGION: grow a heap by one region
 * @size: sizeof(struct mrpc_region_add)
 * @kind: enum mrpc_region_kind
 * @len: bytes, a multiple of MRPC_REGION_ALIGN, at most MRPC_REGION_MAX
 * @base: out: heap offset of its first byte. Offsets of a heap are contiguous
 *	over its regions in the order of their creation, so mapping each at
 *	(heap address + base) keeps references valid across regions
 * @mmap_off: out: offset for mmap
 * @flags: zero
 * @resv: zero
 *
 * No block may cross from one region into another. Nothing is placed in a
 * receive region before a part of it has been mapped, so that a thread which
 * learns of a block finds it there while another one is growing the heap.
 */
struct mrpc_region_add {
	__u32 size;
	__u32 kind;
	__aligned_u64 len;
	__aligned_u64 base;
	__aligned_u64 mmap_off;
	__u32 flags;
	__u32 resv;
};

#define MRPC_QP_SERVE	(1U << 0) /* this queue pair takes requests */
/*
 * @eventfd is signalled when the completion queue goes from empty to non-empty,
 * and when work for MRPC_QP_PENDING appears
 */
#define MRPC_QP_EVENTFD	(1U << 1)

/**
 * struct mrpc_qp_setup - MRPC_IOC_QP: create a queue pair
 * @size: sizeof(struct mrpc_qp_setup)
 * @flags: MRPC_QP_*
 * @sq_entries: a power of two, 1 to 4096
 * @cq_entries: a power of two, 2 to 16384, at least 2 * @sq_entries
 * @eventfd: a descriptor, with MRPC_QP_EVENTFD
 * @qp: out: its number, from 0
 * @mmap_off: out: offset for mmap
 * @mmap_len: out: bytes to map
 * @sq_off: out: byte offset of the submission entries in the mapping
 * @cq_off: out: byte offset of the completion entries in the mapping
 */
struct mrpc_qp_setup {
	__u32 size;
	__u32 flags;
	__u32 sq_entries;
	__u32 cq_entries;
	__s32 eventfd;
	__u32 qp;
	__aligned_u64 mmap_off;
	__u32 mmap_len;
	__u32 sq_off;
	__u32 cq_off;
	__u32 resv;
};

/**
 * struct mrpc_bind - MRPC_IOC_BIND: verify and compile a schema, or find it
 * @size: sizeof(struct mrpc_bind)
 * @flags: zero
 * @schema: user pointer to the binary schema
 * @len: its bytes
 * @id: out: number of the schema in this session, from 1
 * @hash: out: SHA-256
 * @hit: out: 1 if it had been compiled before
 * @resv: zero
 * @bind_ns: out: time spent in the kernel
 * @explain: where to put the reason of a failure
 */
struct mrpc_bind {
	__u32 size;
	__u32 flags;
	__aligned_u64 schema;
	__u32 len;
	__u32 id;
	__u8 hash[MRPC_HASH_LEN];
	__u32 hit;
	__u32 resv;
	__aligned_u64 bind_ns;
	struct mrpc_explain explain;
};

/* When @until_ns has passed, the attempt goes on: -ETIME */
#define MRPC_CONNECT_KEEP	(1U << 0)
/*
 * CONNECT: @fd is a connected TCP socket, which becomes that of the connection. SERVE: @fd is a
 * listening TCP socket, which becomes that of the listener; -1: the listener has no socket, and
 * gets its connections by MRPC_IOC_ADOPT.
 *
 * The socket may have kernel TLS, set up in both directions (TCP_ULP "tls", TLS_TX, TLS_RX). No
 * other descriptor, process or ring may have it: -EBUSY. Take it out of epoll sets before, which
 * would report its events for ever. The ioctl closes it, and writes -1 to @fd
 * when it has done so, whatever it returns.
 */
#define MRPC_CONNECT_ADOPT	(1U << 1)

/**
 * struct mrpc_connect - MRPC_IOC_CONNECT and MRPC_IOC_SERVE
 * @size: sizeof(struct mrpc_connect)
 * @flags: CONNECT: MRPC_CONNECT_*. SERVE: zero or MRPC_CONNECT_ADOPT
 * @transport: "tcp", "prio", "loop", ...; with MRPC_CONNECT_ADOPT "tcp" or "grpc"
 * @addr: tcp, prio: struct sockaddr_in or sockaddr_in6; loop: struct sockaddr_un with
 *	an abstract name (sun_path[0] == 0). SERVE writes the bound address back. With
 *	MRPC_CONNECT_ADOPT that of the socket is written here; without a socket it is only shown
 * @addr_len: bytes of @addr
 * @nr_schemas: how many of @schemas
 * @schemas: numbers from MRPC_IOC_BIND; their order is the numbering of
 *	services in mrpc_sqe.method (CONNECT) and mrpc_cqe.method (SERVE)
 * @until_ns: CONNECT: time limit for connection and handshake, CLOCK_MONOTONIC; 0 for 10 s
 *	from now, which is written back. SERVE: zero
 * @max_message: largest message accepted from the peer, 0 for 64 MiB
 * @keepalive_us: silence after which the peer is probed; the connection dies
 *	after three times that. 0 for 10 s
 * @backlog: SERVE: connections waiting to be accepted, 0 for 128
 * @id: out: connection or listener. CONNECT: 0 at first. With -EINTR, and with
 *	MRPC_CONNECT_KEEP with -ETIME, the attempt goes on under this number: CONNECT with it
 *	waits for it again, MRPC_IOC_CLOSE gives it up
 * @max_calls: CONNECT: out: calls that the connection takes at a time, 0 before. SERVE: zero
 * @explain: where to put the reason of a failure
 * @identity: CONNECT with MRPC_CONNECT_ADOPT: user pointer to the peer's verified name, as in
 *	struct mrpc_adopt. Otherwise zero
 * @identity_len: its bytes, 0 for none
 * @fd: with MRPC_CONNECT_ADOPT: the socket. Otherwise zero
 */
struct mrpc_connect {
	__u32 size;
	__u32 flags;
	char transport[MRPC_TRANSPORT_LEN];
	__u8 addr[MRPC_ADDR_LEN];
	__u32 addr_len;
	__u32 nr_schemas;
	__u32 schemas[MRPC_MAX_SERVICES];
	__aligned_u64 until_ns;
	__u32 max_message;
	__u32 backlog;
	__aligned_u64 keepalive_us;
	__u32 id;
	__u32 max_calls;
	struct mrpc_explain explain;
	__aligned_u64 identity;
	__u32 identity_len;
	__s32 fd;
};

/**
 * struct mrpc_adopt - MRPC_IOC_ADOPT: give a listener a connection that was accepted elsewhere
 * @size: sizeof(struct mrpc_adopt)
 * @flags: zero
 * @listener: made by MRPC_IOC_SERVE with MRPC_CONNECT_ADOPT and without a socket
 * @fd: a connected TCP socket; as with MRPC_CONNECT_ADOPT
 * @identity: user pointer to the peer's name, as the application has verified it: printable
 *	ASCII. It is shown, and rules and policies of the operator see it
 * @identity_len: its bytes, at most MRPC_IDENTITY_LEN - 1; 0 for none
 * @id: out: the connection
 * @explain: where to put the reason of a failure
 */
struct mrpc_adopt {
	__u32 size;
	__u32 flags;
	__u32 listener;
	__s32 fd;
	__aligned_u64 identity;
	__u32 identity_len;
	__u32 id;
	struct mrpc_explain explain;
};

#define MRPC_CLOSE_DRAIN (1U << 0) /* let calls in flight finish first */

/**
 * struct mrpc_close - MRPC_IOC_CLOSE: end a connection or a listener
 * @size: sizeof(struct mrpc_close)
 * @flags: MRPC_CLOSE_*
 * @id: connection or listener
 * @resv: zero
 * @timeout_us: with MRPC_CLOSE_DRAIN: how long to wait; 0 for 5 s
 */
struct mrpc_close {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 resv;
	__aligned_u64 timeout_us;
};

enum mrpc_conn_state {
	MRPC_CONN_CONNECTING = 0,
	MRPC_CONN_READY = 1,
	MRPC_CONN_DRAINING = 2,
	MRPC_CONN_CLOSED = 3,
};

/**
 * struct mrpc_conn_info - MRPC_IOC_CONN_INFO: the other end
 * @size: sizeof(struct mrpc_conn_info)
 * @conn: the connection
 * @state: out: enum mrpc_conn_state
 * @accepted: out: 1 if the peer connected to us
 * @listener: out: the listener that accepted it, or 0
 * @calls: out: calls in flight, both directions
 * @transport: out: its name
 * @local: out: our address
 * @peer: out: the peer's address
 * @flags: zero
 * @resv: zero
 * @identity: out: the peer's name, as the application has verified it; empty: none
 * @tls_version: out: 0x0304 for TLS 1.3; 0: the connection is in the clear
 * @tls_cipher: out: TLS_CIPHER_* of <linux/tls.h>; 0: the connection is in the clear
 */
struct mrpc_conn_info {
	__u32 size;
	__u32 conn;
	__u32 state;
	__u32 accepted;
	__u32 listener;
	__u32 calls;
	char transport[MRPC_TRANSPORT_LEN];
	__u8 local[MRPC_ADDR_LEN];
	__u8 peer[MRPC_ADDR_LEN];
	__u32 flags;
	__u32 resv;
	char identity[MRPC_IDENTITY_LEN];
	__u32 tls_version;
	__u32 tls_cipher;
};

/*
 * The wait is for other completions than MRPC_CQE_SENT. These end it only when something waits for
 * room in the completion queue.
 */
#define MRPC_ENTER_NOT_SENT (1U << 0)

/**
 * struct mrpc_enter - MRPC_IOC_ENTER: submit, and wait for completions
 * @size: sizeof(struct mrpc_enter)
 * @flags: MRPC_ENTER_*
 * @qp: queue pair
 * @to_submit: entries to take from the submission queue at most
 * @min_complete: return when the completion queue holds so many; 0: don't wait. Those that it
 *	held before the wait count with MRPC_ENTER_NOT_SENT, too
 * @submitted: entries taken so far: 0 at first; those that are taken now are added
 * @until_ns: end of the wait, CLOCK_MONOTONIC; all ones for none
 * @sigmask: user pointer to a signal mask for the wait, 0 for none
 * @sigset_size: its bytes
 * @resv: zero
 *
 * Returns 0; -ETIME at @until_ns when fewer than @min_complete completions are there
 * (@submitted is valid then, too). What stops the thread for a while does not end the wait,
 * nor does a signal whose handler has SA_RESTART. Another handler does: -EINTR; and with
 * @sigmask any handler.
 */
struct mrpc_enter {
	__u32 size;
	__u32 flags;
	__u32 qp;
	__u32 to_submit;
	__u32 min_complete;
	__u32 submitted;
	__aligned_u64 until_ns;
	__aligned_u64 sigmask;
	__u32 sigset_size;
	__u32 resv;
};

#define MRPC_CALL_CANCEL (1U << 0) /* with a token: cancel the call, unless it has ended */

/**
 * struct mrpc_call_sync - MRPC_IOC_CALL: one call, start to end
 * @size: sizeof(struct mrpc_call_sync)
 * @nr: number of @blocks
 * @sqe: an MRPC_OP_CALL
 * @blocks: receive blocks that come back first, as with MRPC_IOC_RELEASE; those
 *	beyond @nr are not looked at
 * @cqe: out: its MRPC_CQE_REPLY. The ioctl returns 0 only when the send blocks
 *	are free, so MRPC_CQE_FREED is always set
 * @token: 0 at first. A signal takes the thread away from its call, and puts a number
 *	there under which the ioctl finds the call again; 0 when the call is over
 * @flags: MRPC_CALL_*
 *
 * Needs no queue pair. The call goes on when the thread was only stopped for a while, and after
 * a signal whose handler has SA_RESTART. After another handler the ioctl returns -EINTR: with
 * @token as it is the next one goes on with the call, with MRPC_CALL_CANCEL it ends the call
 * before it returns. The send blocks are not free before either of them has returned 0.
 */
struct mrpc_call_sync {
	__u32 size;
	__u32 nr;
	struct mrpc_sqe sqe;

	__extension__ union {
		__u32 blocks[MRPC_RELEASE_MAX];
		struct mrpc_cqe cqe;
	};
	__u32 token;
	__u32 flags;
};

/**
 * struct mrpc_release - MRPC_IOC_RELEASE: give receive blocks back
 * @size: sizeof(struct mrpc_release)
 * @nr: number of blocks
 * @blocks: their receive heap offsets; those beyond @nr are zero
 * @flags: zero
 * @resv: zero
 */
struct mrpc_release {
	__u32 size;
	__u32 nr;
	__u32 blocks[MRPC_RELEASE_MAX];
	__u32 flags;
	__u32 resv;
};

/**
 * struct mrpc_request - MRPC_IOC_REQUEST: does the client wait for the reply to a request
 * @size: sizeof(struct mrpc_request)
 * @conn: the connection that the request came from
 * @call: its token
 *
 * Returns 0 while it waits. -ENOENT: the request was answered; or its call has ended without a
 * reply: cancelled, deadline, end of the connection; or there is no such request.
 */
struct mrpc_request {
	__u32 size;
	__u32 conn;
	__aligned_u64 call;
};

/**
 * struct mrpc_group_new - MRPC_IOC_GROUP: be one rank of a group
 * @size: sizeof(struct mrpc_group_new)
 * @flags: zero
 * @key: the same at all ranks of the group, and at no other group that they may meet
 * @ranks: number of ranks, at most MRPC_GROUP_RANKS
 * @rank: this one, from 0
 * @limit_us: how long an operation may take, 0 for 600 s
 * @id: out: the group, in this session
 * @resv: zero
 * @explain: where to put the reason of a failure
 *
 * A rank sends to others over connections that MRPC_IOC_GROUP_LINK gives it. An operation that fails
 * at one rank fails at all, and ends the group.
 */
struct mrpc_group_new {
	__u32 size;
	__u32 flags;
	__aligned_u64 key;
	__u32 ranks;
	__u32 rank;
	__aligned_u64 limit_us;
	__u32 id;
	__u32 resv;
	struct mrpc_explain explain;
};

/**
 * struct mrpc_group_link - MRPC_IOC_GROUP_LINK: the connection to another rank
 * @size: sizeof(struct mrpc_group_link)
 * @flags: zero
 * @group: the group
 * @rank: the other rank
 * @conn: a connection to it, of either direction, that belongs to no group yet. Both ends have to
 *	give it to their rank. Calls may use it, too, but wait behind the group's chunks.
 *	The group closes it when it ends
 * @resv: zero
 * @explain: where to put the reason of a failure
 */
struct mrpc_group_link {
	__u32 size;
	__u32 flags;
	__u32 group;
	__u32 rank;
	__u32 conn;
	__u32 resv;
	struct mrpc_explain explain;
};

/**
 * struct mrpc_group_end - MRPC_IOC_GROUP_END: leave a group
 * @size: sizeof(struct mrpc_group_end)
 * @group: the group
 *
 * Operations that are not complete fail with CANCELLED, here and at other ranks.
 */
struct mrpc_group_end {
	__u32 size;
	__u32 group;
};

/*
 * A number has the size of the first version of its argument; the kernel goes by the size
 * that the argument itself says, and takes a number with any.
 */
#define MRPC_IOC_MAGIC		0xB9
#define MRPC_IOC_SETUP		_IOWR(MRPC_IOC_MAGIC, 0, struct mrpc_setup)
#define MRPC_IOC_REGION		_IOWR(MRPC_IOC_MAGIC, 1, struct mrpc_region_add)
#define MRPC_IOC_QP		_IOWR(MRPC_IOC_MAGIC, 2, struct mrpc_qp_setup)
#define MRPC_IOC_BIND		_IOWR(MRPC_IOC_MAGIC, 3, struct mrpc_bind)
#define MRPC_IOC_CONNECT	_IOWR(MRPC_IOC_MAGIC, 4, struct mrpc_connect)
#define MRPC_IOC_SERVE		_IOWR(MRPC_IOC_MAGIC, 5, struct mrpc_connect)
#define MRPC_IOC_CLOSE		_IOW(MRPC_IOC_MAGIC, 6, struct mrpc_close)
#define MRPC_IOC_CONN_INFO	_IOWR(MRPC_IOC_MAGIC, 7, struct mrpc_conn_info)
#define MRPC_IOC_ENTER		_IOWR(MRPC_IOC_MAGIC, 8, struct mrpc_enter)
#define MRPC_IOC_CALL		_IOWR(MRPC_IOC_MAGIC, 9, struct mrpc_call_sync)
#define MRPC_IOC_RELEASE	_IOW(MRPC_IOC_MAGIC, 10, struct mrpc_release)
#define MRPC_IOC_ADOPT		_IOWR(MRPC_IOC_MAGIC, 11, struct mrpc_adopt)
#define MRPC_IOC_REQUEST	_IOW(MRPC_IOC_MAGIC, 12, struct mrpc_request)
#define MRPC_IOC_GROUP		_IOWR(MRPC_IOC_MAGIC, 13, struct mrpc_group_new)
#define MRPC_IOC_GROUP_LINK	_IOW(MRPC_IOC_MAGIC, 14, struct mrpc_group_link)
#define MRPC_IOC_GROUP_END	_IOW(MRPC_IOC_MAGIC, 15, struct mrpc_group_end)

#endif /* _UAPI_LINUX_MRPC_H */
