/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_REPLICA_LINK_H
#define MRPC_REPLICA_LINK_H

#include <linux/types.h>


struct mrpc_call;
struct mrpc_conn;
struct mrpc_replica;

void mrpc_replica_outcome(struct mrpc_conn *link, const struct mrpc_call *call, bool sent,
			  u16 status);
void mrpc_replica_up(struct mrpc_conn *link);
void mrpc_replica_down(struct mrpc_conn *link);
u32 mrpc_replica_parent(const struct mrpc_conn *link);
void mrpc_replica_free(struct mrpc_conn *link);
void mrpc_replica_connect(struct mrpc_replica *replica);
void mrpc_replica_drain(struct mrpc_replica *replica, struct mrpc_conn *link, bool ending);

#endif /* MRPC_REPLICA_LINK_H */
