// SPDX-License-Identifier: GPL-2.0
/*
 * The loopback device as a link like others; see lo.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lo.h"

void lo_restore(void)
{
	if (system("tc qdisc del dev lo root 2>/dev/null; ip link set lo mtu 65536 up"))
		printf("# lo stays as it is\n");
}

bool lo_bend(const char *qdisc)
{
	int name_len = strcspn(qdisc, " ");
	char command[300];

	atexit(lo_restore);
	snprintf(command, sizeof(command), "modprobe -q sch_%.*s; ip link set lo mtu 1500;"
		 "tc qdisc replace dev lo root %s", name_len, qdisc, qdisc);
	return !system(command);
}
