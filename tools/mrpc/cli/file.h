/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are written. */
#ifndef MRPC_TOOL_CLI_FILE_H
#define MRPC_TOOL_CLI_FILE_H

#include <stddef.h>

void write_file(const char *name, const char *text, size_t len);

#endif /* MRPC_TOOL_CLI_FILE_H */
