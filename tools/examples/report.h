/* SPDX-License-Identifier: MIT */
/*
 * How far a run is, and what came out of it.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report {
	const char *name;
	unsigned int in_flight;
	bool progress;		/* show a bar */
	size_t expected;	/* calls */
	size_t calls;
	size_t errors;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t drawn_ns;
	uint32_t *latency_ns;	/* of each call */
	size_t room;
};

uint64_t now_ns(void);

void report_start(struct report *r);
void report_call(struct report *r, uint64_t latency_ns, uint64_t bytes, bool ok);
void report_end(struct report *r);

void report_print_head(void);
void report_print(const struct report *r);

#endif /* REPORT_H */
