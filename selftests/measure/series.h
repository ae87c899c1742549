/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The same measured in several rounds: its median and spread.
 */
#ifndef SERIES_H
#define SERIES_H

#define SERIES_MAX	100

/**
 * struct series - what the rounds have said about one thing
 * @what: the thing
 * @nr: of @of
 */
struct series {
	const char *what;
	unsigned int nr;
	double of[SERIES_MAX];
};

void series_add(struct series *s, const char *what, double value);
/* Prints it beside @other, whose median counts as all. */
void series_line(struct series *s, struct series *other);

#endif /* SERIES_H */
