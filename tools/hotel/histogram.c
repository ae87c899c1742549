// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "histogram.h"

#define LAST	(sizeof(((struct histogram *)0)->counts) / sizeof(uint64_t) - 1)

/* The value's highest bits, as many as HISTOGRAM_SUB_BITS, are kept. */
static unsigned int index_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < HISTOGRAM_SUB)
		return (unsigned int)ns;
	shift = 64 - HISTOGRAM_SUB_BITS - (unsigned int)__builtin_clzll(ns);
	if (shift > HISTOGRAM_RANGES)
		return LAST;
	return (unsigned int)(shift * HISTOGRAM_SUB / 2 + (ns >> shift));
}

static uint64_t middle_of(unsigned int index)
{
	unsigned int shift;

	if (index < HISTOGRAM_SUB)
		return index;
	shift = index / (HISTOGRAM_SUB / 2) - 1;
	return ((uint64_t)(index - shift * HISTOGRAM_SUB / 2) << shift) + (1ULL << shift) / 2;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	uint64_t max = __atomic_load_n(&h->max, __ATOMIC_RELAXED);

	__atomic_fetch_add(&h->nr, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&h->sum, ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&h->counts[index_of(ns)], 1, __ATOMIC_RELAXED);
	while (ns > max && !__atomic_compare_exchange_n(&h->max, &max, ns, true, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
		;
}

uint64_t histogram_quantile(const struct histogram *h, double share)
{
	uint64_t wanted = (uint64_t)ceil(share * (double)h->nr), seen = 0, value;
	unsigned int i;

	for (i = 0; i <= LAST; i++) {
		seen += h->counts[i];
		if (!seen || seen < wanted)
			continue;
		value = middle_of(i);
		return value < h->max ? value : h->max;
	}
	return 0;
}

void histogram_print(const struct histogram *h, const char *name, FILE *out)
{
	fprintf(out, "%s nr=%" PRIu64 " mean_ns=%" PRIu64 " median_ns=%" PRIu64 " p99_ns=%" PRIu64
		" max_ns=%" PRIu64 "\n", name, h->nr, h->nr ? h->sum / h->nr : 0,
		histogram_quantile(h, 0.5), histogram_quantile(h, 0.99), h->max);
}
