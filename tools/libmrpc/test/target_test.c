// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Targets of channels, and what they stand for.
 */
#include "session.h"
#include "target.h"

static const struct {
	const char *target;
	const char *is;		/* addresses with a space after each; NULL: it is none */
	const char *why;	/* part of the reason */
} targets[] = {
	{ "tcp:10.0.0.2:7000", "tcp:10.0.0.2:7000 ", NULL },
	{ "prio:10.0.0.2:1,tcp:10.0.0.3:2", "prio:10.0.0.2:1 tcp:10.0.0.3:2 ", NULL },
	{ "prio:10.0.0.2:1,10.0.0.3:2", "prio:10.0.0.2:1 prio:10.0.0.3:2 ", NULL },
	{ "tcp:[fd00::2]:1,[fd00::3]:2", "tcp:[fd00::2]:1 tcp:[fd00::3]:2 ", NULL },
	{ "loop:a,loop:b", "loop:a loop:b ", NULL },
	{ "ipv4:10.0.0.2:1,10.0.0.3:2", "tcp:10.0.0.2:1 tcp:10.0.0.3:2 ", NULL },
	{ "ipv6:[fd00::2]:1", "tcp:[fd00::2]:1 ", NULL },
	{ "dns:///10.0.0.2:1", "tcp:10.0.0.2:1 ", NULL },
	{ "dns:10.0.0.2:1", "tcp:10.0.0.2:1 ", NULL },
	{ NULL, NULL, "missing" },
	{ "", NULL, "must begin with a transport" },
	{ ",", NULL, "must begin with a transport" },
	{ "tcp:10.0.0.2:1,", NULL, "must begin with a transport" },
	{ "10.0.0.2:1", NULL, "must begin with a transport" },
	{ "[fd00::2]:1", NULL, "must begin with a transport" },
	{ "tcp:10.0.0.2", NULL, "a host and a port" },
	{ "tcp:10.0.0.2:0", NULL, "nothing listens at port 0" },
	{ "tcp::1", NULL, "the host is missing" },
	{ "loop:", NULL, "the name is missing" },
	{ "loop:a,loop:", NULL, "the name is missing" },
	{ "dns://10.0.0.1/host:1", NULL, "name servers" },
};

TEST(targets)
{
	char text[MRPC_ADDR_TEXT], all[4 * MRPC_ADDR_TEXT];
	struct address list[ADDRESSES_MAX];
	unsigned int i;
	int nr, j;

	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		CHECK_MSG(!target_check(targets[i].target, false) == !!targets[i].is, "'%s': %s",
			  targets[i].target, mrpc_last_error());
		nr = target_resolve(targets[i].target, false, list, ADDRESSES_MAX);
		if (!targets[i].is) {
			CHECK_EQ(nr, -EINVAL);
			CHECK_MSG(strstr(mrpc_last_error(), targets[i].why), "'%s': %s",
				  targets[i].target, mrpc_last_error());
			continue;
		}
		all[0] = '\0';
		for (j = 0; j < nr; j++) {
			mrpc_addr_format(list[j].transport, list[j].addr, text, sizeof(text));
			strcat(strcat(all, text), " ");
		}
		CHECK_STR(all, targets[i].is);
	}
}

static const struct {
	const char *text;
	const char *is;		/* NULL: it is wrong */
	const char *why;
} files[] = {
	{ "tcp:10.0.0.2:1\n", "tcp:10.0.0.2:1 ", NULL },
	{ "# a\n\n \ttcp:10.0.0.2:1 # b\r\nloop:x,loop:y", "tcp:10.0.0.2:1 loop:x loop:y ", NULL },
	{ "tcp:no.such.host.invalid:1\nloop:x\n", "loop:x ", NULL },
	{ "", NULL, "has no address" },
	{ "# none\n\n", NULL, "has no address" },
	{ "loop:x\n10.0.0.2:1\n", NULL, " line 2: '10.0.0.2:1' is not a target: it must begin" },
	{ "loop:x\n\nfile:/etc/hosts", NULL, " line 3: 'file:/etc/hosts' is not an address" },
	{ "tcp:no.such.host.invalid:1\n", NULL, " line 1: cannot find" },
};

