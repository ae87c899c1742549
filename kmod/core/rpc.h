/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_RPC_H
#define MRPC_CORE_RPC_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "lib/ds/deadline.h"
#include "lib/message/message.h"
#include "lib/message/wire.h"

struct mrpc_conn;
struct mrpc_engine;
struct mrpc_flow;
struct mrpc_heap;
struct mrpc_qp;
struct mrpc_schema_plan;
struct mrpc_session;
struct mrpc_sink;
struct task_struct;

#define MRPC_RPC_INLINE		448	/* bytes of head that need no allocation */

#define MRPC_RPC_SEGS		4

/**
 * struct mrpc_rpc - one message on its way through a datapath
 *
 * On its way out it is inside a struct mrpc_call. On its way in, if there are engines, it is inside
 * a struct mrpc_rx. The submitting thread, or the sink, writes its content. Once it is on the
 * datapath's queue, it belongs to the owner of the direction's claim.
 *
 * @node: entry of the datapath's input queue, later of its owner's lists
 * @call: the call that it is a message of
 * @dir: enum mrpc_direction
 * @wired: transmit: it has passed the engines, and will be sent
 * @drop: transmit: its call has ended, it must not be sent
 * @have_bytes: the byte section is in @data, or there is none
 * @noted: it is in the queue that is being checked; false except at that moment
 * @status: enum mrpc_status, if it was rejected
 * @detail: a sentence, if it was rejected
 * @at: the engine that has it, or NULL
 * @all: entry of mrpc_path.all while it is among the engines
 * @born: time when it came to the engines, ns (coarse)
 * @frame: header fields; transmit: marshalling writes them to @data's first 64 bytes
 * @buf: transmit: the snapshot; @buf.head points into @data
 * @data: header, metadata, detail, and the head of the message. Receive: the
 *	transport's until the message is staged
 * @data_len: bytes of @data to send, before the byte section
 * @inl: @data unless the message needs more
 * @segs: @buf.segs unless the message needs more
 * @heap: send heap of the byte blocks, or NULL if they were copied to @data
 * @done: bytes given to the transport so far, of data_len + byte section + trailer
 * @sum: checksum of the byte section as far as it has been sent; for the transport
 * @seg, @seg_done: position of a transport that sends in parts: in @buf.segs, and in that
 *	segment with its padding; for the transport
 * @deadline: absolute time, CLOCK_MONOTONIC ns; 0 for none
 */
struct mrpc_rpc {
	union {
		struct llist_node node;
		struct list_head list;
	};
	struct mrpc_call *call;
	u8 dir;
	bool wired;
	bool drop;
	bool have_bytes;
	bool noted;
	u16 status;
	const char *detail;
	struct mrpc_engine *at;
	struct list_head all;
	u64 born;
	struct mrpc_frame frame;
	struct mrpc_msg_buf buf;
	u8 *data;
	u32 data_len;
	u32 data_cap;
	u64 done;
	u32 seg;
	u32 seg_done;
	u32 sum;
	u64 deadline;
	struct mrpc_heap *heap;
	struct mrpc_msg_seg segs[MRPC_RPC_SEGS];
	u8 inl[64 + MRPC_RPC_INLINE] __aligned(8);
};

/* Directions of a datapath; also indexes. */
enum mrpc_direction {
	MRPC_TX,	/* application to wire */
	MRPC_RX,	/* wire to application */
	MRPC_DIRS,
};

/**
 * struct mrpc_queue - rpcs between two stages
 *
 * Belongs to the owner of the direction's claim.
 *
 * @list: rpcs by mrpc_rpc.list, oldest first
 * @len: number of rpcs
 */
struct mrpc_queue {
	struct list_head list;
	u32 len;
};

static inline void mrpc_queue_init(struct mrpc_queue *q)
{
	INIT_LIST_HEAD(&q->list);
	q->len = 0;
}

static inline bool mrpc_queue_empty(const struct mrpc_queue *q)
{
	return list_empty(&q->list);
}

static inline struct mrpc_rpc *mrpc_queue_peek(struct mrpc_queue *q)
{
	return list_first_entry_or_null(&q->list, struct mrpc_rpc, list);
}

