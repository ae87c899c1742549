// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connections, channels and listeners with TLS, against the stand-in: what libmrpc does in the
 * process before the kernel has a socket. The keys do not go to the kernel.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "certs.h"
#include "clock.h"
#include "ktls.h"
#include "mrpc_tls.h"
#include "session.h"

#define MANY		128	/* handshakes that a listener has at a time */

int __wrap_ktls_install(int fd, const struct ktls_keys *tx, const struct ktls_keys *rx, char *why,
			size_t size);

int __wrap_ktls_install(UNUSED int fd, UNUSED const struct ktls_keys *tx,
			UNUSED const struct ktls_keys *rx, UNUSED char *why, UNUSED size_t size)
{
	return 0;
}

static __attribute__((__constructor__)) void make_certs(void)
{
	static const struct cert_opts all[] = {
		{ .name = "ca", .cn = "the authority" },
		{ .name = "stranger", .cn = "another authority" },
		{ .name = "server", .issuer = "ca", .cn = "server", .dns = "localhost",
		  .ip = "127.0.0.1" },
		{ .name = "client", .issuer = "ca", .uri = "spiffe://example/client" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		certs_make(&all[i]);
	atexit(certs_remove);
}

static struct mrpc_session *session;
static struct mrpc_server *server;
static struct mrpc_tls *tls, *client;
static char address[MRPC_ADDR_TEXT];
static int fds_before;

static struct mrpc_tls *make_client(const char *ca)
{
	struct mrpc_tls_opts opts = {
		.ca_file = cert_file(ca), .cert_file = cert_file("client"),
		.key_file = key_file("client"),
	};
	struct mrpc_tls *made = mrpc_tls_client(&opts);

	CHECK_MSG(made, "%s", mrpc_last_error());
	return made;
}

static int count_fds(void)
{
	int fd, nr = 0;

	for (fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void begin(void)
{
	static const struct test_ops ops = { .echo = echo_handler };
	struct mrpc_tls_opts opts = {
		.ca_file = cert_file("ca"), .cert_file = cert_file("server"),
		.key_file = key_file("server"), .require_client = true,
	};
	struct mrpc_conn_opts co = { 0 };

	fds_before = count_fds();
	fake_reset_stats();
	session = open_session();
	server = mrpc_server_new(session);
	CHECK_EQ(mrpc_server_add(server, &test_service, &ops, NULL), 0);
	tls = mrpc_tls_server(&opts);
	CHECK_MSG(tls, "%s", mrpc_last_error());
	client = make_client("ca");
	co.tls = tls;
	CHECK_MSG(!mrpc_server_listen(server, "tcp:127.0.0.1:0", &co), "%s", mrpc_last_error());
	mrpc_server_address(server, address, sizeof(address));
}

static void end(void)
{
	mrpc_server_free(server);
	mrpc_session_close(session);
	mrpc_tls_free(tls);
	mrpc_tls_free(client);
	CHECK_EQ(fake_stats().bad, 0);
	CHECK_EQ(count_fds(), fds_before);
}

static struct mrpc_conn *connect_with(struct mrpc_tls *with, const char *to)
{
	struct mrpc_conn_opts co = { .tls = with, .timeout_us = 3000000 };

	return mrpc_connect(session, to, test_services, 1, &co);
}

static void wait_adopted(unsigned int nr)
{
	u64 until = until_us(3000000);

	while (fake_stats().adopted < nr && clock_ns() < until)
		usleep(1000);
	CHECK_EQ(fake_stats().adopted, nr);
}

static void wait_refused(u64 nr, const char *why)
{
	u64 until = until_us(3000000), is;
	char text[1024];

	while ((is = mrpc_tls_refusals(tls, text, sizeof(text))) < nr && clock_ns() < until)
		usleep(1000);
	CHECK(is >= nr);
	CHECK_MSG(strstr(text, why), "'%s'", text);
	CHECK_MSG(!strncmp(text, "tcp:127.0.0.1:", 14), "'%s'", text);
}

/* A socket of a peer that is no library. */
static void connect_plain(int fd)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };

	sin.sin_port = htons((u16)atoi(strrchr(address, ':') + 1));
	CHECK_MSG(!connect(fd, (void *)&sin, sizeof(sin)), "%s: %s", address, strerror(errno));
}

static int plain_peer(void)
{
	int fd = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0));

	connect_plain(fd);
	return fd;
}

