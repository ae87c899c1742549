// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio/peers kmod/lib/prio/peer */
/*
 * The cookies of the transport prio: good for the address that they were sent to, and no other.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include "tap.h"
#include "stranger.h"

/* An IPv6 address whose first word is 127.0.0.1, and the rest zero. */
#define SAME_WORD	"7f00:1::"

static void forget_address(void)
{
	if (system("ip -6 addr del " SAME_WORD "/128 dev lo 2>/dev/null"))
		printf("# there is no " SAME_WORD "\n");
}

TEST(family)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 at6 = { .sin6_family = AF_INET6 };
	struct mrpc_prio_packet cookie, own;
	socklen_t len = sizeof(at);
	struct stranger four, six;
	static struct raw_server srv;
	char addr[64];

	CHECK(!system("ip -6 addr add " SAME_WORD "/128 dev lo nodad"));
	atexit(forget_address);
	raw_server_open(&srv, 1 << 20, 1 << 20);
	raw_server_start(&srv, "prio:127.0.0.1:0", 1);
	snprintf(addr, sizeof(addr), "prio:[::1]:%u", srv.s.port);
	CHECK(raw_serve(&srv.s, addr) > 0);

	stranger_new(&four, AF_INET, srv.s.port);
	CHECK_SYS(bind(four.fd, (void *)&at, sizeof(at)));
	CHECK_SYS(getsockname(four.fd, (void *)&at, &len));
	stranger_new(&six, AF_INET6, srv.s.port);
	at6.sin6_port = at.sin_port;
	CHECK_EQ(inet_pton(AF_INET6, SAME_WORD, &at6.sin6_addr), 1);
	CHECK_SYS(bind(six.fd, (void *)&at6, sizeof(at6)));
	six.token = four.token;

	cookie = stranger_ask(&four, 0, 0, MRPC_PRIO_COOKIE);
	/* No WELCOME, but a cookie of its own, that is good. */
	own = stranger_ask(&six, cookie.cookie, cookie.epoch, MRPC_PRIO_COOKIE);
	CHECK(own.cookie != cookie.cookie);
	stranger_ask(&six, own.cookie, own.epoch, MRPC_PRIO_WELCOME);
	stranger_ask(&four, cookie.cookie, cookie.epoch, MRPC_PRIO_WELCOME);
	stranger_close(&four);
	stranger_close(&six);
	raw_server_stop(&srv);
}
