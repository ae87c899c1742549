/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks of several lines as one. */
#ifndef MRPC_TOOL_CLI_ONELINE_H
#define MRPC_TOOL_CLI_ONELINE_H

void oneline_begin(void);
void oneline_end(void);

#endif /* MRPC_TOOL_CLI_ONELINE_H */
