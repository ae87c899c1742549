// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/handshake */
/* The bodies of HELLO and HELLO_ACK: kmod/lib/message/handshake.c. */
#include "lib/message/handshake.h"
#include "tap.h"

static u8 body[MRPC_WIRE_MAX_HELLO];
static const char *why;

static struct mrpc_hello example(void)
{
	struct mrpc_hello hello = {
		.version_min = 1, .version_max = 3, .nr_services = 2, .identity_len = 4,
		.max_message = 1 << 20, .max_calls = 1024, .features = 0x8000000000000001,
		.identity = (const u8 *)"\x01\xff\x00\x7f",
	};

	memset(hello.services[0].hash, 0xab, MRPC_HASH_LEN);
	hello.services[0].name = "kv.Store";
	hello.services[0].name_len = 8;
	hello.services[1].verdict = MRPC_VERDICT_MISMATCH;
	hello.services[1].name = "echo";
	hello.services[1].name_len = 4;
	return hello;
}

/* In a block of its own, so that reading beyond it is caught. */
static int decode(const void *buf, size_t len)
{
	u8 *copy = malloc(len ? len : 1);
	struct mrpc_hello hello;
	int ret;

	memcpy(copy, buf, len);
	why = NULL;
	ret = mrpc_hello_decode(copy, len, &hello, &why);
	free(copy);
	return ret;
}

static int try_hello(const struct mrpc_hello *hello)
{
	int len = mrpc_hello_encode(hello, body, sizeof(body));

	CHECK(len > 0);
	return decode(body, len);
}

TEST(there_and_back)
{
	struct mrpc_hello hello = example(), back;
	int len = mrpc_hello_encode(&hello, body, sizeof(body));

	CHECK_EQ(len, 24 + 35 + 8 + 35 + 4 + 4);
	CHECK_EQ(mrpc_hello_decode(body, len, &back, &why), 0);
	CHECK_EQ(back.version_min, 1);
	CHECK_EQ(back.version_max, 3);
	CHECK_EQ(back.nr_services, 2);
	CHECK_EQ(back.max_message, 1 << 20);
	CHECK_EQ(back.max_calls, 1024);
	CHECK_EQ(back.features, 0x8000000000000001);
	CHECK_EQ(back.status, 0);
	CHECK_EQ(back.identity_len, 4);
	CHECK(!memcmp(back.identity, hello.identity, 4));
	CHECK(!memcmp(back.services[0].hash, hello.services[0].hash, MRPC_HASH_LEN));
	CHECK_EQ(back.services[0].name_len, 8);
	CHECK(!memcmp(back.services[0].name, "kv.Store", 8));
	CHECK_EQ(back.services[1].verdict, MRPC_VERDICT_MISMATCH);
	CHECK(!memcmp(back.services[1].name, "echo", 4));
	hello.identity_len = 0;
	hello.identity = NULL;
	CHECK_EQ(try_hello(&hello), 0);
}

TEST(layout)
{
	static const u8 bytes[24] = {
		1, 3, 2, 0, 0, 0, 0x10, 0,  1, 0, 0, 0, 0, 0, 0, 0x80,
		0, 4, 0, 0, 0, 0, 4, 0,
	};
	struct mrpc_hello hello = example();

	CHECK(mrpc_hello_encode(&hello, body, sizeof(body)) > 0);
	CHECK(!memcmp(body, bytes, sizeof(bytes)));
	CHECK(!memcmp(body + 24, hello.services[0].hash, MRPC_HASH_LEN));
	CHECK_EQ(body[56], 0);
	CHECK_EQ(body[57], 8);
	CHECK_EQ(body[58], 0);
	CHECK(!memcmp(body + 59, "kv.Store", 8));
}

