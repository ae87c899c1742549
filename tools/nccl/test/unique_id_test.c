// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of communicators, and the addresses in them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "interface.h"
#include "nccl.h"
#include "port.h"
#include "results.h"
#include "unique_id.h"

static void set_environment(const char *comm_id, const char *names)
{
	unsetenv("NCCL_COMM_ID");
	unsetenv("NCCL_SOCKET_IFNAME");
	if (comm_id)
		setenv("NCCL_COMM_ID", comm_id, 1);
	if (names)
		setenv("NCCL_SOCKET_IFNAME", names, 1);
}

TEST(what_is_encoded_is_decoded)
{
	struct unique_id in = { "00112233445566778899aabbccddeeff", "tcp:[fd00::1]:7000" }, out;
	ncclUniqueId id;

	unique_id_encode(&id, &in);
	CHECK_EQ(unique_id_decode(&id, &out), ncclSuccess);
	CHECK_STR(out.token, in.token);
	CHECK_STR(out.address, in.address);
	in.token[0] = '\0';
	memset(in.address, 'a', sizeof(in.address) - 1);
	unique_id_encode(&id, &in);
	CHECK_EQ(unique_id_decode(&id, &out), ncclSuccess);
	CHECK_STR(out.token, "");
	CHECK_STR(out.address, in.address);
}

TEST(other_names_are_refused)
{
	static const char *const texts[] = {
		"", "mrpc-nccl-2 - tcp:h:1", "mrpc-nccl-1 -", "mrpc-nccl-1 - tcp:h:1 more",
		"mrpc-nccl-1 00112233445566778899aabbccddeeff0 tcp:h:1",
	};
	struct unique_id out;
	ncclUniqueId id;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		memset(&id, 0, sizeof(id));
		strcpy(id.internal, texts[i]);
		CHECK_ERROR(unique_id_decode(&id, &out), ncclInvalidArgument, "was not made by");
	}
	memset(&id, ' ', sizeof(id));
	memcpy(id.internal, "mrpc-nccl-1", 11);
	CHECK_ERROR(unique_id_decode(&id, &out), ncclInvalidArgument, "was not made by");
}

TEST(the_environment_says_the_address)
{
	struct unique_id out;
	ncclUniqueId id, again;
	char text[128];

	set_environment("10.0.0.1:7000", NULL);
	CHECK_EQ(ncclGetUniqueId(&id), ncclSuccess);
	CHECK_EQ(ncclGetUniqueId(&again), ncclSuccess);
	CHECK(!memcmp(&id, &again, sizeof(id)));
	CHECK_EQ(unique_id_decode(&id, &out), ncclSuccess);
	CHECK_STR(out.address, "tcp:10.0.0.1:7000");
	CHECK_STR(out.token, "");
	set_environment("10.0.0.1", NULL);
	CHECK_ERROR(ncclGetUniqueId(&id), ncclInvalidUsage, "'10.0.0.1', and must be HOST:PORT");
	set_environment(":7000", NULL);
	CHECK_ERROR(ncclGetUniqueId(&id), ncclInvalidUsage, "must be HOST:PORT");
	set_environment("host:", NULL);
	CHECK_ERROR(ncclGetUniqueId(&id), ncclInvalidUsage, "must be HOST:PORT");
	memset(text, 'h', sizeof(text));
	strcpy(text + 75, ":7000");
	set_environment(text, NULL);
	CHECK_ERROR(ncclGetUniqueId(&id), ncclInvalidUsage, "has 80 bytes, and may have 76");
	memmove(text, text + 4, 77);
	set_environment(text, NULL);
	CHECK_EQ(ncclGetUniqueId(&id), ncclSuccess);
	CHECK_EQ(unique_id_decode(&id, &out), ncclSuccess);
	CHECK_STR(out.address + 4, text);
}

TEST(lists_of_interfaces)
{
	CHECK(interface_is_in("eth", "eth0"));
	CHECK(interface_is_in("ib,eth", "eth0"));
	CHECK(!interface_is_in("ib,eth", "lo"));
	CHECK(!interface_is_in("eth00", "eth0"));
	CHECK(interface_is_in("=ib0,eth0", "eth0"));
	CHECK(!interface_is_in("=eth", "eth0"));
	CHECK(!interface_is_in("^docker,lo", "docker0"));
	CHECK(!interface_is_in("^docker,lo", "lo"));
	CHECK(interface_is_in("^docker,lo", "eth0"));
	CHECK(interface_is_in("^=lo", "lo1"));
	CHECK(!interface_is_in("^=lo", "lo"));
	CHECK(interface_is_in("^", "eth0"));
}

/* The port in "tcp:127.0.0.1:PORT". */
static struct sockaddr_in local(const char *address)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	CHECK(!strncmp(address, "tcp:127.0.0.1:", 14));
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in.sin_port = htons((unsigned short)atoi(address + 14));
	return in;
}

/* As rank 0 does. Return: 0 or an errno. */
static int listen_at(const char *address, int reuse)
{
	struct sockaddr_in in = local(address);
	int fd = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0)), err = 0;

	CHECK_SYS(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)));
	if (bind(fd, (struct sockaddr *)&in, sizeof(in)) || listen(fd, 1))
		err = errno;
	close(fd);
	return err;
}

TEST(a_port_is_kept)
{
	struct unique_id a, b;
	ncclUniqueId id, other;

	set_environment(NULL, "=lo");
	CHECK_EQ(ncclGetUniqueId(&id), ncclSuccess);
	CHECK_EQ(ncclGetUniqueId(&other), ncclSuccess);
	CHECK_EQ(unique_id_decode(&id, &a), ncclSuccess);
	CHECK_EQ(unique_id_decode(&other, &b), ncclSuccess);
	CHECK(strcmp(a.address, b.address));
	CHECK(strcmp(a.token, b.token));
	CHECK_EQ(strlen(a.token), 32);
	/* It is for a listener that can share it, until it is given back. */
	CHECK_EQ(listen_at(a.address, 0), EADDRINUSE);
	CHECK_EQ(listen_at(a.address, 1), 0);
	port_give(a.token);
	CHECK_EQ(listen_at(a.address, 0), 0);
	CHECK_EQ(listen_at(b.address, 0), EADDRINUSE);
	port_give(b.token);
	port_give(b.token);
}

TEST(no_interface)
{
	ncclUniqueId id;

	set_environment(NULL, "none");
	CHECK_ERROR(ncclGetUniqueId(&id), ncclInvalidUsage, "a name of NCCL_SOCKET_IFNAME 'none'");
	CHECK_ERROR(ncclGetUniqueId(NULL), ncclInvalidArgument, "is NULL");
	set_environment("", "");
	CHECK_EQ(ncclGetUniqueId(&id), ncclSuccess);
}
