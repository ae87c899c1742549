/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the transport prio tells operators of itself in this network namespace, and its parameters.
 */
#ifndef PRIO_TELLS_H
#define PRIO_TELLS_H

#include <stdio.h>

#include "operator.h"
#include "raw.h"

#define PARAMETER(name)	"/sys/module/mrpc_prio/parameters/" name

static inline int64_t counter(const char *name)
{
	return op_transport("prio", MRPC_A_TRANSPORT_COUNTER, name);
}

static inline int64_t gauge(const char *name)
{
	return op_transport("prio", MRPC_A_TRANSPORT_GAUGE, name);
}

/* Waits until a gauge has a value. */
static inline bool gauge_becomes(const char *name, int64_t value, unsigned int ms)
{
	uint64_t end = raw_now() + ms * RAW_MS * raw_patience();

	while (gauge(name) != value) {
		if (raw_now() > end) {
			printf("# %s is %lld, not %lld\n", name, (long long)gauge(name),
			       (long long)value);
			return false;
		}
		raw_sleep(20 * RAW_MS);
	}
	return true;
}

#endif /* PRIO_TELLS_H */
