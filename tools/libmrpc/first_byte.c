// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which transport a client without TLS speaks. The client's bytes come first in both. HTTP/2 begins
 * with "PRI * HTTP/2.0". All else goes to tcp, which refuses what is not mrpc's own framing.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "first_byte.h"

#define HTTP2_FIRST	'P'

static struct secure *begin(struct mrpc_tls *tls, int fd, UNUSED const char *transport,
			    UNUSED const char *host)
{
	struct secure *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ops = tls->ops;
	s->fd = fd;
	s->events = POLLIN;
	return s;
}

static int step(struct secure *s)
{
	ssize_t n;
	char ch;

	n = recv(s->fd, &ch, 1, MSG_PEEK | MSG_DONTWAIT);
	if (n > 0) {
		s->http2 = ch == HTTP2_FIRST;
		return 0;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	snprintf(s->why, sizeof(s->why), "the peer ended the connection and said nothing");
	return -ECONNRESET;
}

static void end(struct secure *s)
{
	free(s);
}

/* It lives as long as the library, and keeps no account of peers. */
static void keep(UNUSED struct mrpc_tls *tls)
{
}

static void ignore(UNUSED struct mrpc_tls *tls, UNUSED const char *what)
{
}

static const struct secure_ops ops = {
	.version = SECURE_VERSION,
	.get = keep,
	.put = keep,
	.begin = begin,
	.step = step,
	.end = end,
	.refused = ignore,
};

struct mrpc_tls first_byte = { .ops = &ops, .server = true };
