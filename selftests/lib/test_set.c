// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/set kmod/lib/ds/siphash */
/* Sets: kmod/lib/ds/set.c, against a table of which keys are in. */
#include <pthread.h>

#include "lib/ds/claim_native.h"
#include "rnd.h"
#include "lib/ds/set.h"
#include "lib/ds/siphash.h"
#include "tap.h"

static const u64 hash_key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };

static struct mrpc_set *new_set(u32 kind, u32 keys, u64 bytes)
{
	size_t size = mrpc_set_size(keys, bytes);
	void *mem;

	CHECK(size);
	/* Its exact size: what is beyond is caught. */
	mem = malloc(size);
	memset(mem, 0xa5, size);
	return mrpc_set_init(mem, kind, keys, bytes, hash_key);
}

/* The vector of the paper's appendix A. */
TEST(siphash_is_siphash)
{
	u8 data[15];
	u32 i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i;
	CHECK_EQ(mrpc_siphash(data, sizeof(data), hash_key), 0xa129ca6149be45e5ULL);
	CHECK_EQ(mrpc_siphash(data, 0, hash_key), 0x726fdb47dd0e0e31ULL);
	CHECK_EQ(mrpc_siphash(data, 8, hash_key), 0x93f5f5799a932462ULL);
	CHECK_EQ(mrpc_hsiphash(data, 0, hash_key), 0x050fc4dc);
	CHECK_EQ(mrpc_hsiphash(data, 1, hash_key), 0x7d57ca93);
}

/* A key of 0 to 40 bytes for each number. */
static u32 make_key(u32 number, u8 *key)
{
	u32 len = number % 41, i;

	for (i = 0; i < len; i++)
		key[i] = number >> (i % 4 * 8);
	return len;
}

/* Numbers whose keys are all different. */
static bool usable(u32 number)
{
	return number % 41 >= 4 || number < 1;
}

TEST(random_edits)
{
	enum { KEYS = 600 };
	uint64_t rnd = 1;
	u32 round, i, k;

	for (round = 0; round < 40; round++) {
		struct mrpc_set *set = new_set(MRPC_SET_TEXT, 10, 100);
		bool in[KEYS] = { 0 };
		u32 nr = 0, copies = 0;

		for (i = 0; i < 4000; i++) {
			u32 n = rnd_below(&rnd, KEYS);
			u8 key[64];
			u32 len = make_key(n, key);
			int ret;

			if (!usable(n))
				continue;
			CHECK_EQ(mrpc_set_has(set, key, len), in[n]);
			if (rnd_below(&rnd, 3) == 0) {
				CHECK_EQ(mrpc_set_del(set, key, len), in[n] ? 0 : -ENOENT);
				nr -= in[n];
				in[n] = false;
				continue;
			}
			ret = mrpc_set_add(set, key, len);
			if (ret == -ENOSPC && !in[n]) {
				u64 bytes;
				u32 keys = mrpc_set_need(set, &bytes);
				struct mrpc_set *larger;

				larger = new_set(MRPC_SET_TEXT, keys + 20, bytes + 20 * 64);
				CHECK_EQ(keys, nr);
				CHECK_EQ(mrpc_set_copy(larger, set), 0);
				free(set);
				set = larger;
				copies++;
				ret = mrpc_set_add(set, key, len);
			}
			CHECK_EQ(ret, in[n] ? -EEXIST : 0);
			nr += !in[n];
			in[n] = true;
			CHECK_EQ(set->nr_keys, nr);
		}
		CHECK(copies > 5);
		/* Every key, and no other, is walked over. */
		for (k = 0, i = 0; ; k++) {
			const u8 *key;
			u32 len, n;

			key = mrpc_set_next(set, &i, &len);
			if (!key)
				break;
			for (n = 0; n < KEYS; n++) {
				u8 want[64];

				if (in[n] && make_key(n, want) == len && !memcmp(want, key, len))
					break;
			}
			CHECK(n < KEYS);
		}
		CHECK_EQ(k, nr);
		free(set);
	}
}