/* Return: as target_resolve(), of a file with this text. */
static int resolve_file(const char *text, size_t len, bool secure, struct address *list)
{
	char path[] = "/tmp/target-test-XXXXXX", target[64];
	int fd = CHECK_SYS(mkstemp(path)), nr;

	CHECK_EQ(write(fd, text, len), len);
	close(fd);
	snprintf(target, sizeof(target), "file:%s", path);
	CHECK_EQ(target_check(target, secure), 0);
	nr = target_resolve(target, secure, list, ADDRESSES_MAX);
	unlink(path);
	return nr;
}

TEST(files)
{
	char text[MRPC_ADDR_TEXT], all[4 * MRPC_ADDR_TEXT];
	static char large[TARGET_FILE_MAX + 1];
	struct address list[ADDRESSES_MAX];
	unsigned int i;
	int nr, j;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		nr = resolve_file(files[i].text, strlen(files[i].text), false, list);
		CHECK_MSG((nr < 0) == !files[i].is, "%u: %s", i, mrpc_last_error());
		if (nr < 0)
			CHECK_MSG(strstr(mrpc_last_error(), files[i].why), "%s", mrpc_last_error());
		for (j = 0, all[0] = '\0'; j < nr; j++) {
			mrpc_addr_format(list[j].transport, list[j].addr, text, sizeof(text));
			strcat(strcat(all, text), " ");
		}
		if (files[i].is)
			CHECK_STR(all, files[i].is);
	}
	memset(large, '\n', sizeof(large));
	memcpy(large, "loop:x", 6);
	CHECK_EQ(resolve_file(large, TARGET_FILE_MAX, false, list), 1);
	CHECK_EQ(resolve_file(large, sizeof(large), false, list), -EINVAL);
	CHECK(strstr(mrpc_last_error(), "more than 65536 bytes"));
	CHECK_EQ(resolve_file("loop:x\0\n", 8, false, list), -EINVAL);
	CHECK(strstr(mrpc_last_error(), "has a NUL"));
	/* With TLS the lines are checked, too. */
	CHECK_EQ(resolve_file("tcp:10.0.0.2:1\nloop:x\n", 22, true, list), -EINVAL);
	CHECK(strstr(mrpc_last_error(), "line 2: TLS is for tcp"));
	CHECK_EQ(target_resolve("file:/no/such/file", false, list, ADDRESSES_MAX), -ENOENT);
	CHECK_EQ(target_check("file:servers", false), -EINVAL);
	CHECK_EQ(target_check("loop:a,file:/etc/hosts", false), -EINVAL);
}

/* A name without an address does not keep the others from being tried. */
TEST(unknown_name)
{
	struct address list[ADDRESSES_MAX];

	CHECK_EQ(target_resolve("tcp:no.such.host.invalid:1", false, list, ADDRESSES_MAX), -EHOSTUNREACH);
	CHECK_EQ(target_resolve("tcp:no.such.host.invalid:1,loop:a", false, list, ADDRESSES_MAX), 1);
	CHECK_STR(list[0].transport, "loop");
	CHECK_EQ(target_resolve("loop:a,loop:b,loop:c", false, list, 2), 2);
}

/* What is too long is refused, and nothing is written behind a buffer. */
TEST(too_long)
{
	char text[3000] = "tcp:";

	memset(text + 4, 'a', sizeof(text) - 8);
	strcpy(text + sizeof(text) - 4, ":1");
	CHECK_EQ(target_check(text, false), -EINVAL);
	CHECK(strstr(mrpc_last_error(), "at most 511 bytes"));
	memcpy(text, "dns:///", 7);
	CHECK_EQ(target_check(text, false), -EINVAL);
}
