/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EGRESS_PORT_H
#define MRPC_EGRESS_PORT_H

#include <linux/types.h>

struct mrpc_conn;
struct mrpc_domain;
struct mrpc_link;
struct mrpc_rpc;
struct mrpc_unit;

void mrpc_domain_came(struct mrpc_domain *d, struct mrpc_unit *u, const struct mrpc_rpc *rpc,
		      u64 left);

/* domain.c: for datapaths */
u32 mrpc_domain_turn(struct mrpc_conn *conn, struct mrpc_domain *d, const struct mrpc_rpc *rpc);
void mrpc_domain_sent(struct mrpc_conn *conn, struct mrpc_domain *d, u32 sent,
		      const struct mrpc_rpc *next);
void mrpc_domain_idle(struct mrpc_conn *conn, struct mrpc_domain *d);
bool mrpc_domain_event(struct mrpc_conn *conn, struct mrpc_domain *d);
void mrpc_link_kick_room(struct mrpc_link *link);
bool mrpc_link_in_domain(struct mrpc_link *link);

#endif /* MRPC_EGRESS_PORT_H */
