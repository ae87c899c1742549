// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connections with TLS: the client connects a TCP socket and makes the handshake in this process,
 * before the kernel gets the socket.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "dial.h"
#include "sock.h"

void dial_init(struct dial *d, struct mrpc_tls *tls, const struct address *address)
{
	d->tls = tls;
	d->address = address;
	d->fd = -1;
	d->secure = NULL;
}

/* Without waiting. 0: done; -EAGAIN; another -errno. */
static int step(struct dial *d)
{
	const struct address *a = d->address;
	int err;

	if (d->fd < 0) {
		d->fd = sock_connect(a);
		if (d->fd < 0)
			return d->fd;
	}
	if (!d->secure) {
		err = sock_connected(d->fd);
		if (err)
			return err;
		d->secure = d->tls->ops->begin(d->tls, d->fd, a->transport, a->host);
		if (!d->secure)
			return -ENOMEM;
	}
	return d->secure->ops->step(d->secure);
}

int dial_step(struct dial *d, u64 until, char *why, size_t size)
{
	int err;

	while ((err = step(d)) == -EAGAIN) {
		err = sock_wait(d->fd, d->secure ? d->secure->events : POLLOUT, until);
		if (err)
			return err;
	}
	if (err && d->secure)
		snprintf(why, size, "%s", d->secure->why);
	return err;
}

void dial_end(struct dial *d, bool taken)
{
	if (d->secure)
		d->secure->ops->end(d->secure);
	if (d->fd >= 0 && !taken)
		close(d->fd);
	d->secure = NULL;
	d->fd = -1;
	d->tls = NULL;
}
