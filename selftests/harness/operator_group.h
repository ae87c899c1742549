/* SPDX-License-Identifier: GPL-2.0 */
/* What an operator asks of groups, by netlink. Ranks are those of ranks.h. */
#ifndef OPERATOR_GROUP_H
#define OPERATOR_GROUP_H

#include <stdint.h>

#include "operator_nl.h"

/* Begins a request for a strategy. Return: the nest, for op_nest_end(). */
uint32_t op_strategy_begin(unsigned int rank);
/* Adds the algorithm of a collective to it. */
void op_strategy_choice(uint32_t collective, uint32_t algorithm);
/*
 * Asks for an order of @nr ranks, if @order is not NULL, and for an algorithm of AllReduce, if it is
 * not negative. Return: 0, or -errno with op_why.
 */
int op_strategy_set(unsigned int rank, const uint32_t *order, unsigned int nr, int algorithm);
/* An attribute of the strategy of a rank, or NULL; or its value, or -1. */
const struct nlattr *op_strategy_attr(unsigned int rank, unsigned int attr);
int64_t op_strategy(unsigned int rank, unsigned int attr);

#endif /* OPERATOR_GROUP_H */
