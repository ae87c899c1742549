/* SPDX-License-Identifier: GPL-2.0 */
/* Entries of policies' maps. */
#ifndef MRPC_TOOL_POLICY_MAP_H
#define MRPC_TOOL_POLICY_MAP_H

struct args;

int policy_map(struct args *args);

#endif /* MRPC_TOOL_POLICY_MAP_H */
