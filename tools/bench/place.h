/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines for the time of a measurement.
 */
#ifndef _PLACE_H
#define _PLACE_H

#include <stdbool.h>
#include <string.h>

/* A text that the engines have not heard of. */
#define PLACE_KEY	"customer-4711"

/* Exits if there is no such engine. */
void place(const char *engine);
void unplace(void);

#define PLACE_KEYS	100000	/* in the set of acl, and of its policy */

/* Return: false: @engine is no policy. */
#ifdef PLACE_POLICIES
bool place_policy(const char *engine);
void unplace_policy(void);
#else
static inline bool place_policy(const char *engine)
{
	(void)engine;
	return false;
}

static inline void unplace_policy(void)
{
}
#endif

#endif
