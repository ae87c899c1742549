// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A listener for tcp and grpc, without TLS, against the stand-in: which listener gets a connection.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "clock.h"
#include "session.h"

#define BOTH	"tcp+grpc:127.0.0.1:0"

static const struct test_ops ops = { .echo = echo_handler };
static struct mrpc_session *session;
static struct mrpc_server *server;
static char address[MRPC_ADDR_TEXT];

static void open_server(void)
{
	fake_reset_stats();
	session = open_session();
	server = mrpc_server_new(session);
	CHECK_EQ(mrpc_server_add(server, &test_service, &ops, NULL), 0);
}

static void begin(void)
{
	open_server();
	CHECK_MSG(!mrpc_server_listen(server, BOTH, NULL), "%s", mrpc_last_error());
	mrpc_server_address(server, address, sizeof(address));
	CHECK_MSG(!strncmp(address, BOTH, strlen(BOTH) - 1), "%s", address);
}

static void end(void)
{
	mrpc_server_free(server);
	mrpc_session_close(session);
	CHECK_EQ(fake_stats().bad, 0);
}

static int connect_peer(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0));

	sin.sin_port = htons((u16)atoi(strrchr(address, ':') + 1));
	CHECK_MSG(!connect(fd, (void *)&sin, sizeof(sin)), "%s: %s", address, strerror(errno));
	return fd;
}

static void wait_adopted(unsigned int all, unsigned int grpc)
{
	u64 until = until_us(3000000);

	while (fake_stats().adopted < all && clock_ns() < until)
		usleep(1000);
	CHECK_EQ(fake_stats().adopted, all);
	CHECK_EQ(fake_stats().adopted_grpc, grpc);
}

static void say(int fd, const void *what, size_t len)
{
	CHECK_EQ(write(fd, what, len), (ssize_t)len);
}

TEST(first_byte)
{
	int fds[4], i;

	begin();
	for (i = 0; i < 4; i++)
		fds[i] = connect_peer();
	say(fds[3], "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
	wait_adopted(1, 1);
	say(fds[2], "mPRC", 4);
	wait_adopted(2, 1);
	/* A part of what a client says first tells it. */
	say(fds[0], "P", 1);
	wait_adopted(3, 2);
	/* A client of TLS: the transport tcp refuses it. */
	say(fds[1], "\x16\x03\x01", 3);
	wait_adopted(4, 2);
	for (i = 0; i < 4; i++)
		close(fds[i]);
	end();
}

/* Clients that end before they say something, and that never do. */
TEST(nothing_said)
{
	int silent, ended;
	char byte;

	begin();
	silent = connect_peer();
	ended = connect_peer();
	CHECK_SYS(shutdown(ended, SHUT_WR));
	CHECK(read(ended, &byte, 1) == 0);
	close(ended);
	CHECK_EQ(fake_stats().adopted, 0);
	mrpc_server_free(server);
	server = NULL;
	CHECK(read(silent, &byte, 1) <= 0);
	close(silent);
	end();
}

/* What other addresses there are: for clients, and of other transports. */
TEST(addresses)
{
	begin();
	CHECK(!mrpc_connect(session, address, test_services, 1, NULL));
	CHECK_MSG(strstr(mrpc_last_error(), "a client connects to 'tcp:' or to 'grpc:'"), "%s",
		  mrpc_last_error());
	CHECK(!mrpc_channel_open(session, address, test_services, 1, NULL));
	CHECK_EQ(mrpc_server_listen(server, "tcp+prio::0", NULL), -EINVAL);
	CHECK_EQ(mrpc_server_listen(server, "grpc+tcp::0", NULL), -EINVAL);
	CHECK_EQ(mrpc_server_listen(server, "tcp+grpc", NULL), -EINVAL);
	/* The port is in use. */
	CHECK_EQ(mrpc_server_listen(server, address, NULL), -EADDRINUSE);
	end();
}

/* The kernel takes the first listener and not the second one: neither is left. */
TEST(one_of_two)
{
	struct mrpc_conn *conns[14];
	unsigned int i;

	open_server();
	CHECK_EQ(mrpc_server_listen(server, "loop:one_of_two", NULL), 0);
	for (i = 0; i < ARRAY_SIZE(conns); i++) {
		conns[i] = mrpc_connect(session, "loop:one_of_two", test_services, 1, NULL);
		CHECK_MSG(conns[i], "%u: %s", i, mrpc_last_error());
	}
	CHECK_EQ(mrpc_server_listen(server, BOTH, NULL), -ENOSPC);
	CHECK_MSG(strstr(mrpc_last_error(), "cannot listen at " BOTH), "%s", mrpc_last_error());
	CHECK_EQ(mrpc_conn_close(conns[0], 0), 0);
	CHECK_MSG(!mrpc_server_listen(server, BOTH, NULL), "%s", mrpc_last_error());
	end();
}

TEST(at_the_limit)
{
	char at[32];
	int i;

	open_server();
	for (i = 0; i < 15; i++) {
		snprintf(at, sizeof(at), "loop:at_the_limit.%d", i);
		CHECK_EQ(mrpc_server_listen(server, at, NULL), 0);
	}
	CHECK_EQ(mrpc_server_listen(server, BOTH, NULL), -E2BIG);
	CHECK_STR(mrpc_last_error(),
		  "a server has at most 16 listeners, and an address of tcp+grpc needs 2");
	CHECK_EQ(mrpc_server_listen(server, "loop:at_the_limit.15", NULL), 0);
	CHECK_EQ(mrpc_server_listen(server, "loop:at_the_limit.16", NULL), -E2BIG);
	end();
}
