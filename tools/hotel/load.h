/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The open-loop load generator: requests are due at random moments (Poisson arrivals)
 * whatever becomes of earlier ones, and latency counts from when a request was due. So a
 * server that stalls makes all requests late that were due meanwhile, and this is seen
 * (the correction for coordinated omission).
 */
#ifndef _HOTEL_LOAD_H
#define _HOTEL_LOAD_H

#include <stdio.h>

#include "histogram.h"
#include "workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Most requests; those that are due then wait, and are late. Somewhat fewer than the calls that a
 * connection of mrpc takes by default (256), so that none is refused.
 */
#define LOAD_IN_FLIGHT	240
#define LOAD_DRAIN_NS	10000000000	/* how long the last answers may take */

struct load;

/* One request on its way; the load's. */
struct load_call {
	struct load *load;
	struct load_call *next;	/* of those that are free */
	struct request request;
	uint64_t due;
};

/**
 * struct load_peer - how requests are made
 * @submit: starts one. load_done() is called when it has ended, by any thread, and maybe
 *	before this returns
 * @wait: returns at @until, no earlier; or when calls have ended, if that takes the
 *	caller's thread. Calls ended meanwhile are reported
 * @now: nanoseconds
 */
struct load_peer {
	void (*submit)(struct load_call *call);
	void (*wait)(uint64_t until);
	uint64_t (*now)(void);
};

/**
 * struct load_options - what to do
 * @rate: requests in a second
 * @warm_ns: time before those that count
 * @ns: time of those that count
 * @requests: so many count, however long that takes; 0: those of @ns
 * @seed: of the requests and their moments
 */
struct load_options {
	double rate;
	uint64_t warm_ns;
	uint64_t ns;
	unsigned int requests;
	uint64_t seed;
};

/* What came out of it. Requests without an answer are as late as they were at the end. */
struct load_result {
	struct histogram all;
	struct histogram kinds[REQUEST_KINDS];
	uint64_t errors;	/* answers with a status */
	uint64_t unanswered;
	double offered;		/* rate at which those that count were due */
	double rate;		/* of answers, until the last one that counts came */
};

/* NULL without memory. Not to be freed while calls can still end. */
struct load_result *load_run(const struct load_peer *peer, const struct load_options *o);

void load_done(struct load_call *call, int failed);

/* A line for all, one for each kind. */
void load_print(const struct load_result *result, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
