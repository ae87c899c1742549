/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines for the time of a measurement.
 */
#ifndef _PLACE_H
#define _PLACE_H

/* A text that the engines have not heard of. */
#define PLACE_KEY	"customer-4711"

/* Exits if there is no such engine. */
void place(const char *engine);
void unplace(void);

#endif
