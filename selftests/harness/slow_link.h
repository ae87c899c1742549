/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A slow link, and loads on it that other calls are measured beside. Include after tap.h.
 */
#ifndef SLOW_LINK_H
#define SLOW_LINK_H

#include "lo.h"
#include "load.h"

/* Makes lo a slow link, with packets as on other links. */
static inline void slow_lo(void)
{
	if (!lo_bend("tbf rate 16mbit burst 20000 limit 4m"))
		SKIP("there is no tbf here");
}

#define BULK	8	/* loads beside small calls */

static struct load bulk[BULK];
static unsigned int nr_bulk;

/* Starts @nr loads, each on its own connection, of @in_flight calls of @len bytes. */
static inline void bulk_start(struct raw_pair *pair, unsigned int nr, uint32_t len,
			      unsigned int in_flight)
{
	for (nr_bulk = 0; nr_bulk < nr; nr_bulk++) {
		struct load *b = &bulk[nr_bulk];

		b->len = len;
		b->ack = true;
		load_start(b, &pair->c, raw_connect(&pair->c, pair->addr), in_flight);
	}
}

/* On a link without turns, the last calls of one may wait for as long as the others go on. */
static inline void bulk_stop(void)
{
	unsigned int i;

	for (i = 0; i < nr_bulk; i++)
		load_tell(&bulk[i]);
	while (nr_bulk)
		load_stop(&bulk[--nr_bulk]);
}

/* Return: calls of all loads that went well. */
static inline uint64_t bulk_done(void)
{
	uint64_t done = 0;
	unsigned int i;

	for (i = 0; i < nr_bulk; i++)
		done += load_done(&bulk[i], MRPC_OK);
	return done;
}

#endif /* SLOW_LINK_H */
