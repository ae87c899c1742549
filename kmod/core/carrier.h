/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections that carry the calls of another connection: links of its replicas.
 *
 * The replica layer makes them. Lower layers only tell it what happens to a link
 * (mrpc_conn.replica is not NULL), or to the connection whose calls links carry.
 */
#ifndef MRPC_CORE_CARRIER_H
#define MRPC_CORE_CARRIER_H

#include <linux/types.h>

struct mrpc_call;
struct mrpc_conn;

/**
 * struct mrpc_carrier_ops - what the replica layer wants to know
 * @joined: the handshake of a link has succeeded; owner of its receive claim
 * @place: a link is to be in the egress domain of its parent; process context, waits
 * @outcome: a call is no longer on a link; process context, may sleep
 * @down: a link has ended
 * @free: the last reference of a link is gone
 * @parent_placed: the engines of a connection have changed; does not wait
 * @parent_closed: a connection has ended, so its links end
 */
struct mrpc_carrier_ops {
	void (*joined)(struct mrpc_conn *link);
	void (*place)(struct mrpc_conn *link);
	void (*outcome)(struct mrpc_conn *link, const struct mrpc_call *call, bool sent,
			u16 status);
	void (*down)(struct mrpc_conn *link);
	void (*free)(struct mrpc_conn *link);
	void (*parent_placed)(struct mrpc_conn *conn);
	void (*parent_closed)(struct mrpc_conn *conn);
};

/* Set once, before the module has its first session; see mrpc_replica_init(). */
extern const struct mrpc_carrier_ops *mrpc_carrier_ops;

#endif /* MRPC_CORE_CARRIER_H */
