/* SPDX-License-Identifier: GPL-2.0 */
/* Why a policy cannot be loaded. */
#ifndef MRPC_TOOL_POLICY_LOG_H
#define MRPC_TOOL_POLICY_LOG_H

const char *explain_words(const char *text);
char *explain_log(const char *log, char **source);

#endif /* MRPC_TOOL_POLICY_LOG_H */
