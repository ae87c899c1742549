/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_FAMILY_H
#define MRPC_NETLINK_FAMILY_H

#include <linux/types.h>

int mrpc_netlink_init(void);
void mrpc_netlink_exit(void);

#endif /* MRPC_NETLINK_FAMILY_H */