static inline void mrpc_queue_push(struct mrpc_queue *q, struct mrpc_rpc *rpc)
{
	list_add_tail(&rpc->list, &q->list);
	WRITE_ONCE(q->len, q->len + 1);
}

static inline void mrpc_queue_del(struct mrpc_queue *q, struct mrpc_rpc *rpc)
{
	list_del(&rpc->list);
	WRITE_ONCE(q->len, q->len - 1);
}

/* Returns true if no other rpc follows @rpc, which is in the queue. */
static inline bool mrpc_queue_is_last(const struct mrpc_queue *q, const struct mrpc_rpc *rpc)
{
	return list_is_last(&rpc->list, &q->list);
}

/* Moves one rpc, from any place in @from, to the end of @to. */
static inline void mrpc_queue_move(struct mrpc_queue *from, struct mrpc_rpc *rpc,
				   struct mrpc_queue *to)
{
	mrpc_queue_del(from, rpc);
	mrpc_queue_push(to, rpc);
}

/* Returns true if the rpc is in the queue. Takes time in proportion to its length. */
static inline bool mrpc_queue_has(const struct mrpc_queue *q, const struct mrpc_rpc *rpc)
{
	const struct mrpc_rpc *other;

	list_for_each_entry(other, &q->list, list)
		if (other == rpc)
			return true;
	return false;
}

/* Moves all rpcs to the end of @to. */
static inline void mrpc_queue_splice(struct mrpc_queue *from, struct mrpc_queue *to)
{
	list_splice_tail_init(&from->list, &to->list);
	WRITE_ONCE(to->len, to->len + from->len);
	WRITE_ONCE(from->len, 0);
}

enum mrpc_call_role {
	MRPC_ROLE_CLIENT,	/* @rpc is the request; in the call table */
	MRPC_ROLE_SERVER,	/* @rpc is the reply; in the serve table */
	MRPC_ROLE_MESSAGE,	/* @rpc is a message of a stream; in no table */
	/* From here on: no engine sees it. */
	MRPC_ROLE_CONTROL,	/* @rpc is a control frame or a kernel-made status */
	MRPC_ROLE_CHUNK,	/* @rpc is a chunk of a group's operation; in no table */
};

/**
 * struct mrpc_call - one call at one end, a message of its stream, a control frame, or a chunk
 *
 * Reference counted. One reference belongs to the call or serve table, until the terminal state.
 * One belongs to the datapath's queue, until the transport has taken the message. One belongs to
 * the pages under way, if there are any, until nothing can read the send heap any more. One belongs
 * to the thread of a synchronous call, one to the list of pending requests. The last put may come
 * in softirq.
 *
 * @ref: references
 * @role: enum mrpc_call_role
 * @sqe_flags: MRPC_SQE_*
 * @flags: MRPC_CALL_*; under the queue pair's lock, for synchronous calls and
 *	before publication atomic
 * @conn: the connection; a reference
 * @session: the session whose heap and queue pair are used; the connection
 *	keeps it
 * @qp: queue pair of its completions; NULL for a synchronous call
 * @waiter: the thread that waits in a synchronous call, or NULL; readers use RCU
 * @id: call id on the wire
 * @user_data: value from the application; CHUNK: mrpc_chunk.slot
 * @method: method, as the application numbers it
 * @max_reply: largest reply accepted
 * @priority: 0 to 255
 * @deadline: member of the connection's heap; under mrpc_conn.lock
 * @ubuf: the network stack's handle on the pages under way. It counts the users of the send
 *	heap: the queue, and with zero copy each skb. At zero the application is told that
 *	its blocks are free. Valid only if @by_ref
 * @cqe: synchronous call: the terminal completion, valid once DONE is set.
 *	Server: the request's completion until it is posted
 * @times: stage time stamps. A call can end, and engines can be told, while the owner of its
 *	message stamps it. So stamps after submission are written and read with single accesses
 * @pending: server: entry of mrpc_session.pending, under its ready_lock. After the application's
 *	answer: entry of mrpc_qp.late, under the queue pair's lock
 * @spare: unused object: the next one that the session keeps, see @spares
 * @spares: number of objects in that chain, with this one
 * @loop: entry of the input of a loop transport's end; under that end's lock
 * @freed: entry of a transport's list of calls that it has not yet reported free, though it no
 *	longer reads their blocks; under the transport's lock
 * @sending: pointer of a transport that keeps the call until the peer has it; under the
 *	transport's lock
 * @by_ref: byte blocks of the send heap may be read: the application must be told when they
 *	are free. Set before the call is given to the queue
 * @stamped: @times are kept: the application or an engine wants them
 * @unsent: client: the link has ended, and was not given all of the request. The thread that takes
 *	the call out of its table writes it. MESSAGE, and REPLY of a stream: it
 *	was dropped
 * @stray: server: it names no method of the connection; @method is meaningless
 * @wish: 1 + index of the replica that a policy chooses for it; 0: none. Of the owner of
 *	@conn's transmit claim
 * @target: CANCEL: the call that is given up; MESSAGE: the call that it belongs to; a reference
 * @flow: the messages of a call that streams, see core/flow.h; MESSAGE: that of @target. NULL: the
 *	call has none
 * @via: the link of a replica that carries it, a reference; or NULL: @conn carries it.
 *	Set once, by the owner of @conn's transmit claim
 * @given: time when it was given to @via, ns, if the time that it takes there is wanted; or 0.
 *	Under the lock of the replica set
 * @rpc: the message
 */
