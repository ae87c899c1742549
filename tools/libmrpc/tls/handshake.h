/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_TLS_HANDSHAKE_H
#define LIBMRPC_TLS_HANDSHAKE_H

#include <gnutls/gnutls.h>

#include "addr.h"
#include "secure.h"

struct tls;

/**
 * struct handshake - one handshake
 * @base: what libmrpc sees; the first member
 * @tls: the configuration, a reference
 * @creds: what its files had when the handshake began, a reference
 * @session: of GnuTLS
 * @protocol: what both sides must want to speak (ALPN), as messages say it
 * @name: a client: the name that the server must have, without a dot at its end
 * @ip: the same as an address, if it is one
 * @verify: what the peer's certificate must be; GnuTLS keeps the address
 * @nr_verify: how many of them
 * @heard: the peer's first byte has come
 * @plain: it does not begin a record of TLS
 */
struct handshake {
	struct secure base;
	struct tls *tls;
	struct creds *creds;
	gnutls_session_t session;
	const char *protocol;
	char name[HOST_MAX];
	u8 ip[16];
	gnutls_typed_vdata_st verify[2];
	unsigned int nr_verify;
	bool heard;
	bool plain;
};

/* These are members of struct secure_ops. */
struct secure *handshake_begin(struct tls *tls, int fd, const char *transport, const char *host);
int handshake_step(struct secure *s);
void handshake_end(struct secure *s);

#endif /* LIBMRPC_TLS_HANDSHAKE_H */
