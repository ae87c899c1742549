// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/conn/accept kmod/core/listener */
/*
 * A listener with clients that send nothing. Their handshakes keep their places only as long as no
 * other client wants them.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tap.h"
#include "peer.h"

#define SILENT	300	/* more than a listener has places for handshakes */
#define FEW	4

static struct raw_server srv;
static struct peer w;

/* Opens a connection from 127.0.0.@host that sends nothing. */
static int silent_from(unsigned int host)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd = CHECK_SYS(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host);
	CHECK_SYS(bind(fd, (void *)&sin, sizeof(sin)));
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sin.sin_port = htons(srv.s.port);
	CHECK_SYS(connect(fd, (void *)&sin, sizeof(sin)));
	return fd;
}

static bool is_closed(int fd)
{
	char answer[1024];
	ssize_t n;

	while ((n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT)) > 0)
		;
	return !n || errno != EAGAIN;
}

static unsigned int closed(const int *fds, unsigned int nr)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++)
		n += is_closed(fds[i]);
	return n;
}

/* An address with many connections keeps out neither new clients nor other addresses. */
TEST(the_one_with_most_makes_room)
{
	int few[FEW], many[SILENT];
	char addr[64];
	struct raw c;
	unsigned int i;

	raw_server(&srv, "tcp:127.0.0.1:0", 1);
	for (i = 0; i < FEW; i++)
		few[i] = silent_from(3 + i);
	for (i = 0; i < SILENT; i++)
		many[i] = silent_from(2);
	raw_open(&c, 65536, 65536);
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", srv.s.port);
	CHECK_MSG(raw_connect(&c, addr) > 0, "%s", c.why);
	CHECK(closed(many, SILENT));
	/* Addresses are hashed: a few of them may count as the address with many connections. */
	CHECK(closed(few, FEW) <= FEW / 2);
	for (i = 0; i < FEW; i++)
		close(few[i]);
	for (i = 0; i < SILENT; i++)
		close(many[i]);
	CHECK(raw_server_conns(&srv, 1, 10000));
	raw_close(&c);
	raw_server_stop(&srv);
}

static void send_wrong_hello(struct peer *peer)
{
	struct mrpc_frame f = { .type = MRPC_WIRE_HELLO };
	u8 body[1024] = { 0 };

	f.meta_len = peer_hello_body(body);
	body[sizeof(struct mrpc_hello_hdr) + 5] ^= 1;	/* a hash */
	CHECK(peer_send_frame(peer, &f, body, ALIGN(f.meta_len, 8)));
}

/* Refused clients that stay use the places of handshakes, and never more than these. */
TEST(refused_ones_make_room)
{
	int many[SILENT];
	char addr[64];
	struct raw c;
	unsigned int i;

	raw_server(&srv, "tcp:127.0.0.1:0", 1);
	for (i = 0; i < SILENT; i++) {
		many[i] = w.fd = silent_from(2);
		send_wrong_hello(&w);
	}
	raw_open(&c, 65536, 65536);
	snprintf(addr, sizeof(addr), "tcp:127.0.0.1:%u", srv.s.port);
	CHECK_MSG(raw_connect(&c, addr) > 0, "%s", c.why);
	CHECK(closed(many, SILENT));
	for (i = 0; i < SILENT; i++)
		close(many[i]);
	CHECK(raw_server_conns(&srv, 1, 10000));
	raw_close(&c);
	raw_server_stop(&srv);
}

/* A refused client that stays is closed earlier than a silent one. */
TEST(a_refused_one_ends)
{
	uint64_t start;

	raw_server(&srv, "tcp:127.0.0.1:0", 1);
	peer_connect(&w, srv.s.port);
	start = raw_now();
	send_wrong_hello(&w);
	peer_expect(&w, MRPC_WIRE_HELLO_ACK);
	CHECK(peer_closed(&w, 20000));
	CHECK_MSG(raw_now() - start < 8 * RAW_S, "after %llu ms",
		  (unsigned long long)((raw_now() - start) / RAW_MS));
	peer_close(&w);
	raw_server_stop(&srv);
}
