/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_REPLICA_SET_H
#define MRPC_REPLICA_SET_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_engine;
struct mrpc_replica;
struct mrpc_replica_plan;
struct mrpc_replicas;
struct mrpc_rpc;

/* replica/set.c: for engines */
struct mrpc_replica_plan *mrpc_replica_plan_new(void);
void mrpc_replica_plan_put(struct mrpc_replica_plan *plan);

/* replica/set.c: for the core */
void mrpc_replicas_drop(struct mrpc_replicas *set);
void mrpc_replica_put(struct mrpc_replica *replica);
void mrpc_replicas_queue(struct mrpc_replicas *set);
struct mrpc_replicas *mrpc_replicas_get(struct mrpc_engine *e);
void mrpc_replicas_put(struct mrpc_replicas *set);
bool mrpc_replicas_behind(const struct mrpc_replicas *set);
void mrpc_replicas_follow(struct mrpc_replicas *set, struct mrpc_replica_plan *plan);
int mrpc_replicas_pick(struct mrpc_replicas *set, struct mrpc_rpc *rpc, int wish, bool keyed,
		       u64 key, u64 *wake);
bool mrpc_replicas_stir(struct mrpc_replicas *set);
void mrpc_replicas_end(struct mrpc_conn *conn);

#endif /* MRPC_REPLICA_SET_H */
