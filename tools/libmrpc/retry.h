/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_RETRY_H
#define LIBMRPC_RETRY_H

#include "channel.h"
#include "op.h"

/**
 * struct retry_call - how a call over a channel is made
 * @channel: the channel
 * @wait_ready: it waits for a connection, even if attempts to make one fail
 * @attempts: when it is made again; with the deadline
 * @mem: where metadata tells the server of them, behind the caller's; NULL: nowhere
 */
struct retry_call {
	struct channel *channel;
	bool wait_ready;
	struct attempts attempts;
	void *mem;
};

/* What the service config, and the caller, say of a call. @sqe: but for its connection. */
void retry_prepare(struct retry_call *call, struct channel *ch, const struct mrpc_sqe *sqe,
		   const struct mrpc_call_opts *opts);

/* Bytes of metadata to be reserved behind the caller's, for retry_call.mem. */
u32 retry_meta_room(const struct retry_call *call, const struct mrpc_call_opts *opts);

/* An attempt has failed: the next one has metadata that says so. */
void retry_tell(const struct retry_call *call, const struct mrpc_session *session,
		struct mrpc_sqe *sqe);

/*
 * Starts an asynchronous call over a channel. @sqe: but for its connection and time limit. The
 * message is spent, whatever the outcome. MRPC_OK: @op will end; any other status: @op is free.
 */
int retry_start(struct mrpc_qp *qp, const struct retry_call *call, struct mrpc_sqe *sqe,
		struct mrpc_msg *msg, struct op *op, struct mrpc_result *res);

#endif /* LIBMRPC_RETRY_H */
