// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * When calls are made again, and how many of them are.
 */
#include <pthread.h>

#include "clock.h"
#include "policy.h"
#include "tap.h"

#define MS	1000000ull

static const struct retry_policy policy = {
	.max_attempts = 4,
	.codes = 1u << MRPC_UNAVAILABLE | 1u << MRPC_NOT_FOUND,
	.initial_ns = 100 * MS,
	.max_ns = 150 * MS,
	.multiplier = 1.3,
};

static struct mrpc_result failure(int status, bool local)
{
	return (struct mrpc_result){ .status = status, .local = local };
}

/* Tokens as gRPC's proposal counts them, in whole numbers of thousandths. */
TEST(throttle_as_model)
{
	unsigned int run, i;
	int tokens;

	srandom(1);
	for (run = 0; run < 300; run++) {
		struct throttle t = { .max = 1000 * (1 + (u32)random() % 20),
				      .ratio = 1 + (u32)random() % 3000 };

		t.tokens = t.max;
		tokens = (int)t.max;
		for (i = 0; i < 500; i++) {
			if (random() % 3) {
				tokens -= 1000;
				if (tokens < 0)
					tokens = 0;
				CHECK_EQ(throttle_failure(&t), 2 * tokens > (int)t.max);
			} else {
				throttle_success(&t);
				tokens += (int)t.ratio;
				if (tokens > (int)t.max)
					tokens = (int)t.max;
			}
			CHECK_EQ(t.tokens, tokens);
		}
	}
}

TEST(no_throttle)
{
	struct throttle t = { 0 };

	throttle_success(&t);
	CHECK(throttle_failure(&t));
	CHECK_EQ(t.tokens, 0);
}

static void *fail_often(void *arg)
{
	unsigned int i;

	for (i = 0; i < 10000; i++) {
		throttle_failure(arg);
		throttle_success(arg);
	}
	return NULL;
}

/* No token is lost between threads: all have added as much as they have taken. */
TEST(throttle_threads)
{
	struct throttle t = { .max = 1000000, .ratio = 1000, .tokens = 500000 };
	pthread_t threads[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, fail_often, &t), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(t.tokens, 500000);
}

static void begin(struct attempts *a, struct throttle *t)
{
	*a = (struct attempts){ .policy = &policy, .throttle = t, .until = FOR_EVER };
}

TEST(times)
{
	static const u64 times[] = { 100 * MS, 130 * MS, 150 * MS };
	const struct mrpc_result res = failure(MRPC_UNAVAILABLE, false);
	struct throttle t = { 0 };
	struct attempts a;
	unsigned int run, i;
	u64 before;

	for (run = 0; run < 200; run++) {
		begin(&a, &t);
		for (i = 0; i < 3; i++) {
			before = clock_ns();
			CHECK(attempts_again(&a, &res));
			CHECK(a.next >= before + times[i] * 8 / 10);
			CHECK(a.next <= clock_ns() + times[i] * 12 / 10);
			CHECK_EQ(a.failed, i + 1);
		}
		CHECK(!attempts_again(&a, &res));
	}
}

TEST(which)
{
	static const struct {
		int status;
		bool local;
		bool again;
	} ends[] = {
		{ MRPC_OK, false, false },
		{ MRPC_UNAVAILABLE, false, true },
		{ MRPC_UNAVAILABLE, true, true },	/* the connection was lost */
		{ MRPC_NOT_FOUND, false, true },
		{ MRPC_NOT_FOUND, true, false },
		{ MRPC_INTERNAL, false, false },
		{ 99, false, false },
	};
	const struct retry_policy none = { 0 };
	struct throttle t = { 0 };
	struct attempts a;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		const struct mrpc_result res = failure(ends[i].status, ends[i].local);

		begin(&a, &t);
		CHECK_EQ(attempts_again(&a, &res), ends[i].again);
		begin(&a, &t);
		a.policy = &none;
		CHECK(!attempts_again(&a, &res));
		/* None begins after the deadline. */
		begin(&a, &t);
		a.until = clock_ns() + 50 * MS;
		CHECK(!attempts_again(&a, &res));
	}
}