struct mrpc_call {
	/* These are written before they are read, and not zeroed for each call. */
	refcount_t ref;
	u8 role;
	struct mrpc_conn *conn;
	struct mrpc_session *session;
	struct ubuf_info ubuf;
	struct mrpc_cqe cqe;
	union {
		struct list_head pending;
		struct {
			struct mrpc_call *spare;
			u32 spares;
		};
	};

	unsigned long flags;	/* the zeroed part begins here */
	u8 sqe_flags;
	u8 priority;
	bool by_ref;
	bool stamped;
	bool unsent;
	bool stray;
	u8 wish;
	struct mrpc_qp *qp;
	struct task_struct *waiter;
	u64 id;
	u64 user_data;
	u32 method;
	u32 max_reply;
	struct mrpc_deadline deadline;
	struct mrpc_times times;
	union {
		struct list_head loop;
		struct list_head freed;
	};
	void *sending;
	struct mrpc_call *target;
	struct mrpc_flow *flow;
	struct mrpc_conn *via;
	u64 given;
	struct mrpc_rpc rpc;
};

/* mrpc_call.flags */
#define MRPC_CALL_DONE	0	/* synchronous: @cqe is valid */

#define MRPC_CALL_SENT	1	/* the send blocks are free */

#define MRPC_CALL_FINAL	2	/* asynchronous: the REPLY (server: REQUEST) entry was posted */

#define MRPC_CALL_COUNTED 4	/* server: in mrpc_qp.served */

#define MRPC_CALL_ABORTED 5	/* server: ended without the application's reply */


static inline void mrpc_call_get(struct mrpc_call *call)
{
	refcount_inc(&call->ref);
}

/* Takes a reference to a call that only the caller can find yet. */
static inline void mrpc_call_get_new(struct mrpc_call *call)
{
	refcount_set(&call->ref, refcount_read(&call->ref) + 1);
}

/* The application keeps its byte blocks until mrpc_call_sent_put() tells that they are free. */
static inline void mrpc_call_by_ref(struct mrpc_call *call)
{
	call->by_ref = true;
	mrpc_call_get(call);
}

/* Adds a user of its byte blocks, if it has any. */
static inline void mrpc_call_sent_get(struct mrpc_call *call)
{
	if (call->by_ref)
		refcount_inc(&call->ubuf.refcnt);
}

static inline struct mrpc_call *mrpc_rpc_call(struct mrpc_rpc *rpc)
{
	return container_of(rpc, struct mrpc_call, rpc);
}

#define MRPC_RANK_CONTROL	255	/* rank of control frames: they are small */

