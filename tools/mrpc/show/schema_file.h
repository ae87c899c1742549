/* SPDX-License-Identifier: GPL-2.0 */
/* Binary schemas in files, as mrpcc --schema-out writes them. */
#ifndef MRPC_TOOL_SHOW_SCHEMA_FILE_H
#define MRPC_TOOL_SHOW_SCHEMA_FILE_H

struct args;

int schema_check(struct args *args);
int schema_load(struct args *args);

#endif /* MRPC_TOOL_SHOW_SCHEMA_FILE_H */
