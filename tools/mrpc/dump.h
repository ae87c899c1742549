/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc dump: everything of all objects. */
#ifndef MRPC_TOOL_DUMP_H
#define MRPC_TOOL_DUMP_H

struct args;

int do_dump(struct args *args);

#endif /* MRPC_TOOL_DUMP_H */
