/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_RPC_H
#define MRPC_CORE_RPC_H

#include <linux/llist.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "deadline.h"
#include "message.h"
#include "wire.h"

struct mrpc_conn;
struct mrpc_heap;
struct mrpc_qp;
struct mrpc_session;
struct task_struct;

#define MRPC_RPC_INLINE		448	/* bytes of head that need no allocation */
#define MRPC_RPC_SEGS		4

/**
 * struct mrpc_rpc - one message on its way out through a datapath
 *
 * Exists inside a struct mrpc_call. Its content is written by the thread that
 * submits it and immutable once it is on the datapath's queue, but for @done
 * and @seg, which belong to the owner of the datapath's transmit claim.
 *
 * @node: entry of the datapath's input queue, later of its owner's list
 * @frame: header fields; made into @data's first 64 bytes when marshalled
 * @buf: the snapshot; @buf.head points into @data
 * @data: header, metadata, detail, and the head of the message
 * @data_len: bytes of @data to send, before the byte section
 * @inl: @data unless the message needs more
 * @segs: @buf.segs unless the message needs more
 * @heap: send heap of the byte blocks, or NULL if they were copied to @data
 * @done: bytes given to the transport so far, of data_len + byte section
 * @seg, @seg_done: where a transport that sends in parts is in @buf.segs, and in
 *	that segment with its padding; the transport's
 * @deadline: absolute, CLOCK_MONOTONIC ns; 0 for none
 */
struct mrpc_rpc {
	union {
		struct llist_node node;
		struct list_head list;
	};
	struct mrpc_frame frame;
	struct mrpc_msg_buf buf;
	u8 *data;
	u32 data_len;
	u32 data_cap;
	u64 done;
	u32 seg;
	u32 seg_done;
	u64 deadline;
	struct mrpc_heap *heap;
	struct mrpc_msg_seg segs[MRPC_RPC_SEGS];
	u8 inl[64 + MRPC_RPC_INLINE] __aligned(8);
};

enum mrpc_call_role {
	MRPC_ROLE_CLIENT,	/* @rpc is the request; in the call table */
	MRPC_ROLE_SERVER,	/* @rpc is the reply; in the serve table */
	MRPC_ROLE_CONTROL,	/* @rpc is a control frame or a kernel-made status */
};

/**
 * struct mrpc_call - one call at one end, or a control frame
 *
 * Reference counted. One reference belongs to the call or serve table (ends
 * with the terminal state), one to the datapath's queue (ends when the transport
 * has taken the message), one to the pages under way, if there are any (ends
 * when nobody can read the send heap any more), one to the thread of a
 * synchronous call, one to the list of pending requests. The last put may come
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
 * @qp: where completions go; NULL for a synchronous call
 * @waiter: the thread of a synchronous call
 * @id: call id on the wire
 * @user_data: the application's
 * @method: as the application numbers it
 * @max_reply: largest reply accepted
 * @priority: 0 to 255
 * @deadline: member of the connection's heap; under mrpc_conn.lock
 * @ubuf: the network stack's handle on the pages under way. Its count is the
 *	users of the send heap: the queue, and with zero copy each skb. At zero
 *	the application is told that its blocks are free
 * @cqe: synchronous call: the terminal completion, valid once DONE is set.
 *	Server: the request's completion until it is posted
 * @times: stage time stamps
 * @pending: server: entry of mrpc_session.pending; under its ready_lock
 * @loop: entry of the input of a loop transport's end; under that end's lock
 * @rpc: the message
 */
struct mrpc_call {
	refcount_t ref;
	u8 role;
	u8 sqe_flags;
	u8 priority;
	unsigned long flags;
	struct mrpc_conn *conn;
	struct mrpc_session *session;
	struct mrpc_qp *qp;
	struct task_struct *waiter;
	u64 id;
	u64 user_data;
	u32 method;
	u32 max_reply;
	struct mrpc_deadline deadline;
	struct ubuf_info ubuf;
	struct mrpc_cqe cqe;
	struct mrpc_times times;
	struct list_head pending;
	struct list_head loop;
	struct mrpc_rpc rpc;
};

/* mrpc_call.flags */
#define MRPC_CALL_DONE	0	/* synchronous: @cqe is valid */
#define MRPC_CALL_SENT	1	/* the send blocks are free */
#define MRPC_CALL_FINAL	2	/* asynchronous: the REPLY (server: REQUEST) entry was posted */
#define MRPC_CALL_COUNTED 4	/* server: in mrpc_qp.served */
#define MRPC_CALL_ABORTED 5	/* server: ended without the application's reply */
#define MRPC_CALL_ORPHAN 3	/* synchronous: the waiter died; its task is a reference */

struct mrpc_call *mrpc_call_new(struct mrpc_conn *conn, u8 role, gfp_t gfp);
void mrpc_call_put(struct mrpc_call *call);
void mrpc_call_sent_put(struct mrpc_call *call);
static inline void mrpc_call_get(struct mrpc_call *call)
{
	refcount_inc(&call->ref);
}

static inline struct mrpc_call *mrpc_rpc_call(struct mrpc_rpc *rpc)
{
	return container_of(rpc, struct mrpc_call, rpc);
}

int mrpc_rpc_prefix(struct mrpc_rpc *rpc, u32 meta_len, u32 detail_len);
int mrpc_rpc_snapshot(struct mrpc_rpc *rpc, struct mrpc_heap *heap,
		      const struct mrpc_schema_plan *plan, u32 type, u64 root,
		      u32 max_total, bool copy, struct mrpc_msg_error *err);
void mrpc_rpc_marshal(struct mrpc_rpc *rpc);
void mrpc_rpc_free(struct mrpc_rpc *rpc);

int mrpc_rpc_init(void);
void mrpc_rpc_exit(void);

static inline u64 mrpc_rpc_total(const struct mrpc_rpc *rpc)
{
	return rpc->data_len + (rpc->heap ? rpc->frame.msg.bytes : 0);
}

#endif /* MRPC_CORE_RPC_H */
