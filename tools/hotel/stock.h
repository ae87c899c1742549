/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What services keep in their caches and, behind these, in memory: rate plans, profiles and
 * reservations. Any thread may call.
 */
#ifndef _HOTEL_STOCK_H
#define _HOTEL_STOCK_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rate plans of these hotels, dearest first. Return: how many. */
size_t stock_rates(const unsigned int *hotels, size_t nr, struct rate_plan *plans);

/* Hotels are at most HOTELS. */
void stock_profiles(const unsigned int *hotels, size_t nr, struct profile *profiles);

/* At the start: the one reservation there is. */
void stock_init(void);

/*
 * The hotels of @hotels, at most HOTELS, that have @rooms rooms in all nights from @in to @out.
 * Return: how many; negative if something is wrong with the dates or there are too many.
 */
int stock_available(const unsigned int *hotels, size_t nr, const char *in, const char *out,
		    int rooms, unsigned int *available);

/* Return: 1, or 0 if there is no room; negative as above. */
int stock_reserve(unsigned int hotel, const char *in, const char *out, int rooms);

#ifdef __cplusplus
}
#endif

#endif
