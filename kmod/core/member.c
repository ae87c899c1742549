// SPDX-License-Identifier: GPL-2.0
/* The hook by which the group layer hears of its connections. */
#include "core/member.h"

const struct mrpc_member_ops *mrpc_member_ops;
