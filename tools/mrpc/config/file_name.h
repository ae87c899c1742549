/* SPDX-License-Identifier: GPL-2.0 */
/* The file that keeps a network namespace's configuration. */
#ifndef MRPC_TOOL_CONFIG_FILE_NAME_H
#define MRPC_TOOL_CONFIG_FILE_NAME_H

const char *config_file(void);
const char *config_file_to_write(void);

#endif /* MRPC_TOOL_CONFIG_FILE_NAME_H */
