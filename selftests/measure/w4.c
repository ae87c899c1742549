// SPDX-License-Identifier: GPL-2.0
/*
 * The lengths of the workload W4; see w4.h.
 */
#include <math.h>
#include <stdint.h>

#include "w4.h"

/* W4 of Homa's authors, as in tools/sim: of a million, so many are at most so long. */
static const struct {
	uint32_t len;
	uint32_t ppm;
} lengths[] = {
	{ 56, 1000 }, { 217, 15000 }, { 300, 52000 }, { 326, 138000 }, { 360, 183000 },
	{ 480, 264000 }, { 600, 459000 }, { 737, 552000 }, { 808, 578000 },
	{ 1760, 669000 }, { 9010, 710000 }, { 31900, 721000 }, { 38700, 736000 },
	{ 44300, 758000 }, { 50600, 812000 }, { 70700, 833000 }, { 83400, 873000 },
	{ 126000, 903000 }, { 289000, 954000 }, { W4_LARGEST, 1000000 },
};

double w4_length(double at)
{
	unsigned int i = 1;

	if (at <= lengths[0].ppm)
		return lengths[0].len;
	while (at > lengths[i].ppm)
		i++;
	at = (at - lengths[i - 1].ppm) / (lengths[i].ppm - lengths[i - 1].ppm);
	return lengths[i - 1].len * pow((double)lengths[i].len / lengths[i - 1].len, at);
}

double w4_mean(void)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < 10000; i++)
		sum += w4_length((i + 0.5) * 100);
	return sum / 10000;
}