TEST(both_are_known)
{
	struct mrpc_conn *conn;

	begin();
	CHECK(strncmp(address, "tcp:127.0.0.1:", 14) == 0 && strcmp(address, "tcp:127.0.0.1:0"));
	conn = connect_with(client, address);
	CHECK_MSG(conn, "%s", mrpc_last_error());
	wait_adopted(2);
	CHECK_STR(fake_stats().server, "localhost");
	CHECK_STR(fake_stats().identity, "spiffe://example/client");
	CHECK_EQ(mrpc_tls_refusals(tls, NULL, 0), 0);
	CHECK_EQ(mrpc_conn_close(conn, 0), 0);
	end();
}

/* A listener of both transports finds out by what the client names (ALPN). */
TEST(both_transports)
{
	struct mrpc_conn_opts co = { 0 };
	char to[2][MRPC_ADDR_TEXT];
	const char *port;

	begin();
	co.tls = tls;
	CHECK_MSG(!mrpc_server_listen(server, "tcp+grpc:127.0.0.1:0", &co), "%s", mrpc_last_error());
	mrpc_server_address(server, address, sizeof(address));
	CHECK_MSG(!strncmp(address, "tcp+grpc:127.0.0.1:", 19), "%s", address);
	port = strrchr(address, ':');
	snprintf(to[0], sizeof(to[0]), "tcp:127.0.0.1%s", port);
	snprintf(to[1], sizeof(to[1]), "grpc:127.0.0.1%s", port);
	CHECK_MSG(connect_with(client, to[0]), "%s", mrpc_last_error());
	wait_adopted(2);
	CHECK_EQ(fake_stats().adopted_grpc, 0);
	CHECK_MSG(connect_with(client, to[1]), "%s", mrpc_last_error());
	wait_adopted(4);
	CHECK_EQ(fake_stats().adopted_grpc, 1);
	CHECK_STR(fake_stats().identity, "spiffe://example/client");
	end();
}

/*
 * The kernel's part of an attempt takes several turns: it has the socket from the first one on. The
 * stand-in answers to no attempt over IPv6.
 */
TEST(several_turns)
{
	struct mrpc_tls_opts opts = {
		.ca_file = cert_file("ca"), .cert_file = cert_file("client"),
		.key_file = key_file("client"), .server_name = "localhost",
	};
	struct mrpc_conn_opts co = { .tls = tls };
	char to[64];

	begin();
	co.tls = tls;
	CHECK_MSG(!mrpc_server_listen(server, "tcp::0", &co), "%s", mrpc_last_error());
	mrpc_server_address(server, address, sizeof(address));
	CHECK_MSG(!strncmp(address, "tcp:[::]:", 9), "%s", address);
	close(plain_peer());	/* it is an address of both families */
	co.tls = mrpc_tls_client(&opts);
	co.timeout_us = 600000;
	snprintf(to, sizeof(to), "tcp:[::1]%s", strrchr(address, ':'));
	CHECK(!mrpc_connect(session, to, test_services, 1, &co));
	CHECK_MSG(strstr(mrpc_last_error(), ": no answer in time"), "%s", mrpc_last_error());
	mrpc_tls_free(co.tls);
	wait_adopted(2);
	CHECK_STR(fake_stats().server, "localhost");
	CHECK_EQ(fake_stats().silent, 0);
	end();
}

