// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/meta */
/* Encoded metadata: kmod/lib/message/meta.c. */
#include "lib/message/meta.h"
#include "tap.h"

static u8 block[MRPC_MAX_META + 600];
static size_t used;

static void add(const char *key, u32 klen, u32 vlen)
{
	struct mrpc_meta_entry e = { .klen = klen, .vlen = vlen };

	memcpy(block + used, &e, sizeof(e));
	memcpy(block + used + sizeof(e), key, klen);
	memset(block + used + sizeof(e) + klen, 0xff, vlen);
	used += sizeof(e) + klen + vlen;
}

/* In a block of its own, so that reading beyond it is caught. */
static int check(size_t len)
{
	u8 *copy = malloc(len ? len : 1);
	int ret;

	memcpy(copy, block, len);
	ret = mrpc_meta_valid(copy, len);
	free(copy);
	return ret;
}

static int check_key(const char *key, u32 klen)
{
	used = 0;
	add(key, klen, 3);
	return check(used);
}

TEST(entries)
{
	used = 0;
	CHECK_EQ(check(0), 0);
	add("a", 1, 0);
	CHECK_EQ(check(used), 1);
	add("trace-id", 8, 16);
	CHECK_EQ(check(used), 2);
	add("trace-id", 8, 16);
	CHECK_EQ(check(used), 3);
}

TEST(keys)
{
	char longest[256];
	u32 c;

	memset(longest, 'k', sizeof(longest));
	CHECK_EQ(check_key(longest, 255), 1);
	CHECK_EQ(check_key(longest, 256), -EINVAL);
	CHECK_EQ(check_key("", 0), -EINVAL);
	for (c = 0; c < 256; c++) {
		char key[2] = { 'a', c };
		bool good = c && strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", c);

		CHECK_MSG(check_key(key, 2) == (good ? 1 : -EINVAL), "character %u", c);
	}
}

TEST(reserved_keys)
{
	CHECK_EQ(check_key("mrpc-", 5), -EINVAL);
	CHECK_EQ(check_key("mrpc-deadline", 13), -EINVAL);
	CHECK_EQ(check_key("mrpc", 4), 1);
	CHECK_EQ(check_key("mrpc.x", 6), 1);
	CHECK_EQ(check_key("xmrpc-", 6), 1);
}

TEST(every_other_length_is_refused)
{
	size_t len;

	used = 0;
	add("one", 3, 7);
	add("two", 3, 0);
	for (len = 0; len < used + 6; len++) {
		bool good = len == 0 || len == 14 || len == used;

		memset(block + used, 0, 6);
		CHECK_MSG((check(len) >= 0) == good, "length %zu", len);
	}
}

TEST(lengths_beyond_the_end)
{
	static const u16 bad[][2] = { { 4, 0 }, { 3, 1 }, { 0xffff, 0 }, { 1, 0xffff },
				      { 0xffff, 0xffff } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		used = 0;
		add("abc", 3, 0);
		memcpy(block, &bad[i], 4);
		CHECK_EQ(check(used), -EINVAL);
	}
}

TEST(largest_block)
{
	used = 0;
	while (used + 5 < MRPC_MAX_META)
		add("a", 1, min_t(u32, 1000, MRPC_MAX_META - used - 5));
	CHECK_EQ(used, MRPC_MAX_META);
	CHECK(check(used) > 0);
	add("a", 1, 0);
	CHECK_EQ(check(used), -EINVAL);
}