/* Below half of the tokens calls are made once. Only statuses that count take one. */
TEST(throttled)
{
	const struct mrpc_result lost = failure(MRPC_UNAVAILABLE, false);
	const struct mrpc_result other = failure(MRPC_INTERNAL, false);
	const struct mrpc_result ok = failure(MRPC_OK, false);
	struct throttle t = { .max = 4000, .ratio = 500, .tokens = 4000 };
	struct attempts a;

	begin(&a, &t);
	CHECK(attempts_again(&a, &lost));
	CHECK(!attempts_again(&a, &other));
	CHECK_EQ(t.tokens, 3000);
	begin(&a, &t);
	CHECK(!attempts_again(&a, &lost));
	CHECK_EQ(t.tokens, 2000);
	begin(&a, &t);
	CHECK(!attempts_again(&a, &ok));
	CHECK(!attempts_again(&a, &ok));
	CHECK_EQ(t.tokens, 3000);
}

TEST(pushback)
{
	static const struct {
		const char *value;
		s64 ms;		/* -1: no other attempt */
	} says[] = {
		{ "0", 0 }, { "70", 70 }, { "2147483647", 2147483647 }, { "2147483648", -1 },
		{ "-1", -1 }, { "", -1 }, { "x", -1 }, { "1 ", -1 }, { "99999999999", -1 },
	};
	struct throttle t = { .max = 100000, .ratio = 1 };
	struct attempts a;
	unsigned int i;
	u64 before;

	for (i = 0; i < ARRAY_SIZE(says); i++) {
		struct mrpc_result res = failure(MRPC_UNAVAILABLE, false);
		struct mrpc_meta meta = { 0 };

		t.tokens = t.max;
		begin(&a, &t);
		CHECK(attempts_again(&a, &res));
		mrpc_meta_add_str(&meta, "other", "1");
		mrpc_meta_add_str(&meta, "grpc-retry-pushback-ms", says[i].value);
		res.meta = meta.data;
		res.meta_len = meta.len;
		before = clock_ns();
		CHECK_EQ(attempts_again(&a, &res), says[i].ms >= 0);
		CHECK_EQ(t.tokens, t.max - 2000);
		if (says[i].ms >= 0) {
			CHECK(a.next >= before + (u64)says[i].ms * MS);
			CHECK(a.next <= clock_ns() + (u64)says[i].ms * MS);
			/* The next time is the first of the policy again. */
			res.meta_len = 0;
			CHECK(attempts_again(&a, &res));
			CHECK(a.next <= clock_ns() + 120 * MS);
		}
		/* Twice is none that can be obeyed. */
		mrpc_meta_add_str(&meta, "grpc-retry-pushback-ms", "1");
		res.meta = meta.data;
		res.meta_len = meta.len;
		begin(&a, &t);
		CHECK(!attempts_again(&a, &res));
		mrpc_meta_free(&meta);
	}
}

TEST(metadata)
{
	u8 mem[ATTEMPTS_META];
	struct attempts a;
	const char *p;
	u32 len;

	begin(&a, NULL);
	CHECK_EQ(attempts_room(&policy, MRPC_MAX_META - sizeof(mem)), sizeof(mem));
	CHECK_EQ(attempts_room(&policy, MRPC_MAX_META - sizeof(mem) + 1), 0);
	CHECK_EQ(attempts_room(&(struct retry_policy){ 0 }, 0), 0);
	a.failed = 3;
	attempts_write(a.failed, mem);
	p = mrpc_meta_find(mem, sizeof(mem), "grpc-previous-rpc-attempts", &len);
	CHECK(p && len == 1 && *p == '3');
}
