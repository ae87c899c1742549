/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_RETRY_H
#define LIBMRPC_RETRY_H

#include "channel.h"
#include "op.h"

/*
 * Starts an asynchronous call over a channel. @sqe: but for its connection and time limit. The
 * message is spent, whatever the outcome. MRPC_OK: @op will end; any other status: @op is free.
 */
int retry_start(struct mrpc_qp *qp, struct channel *ch, struct mrpc_sqe *sqe,
		struct mrpc_msg *msg, struct op *op, const struct mrpc_call_opts *opts,
		struct mrpc_result *res);

#endif /* LIBMRPC_RETRY_H */
