/* SPDX-License-Identifier: GPL-2.0 */
/* Policies in eBPF: which there are, and detaching them. */
#ifndef MRPC_TOOL_POLICY_POLICY_H
#define MRPC_TOOL_POLICY_POLICY_H

struct args;

int do_policy(struct args *args);

#endif /* MRPC_TOOL_POLICY_POLICY_H */
