/* SPDX-License-Identifier: GPL-2.0 */
/* Changing the strategy of a group. */
#ifndef MRPC_TOOL_SHOW_GROUP_SET_H
#define MRPC_TOOL_SHOW_GROUP_SET_H

#include <stdint.h>

struct args;

/**
 * group_set() - mrpc group set: all words behind the group
 * @args: the words
 * @session: number of the session
 * @id: the group in that session
 *
 * It returns when the strategy is used. Return: 0; it does not return otherwise.
 */
int group_set(struct args *args, uint32_t session, uint32_t id);

#endif /* MRPC_TOOL_SHOW_GROUP_SET_H */
