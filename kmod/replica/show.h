/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_REPLICA_SHOW_H
#define MRPC_REPLICA_SHOW_H

#include <linux/types.h>

struct mrpc_candidates;
struct mrpc_conn;
struct mrpc_policy_replica;
struct mrpc_replicas;
struct sk_buff;

/* replica/show.c, for policy/choose.c */
bool mrpc_replicas_show(struct mrpc_replicas *set, struct mrpc_candidates *c);

/* for policies; policy/choose.h has another */
int mrpc_replicas_look(struct mrpc_conn *conn, u32 index, struct mrpc_policy_replica *out);

/* replica/show.c: for engines */
void mrpc_replicas_explain(struct mrpc_replicas *set, char *buf, size_t size);
int mrpc_replicas_dump(struct mrpc_replicas *set, struct sk_buff *skb);

#endif /* MRPC_REPLICA_SHOW_H */
