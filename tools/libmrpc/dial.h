/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_DIAL_H
#define LIBMRPC_DIAL_H

#include "addr.h"
#include "secure.h"

/**
 * struct dial - a connection with TLS that the client makes in this process
 * @tls: the configuration; NULL: there is nothing to do
 * @address: where to
 * @fd: the socket; -1: there is none yet, or the kernel has it
 * @secure: the handshake; NULL: the socket is not connected yet
 */
struct dial {
	struct mrpc_tls *tls;
	const struct address *address;
	int fd;
	struct secure *secure;
};

void dial_init(struct dial *d, struct mrpc_tls *tls, const struct address *address);

/*
 * Goes on until @until. 0: the handshake is done; -ETIME; another -errno: it has failed, and @why
 * may have the reason.
 */
int dial_step(struct dial *d, u64 until, char *why, size_t size);

/* Ends it. @taken: the socket is the kernel's. Harmless if it has not begun, or has ended. */
void dial_end(struct dial *d, bool taken);

#endif /* LIBMRPC_DIAL_H */
