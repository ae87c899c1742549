/* SPDX-License-Identifier: GPL-2.0 */
/* Connections: showing and ending them. */
#ifndef MRPC_TOOL_SHOW_CONN_H
#define MRPC_TOOL_SHOW_CONN_H

struct args;

int do_conn(struct args *args);

#endif /* MRPC_TOOL_SHOW_CONN_H */
