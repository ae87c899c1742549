/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that come when they come, over many connections, whether or not those before have
 * ended: what load is to a service. A thread makes them, at random times.
 */
#ifndef FLOW_H
#define FLOW_H

#include "raw.h"

#define FLOW_SLOTS	1024		/* calls in flight */
#define FLOW_SEQ_BITS	32		/* of a tag: the connection's index is above */

/**
 * struct flow_sample - a call that has ended
 * @due: when it was to begin, ns; if it began later, for want of a slot, that is its time, too
 * @took: from then to its end, ns
 * @len: bytes of its request
 */
struct flow_sample {
	uint64_t due;
	uint64_t took;
	uint32_t len;
};

/**
 * struct flow - a thread that calls
 * @s: the session; other threads may use it, too
 * @conns: connections, of which each call takes one at random
 * @nr: of these
 * @method: RAW_ACK or RAW_ECHO
 * @size: bytes of the next call; of the thread
 * @max_len: @size never says more
 * @gap: mean time between two calls, ns
 * @until: no more calls from then on; 0: until flow_stop()
 * @seed: of everything that is random; not 0
 * @samples: room for @max_samples of them; further ones are not kept
 * @next: for each connection, how many calls it has had
 * @done: calls that have ended, by status
 * @wrong: replies that were not those of their calls, or came twice
 * @detail: of the last call that failed
 */
struct flow {
	struct raw *s;
	const int *conns;
	unsigned int nr;
	uint32_t method;
	uint32_t (*size)(struct flow *f);
	uint32_t max_len;
	uint64_t gap;
	uint64_t until;
	uint64_t seed;
	struct flow_sample *samples;
	unsigned int max_samples;
	unsigned int nr_samples;
	uint32_t *next;
	uint64_t made;
	uint64_t done[MRPC_STATUS_MAX + 1];
	uint64_t wrong;
	char detail[MRPC_MAX_DETAIL + 1];
	/* of the thread */
	struct raw_qp qp;
	pthread_t thread;
	bool stop;
	uint64_t due;
	uint32_t roots;
	uint32_t data;
	struct {
		uint64_t tag;
		uint64_t due;
		uint32_t len;
		bool waits;	/* for its reply */
		bool sent;	/* its blocks are free */
	} slot[FLOW_SLOTS];
	unsigned int free[FLOW_SLOTS];
	unsigned int nr_free;
};

/* Evenly distributed, above 0 and at most 1. */
double flow_random(struct flow *f);

/* All up to @detail but counts are set by the caller, the rest is 0. */
void flow_start(struct flow *f);
/* No more calls; waits for those under way. Dies when these do not end in two minutes. */
void flow_stop(struct flow *f);
/* The same, when @until comes. */
void flow_wait(struct flow *f);
uint64_t flow_done(const struct flow *f, unsigned int status);
uint64_t flow_all(const struct flow *f);
/* Waits until @nr more calls have ended, in whatever way; false: not in @ms. */
bool flow_more(const struct flow *f, uint64_t nr, unsigned int ms);

/* Sorts some of them by time taken; what @part (0 to 1) of them do not exceed, ns. */
void flow_sort(struct flow_sample *samples, unsigned int nr);
uint64_t flow_quantile(const struct flow_sample *sorted, unsigned int nr, double part);

#endif /* FLOW_H */
