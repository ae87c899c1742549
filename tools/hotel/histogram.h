/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Latencies: counts by value, with an error of less than one in a hundred. Any thread may add.
 */
#ifndef _HOTEL_HISTOGRAM_H
#define _HOTEL_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HISTOGRAM_SUB_BITS	7
#define HISTOGRAM_SUB		(1U << HISTOGRAM_SUB_BITS)
#define HISTOGRAM_RANGES	(41 - HISTOGRAM_SUB_BITS)	/* up to 2^40 ns, 18 minutes */

/**
 * struct histogram - counts of nanoseconds
 * @nr: how many were added
 * @sum: of them all
 * @max: the largest
 * @counts: values below HISTOGRAM_SUB each have one, then each power of two has
 *	HISTOGRAM_SUB / 2. Larger values count as the largest there is
 */
struct histogram {
	uint64_t nr;
	uint64_t sum;
	uint64_t max;
	uint64_t counts[HISTOGRAM_SUB + HISTOGRAM_RANGES * HISTOGRAM_SUB / 2];
};

void histogram_add(struct histogram *h, uint64_t ns);

/*
 * The value that @share (above 0, up to 1) of all do not exceed: the middle of its count, and
 * no more than the largest. 0 if there are none.
 */
uint64_t histogram_quantile(const struct histogram *h, double share);

/* "NAME nr=... mean_ns=... median_ns=... p99_ns=... max_ns=...", and a newline. */
void histogram_print(const struct histogram *h, const char *name, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
