/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lengths of messages as in the workload W4 of Homa's authors, cut off at W4_LARGEST.
 */
#ifndef W4_H
#define W4_H

#define W4_LARGEST	2500000

/* Of a million, @at are at most so long; between two points the logarithm goes evenly. */
double w4_length(double at);
double w4_mean(void);

#endif /* W4_H */
