// SPDX-License-Identifier: GPL-2.0
/* The hook by which the netlink layer hears of events. */
#include "core/notify.h"

const struct mrpc_notify_ops *mrpc_notify_ops;
