/* SPDX-License-Identifier: GPL-2.0 */
/* Groups: their ranks on this host, and what these do. */
#ifndef MRPC_TOOL_SHOW_GROUP_H
#define MRPC_TOOL_SHOW_GROUP_H

#include "show/print.h"

struct args;

extern const struct column group_columns[];

int do_group(struct args *args);

#endif /* MRPC_TOOL_SHOW_GROUP_H */
