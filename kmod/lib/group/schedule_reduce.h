/* SPDX-License-Identifier: GPL-2.0 */
/* The algorithms of AllReduce, ReduceScatter and Reduce. */
#ifndef MRPC_LIB_GROUP_SCHEDULE_REDUCE_H
#define MRPC_LIB_GROUP_SCHEDULE_REDUCE_H

#include "lib/group/schedule_step.h"

/* By collective and algorithm. One without @step does not exist here. */
extern const struct mrpc_schedule_plan
mrpc_reducing_plans[MRPC_NR_COLLECTIVES][MRPC_NR_ALGORITHMS];

#endif /* MRPC_LIB_GROUP_SCHEDULE_REDUCE_H */
