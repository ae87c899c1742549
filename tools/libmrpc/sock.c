// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * TCP sockets that this process opens, and gives to the kernel after a TLS handshake.
 */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "sock.h"

#define BACKLOG		128	/* of those that ask for none, as in the kernel */

static const int on = 1, off;

static int new_socket(const struct address *a)
{
	const struct sockaddr *sa = (const void *)a->addr;
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);

	return fd < 0 ? -errno : fd;
}

static int close_with(int fd, int err)
{
	close(fd);
	return err;
}

int sock_connect(const struct address *to)
{
	int fd = new_socket(to);

	if (fd < 0)
		return fd;
	/* The peer waits for the last message of a handshake, which is short. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, (const void *)to->addr, to->len) && errno != EINPROGRESS)
		return close_with(fd, -errno);
	return fd;
}

int sock_connected(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (sock_wait(fd, POLLOUT, 0))
		return -EAGAIN;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	return -err;
}

int sock_listen(struct address *at, u32 backlog)
{
	const struct sockaddr *sa = (const void *)at->addr;
	socklen_t len = sizeof(at->addr);
	int fd = new_socket(at);

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* "Any address" means both families, whatever net.ipv6.bindv6only says. */
	if (sa->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, sa, at->len) ||
	    listen(fd, backlog && backlog < INT_MAX ? (int)backlog : BACKLOG) ||
	    getsockname(fd, (void *)at->addr, &len))
		return close_with(fd, -errno);
	at->len = len;
	return fd;
}

int sock_wait(int fd, short events, u64 until)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	u64 now, ms;
	int nr;

	do {
		now = clock_ns();
		ms = until > now ? (until - now + 999999) / 1000000 : 0;
		nr = poll(&pfd, 1, ms < INT_MAX ? (int)ms : INT_MAX);
	} while (nr <= 0 && ms);
	return nr > 0 ? 0 : -ETIME;
}
