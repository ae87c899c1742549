/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls under way all the time, in a thread: what operators change engines under.
 */
#ifndef LOAD_H
#define LOAD_H

#include "raw.h"

#define LOAD_MAX	256	/* calls in flight */

/**
 * struct load - a thread that calls Echo
 * @s: the session; other threads may use it, too
 * @conn: the connection
 * @in_flight: calls that it keeps under way
 * @len: bytes of data in each, or 0 for those of @text only
 * @text: the text of each, or NULL
 * @ack: calls Ack: replies are short
 * @timeout_us: of each, 0 for none
 * @qp: its queue pair
 * @done: calls that have ended, by status
 * @wrong: replies that were not those of their calls
 * @reused: completions of calls that had ended before
 * @detail: of the last call that failed
 */
struct load {
	struct raw *s;
	int conn;
	unsigned int in_flight;
	uint32_t len;
	const char *text;
	bool ack;
	uint64_t timeout_us;
	struct raw_qp qp;
	pthread_t thread;
	bool stop;
	uint64_t done[MRPC_STATUS_MAX + 1];
	uint64_t wrong;
	uint64_t reused;
	char detail[MRPC_MAX_DETAIL + 1];
	uint64_t tag[LOAD_MAX];
	uint32_t root[LOAD_MAX];
	bool used[LOAD_MAX];
	bool freed[LOAD_MAX];
	uint64_t next;
};

void load_start(struct load *l, struct raw *s, int conn, unsigned int in_flight);
/* Makes no more calls. Of several loads, all are told before load_stop() waits for the first. */
void load_tell(struct load *l);
/* Waits for what is under way; dies when that does not end in a minute. */
void load_stop(struct load *l);
uint64_t load_done(const struct load *l, unsigned int status);
/*
 * How many ended with none of @statuses, a mask of 1 << MRPC_...; otherwise than well; in
 * whatever way. A difference of two such numbers means little while calls run.
 */
uint64_t load_except(const struct load *l, unsigned int statuses);
uint64_t load_failed(const struct load *l);
uint64_t load_all(const struct load *l);
/* Waits until @nr more calls have ended, in whatever way; false: not in @ms. */
bool load_more(const struct load *l, uint64_t nr, unsigned int ms);
/* Waits until so many have ended with @status; false: not in @ms. */
bool load_until(const struct load *l, unsigned int status, uint64_t nr, unsigned int ms);
/* Waits until nothing has ended for a second; false: it does not come to that. */
bool load_still(const struct load *l);

#endif /* LOAD_H */
