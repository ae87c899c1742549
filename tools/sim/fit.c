// SPDX-License-Identifier: GPL-2.0
/*
 * How well a fitted distribution follows a table of "bytes,fraction of messages that are
 * at most so long". A remark can tell the mean of what the table was sampled from.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "fit.h"

/**
 * struct distance - what is known so far
 * @points: of the table
 * @gap: the greatest difference of the two fractions at a point
 * @at: where
 * @sum: of the differences
 * @mean: of the messages, as the remark has it; 0: none
 */
struct distance {
	u32 points;
	double gap;
	double at;
	double sum;
	double mean;
};

static void compare(struct distance *d, const struct sim_workload *w, double bytes,
		    double fraction)
{
	double gap = fabs(sim_workload_below(w, bytes) - fraction);

	d->points++;
	d->sum += gap;
	if (gap > d->gap) {
		d->gap = gap;
		d->at = bytes;
	}
}

static int read_table(FILE *file, const char *path, const struct sim_workload *w,
		      struct distance *d)
{
	double bytes, fraction, before = 0;
	u32 number = 0;
	char line[512];
	char *mean;

	while (fgets(line, sizeof(line), file)) {
		number++;
		mean = strstr(line, "mean of the full table ");
		if (mean)
			sscanf(mean, "mean of the full table %lf", &d->mean);
		if (*line == '#' || *line == '\n')
			continue;
		if (sscanf(line, "%lf,%lf", &bytes, &fraction) != 2 || bytes < 1 ||
		    fraction < before || fraction > 1) {
			fprintf(stderr, "mrpc-sim: %s:%u: not a line 'BYTES,FRACTION' in order\n",
				path, number);
			return 1;
		}
		compare(d, w, bytes, fraction);
		before = fraction;
	}
	if (!d->points) {
		fprintf(stderr, "mrpc-sim: %s: no line 'BYTES,FRACTION'\n", path);
		return 1;
	}
	return 0;
}

int sim_fit(const char *path, const struct sim_workload *w)
{
	double mean = sim_workload_mean(w, NULL, NULL);
	FILE *file = fopen(path, "r");
	struct distance d = {};
	int err;

	if (!file) {
		fprintf(stderr, "mrpc-sim: %s: %s\n", path, strerror(errno));
		return 1;
	}
	err = read_table(file, path, w, &d);
	fclose(file);
	if (err)
		return 1;
	printf("%s: %u points; greatest difference %.2f %% of messages, at %.0f bytes; ", w->name,
	       d.points, 100 * d.gap, d.at);
	printf("mean difference %.2f %%\n", 100 * d.sum / d.points);
	printf("%s: mean length %.0f bytes", w->name, mean);
	if (d.mean)
		printf(", %.0f of the table's source: %+.1f %%", d.mean,
		       100 * (mean / d.mean - 1));
	printf("\n");
	return 0;
}
