/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_TLS_REASON_H
#define LIBMRPC_TLS_REASON_H

#include <gnutls/x509.h>

#include "handshake.h"

/* The certificate of the peer itself, for gnutls_x509_crt_deinit(). NULL: it cannot be read. */
gnutls_x509_crt_t reason_peer_crt(gnutls_session_t session);

/* Writes down why a handshake failed, and tells the peer. @ret: of GnuTLS. Return: -errno. */
int reason_fail(struct handshake *h, int ret);

#endif /* LIBMRPC_TLS_REASON_H */
