/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_SOCK_H
#define LIBMRPC_SOCK_H

#include "addr.h"

/* Begins to connect. Return: the socket, which does not block, or -errno. */
int sock_connect(const struct address *to);

/* Is it connected? 0; -EAGAIN: not yet; another -errno: it will not be. */
int sock_connected(int fd);

/* Return: a listening socket that does not block, or -errno. @at becomes the bound address. */
int sock_listen(struct address *at, u32 backlog);

/* Waits for what poll() calls @events. 0, or -ETIME at @until. A signal does not end the wait. */
int sock_wait(int fd, short events, u64 until);

#endif /* LIBMRPC_SOCK_H */
