/* SPDX-License-Identifier: GPL-2.0 */
/* What lies between the application and the link of a connection. */
#ifndef MRPC_CORE_DATAPATH_H
#define MRPC_CORE_DATAPATH_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "core/rpc.h"

struct mrpc_chain;
struct mrpc_conn;

/* What happens to rpcs that leave the engines. The owner of the direction's claim calls it. */
struct mrpc_path_ops {
	/* The rpc has passed all engines. */
	void (*passed)(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
	/* An engine has rejected it. */
	void (*rejected)(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
	/* Its connection is closed. */
	void (*dropped)(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
};

/**
 * struct mrpc_path - the engines' part of one direction of a datapath
 *
 * Under the direction's claim, but for what is said.
 */
struct mrpc_path {
	/* Where rpcs go that leave the engines. Immutable. */
	const struct mrpc_path_ops *ops;
	/* Behind the last engine. Transmit: waits for the link. */
	struct mrpc_queue out;
	/* Engines have rejected them in this turn. */
	struct mrpc_queue rejected;
	/* Rpcs among the engines, by mrpc_rpc.all. */
	struct list_head all;
	/* Entries of @all; read by dumps. */
	u32 held;
	/* Receive: memory that keeps them. */
	u64 held_bytes;
	/* When an engine wants to be called, ns, 0: never. Under mrpc_conn.lock. */
	u64 wake;
	/* Transmit: a BYE that waits until no rpc is among the engines. */
	struct mrpc_rpc *late;
};

/**
 * struct mrpc_datapath - a connection's engines and queues; embedded in struct mrpc_conn
 *
 * The folders chain/ and change/ and call/tx.c own it. Its part of mrpc_conn.flags: TX_FULL,
 * RX_FULL and TOUCHED.
 */
struct mrpc_datapath {
	/* Rpcs on their way from any context to the owner of the transmit claim. */
	struct llist_head submitted;
	/* Links of replicas to which the owner of the transmit claim has given something, by
	 * @touch, a reference each. Run when the claim has been given back.
	 */
	struct llist_head touched;
	/* Rpcs in @submitted, in path[MRPC_TX], and in the making. */
	atomic_t tx_queued;
	/* The two directions. */
	struct mrpc_path path[MRPC_DIRS];
	/*
	 * The engines, or NULL. Changes with both claims held and under @change_lock, or before the
	 * connection is READY; readers without a claim use RCU.
	 */
	struct mrpc_chain __rcu *chain;
	/* mrpc_chain.flags of @chain, 0 without one: for a look without RCU. Changes with it. */
	u32 wants;
	/* When stats.tx_bytes reaches this, others go first. Transmit claim. */
	u64 tx_until;
	/* Replies that links of replicas have received for the engines here, by mrpc_rx.rpc. */
	struct llist_head from_links;
	/* A replica's link: entry of @touched of the connection that it carries calls of. */
	struct llist_node touch;
	/* Held by what changes @chain, or ends the connection. */
	struct mutex change_lock;
	/* Brings it to what the placements say, where a change was noticed that may not sleep. */
	struct work_struct change_work;
	/*
	 * Entry of mrpc_net.datapaths, or of mrpc_net.links for a link of a replica; under
	 * mrpc_net.lock.
	 */
	struct list_head in_net;
};

#endif /* MRPC_CORE_DATAPATH_H */
