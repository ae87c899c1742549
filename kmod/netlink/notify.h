/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_NETLINK_NOTIFY_H
#define MRPC_NETLINK_NOTIFY_H

#include "core/notify.h"

extern const struct mrpc_notify_ops mrpc_nl_notify_ops;

#endif /* MRPC_NETLINK_NOTIFY_H */