TEST(largest)
{
	enum { LAST = MRPC_SCHEMA_MAX_NAME - 1 };
	static char names[MRPC_MAX_SERVICES][MRPC_SCHEMA_MAX_NAME];
	static u8 identity[MRPC_HELLO_MAX_IDENTITY];
	struct mrpc_hello hello = example();
	u32 i;
	int len;

	hello.nr_services = MRPC_MAX_SERVICES;
	hello.identity = identity;
	hello.identity_len = sizeof(identity);
	hello.max_calls = 65536;
	for (i = 0; i < MRPC_MAX_SERVICES; i++) {
		memset(names[i], 'n', sizeof(names[i]));
		names[i][LAST] = 'A' + i;
		hello.services[i].name = names[i];
		hello.services[i].name_len = sizeof(names[i]);
		hello.services[i].verdict = 0;
	}
	names[26 + 5][LAST] = 'z';	/* '`' is no letter, '_' is one */
	for (i = 26; i < 31; i++)
		names[i][LAST] = 'a' + i - 26;
	CHECK_EQ(try_hello(&hello), 0);
	len = mrpc_hello_encode(&hello, body, sizeof(body));
	CHECK(len > 0 && len <= MRPC_WIRE_MAX_HELLO);
	CHECK_EQ(mrpc_hello_encode(&hello, body, len), len);
	CHECK_EQ(mrpc_hello_encode(&hello, body, len - 1), -EMSGSIZE);
	hello.identity_len++;
	CHECK_EQ(mrpc_hello_encode(&hello, body, sizeof(body)), -EMSGSIZE);
	hello.identity_len--;
	hello.nr_services++;
	CHECK_EQ(mrpc_hello_encode(&hello, body, sizeof(body)), -EMSGSIZE);
	hello.nr_services--;
	hello.services[0].name_len++;
	CHECK_EQ(mrpc_hello_encode(&hello, body, sizeof(body)), -EMSGSIZE);
}

TEST(every_other_length_is_refused)
{
	struct mrpc_hello hello = example();
	int full = mrpc_hello_encode(&hello, body, sizeof(body)), len;

	for (len = 0; len < full + 20; len++) {
		CHECK_EQ(decode(body, len), len == full ? 0 : -EPROTO);
		CHECK(len == full || why);
	}
}

#define REFUSED(field, value, text)						\
	do {									\
		struct mrpc_hello h_ = example();				\
										\
		h_.field = value;						\
		CHECK_EQ(try_hello(&h_), -EPROTO);				\
		CHECK_STR(why, text);						\
	} while (0)

TEST(fields_refused)
{
	struct mrpc_hello hello = example();
	int len;

	REFUSED(version_min, 0, "the hello's versions are not a range");
	REFUSED(version_min, 4, "the hello's versions are not a range");
	REFUSED(nr_services, 0, "the hello's number of services is out of range");
	REFUSED(max_calls, 0, "the hello's number of calls is out of range");
	REFUSED(max_calls, 65537, "the hello's number of calls is out of range");
	REFUSED(status, MRPC_STATUS_MAX + 1, "the hello's status is unknown");
	REFUSED(services[1].verdict, MRPC_VERDICT_MAX + 1, "a service's verdict is unknown");
	REFUSED(services[1].name, "ec/o", "a service's name is not an identifier");
	REFUSED(services[1].name_len, 0, "a service's name is not an identifier");
	hello.services[1] = hello.services[0];
	CHECK_EQ(try_hello(&hello), -EPROTO);
	CHECK_STR(why, "a service is listed twice");
	/* What the encoder does not make. */
	hello = example();
	len = mrpc_hello_encode(&hello, body, sizeof(body));
	body[2] = MRPC_MAX_SERVICES + 1;
	CHECK_EQ(decode(body, len), -EPROTO);
	CHECK_STR(why, "the hello's number of services is out of range");
	body[2] = 2;
	body[23] = 2;
	CHECK_EQ(decode(body, len), -EPROTO);
	CHECK_STR(why, "the hello's identity is too long");
	body[23] = 0;
	body[57] = 200;
	CHECK_EQ(decode(body, len), -EPROTO);
	CHECK_STR(why, "the hello ends within a service's name");
}

/* A change of any byte is refused, or says something that a hello can say. */
TEST(every_byte_changed)
{
	struct mrpc_hello hello = example();
	int len = mrpc_hello_encode(&hello, body, sizeof(body)), at;
	static u8 again[MRPC_WIRE_MAX_HELLO];
	u32 value;

	for (at = 0; at < len; at++) {
		u8 was = body[at];

		for (value = 0; value < 256; value++) {
			struct mrpc_hello back;

			body[at] = value;
			if (decode(body, len)) {
				CHECK(why);
				continue;
			}
			CHECK_EQ(mrpc_hello_decode(body, len, &back, &why), 0);
			CHECK_EQ(mrpc_hello_encode(&back, again, sizeof(again)), len);
			CHECK(!memcmp(body, again, len));
		}
		body[at] = was;
	}
}