/* Returns the rank of a message on its way out, 0 to 255. Replies have none on the wire. */
static inline u8 mrpc_rpc_rank(const struct mrpc_rpc *rpc)
{
	if (rpc->call->role == MRPC_ROLE_CLIENT)
		return rpc->frame.priority;
	return rpc->call->role == MRPC_ROLE_CONTROL ? MRPC_RANK_CONTROL : rpc->call->priority;
}

/* Returns the time until which a message is of use, CLOCK_MONOTONIC ns; 0: for ever. */
static inline u64 mrpc_rpc_deadline(const struct mrpc_rpc *rpc)
{
	return rpc->deadline ?: READ_ONCE(rpc->call->deadline.when);
}

static inline void mrpc_rpc_set_rank(struct mrpc_rpc *rpc, u8 rank)
{
	if (rpc->call->role == MRPC_ROLE_CLIENT)
		rpc->frame.priority = rank;
	else
		rpc->call->priority = rank;
}

/**
 * struct mrpc_arrival - the place of a received message
 * @frame: its header
 * @call: the call that it belongs to, with a reference
 * @base: the block in the receive heap, allocated, not yet delivered; or NULL
 * @block: offset of the block
 * @block_len: bytes of the block
 */
struct mrpc_arrival {
	struct mrpc_frame frame;
	struct mrpc_call *call;
	u8 *base;
	u32 block;
	u32 block_len;
};

/**
 * struct mrpc_rx - a received message among the engines
 *
 * Belongs to the connection, and to the owner of the receive claim, from the arrival of its head
 * until it is placed, refused or dropped.
 *
 * @rpc: the view of the engines
 * @a: its place; the call's reference is kept here
 * @sink: sink where its byte section still arrives, NULL: no more arrives
 * @staged: head and byte section are, or will be, in kernel memory
 * @passed: it has passed the engines
 * @refused: an engine rejected it
 * @carried: it is for the engines of another connection, see carry.c
 * @cut: the rest of it will not come, and an engine keeps it: drop it when it leaves the engine
 */
struct mrpc_rx {
	struct mrpc_rpc rpc;
	struct mrpc_arrival a;
	struct mrpc_sink *sink;
	bool staged;
	bool passed;
	bool refused;
	bool carried;
	bool cut;
};

int mrpc_rpc_put_prefix(struct mrpc_rpc *rpc, u32 meta_len, u32 detail_len);
int mrpc_rpc_snapshot(struct mrpc_rpc *rpc, struct mrpc_heap *heap,
		      const struct mrpc_schema_plan *plan, u32 type, u64 root,
		      u32 max_total, bool copy, struct mrpc_msg_error *err);
void mrpc_rpc_marshal(struct mrpc_rpc *rpc);
void mrpc_rpc_free(struct mrpc_rpc *rpc);
int mrpc_rpc_own_bytes(struct mrpc_rpc *rpc);
void mrpc_rpc_to_status(struct mrpc_rpc *rpc, u16 status, const char *detail);

/**
 * mrpc_rpc_prefix() - make room for metadata and detail
 * @rpc: a new rpc, without metadata and detail
 * @meta_len: bytes of metadata
 * @detail_len: bytes of detail
 *
 * The caller fills rpc->data from offset 64 and, for the detail, from
 * 64 + ALIGN(meta_len, 8); padding is zeroed here.
 *
 * Return: 0 or -ENOMEM.
 */
static inline int mrpc_rpc_prefix(struct mrpc_rpc *rpc, u32 meta_len, u32 detail_len)
{
	return meta_len | detail_len ? mrpc_rpc_put_prefix(rpc, meta_len, detail_len) : 0;
}

static inline u64 mrpc_rpc_total(const struct mrpc_rpc *rpc)
{
	return rpc->data_len + (rpc->heap ? rpc->frame.msg.bytes : 0) +
	       mrpc_frame_trailer(&rpc->frame);
}

/* Has the link been given all of it? For the owner of the transmit claim. */
static inline bool mrpc_rpc_sent(const struct mrpc_rpc *rpc)
{
	return rpc->done == mrpc_rpc_total(rpc);
}

void mrpc_rpc_setup(struct mrpc_rpc *rpc);
u32 mrpc_checksum(u32 sum, const void *data, size_t len);

#endif /* MRPC_CORE_RPC_H */
