/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The version of the transport below a connection.
 */
#ifndef MRPC_CHANGE_LINK_VERSION_H
#define MRPC_CHANGE_LINK_VERSION_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_group;
struct mrpc_transport_ops;
struct netlink_ext_ack;

/**
 * struct mrpc_link_plan - what the placements want below a connection
 * @ops: version of its transport
 * @uses: MRPC_FEATURE_* in what it sends
 */
struct mrpc_link_plan {
	const struct mrpc_transport_ops *ops;
	u64 uses;
};

void mrpc_link_plan(const struct mrpc_conn *conn, struct mrpc_link_plan *plan);
bool mrpc_link_plan_add(const struct mrpc_conn *conn, struct mrpc_link_plan *plan,
			const struct mrpc_group *g);
bool mrpc_link_follows(const struct mrpc_conn *conn, const struct mrpc_link_plan *plan);
int mrpc_link_change(struct mrpc_conn *conn, const struct mrpc_link_plan *plan,
		     struct netlink_ext_ack *extack);
void mrpc_link_begin(struct mrpc_conn *conn);

#endif /* MRPC_CHANGE_LINK_VERSION_H */
