/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_POLICY_H
#define LIBMRPC_POLICY_H

#include "internal.h"

/**
 * struct throttle - how many retries a channel may make; all in thousandths of a token
 * @max: the most tokens; 0: there is no limit
 * @ratio: what a call that succeeds adds
 * @tokens: what there is; atomic
 */
struct throttle {
	u32 max;
	u32 ratio;
	u32 tokens;
};

/* A call has succeeded. */
void throttle_success(struct throttle *t);
/* An attempt has failed. Return: there are tokens for another one. */
bool throttle_failure(struct throttle *t);
/* Return: there are tokens for another attempt. */
bool throttle_allows(const struct throttle *t);

/**
 * struct retry_policy - when calls of a method are made again
 * @max_attempts: with the first one; 0: calls are made once
 * @codes: statuses that another attempt may change, a bit each
 * @initial_ns: the most time before the second attempt, but for jitter
 * @max_ns: the most before any, but for jitter
 * @multiplier: from one of these times to the next
 */
struct retry_policy {
	u32 max_attempts;
	u32 codes;
	u64 initial_ns;
	u64 max_ns;
	double multiplier;
};

#define ATTEMPTS_MAX	5	/* gRPC takes more for so many */

/**
 * struct hedge_policy - when calls of a method are made several times at once
 * @max_attempts: with the first one; 0: calls are made once
 * @codes: statuses that do not end the call while there are other attempts, a bit each
 * @delay_ns: from the begin of an attempt to that of the next
 */
struct hedge_policy {
	u32 max_attempts;
	u32 codes;
	u64 delay_ns;
};

/**
 * struct attempts - those of one call
 * @policy: when another one is made
 * @throttle: of the channel
 * @until: the call's deadline; FOR_EVER: none
 * @failed: those that have failed
 * @sent: the server may have executed one of them
 * @grown: times that the time before the next one has grown
 * @next: when the next one may begin
 */
struct attempts {
	const struct retry_policy *policy;
	struct throttle *throttle;
	u64 until;
	u32 failed;
	bool sent;
	u32 grown;
	u64 next;
};

/* An attempt has ended with @res. Return: another one is to be made, at attempts.next. */
bool attempts_again(struct attempts *a, const struct mrpc_result *res);

#define PUSHBACK_NONE	(-1)	/* the server says nothing */
#define PUSHBACK_NEVER	(-2)	/* it wants no other attempt */

/* When the server wants another attempt: milliseconds, or PUSHBACK_*. */
s64 pushback_of(const struct mrpc_result *res);

/* May another attempt after @res end better? @codes: a bit for each status of which that holds. */
bool may_help(u32 codes, const struct mrpc_result *res);

/* A time with up to a fifth added or taken away. */
u64 jitter(u64 ns);

/* Metadata that tells the server how many attempts have failed. */
#define ATTEMPTS_KEY	"grpc-previous-rpc-attempts"
#define ATTEMPTS_META	(sizeof(struct mrpc_meta_entry) + sizeof(ATTEMPTS_KEY) - 1 + 1)

/* Bytes to be reserved for it behind @len bytes of metadata: 0: calls are made once, or no room. */
u32 attempts_room(const struct retry_policy *policy, u32 len);
/* @failed: below 10 */
void attempts_write(u32 failed, void *mem);

#endif /* LIBMRPC_POLICY_H */
