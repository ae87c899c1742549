/* SPDX-License-Identifier: GPL-2.0 */
/* Input of fuzz_h2: a byte of these, then steps of two bytes and what belongs to them. */
#ifndef FUZZ_H2_H
#define FUZZ_H2_H

#define FUZZ_SERVER	1
#define FUZZ_GREEDY	2	/* what comes is not credited at once */
#define FUZZ_BEGUN	4	/* preface and SETTINGS have come */
#define FUZZ_SHY	8	/* new streams are refused */
#define FUZZ_CARELESS	16	/* it reads on while it is congested */

/* In a step's first byte: the peer says so many bytes, with the second byte as lower half. */
#define FUZZ_INPUT	0x80
/* A step's first byte, without FUZZ_INPUT: a client opens a stream. */
#define FUZZ_OPEN	1

#endif /* FUZZ_H2_H */
