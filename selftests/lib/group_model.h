/* SPDX-License-Identifier: GPL-2.0 */
/* What a collective has to give, without steps: the order of reduction as schedule.h says it. */
#ifndef GROUP_MODEL_H
#define GROUP_MODEL_H

#include "group_world.h"

/**
 * model_output() - the result of one rank
 * @w: a world that has begun: its inputs are used
 * @rank: the rank
 * @len: set to the bytes of the result; 0: the rank has none
 *
 * Return: the result, from malloc().
 */
u8 *model_output(const struct world *w, u32 rank, u64 *len);

/** model_sent() - the bytes that @rank has to send at least, if blocks are equal */
u64 model_sent(const struct world *w, u32 rank);

#endif /* GROUP_MODEL_H */
