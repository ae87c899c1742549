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

/* What @engines, one or several with commas, need: first. All of these exit if something is wrong. */
void place_prepare(const char *engines);
void place(const char *engines);
/* It may be placed again. */
void displace(void);
void unplace(void);

#define PLACE_KEYS	100000	/* in the set of acl, and of its policy */

/* Does nothing if @engine is no policy. */
#ifdef PLACE_POLICIES
void prepare_policy(const char *engine);
/* Gives it other programs, which do the same: the first time it loads them. */
void replace_policy(const char *engine);
void forget_policy(void);
#else
static inline void prepare_policy(const char *engine)
{
	(void)engine;
}

static inline void replace_policy(const char *engine)
{
	(void)engine;
}

static inline void forget_policy(void)
{
}
#endif

#endif
