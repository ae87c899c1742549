/* SPDX-License-Identifier: GPL-2.0 */
/* The virtual time of order.h, as its tests see it. */
#ifndef ORDER_TIME_H
#define ORDER_TIME_H

#define MODEL_SCALE	12	/* bits of virtual time below 1 */

/*
 * Virtual times begin here, so that they wrap soon; a multiple of every grain.
 * The model counts from here and does not wrap.
 */
#define ORIGIN		(0ULL - (1ULL << 40))

#endif /* ORDER_TIME_H */
