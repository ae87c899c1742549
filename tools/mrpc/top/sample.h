/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc top: samples of the kernel's counters. */
#ifndef MRPC_TOOL_TOP_SAMPLE_H
#define MRPC_TOOL_TOP_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ds/hist.h"

struct json_object;

struct sample *sample_take(void);
void sample_free(struct sample *s);

/**
 * struct entry - a connection, or a method at one side
 * @key: identifies it in another sample
 * @row: its identity, and its present values
 * @calls: so far, as are the following
 * @errors: calls that did not end with OK
 * @bytes: both ways
 * @hist: histogram of the time of its calls; NULL: no engine measures it
 */
struct entry {
	char *key;
	struct json_object *row;
	uint64_t calls;
	uint64_t errors;
	uint64_t bytes;
	struct mrpc_hist *hist;
};

/* Sorted by key once the list is complete. */
struct entries {
	struct entry *entry;
	size_t nr;
};

/**
 * struct sample - the counters at one moment
 * @at: ns
 * @conns: connections
 * @methods: of the services that an engine measures
 * @sessions: number of sessions
 * @engines: number of engines
 * @bypassed: datapaths on which an engine is bypassed
 */
struct sample {
	uint64_t at;
	struct entries conns;
	struct entries methods;
	uint64_t sessions;
	uint64_t engines;
	uint64_t bypassed;
};

const struct entry *entries_find(const struct entries *list, const char *key);

#endif /* MRPC_TOOL_TOP_SAMPLE_H */
