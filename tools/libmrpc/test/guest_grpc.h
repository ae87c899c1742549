/* SPDX-License-Identifier: GPL-2.0 */
/* Loads the transport grpc, which does not come on demand. Include after tap.h. */
#ifndef GUEST_GRPC_H
#define GUEST_GRPC_H

#include <stdio.h>
#include <stdlib.h>

static inline void load_grpc(void)
{
	char command[512];

	CHECK(getenv("MRPC_MODULES"));
	snprintf(command, sizeof(command), "[ -d /sys/module/mrpc_grpc ] || insmod '%s/mrpc_grpc.ko'",
		 getenv("MRPC_MODULES"));
	CHECK_EQ(system(command), 0);
}

#endif /* GUEST_GRPC_H */
