// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * When a call that has failed is made again: gRPC's proposal A6, "client retries".
 */
#include <string.h>
#include <sys/random.h>

#include "clock.h"
#include "policy.h"

#define TOKEN		1000u
#define PUSHBACK_KEY	"grpc-retry-pushback-ms"

void throttle_success(struct throttle *t)
{
	u32 seen = __atomic_load_n(&t->tokens, __ATOMIC_RELAXED), to;

	do {
		if (seen >= t->max)
			return;
		to = t->max - seen > t->ratio ? seen + t->ratio : t->max;
	} while (!__atomic_compare_exchange_n(&t->tokens, &seen, to, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

bool throttle_failure(struct throttle *t)
{
	u32 seen = __atomic_load_n(&t->tokens, __ATOMIC_RELAXED), to;

	if (!t->max)
		return true;
	do
		to = seen > TOKEN ? seen - TOKEN : 0;
	while (!__atomic_compare_exchange_n(&t->tokens, &seen, to, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	return to > t->max / 2;
}

bool throttle_allows(const struct throttle *t)
{
	return !t->max || __atomic_load_n(&t->tokens, __ATOMIC_RELAXED) > t->max / 2;
}

static double random_part(void)
{
	u32 random;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (u32)clock_ns() * 2654435761u;
	return random / 4294967296.0;
}

u64 jitter(u64 ns)
{
	return ns - ns / 5 + (u64)((double)ns * 0.4 * random_part());
}

/* What is no number, or comes twice, counts as a refusal. */
s64 pushback_of(const struct mrpc_result *res)
{
	s64 ms = PUSHBACK_NONE;
	struct mrpc_meta_iter it;
	const char *p;
	u32 i;

	mrpc_meta_begin(&it, res->meta, res->meta_len);
	while (mrpc_meta_next(&it)) {
		if (it.klen != strlen(PUSHBACK_KEY) || memcmp(it.key, PUSHBACK_KEY, it.klen))
			continue;
		if (ms != PUSHBACK_NONE || !it.vlen || it.vlen > 10)
			return PUSHBACK_NEVER;
		p = it.value;
		for (i = 0, ms = 0; i < it.vlen; i++) {
			if (p[i] < '0' || p[i] > '9')
				return PUSHBACK_NEVER;
			ms = ms * 10 + p[i] - '0';
		}
		if (ms > INT32_MAX)
			return PUSHBACK_NEVER;
	}
	return ms;
}

/*
 * What this host says of itself is no reason, such as the deadline, or want of memory. It may say
 * that the connection was lost.
 */
bool may_help(u32 codes, const struct mrpc_result *res)
{
	if (res->local && res->status != MRPC_UNAVAILABLE)
		return false;
	return res->status < 32 && codes & 1u << res->status;
}

static u64 backoff(struct attempts *a)
{
	double ns = (double)a->policy->initial_ns;
	u32 i;

	for (i = 0; i < a->grown && ns < (double)a->policy->max_ns; i++)
		ns *= a->policy->multiplier;
	a->grown++;
	return jitter(ns < (double)a->policy->max_ns ? (u64)ns : a->policy->max_ns);
}

bool attempts_again(struct attempts *a, const struct mrpc_result *res)
{
	s64 pushback;
	u64 now;

	if (res->status == MRPC_OK) {
		throttle_success(a->throttle);
		return false;
	}
	a->sent |= !res->unsent;
	if (!a->policy->max_attempts)
		return false;
	pushback = pushback_of(res);
	if (pushback == PUSHBACK_NEVER)
		throttle_failure(a->throttle);
	if (pushback == PUSHBACK_NEVER || !may_help(a->policy->codes, res) ||
	    !throttle_failure(a->throttle) || ++a->failed >= a->policy->max_attempts)
		return false;
	now = clock_ns();
	if (pushback != PUSHBACK_NONE) {
		a->grown = 0;
		a->next = now + (u64)pushback * 1000000;
	} else {
		a->next = now + backoff(a);
	}
	return a->next < a->until;
}

u32 attempts_room(const struct retry_policy *policy, u32 len)
{
	return policy->max_attempts && len + ATTEMPTS_META <= MRPC_MAX_META ? ATTEMPTS_META : 0;
}

void attempts_write(u32 failed, void *mem)
{
	const struct mrpc_meta_entry entry = { .klen = sizeof(ATTEMPTS_KEY) - 1, .vlen = 1 };
	u8 *p = mem;

	memcpy(p, &entry, sizeof(entry));
	memcpy(p + sizeof(entry), ATTEMPTS_KEY, entry.klen);
	p[sizeof(entry) + entry.klen] = (u8)('0' + failed);
}