/* What was asked for fits, with keys of any length. */
TEST(as_many_as_asked_for)
{
	static const u32 counts[] = { 0, 1, 3, 4, 5, 1000, 1024, 1025 };
	u8 key[MRPC_SET_MAX_KEY_LEN + 1] = { 0 };
	u32 k, i, len;

	for (k = 0; k < ARRAY_SIZE(counts); k++) {
		for (len = 4; len < 80; len += 7) {
			struct mrpc_set *set = new_set(MRPC_SET_TEXT, counts[k],
						       (u64)counts[k] * len);

			for (i = 0; i < counts[k]; i++) {
				memcpy(key, &i, 4);
				CHECK_EQ(mrpc_set_add(set, key, len), 0);
			}
			for (i = 0; i < 2 * counts[k]; i++) {
				memcpy(key, &i, 4);
				CHECK_EQ(mrpc_set_has(set, key, len), i < counts[k]);
			}
			free(set);
		}
	}
}

TEST(limits)
{
	u8 key[MRPC_SET_MAX_KEY_LEN + 1] = { 0 };
	struct mrpc_set *set = new_set(MRPC_SET_TEXT, 4, 2 * MRPC_SET_MAX_KEY_LEN);
	struct mrpc_set *ints = new_set(MRPC_SET_INT, 2, 16);
	u64 n = 5;

	CHECK_EQ(mrpc_set_size(MRPC_SET_MAX_KEYS + 1, 0), 0);
	CHECK_EQ(mrpc_set_size(1, MRPC_SET_MAX_BYTES + 1ULL), 0);
	CHECK(mrpc_set_size(MRPC_SET_MAX_KEYS, MRPC_SET_MAX_BYTES));
	CHECK_EQ(mrpc_set_add(set, key, sizeof(key)), -EINVAL);
	CHECK_EQ(mrpc_set_add(set, key, MRPC_SET_MAX_KEY_LEN), 0);
	CHECK(mrpc_set_has(set, key, MRPC_SET_MAX_KEY_LEN));
	CHECK(!mrpc_set_has(set, key, sizeof(key)));
	CHECK(!mrpc_set_has(set, key, 0));
	CHECK_EQ(mrpc_set_add(set, key, 0), 0);
	CHECK(mrpc_set_has(set, key, 0));
	CHECK_EQ(mrpc_set_add(ints, &n, 4), -EINVAL);
	CHECK_EQ(mrpc_set_add(ints, &n, 8), 0);
	CHECK(mrpc_set_has_int(ints, 5));
	CHECK(!mrpc_set_has_int(ints, 4));
	free(ints);
	free(set);
}

TEST_LIMIT(a_million_keys, 120)
{
	struct mrpc_set *set = new_set(MRPC_SET_INT, 1000000, 8000000);
	u64 i, n;

	for (i = 0; i < 1000000; i++) {
		n = i * 0x9e3779b97f4a7c15;
		CHECK_EQ(mrpc_set_add(set, &n, 8), 0);
	}
	for (i = 0; i < 2000000; i++)
		CHECK_EQ(mrpc_set_has_int(set, i * 0x9e3779b97f4a7c15), i < 1000000);
	free(set);
}

/* -- readers beside a writer ------------------------------------------------ */

struct shared {
	struct mrpc_set *set;
	u32 stop;
	u64 looks;
};

/* Even numbers are always there, odd ones never, those from 1000 come and go. */
static void *reader(void *arg)
{
	struct shared *s = arg;
	u64 i, looks = 0;

	while (!READ_ONCE(s->stop))
		for (i = 0; i < 100; i++, looks++) {
			CHECK_EQ(mrpc_set_has_int(s->set, i), i % 2 == 0);
			mrpc_set_has_int(s->set, 1000 + i);
		}
	__atomic_fetch_add(&s->looks, looks, __ATOMIC_RELAXED);
	return NULL;
}

TEST(readers_beside_a_writer)
{
	struct shared s = { .set = new_set(MRPC_SET_INT, 40000, 8 * 40000) };
	pthread_t threads[2];
	u64 i, n;

	for (n = 0; n < 100; n += 2)
		mrpc_set_add(s.set, &n, 8);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, reader, &s), 0);
	for (i = 0; i < 30000; i++) {
		n = 1000 + i % 100;
		if (mrpc_set_del(s.set, &n, 8))
			CHECK_EQ(mrpc_set_add(s.set, &n, 8), 0);
	}
	WRITE_ONCE(s.stop, 1);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	NOTE("%llu looks", (unsigned long long)s.looks);
	free(s.set);
}
