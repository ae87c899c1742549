/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EGRESS_UNIT_H
#define MRPC_EGRESS_UNIT_H

#include <linux/types.h>

struct mrpc_domain;
struct mrpc_link;
struct mrpc_port;
struct mrpc_rpc;
struct mrpc_sender;
struct mrpc_unit;

void mrpc_unit_init(struct mrpc_unit *u, struct mrpc_domain *d, struct mrpc_port *port);

/* egress/unit.c: for senders */
bool mrpc_unit_join(struct mrpc_link *link, struct mrpc_unit *u, const struct mrpc_rpc *rpc);
void mrpc_unit_leave(struct mrpc_unit *u);
void mrpc_unit_offer(struct mrpc_unit *u, u64 left, u32 credit);
bool mrpc_unit_share(struct mrpc_unit *u);
struct mrpc_unit *mrpc_unit_turn(struct mrpc_sender *sender, u32 *bytes, int *budget);
bool mrpc_unit_sent(struct mrpc_unit *u, u32 sent, u32 size, u64 left, u32 credit);

#endif /* MRPC_EGRESS_UNIT_H */
