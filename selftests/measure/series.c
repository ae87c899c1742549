// SPDX-License-Identifier: GPL-2.0
/*
 * The same measured in several rounds; see series.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "series.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void series_add(struct series *s, const char *what, double value)
{
	s->what = what;
	s->of[s->nr++] = value;
}

static double series_median(struct series *s)
{
	qsort(s->of, s->nr, sizeof(s->of[0]), by_value);
	return (s->of[(s->nr - 1) / 2] + s->of[s->nr / 2]) / 2;
}

void series_line(struct series *s, struct series *other)
{
	double median = series_median(s);

	printf("%-24s median %6.2f, %6.2f to %6.2f Mbit/s; %5.1f %% of %s\n", s->what, median,
	       s->of[0], s->of[s->nr - 1], 100 * median / series_median(other), other->what);
}
