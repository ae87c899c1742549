/* SPDX-License-Identifier: GPL-2.0 */
/* The algorithms of the collectives that only copy. */
#ifndef MRPC_LIB_GROUP_SCHEDULE_COPY_H
#define MRPC_LIB_GROUP_SCHEDULE_COPY_H

#include "lib/group/schedule_step.h"

/* By collective and algorithm. One without @step does not exist here. */
extern const struct mrpc_schedule_plan
mrpc_copying_plans[MRPC_NR_COLLECTIVES][MRPC_NR_ALGORITHMS];

#endif /* MRPC_LIB_GROUP_SCHEDULE_COPY_H */
