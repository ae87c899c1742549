// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is parsed and what is printed: addresses, metadata, statuses.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "../addr.h"
#include "tap.h"

static const char *resolve(const char *text, bool listening)
{
	static char buf[MRPC_ADDR_TEXT];
	struct address list[4];
	int nr = addr_resolve(text, listening, list, 4);

	if (nr < 0)
		return mrpc_last_error();
	return mrpc_addr_format(list[0].transport, list[0].addr, buf, sizeof(buf));
}

TEST(addresses)
{
	CHECK_STR(resolve("tcp:10.0.0.2:7000", false), "tcp:10.0.0.2:7000");
	CHECK_STR(resolve("tcp:[fd00::2]:7000", false), "tcp:[fd00::2]:7000");
	CHECK_STR(resolve("tcp:[fe80::1%lo]:7000", false), "tcp:[fe80::1%lo]:7000");
	CHECK_STR(resolve("tcp:[fe80::1%77]:7000", false), "tcp:[fe80::1%77]:7000");
	CHECK_STR(resolve("tcp:[::ffff:10.0.0.2]:7000", false), "tcp:10.0.0.2:7000");
	CHECK_STR(resolve("prio:127.0.0.1:1", false), "prio:127.0.0.1:1");
	CHECK_STR(resolve("loop:kv", false), "loop:kv");
	CHECK_STR(resolve("loop:a:b", false), "loop:a:b");
	CHECK_STR(resolve("tcp:0.0.0.0:0", true), "tcp:0.0.0.0:0");
	CHECK_STR(resolve("tcp::7000", true), "tcp:[::]:7000");
	CHECK_STR(resolve("tcp:localhost:80", false) + strlen("tcp:"),
		  strstr(resolve("tcp:localhost:80", false), "[::1]") ? "[::1]:80" :
									"127.0.0.1:80");
}

TEST(bad_addresses)
{
	static const char *const bad[] = {
		"", "tcp", "10.0.0.2:7000", ":7000", "tcp:", "tcp:10.0.0.2", "tcp:10.0.0.2:",
		"tcp:10.0.0.2:x", "tcp:10.0.0.2:70000", "tcp:10.0.0.2:7000x", "tcp:10.0.0.2:0",
		"tcp:10.0.0.2:-1", "tcp:10.0.0.2:18446744073709551696", "tcp::7000",
		"tcp:fd00::2:7000", "tcp:[fd00::2]", "tcp:[fd00::2]7000", "tcp:[fd00::2",
		"TCP:10.0.0.2:7000", "averylongtransportname:1.2.3.4:5", "loop:",
		"loop:1234567890123456789012345678901234567890123456789012345678901234567890"
		"12345678901234567890123456789012345678",
	};
	char host[600];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct address list[4];

		errno = 0;
		CHECK_EQ(addr_resolve(bad[i], false, list, 4), -EINVAL);
		CHECK_EQ(errno, EINVAL);
		CHECK(strlen(mrpc_last_error()) > 20);
	}
	memset(host, 'a', sizeof(host));
	memcpy(host, "tcp:", 4);
	snprintf(host + 500, 10, ":1");
	CHECK(strstr(resolve(host, false), "too long") != NULL);
	CHECK_STR(resolve("7000", false), "'7000' is not an address: it must begin with a "
		  "transport, as in 'tcp:10.0.0.2:7000'");
	CHECK_STR(resolve("foo:1", false), "'foo:1' is not an address: after the transport there must be "
		  "a host and a port, as in 'tcp:10.0.0.2:7000'");
	CHECK(strstr(resolve("tcp:no-such-host.invalid:1", false), "no-such-host.invalid"));
}

TEST(loop_name_is_abstract)
{
	struct address a;
	struct sockaddr_un un;

	CHECK_EQ(addr_resolve("loop:kv", false, &a, 1), 1);
	memcpy(&un, a.addr, sizeof(un));
	CHECK_EQ(un.sun_family, AF_UNIX);
	CHECK_EQ(un.sun_path[0], 0);
	CHECK_STR(un.sun_path + 1, "kv");
	CHECK_EQ(a.len, sizeof(sa_family_t) + 3);
}

