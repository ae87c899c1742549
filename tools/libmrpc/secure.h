/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What libmrpc and libmrpc-tls know of each other. libmrpc owns the sockets and waits for them,
 * libmrpc-tls makes the steps of a handshake. So libmrpc needs no TLS library.
 */
#ifndef LIBMRPC_SECURE_H
#define LIBMRPC_SECURE_H

#include "internal.h"

#define SECURE_VERSION	2	/* of this interface */
#define SECURE_WHY	512	/* text of a failure, with its NUL */

/**
 * struct secure - one handshake over a connected socket
 * @ops: how to go on
 * @fd: the socket, which does not block; libmrpc closes it
 * @events: what the next step waits for, as for poll()
 * @http2: when the handshake is done: the peer speaks HTTP/2, and not mrpc's own framing
 * @identity_len: bytes of @identity
 * @identity: when the handshake is done: the peer's verified name, printable ASCII; "": none
 * @why: what a step that failed says
 */
struct secure {
	const struct secure_ops *ops;
	int fd;
	short events;
	bool http2;
	u32 identity_len;
	char identity[MRPC_IDENTITY_LEN];
	char why[SECURE_WHY];
};

/**
 * struct secure_ops - what libmrpc-tls does
 * @version: SECURE_VERSION
 * @get: take a reference
 * @put: give it back
 * @begin: make a handshake; NULL: there is no memory. @transport: that of the address, or ADDR_BOTH.
 *	@host: what the address says, for a client
 * @step: go on without waiting. 0: done, and the kernel has the keys; -EAGAIN; another -errno
 * @end: free the handshake; it leaves the socket open
 * @refused: note a peer that got no connection; @what: its address and the reason
 */
struct secure_ops {
	u32 version;
	void (*get)(struct mrpc_tls *tls);
	void (*put)(struct mrpc_tls *tls);
	struct secure *(*begin)(struct mrpc_tls *tls, int fd, const char *transport,
				const char *host);
	int (*step)(struct secure *s);
	void (*end)(struct secure *s);
	void (*refused)(struct mrpc_tls *tls, const char *what);
};

/**
 * struct mrpc_tls - the first member of what libmrpc-tls keeps
 * @ops: what libmrpc calls
 * @server: its handshakes are those of a server
 */
struct mrpc_tls {
	const struct secure_ops *ops;
	bool server;
};

/* Can @tls be used by this library, and on this side? 0 or -errno, with the error set. */
int secure_check(const struct mrpc_tls *tls, bool server);

/*
 * Gives the kernel a socket by @cmd. The kernel takes none that another descriptor refers to: a
 * child between fork() and exec() has one for a moment. @fd: in @arg; -1 if the kernel has taken the
 * socket, also with an error. 0 or -errno.
 */
int secure_adopt(const struct mrpc_session *session, unsigned long cmd, void *arg, const s32 *fd);

#pragma GCC visibility push(default)
/* For libmrpc-tls only: sets what mrpc_last_error() says, and errno. Return: -err. */
int mrpc_lib_fail(int err, const char *fmt, ...) MRPC_PRINTF(2, 3);
#pragma GCC visibility pop

#endif /* LIBMRPC_SECURE_H */
