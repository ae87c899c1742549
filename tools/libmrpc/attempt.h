/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_ATTEMPT_H
#define LIBMRPC_ATTEMPT_H

#include "addr.h"
#include "secure.h"
#include "session.h"

/*
 * Connects to one of the @nr addresses of @list, which @name stands for. @tls: NULL, or how to
 * secure the connection. @arg has what is the same for all of them, and becomes what the kernel has
 * said of the one. @until: for all addresses together. @stopped: NULL, or asked now and then
 * whether the attempt is to end.
 * Return: 0 or -errno, with the error set.
 */
int attempt_connect(struct mrpc_session *session, const char *name, struct mrpc_tls *tls,
		    const struct address *list, int nr, u64 until, bool (*stopped)(void *ctx),
		    void *ctx, struct mrpc_connect *arg);

/*
 * Listens at one of the addresses that a text stands for. @arg and return: as above. @fd: NULL: the
 * kernel listens; else this process does, and @fd becomes the socket. An address of both transports
 * has two listeners: @arg gets the one for tcp, @grpc the number of the other one. Else @grpc stays.
 */
int attempt_serve(struct mrpc_session *session, const char *address, struct mrpc_connect *arg,
		  int *fd, u32 *grpc);

#endif /* LIBMRPC_ATTEMPT_H */
