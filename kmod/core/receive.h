/* SPDX-License-Identifier: GPL-2.0 */
/* The message that a connection is receiving. */
#ifndef MRPC_CORE_RECEIVE_H
#define MRPC_CORE_RECEIVE_H

#include <linux/types.h>

#include "core/rpc.h"

struct mrpc_qp;
struct mrpc_rx;

/**
 * struct mrpc_sink - one frame being received: what a transport does with what it receives
 *
 * Under the receive claim.
 */
struct mrpc_sink {
	/*
	 * Where the byte section goes: kernel address in a receive heap or of staging memory, or
	 * NULL if the bytes are to be thrown away.
	 */
	u8 *addr;
	/* Bytes of it that are still to come. */
	u32 left;

	/* The rest is the core's. */

	/* Between mrpc_sink_head() and mrpc_sink_done(). */
	bool active;
	/* What it is; a.call is NULL if the frame is thrown away or @rx has it. */
	struct mrpc_arrival a;
	/* The message is among the engines, or NULL. */
	struct mrpc_rx *rx;
};

/**
 * struct mrpc_receive - what a connection is receiving; embedded in struct mrpc_conn
 *
 * call/receive.c and the transport write it, under the receive claim.
 */
struct mrpc_receive {
	/* An object for the next received message, or NULL. */
	struct mrpc_rx *spare;
	/* The message that is being received. */
	struct mrpc_sink sink;
	/* Queue pair of the thread that owns the claim, or NULL. */
	struct mrpc_qp *qp;
	/*
	 * When the message turned out to be incomplete, ns, 0: it is not. The timer reads it
	 * without the claim.
	 */
	u64 since;
	/* Bytes of it that were still to come then; read as @since. */
	u32 len;
};

#endif /* MRPC_CORE_RECEIVE_H */
