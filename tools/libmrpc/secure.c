// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The side of libmrpc of its interface with libmrpc-tls.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "secure.h"
#include "session.h"

#define BUSY_TRIES	50
#define BUSY_NS		2000000

int mrpc_lib_fail(int err, const char *fmt, ...)
{
	char text[SECURE_WHY];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return fail(err, "%s", text);
}

int secure_check(const struct mrpc_tls *tls, bool server)
{
	if (tls->ops->version != SECURE_VERSION)
		return fail(EPROTO, "libmrpc-tls has version %u of its interface with libmrpc, "
			    "which has version %u", tls->ops->version, SECURE_VERSION);
	if (tls->server == server)
		return 0;
	return fail(EINVAL, server ? "a server needs a TLS configuration of mrpc_tls_server()" :
				     "a client needs a TLS configuration of mrpc_tls_client()");
}

int secure_adopt(const struct mrpc_session *session, unsigned long cmd, void *arg, const s32 *fd)
{
	const struct timespec pause = { .tv_nsec = BUSY_NS };
	int err, i;

	for (i = 0; i < BUSY_TRIES; i++) {
		err = session_ioctl(session, cmd, arg);
		if (err != -EBUSY || *fd == -1)
			break;
		nanosleep(&pause, NULL);
	}
	return err;
}
