/* SPDX-License-Identifier: GPL-2.0 */
/* Which thread runs a connection, and when. */
#ifndef MRPC_CORE_EXEC_H
#define MRPC_CORE_EXEC_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "lib/ds/claim.h"
#include "lib/ds/order.h"

struct mrpc_conn;
struct mrpc_qp;
struct mrpc_runtime;

/**
 * struct mrpc_exec - how a connection is run; embedded in struct mrpc_conn
 *
 * The folder exec/ owns it. Its part of mrpc_conn.flags: RX_READY, TX_READY, TIMER, LISTED,
 * ROOM and CHANGING.
 */
struct mrpc_exec {
	/* Runs one turn of the datapath; @qp: of the thread, or NULL. Immutable. */
	void (*run)(struct mrpc_conn *conn, struct mrpc_qp *qp);
	/* Runs the datapath where no thread waits. */
	struct work_struct work;
	/*
	 * Fires at the earliest of the first deadline and the next keepalive. At the end it has the
	 * close work look at a link that lingers.
	 */
	struct hrtimer timer;
	/* When it fires, ns. Under mrpc_conn.lock; a hint without. */
	u64 timer_at;
	/* Entry of mrpc_session.ready; under its ready_lock. */
	struct list_head ready;
	/* Entry of mrpc_session.stalled; under its ready_lock, as the next two. */
	struct list_head stalled;
	/* Order of the block that it waits for, while it is in that list. */
	u8 stalled_order;
	/*
	 * Its age among those that wait: it keeps it until it has a block. 0: it does not wait.
	 * The owner of the receive claim writes it, so that owner reads it without the lock.
	 */
	u64 stalled_at;

	/*
	 * Instances of type "runtime", which say where it belongs; by mrpc_runtime_use.list, under
	 * mrpc_runtimes_lock.
	 */
	struct list_head runtime_uses;
	/* It waits at @runtime for its turn; under the lock of that. */
	struct mrpc_order_entity turn;
	/* What is left of a turn there that was cut short; under the same lock. */
	u32 turn_left;
	/*
	 * Bytes after which others go first; 0: after those of MRPC_STREAM_TURN. Written under the
	 * same lock, or with both claims held; read by the owners of the claims.
	 */
	u32 turn_bytes;
	/* Of the message that is sent next; hints, without a lock. */
	struct {
		/* Bytes that it still has to send. */
		u64 left;
		u8 priority;
	} hint;
	/*
	 * The kernel thread that runs it, a reference, or NULL. Changes with both claims held, or
	 * before the connection is READY; readers without a claim use RCU.
	 */
	struct mrpc_runtime __rcu *runtime;

	/* The claims: the owner of one runs that direction. */
	struct mrpc_claim tx;
	struct mrpc_claim rx;
};

#endif /* MRPC_CORE_EXEC_H */