/* Each address has its turns: a peer that is silent in the handshake delays no other one. */
TEST(several_addresses)
{
	struct mrpc_channel_opts co = { .timeout_us = 3000000 };
	struct mrpc_conn *ch;
	char target[2 * MRPC_ADDR_TEXT], silent[MRPC_ADDR_TEXT];
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(sin);
	int fd;

	begin();
	fd = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0));
	CHECK_SYS(bind(fd, (void *)&sin, len));
	CHECK_SYS(listen(fd, 1));
	CHECK_SYS(getsockname(fd, (void *)&sin, &len));
	mrpc_addr_format("tcp", memcpy((char[MRPC_ADDR_LEN]){ 0 }, &sin, len), silent,
			 sizeof(silent));
	snprintf(target, sizeof(target), "%s,%s", silent, address);
	co.tls = client;
	ch = mrpc_channel_open(session, target, test_services, 1, &co);
	CHECK_MSG(ch, "%s", mrpc_last_error());
	CHECK(mrpc_channel_state(ch, true) >= 0);
	CHECK_EQ(mrpc_channel_wait(ch, MRPC_CHANNEL_CONNECTING, 2000000), MRPC_CHANNEL_READY);
	wait_adopted(2);
	CHECK_EQ(mrpc_conn_close(ch, 0), 0);
	close(fd);
	end();
}

TEST(reasons)
{
	struct mrpc_tls *other;

	begin();
	other = make_client("stranger");
	CHECK(!connect_with(other, address));
	CHECK_MSG(strstr(mrpc_last_error(), "cannot connect to tcp:127.0.0.1:") &&
		  strstr(mrpc_last_error(), ": the server's certificate is not valid: its issuer "
					    "is not known (CA file /"), "%s", mrpc_last_error());
	wait_refused(1, "the peer refused our certificate: its issuer is not known there");
	CHECK(!connect_with(other, "prio:127.0.0.1:7000"));
	CHECK_STR(mrpc_last_error(), "TLS is for tcp and grpc, not for prio");
	CHECK(!connect_with(tls, address));
	CHECK(strstr(mrpc_last_error(), "needs a TLS configuration of mrpc_tls_client()"));
	CHECK(!mrpc_channel_open(session, "tcp:127.0.0.1:1,loop:x", test_services, 1,
				 &(struct mrpc_channel_opts){ .tls = client }));
	CHECK_STR(mrpc_last_error(), "TLS is for tcp and grpc, not for loop");
	CHECK_EQ(mrpc_server_listen(server, "loop:x", &(struct mrpc_conn_opts){ .tls = tls }),
		 -EINVAL);
	CHECK_EQ(mrpc_server_listen(server, "tcp::0", &(struct mrpc_conn_opts){ .tls = client }),
		 -EINVAL);
	CHECK(strstr(mrpc_last_error(), "mrpc_tls_server()"));
	mrpc_tls_free(other);
	CHECK_EQ(fake_stats().adopted, 0);
	end();
}

/* The channel keeps the configuration. */
TEST(channel)
{
	struct mrpc_channel_opts co = { .timeout_us = 3000000 };
	struct mrpc_result res;
	struct mrpc_conn *ch;
	struct mrpc_msg msg;

	begin();
	co.tls = make_client("stranger");
	ch = mrpc_channel_open(session, address, test_services, 1, &co);
	CHECK_MSG(ch, "%s", mrpc_last_error());
	mrpc_tls_free(co.tls);
	build(&msg, session, 1, 1);
	CHECK_EQ(mrpc_call_sync(ch, &test_service, TEST_ECHO, &msg, NULL, &res), MRPC_UNAVAILABLE);
	CHECK_MSG(strstr(res.detail, "its issuer is not known"), "%s", res.detail);
	mrpc_result_release(&res);
	CHECK_EQ(mrpc_conn_close(ch, 0), 0);
	end();
}

TEST(plaintext)
{
	char alert[64];
	int fd;

	begin();
	fd = plain_peer();
	CHECK(write(fd, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24) == 24);
	wait_refused(1, ": the peer does not speak TLS");
	CHECK(read(fd, alert, sizeof(alert)) > 0);
	CHECK_EQ(alert[0], 21);
	CHECK_EQ(read(fd, alert, sizeof(alert)), 0);
	close(fd);
	end();
}

