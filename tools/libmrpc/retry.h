/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_RETRY_H
#define LIBMRPC_RETRY_H

#include "lot.h"

struct hedge;

/**
 * struct retry_call - how a call over a channel is made
 * @channel: the channel
 * @wait_ready: it waits for a connection, even if attempts to make one fail
 * @attempts: when it is made again; with the deadline
 * @hedging: when it is made several times at once; NULL: it is not
 * @msg: the request; NULL: the call streams
 * @keep: @msg is the caller's afterwards
 * @mem: where metadata tells the server of attempts, behind the caller's; NULL: nowhere
 */
struct retry_call {
	struct channel *channel;
	bool wait_ready;
	struct attempts attempts;
	const struct hedge_policy *hedging;
	struct mrpc_msg *msg;
	bool keep;
	void *mem;
};

/* What the service config, and the caller, say of a call. @sqe: but for its connection. */
void retry_prepare(struct retry_call *call, struct channel *ch, struct mrpc_msg *msg,
		   const struct mrpc_sqe *sqe, const struct mrpc_call_opts *opts);

/* Bytes of metadata to be reserved behind the caller's, for retry_call.mem. */
u32 retry_meta_room(const struct retry_call *call, const struct mrpc_call_opts *opts);

/* An attempt has failed: the next one has metadata that says so. */
void retry_tell(const struct retry_call *call, const struct mrpc_session *session,
		struct mrpc_sqe *sqe);

/* Fills the entry of an attempt, over connection @id, but for its operation. */
void retry_fill(const struct retry_call *call, const struct mrpc_session *session,
		struct mrpc_sqe *sqe, u32 id);

/* Parks a call until its channel has a connection, or the deadline has passed. */
void retry_wait_for_link(const struct retry_call *call, struct lot *lot, struct parked *p);

/*
 * The deadline has passed, or the channel was closed: what a call has waited for. @has_link: what it
 * has waited for if there is a connection.
 */
void retry_explain(const struct retry_call *call, const char *has_link, struct mrpc_result *res);

/*
 * Starts an asynchronous call over a channel. @sqe: but for its connection and time limit. The
 * message is spent, whatever the outcome. MRPC_OK: @op will end; any other status: @op is free.
 */
int retry_start(struct mrpc_qp *qp, const struct retry_call *call, struct mrpc_sqe *sqe,
		struct mrpc_msg *msg, struct op *op, struct mrpc_result *res);

/**
 * struct retry - one call over a channel on a queue pair, until it has ended
 * @base: what the queue pair knows of it
 * @wait: where it is parked
 * @call: how it is made; the call is inside its channel
 * @lot: where it belongs, a reference; NULL: it has left its channel
 * @op: the call
 * @sqe: its entry
 * @in_kernel: the kernel has it, and has not ended it
 * @detail: why it failed here, or ""
 * @hedge: it is an attempt of this one; else NULL
 * @number: of the attempt, from 0
 * @refused: how often this host has refused it for want of room, see retry.c
 * @meta: metadata of the attempt, a block of the send heap; or NULL
 */
struct retry {
	struct op_retry base;
	struct parked wait;
	struct retry_call call;
	struct lot *lot;
	struct op *op;
	struct mrpc_sqe sqe;
	bool in_kernel;
	char detail[MRPC_MAX_DETAIL + 1];
	struct hedge *hedge;
	u32 number;
	u32 refused;
	void *meta;
};

static inline struct retry *retry_of(struct op_retry *base)
{
	return (struct retry *)base;
}

static inline struct retry *retry_parked(struct parked *p)
{
	return (struct retry *)((u8 *)p - offsetof(struct retry, wait));
}

/* Makes @op a call over a channel, which it enters. NULL: without memory. */
struct retry *retry_new(struct mrpc_qp *qp, const struct retry_call *call,
			const struct mrpc_sqe *sqe, struct op *op);

/*
 * Gives it to the kernel, or parks it. Return: MRPC_OK; any other status: it has not begun, for the
 * reason in @res.
 */
int retry_begin(struct retry *r, struct mrpc_result *res);

/* It leaves the lot and the channel: the channel need not wait for its end. */
void retry_leave(struct retry *r);
void retry_free(struct retry *r);

#endif /* LIBMRPC_RETRY_H */
