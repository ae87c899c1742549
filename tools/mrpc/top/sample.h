/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc top: what there is at a moment, as the kernel counts it. */
#ifndef MRPC_TOOL_TOP_SAMPLE_H
#define MRPC_TOOL_TOP_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ds/hist.h"

struct json_object;

struct sample *sample_take(void);
void sample_free(struct sample *s);
uint64_t clock_ns(void);

/**
 * struct entry - a connection, or a method at one side
 * @key: by which it is found again
 * @row: what it is, and what is so at this moment
 * @calls: so far, like the following
 * @errors: calls that did not end with OK
 * @bytes: both ways
 * @hist: of the time of its calls; NULL: nobody measures it
 */
struct entry {
	char *key;
	struct json_object *row;
	uint64_t calls;
	uint64_t errors;
	uint64_t bytes;
	struct mrpc_hist *hist;
};

/* In order of their keys once the list is complete. */
struct entries {
	struct entry *entry;
	size_t nr;
};

/**
 * struct sample - a moment
 * @at: ns
 * @conns: connections
 * @methods: of the services that an engine measures
 * @sessions: how many there are
 * @engines: likewise
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
