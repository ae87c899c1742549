/* SPDX-License-Identifier: GPL-2.0 */
/* What a policy declares. */
#ifndef MRPC_TOOL_POLICY_CHECK_H
#define MRPC_TOOL_POLICY_CHECK_H

struct policy;

char *policy_check(const struct policy *p);

#endif /* MRPC_TOOL_POLICY_CHECK_H */
