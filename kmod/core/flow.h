/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows: the messages of a call whose method streams, besides its CALL and its REPLY.
 *
 * A message on its way out is a struct mrpc_call of role MRPC_ROLE_MESSAGE, so that queues,
 * engines and transports carry it as they carry a request. A message that has come needs no object:
 * the sink has it until it is in the receive heap, and then a completion describes it.
 *
 * Messages of one direction have numbers from 0. Engines and some transports let one overtake
 * another. Two places bring them into order: the entry of the link's queue, and the entry of the
 * application's completion queue.
 */
#ifndef MRPC_CORE_FLOW_H
#define MRPC_CORE_FLOW_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mrpc.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/rpc.h"
#include "lib/message/credit.h"

struct mrpc_conn;
struct mrpc_qp;

/**
 * struct mrpc_flow_item - a completion that waits for room in the completion queue
 * @list: entry of mrpc_flow.ready
 * @cqe: the completion
 */
struct mrpc_flow_item {
	struct list_head list;
	struct mrpc_cqe cqe;
};

/**
 * struct mrpc_flow_early - a message, or the REPLY, that has come before its turn
 * @list: message: entry of mrpc_flow.early
 * @conn: the connection whose link has received it; the call holds it
 * @a: the message; its reference to the call
 */
struct mrpc_flow_early {
	struct list_head list;
	struct mrpc_conn *conn;
	struct mrpc_arrival a;
};

/**
 * struct mrpc_flow - the messages of one call
 *
 * Belongs to the call object of its end, and ends with it. The objects of its messages have a
 * reference to that call. The order of the fields leaves no holes: 256 bytes, which an idle stream
 * takes at each end.
 *
 * @lock: protects what is not said to be otherwise. Process context only. Inside it only locks of
 *	queue pairs are taken
 * @call: the call
 * @kinds: MRPC_METHOD_*; immutable
 * @answered: server: the application has submitted its REPLY; under mrpc_conn.lock
 * @unsent: messages whose blocks are not free
 *
 * Transmit:
 * @tx: credit
 * @tx_no: number of the next message
 * @tx_end: no message follows: END or the REPLY was submitted
 * @tx_cut: what is not on the link's queue will not be sent. Read without the lock
 * @held: messages that wait for credit, and at a server the REPLY, by mrpc_rpc.list, in order
 * @out_no: number of the next message for the link's queue; of the owner of the transmit claim
 * @out_status: an engine has rejected a message: status of the REPLY; of the same owner
 * @out: messages, and the REPLY, that have passed the engines before their turn, by number
 *
 * Receive:
 * @rx: credit
 * @rx_no: number of the next message to deliver
 * @rx_begun: the request has been delivered, or waits for a queue pair
 * @rx_end: no message is delivered any more
 * @early: messages that have come before their turn, by number. Credit bounds them
 * @reply: client: the REPLY, which has come before the last message, or NULL
 * @qp: queue pair of the completions; server: NULL until the REQUEST was posted
 * @ready: completions that wait for room in @qp
 * @finish: client: the terminal completion, mrpc_call.cqe, follows @ready. It has taken over the
 *	reference of the call's table
 * @end: server: tells the application that the call has ended without its reply
 * @waiting: entry of mrpc_qp.flows, with a reference to @call; under that queue pair's lock
 */
struct mrpc_flow {
	spinlock_t lock;
	u8 kinds;
	bool answered;
	struct mrpc_call *call;

	struct mrpc_credit_tx tx;
	atomic_t unsent;
	u32 tx_no;
	bool tx_end;
	bool tx_cut;
	u16 out_status;
	u32 out_no;
	struct list_head held;
	struct list_head out;

	struct mrpc_credit_rx rx;
	u32 rx_no;
	bool rx_begun;
	bool rx_end;
	bool finish;
	struct list_head early;
	struct mrpc_flow_early *reply;
	struct mrpc_qp *qp;
	struct list_head ready;
	struct mrpc_flow_item end;
	struct list_head waiting;
};

/* Does number @a come before @b? They wrap. */
static inline bool mrpc_flow_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

int mrpc_flow_new(struct mrpc_call *call, u8 kinds);
void mrpc_flow_free(struct mrpc_flow *flow);
void mrpc_flow_forget(struct mrpc_flow *flow);

#endif /* MRPC_CORE_FLOW_H */
