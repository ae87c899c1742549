/* SPDX-License-Identifier: GPL-2.0 */
/* Where the ranks of a group are in the network. */
#ifndef MRPC_TOOL_SHOW_TOPOLOGY_H
#define MRPC_TOOL_SHOW_TOPOLOGY_H

#include <stdint.h>

struct json_object;

/**
 * topology_order() - put the ranks of a group in the order of their places
 * @file: its lines are "ADDRESS[/PREFIX] POD RACK HOST", with names; '#' begins a comment
 * @group: the group, as the kernel describes it
 * @order: out: the rank at each place
 *
 * A rank is at the place of the longest prefix that has its address: that of its end of the
 * connections of @group. It does not return if the file is wrong, or a rank has no place.
 */
void topology_order(const char *file, struct json_object *group, uint32_t *order);

#endif /* MRPC_TOOL_SHOW_TOPOLOGY_H */
