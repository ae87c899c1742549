// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations that fail; see fault.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault.h"
#include "raw.h"

static int fault_fd = -1;

bool fault_open(void)
{
	static const char *const all[][2] = {
		{ "/sys/kernel/debug/failslab/ignore-gfp-wait", "N" },
		{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N" },
		{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "/sys/kernel/debug/fail_page_alloc/min-order", "0" },
		{ "/sys/kernel/debug/failslab/verbose", "0" },
		{ "/sys/kernel/debug/fail_page_alloc/verbose", "0" },
		/* Only allocations: no stack matches this. */
		{ "/sys/kernel/debug/fail_usercopy/require-start", "1" },
		{ "/sys/kernel/debug/fail_usercopy/require-end", "2" },
	};
	unsigned int i;

	fault_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	for (i = 0; fault_fd >= 0 && i < sizeof(all) / sizeof(all[0]); i++)
		raw_file_write(all[i][0], all[i][1]);
	return fault_fd >= 0;
}

void fault_arm(unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(fault_fd, text, n, 0) != n)
		raw_die("fail-nth: %m");
}

bool fault_came(void)
{
	char text[16] = "";
	bool yes;

	if (pread(fault_fd, text, sizeof(text) - 1, 0) < 0)
		raw_die("fail-nth: %m");
	yes = atoi(text) == 0;
	fault_arm(0);
	return yes;
}

bool fault_is_refusal(int err)
{
	static const int refusals[] = {
		ENOMEM, ENOBUFS,
		ENFILE,			/* no file, or inode, for a socket */
		EADDRINUSE,		/* nothing to keep its port in */
		ECONNRESET, ETIMEDOUT,	/* nothing to send, or receive, with */
		EPROTO,			/* no chain of engines for a connection */
	};
	unsigned int i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (err == -refusals[i])
			return true;
	return false;
}
