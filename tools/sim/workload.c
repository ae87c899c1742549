// SPDX-License-Identifier: GPL-2.0
/*
 * Lengths of messages as the Homa paper's workloads W1 to W5 have them: a fit of some
 * twenty points each, made for this file and checked by "mrpc-sim fit".
 */
#include <math.h>

#include "random.h"
#include "workload.h"

static const struct sim_workload workloads[] = {
	{ "w1", {
		{ 8, 311000 }, { 10, 328000 }, { 11, 418000 }, { 13, 422000 }, { 15, 470000 },
		{ 31, 508000 }, { 50, 548000 }, { 71, 587000 }, { 110, 649000 }, { 354, 850000 },
		{ 503, 901000 }, { 674, 934000 }, { 903, 959000 }, { 1210, 976000 },
		{ 1620, 987000 }, { 2240, 993407 }, { 3180, 997101 }, { 5220, 999163 },
		{ 11800, 999905 }, { 24600, 999988 }, { 100000, 1000000 },
	} },
	{ "w2", {
		{ 8, 170000 }, { 32, 189000 }, { 49, 285000 }, { 64, 326000 }, { 128, 342000 },
		{ 183, 415000 }, { 256, 464000 }, { 320, 642000 }, { 394, 776000 },
		{ 512, 910000 }, { 853, 949000 }, { 1360, 970000 }, { 2560, 987000 },
		{ 4100, 995324 }, { 6830, 997804 }, { 13700, 998806 }, { 119000, 999819 },
		{ 154000, 999902 }, { 262000, 999966 }, { 1300000, 999988 }, { 3530000, 1000000 },
	} },
	{ "w3", {
		{ 8, 65000 }, { 32, 97000 }, { 64, 155000 }, { 85, 253000 }, { 186, 443000 },
		{ 256, 498000 }, { 352, 654000 }, { 512, 785000 }, { 843, 846000 },
		{ 1760, 901000 }, { 7050, 960000 }, { 16000, 984000 }, { 28500, 990000 },
		{ 119000, 996742 }, { 171000, 997746 }, { 305000, 998747 }, { 1010000, 999748 },
		{ 2340000, 999920 }, { 4300000, 999965 }, { 8230000, 999990 },
		{ 15200000, 1000000 },
	} },
	{ "w4", {
		{ 56, 1000 }, { 217, 15000 }, { 300, 52000 }, { 326, 138000 }, { 360, 183000 },
		{ 480, 264000 }, { 600, 459000 }, { 737, 552000 }, { 808, 578000 },
		{ 1760, 669000 }, { 9010, 710000 }, { 31900, 721000 }, { 38700, 736000 },
		{ 44300, 758000 }, { 50600, 812000 }, { 70700, 833000 }, { 83400, 873000 },
		{ 126000, 903000 }, { 289000, 954000 }, { 2530000, 987000 }, { 10000000, 1000000 },
	} },
	{ "w5", {
		{ 1430, 25000 }, { 2860, 50000 }, { 4290, 75000 }, { 10000, 157000 },
		{ 19100, 200000 }, { 29400, 307000 }, { 41200, 364000 }, { 58800, 446000 },
		{ 76400, 523000 }, { 222000, 603000 }, { 432000, 630000 }, { 726000, 668000 },
		{ 1300000, 733000 }, { 1860000, 790000 }, { 3500000, 853000 }, { 4900000, 900000 },
		{ 10300000, 902000 }, { 14700000, 920000 }, { 19100000, 948000 },
		{ 24000000, 970000 }, { 29400000, 1000000 },
	} },
};

const struct sim_workload *sim_workload_find(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(workloads); i++)
		if (!strcmp(workloads[i].name, name))
			return &workloads[i];
	return NULL;
}

/* The length at part @part of the way from one point to the next. */
static double between(const struct sim_quantile *q, double part)
{
	return q[0].bytes * pow((double)q[1].bytes / q[0].bytes, part);
}

u32 sim_workload_draw(const struct sim_workload *w, u64 *random)
{
	double at = sim_uniform(random) * 1000000;
	const struct sim_quantile *q = w->quantiles;

	if (at <= q->ppm)
		return q->bytes;
	while (at > q[1].ppm)
		q++;
	return lround(between(q, (at - q[0].ppm) / (q[1].ppm - q[0].ppm)));
}

double sim_workload_mean(const struct sim_workload *w, double (*size)(u32 bytes, void *arg),
			 void *arg)
{
	enum { STEPS = 200 };
	const struct sim_quantile *q = w->quantiles;
	double sum = q->ppm * (size ? size(q->bytes, arg) : q->bytes), bytes;
	u32 i, k;

	for (i = 1; i < SIM_QUANTILES; i++, q++) {
		for (k = 0; k < STEPS; k++) {
			bytes = between(q, (k + 0.5) / STEPS);
			sum += (double)(q[1].ppm - q[0].ppm) / STEPS *
			       (size ? size(lround(bytes), arg) : bytes);
		}
	}
	return sum / 1000000;
}

double sim_workload_below(const struct sim_workload *w, double bytes)
{
	const struct sim_quantile *q = w->quantiles;
	u32 i;

	if (bytes < q->bytes)
		return 0;
	for (i = 1; i < SIM_QUANTILES; i++, q++)
		if (bytes < q[1].bytes)
			return (q[0].ppm + (q[1].ppm - q[0].ppm) * log(bytes / q[0].bytes) /
				log((double)q[1].bytes / q[0].bytes)) / 1000000;
	return 1;
}
