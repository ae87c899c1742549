/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_TRANSPORT_H
#define MRPC_NETLINK_TRANSPORT_H

#include <linux/types.h>

struct netlink_callback;
struct sk_buff;

int mrpc_nl_transport_start(struct netlink_callback *cb);
int mrpc_nl_transport_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* MRPC_NETLINK_TRANSPORT_H */
