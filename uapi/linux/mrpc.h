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
#include <linux/mrpc_queue.h>
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

/*
 * Let calls in flight finish first. A listener: end the connections that it has accepted, too, but for
 * those of groups
 */
#define MRPC_CLOSE_DRAIN (1U << 0)

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
