/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_CLOCK_H
#define LIBMRPC_CLOCK_H

#include <time.h>

#include "internal.h"

#define FOR_EVER	UINT64_MAX

/* Time limits are times of CLOCK_MONOTONIC, in nanoseconds. */
static inline u64 clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000u + (u64)ts.tv_nsec;
}

/* When that many microseconds have passed. */
static inline u64 until_us(u64 us)
{
	u64 now = clock_ns();

	return us < (FOR_EVER - now) / 1000 ? now + us * 1000 : FOR_EVER;
}

/* When a call ends that may take that many microseconds; 0: it has no deadline. */
static inline u64 deadline_of(u64 timeout_us)
{
	return timeout_us ? until_us(timeout_us) : FOR_EVER;
}

/* The time that is left until a deadline, as the kernel takes it: 0 for none. */
static inline u64 left_us(u64 deadline)
{
	u64 now;

	if (deadline == FOR_EVER)
		return 0;
	now = clock_ns();
	return deadline > now ? (deadline - now + 999) / 1000 : 1;
}

#endif /* LIBMRPC_CLOCK_H */