/* Peers that say nothing delay no other one for long; at the limit the oldest of them goes. */
TEST(silent_peers)
{
	struct pollfd pfd = { .events = POLLIN };
	struct mrpc_conn *conn;
	int fds[MANY], i;

	begin();
	for (i = 0; i < MANY; i++)
		fds[i] = plain_peer();
	conn = connect_with(client, address);
	CHECK_MSG(conn, "%s", mrpc_last_error());
	wait_adopted(2);
	wait_refused(1, "too many TLS handshakes are under way");
	pfd.fd = fds[0];
	CHECK_EQ(poll(&pfd, 1, 3000), 1);
	pfd.fd = fds[MANY - 1];
	CHECK_EQ(poll(&pfd, 1, 0), 0);
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	end();
}

/* The kernel does not take the connection. */
TEST(not_adopted)
{
	begin();
	fake_fail(MRPC_IOC_ADOPT, ENOSPC, 1);
	CHECK(connect_with(client, address) != NULL);
	wait_refused(1, "No space left on device");
	CHECK_EQ(fake_stats().adopted, 1);
	end();
}

/* A child between fork() and exec() has the socket, too: the library tries again. */
TEST(busy)
{
	begin();
	fake_fail(MRPC_IOC_ADOPT, EBUSY, 3);
	CHECK(connect_with(client, address) != NULL);
	wait_adopted(2);
	CHECK_EQ(mrpc_tls_refusals(tls, NULL, 0), 0);
	end();
}

/* Without descriptors the thread does not accept, and does not spin. */
TEST(no_descriptors)
{
	struct rusage before, after;
	struct rlimit old, few;
	long used;
	int fd;

	begin();
	CHECK_SYS(getrlimit(RLIMIT_NOFILE, &old));
	fd = CHECK_SYS(socket(AF_INET, SOCK_STREAM, 0));
	few = old;
	few.rlim_cur = 3;	/* as many as poll() gets */
	getrusage(RUSAGE_SELF, &before);
	CHECK_SYS(setrlimit(RLIMIT_NOFILE, &few));
	connect_plain(fd);
	usleep(250000);
	getrusage(RUSAGE_SELF, &after);
	CHECK_SYS(setrlimit(RLIMIT_NOFILE, &old));
	used = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000 +
	       after.ru_utime.tv_usec - before.ru_utime.tv_usec;
	CHECK_MSG(used < 100000, "%ld us of 250000", used);
	CHECK(connect_with(client, address) != NULL);
	wait_adopted(2);
	close(fd);
	end();
}

/* Handshakes under way end with the listener, and its port is free. */
TEST(end_with_server)
{
	struct mrpc_conn_opts co = { 0 };
	char byte;
	int fd;

	begin();
	fd = plain_peer();
	mrpc_server_free(server);
	/* Its end, or a reset if the thread had not accepted it. */
	CHECK(read(fd, &byte, 1) <= 0);
	close(fd);
	CHECK(!connect_with(client, address));
	server = mrpc_server_new(session);
	CHECK_EQ(mrpc_server_add(server, &test_service, NULL, NULL), 0);
	co.tls = tls;
	CHECK_MSG(!mrpc_server_listen(server, address, &co), "%s", mrpc_last_error());
	/* mrpc_session_close() ends the server. */
	mrpc_session_close(session);
	session = open_session();
	CHECK(!connect_with(client, address));
	server = NULL;
	end();
}

/* A child gives up its copies of sockets; those of the process go on. */
TEST(fork_in_between)
{
	int fd, status;
	pid_t pid;

	begin();
	fd = plain_peer();
	usleep(20000);
	pid = fork();
	if (!pid) {
		mrpc_session_close(session);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK(connect_with(client, address) != NULL);
	wait_adopted(2);
	close(fd);
	end();
}