TEST(format_of_unknown_address)
{
	u8 addr[MRPC_ADDR_LEN] = { 0 };
	char buf[MRPC_ADDR_TEXT], small[5];

	CHECK_STR(mrpc_addr_format("tcp", addr, buf, sizeof(buf)), "-");
	((struct sockaddr_in *)addr)->sin_family = AF_INET;
	CHECK_STR(mrpc_addr_format("tcp", addr, small, sizeof(small)), "tcp:");
	((struct sockaddr_un *)addr)->sun_family = AF_UNIX;
	CHECK_STR(mrpc_addr_format("loop", addr, buf, sizeof(buf)), "-");
}

TEST(metadata_round_trip)
{
	struct mrpc_meta meta = { 0 };
	struct mrpc_meta_iter it;
	char key[16], value[300];
	__u32 len;
	int i;

	memset(value, 'v', sizeof(value));
	CHECK_EQ(mrpc_meta_add_str(&meta, "trace-id", "abc"), 0);
	CHECK_EQ(mrpc_meta_add(&meta, "bin", "\0\1\2", 3), 0);
	CHECK_EQ(mrpc_meta_add(&meta, "empty", NULL, 0), 0);
	for (i = 0; i < 20; i++) {
		snprintf(key, sizeof(key), "k.%d_", i);
		CHECK_EQ(mrpc_meta_add(&meta, key, value, (size_t)i * 15), 0);
	}
	mrpc_meta_begin(&it, meta.data, meta.len);
	for (i = 0; mrpc_meta_next(&it); i++)
		if (i >= 3)
			CHECK_EQ(it.vlen, (i - 3) * 15);
	CHECK_EQ(i, 23);
	CHECK(!mrpc_meta_next(&it));
	CHECK(!memcmp(mrpc_meta_find(meta.data, meta.len, "bin", &len), "\0\1\2", 3));
	CHECK_EQ(len, 3);
	CHECK(mrpc_meta_find(meta.data, meta.len, "empty", &len) != NULL);
	CHECK_EQ(len, 0);
	CHECK(!mrpc_meta_find(meta.data, meta.len, "trace", &len));
	mrpc_meta_free(&meta);
	CHECK_EQ(meta.len, 0);
}

TEST(metadata_refused)
{
	static const char *const bad[] = { "", "Upper", "with space", "mrpc-x", "ü", "a/b" };
	struct mrpc_meta meta = { 0 };
	char key[300], value[MRPC_MAX_META] = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(mrpc_meta_add_str(&meta, bad[i], "x"), -EINVAL);
	CHECK_EQ(mrpc_meta_add_str(&meta, NULL, "x"), -EINVAL);
	memset(key, 'a', 256);
	key[256] = '\0';
	CHECK_EQ(mrpc_meta_add_str(&meta, key, "x"), -EINVAL);
	key[255] = '\0';
	CHECK_EQ(mrpc_meta_add_str(&meta, key, "x"), 0);
	CHECK_EQ(meta.len, 4 + 255 + 1);
	CHECK_EQ(mrpc_meta_add(&meta, "a", value, MRPC_MAX_META - 260 - 5 + 1), -EMSGSIZE);
	CHECK_EQ(mrpc_meta_add(&meta, "a", value, SIZE_MAX), -EMSGSIZE);
	CHECK_EQ(mrpc_meta_add(&meta, "a", value, MRPC_MAX_META - 260 - 5), 0);
	CHECK_EQ(meta.len, MRPC_MAX_META);
	CHECK_EQ(meta.err, -EINVAL);	/* the first one sticks */
	mrpc_meta_free(&meta);
}

/* The receiver checks it; still nothing is read beyond the end. */
TEST(metadata_truncated)
{
	struct mrpc_meta meta = { 0 };
	struct mrpc_meta_iter it;
	__u32 len;
	u8 *copy;

	mrpc_meta_add_str(&meta, "key", "value");
	for (len = 0; len < meta.len; len++) {
		copy = malloc(len + 1);
		memcpy(copy, meta.data, len);
		mrpc_meta_begin(&it, copy, len);
		CHECK(!mrpc_meta_next(&it));
		free(copy);
	}
	mrpc_meta_begin(&it, NULL, 0);
	CHECK(!mrpc_meta_next(&it));
	mrpc_meta_free(&meta);
}

TEST(status_names)
{
	CHECK_STR(mrpc_status_name(MRPC_OK), "OK");
	CHECK_STR(mrpc_status_name(MRPC_UNAUTHENTICATED), "UNAUTHENTICATED");
	CHECK_STR(mrpc_status_name(99), "STATUS_99");
	CHECK_STR(mrpc_status_name(-1), "STATUS_-1");
	CHECK(mrpc_lib_version()[0] != '\0');
}
