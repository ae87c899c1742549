/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_ACCEPTOR_H
#define LIBMRPC_ACCEPTOR_H

#include "secure.h"
#include "session.h"

struct acceptor;

/*
 * Begins to accept the connections of the listening socket @fd, in a thread of its own. @serve:
 * what the kernel has said of the listener. @grpc: the number of the listener for peers that speak
 * HTTP/2. Return: NULL: the error is set, and @fd is still the caller's.
 */
struct acceptor *acceptor_new(const struct mrpc_session *session, struct mrpc_tls *tls,
			      const struct mrpc_connect *serve, u32 grpc, int fd);

/*
 * Ends it: its thread, its handshakes and the socket. In a forked child, too, which has no thread.
 * NULL is allowed.
 */
void acceptor_free(struct acceptor *a);

#endif /* LIBMRPC_ACCEPTOR_H */
