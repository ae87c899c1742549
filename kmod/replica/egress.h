/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_REPLICA_EGRESS_H
#define MRPC_REPLICA_EGRESS_H

#include <linux/types.h>

struct mrpc_conn;

/* replica/egress.c: links in egress domains */
void mrpc_replica_place(struct mrpc_conn *link);
void mrpc_replica_join(struct mrpc_conn *link);
void mrpc_replicas_place(struct mrpc_conn *conn);

#endif /* MRPC_REPLICA_EGRESS_H */
