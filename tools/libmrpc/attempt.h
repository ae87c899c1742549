/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_ATTEMPT_H
#define LIBMRPC_ATTEMPT_H

#include "session.h"

/*
 * Connects to, or listens at, one of the addresses that a text stands for. @arg has what is the
 * same for all of them, and becomes what the kernel has said of the one. 0 or -errno, with the
 * error set. @timeout_us: for all addresses together; 0: 10 s.
 */
int attempt_connect(struct mrpc_session *session, const char *address, u64 timeout_us,
		    struct mrpc_connect *arg);
int attempt_serve(struct mrpc_session *session, const char *address, struct mrpc_connect *arg);

#endif /* LIBMRPC_ATTEMPT_H */
