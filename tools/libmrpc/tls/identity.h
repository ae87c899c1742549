/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_TLS_IDENTITY_H
#define LIBMRPC_TLS_IDENTITY_H

#include <gnutls/x509.h>

#include "internal.h"

/*
 * Writes text as printable ASCII: other bytes, and the backslash, become \xNN. Return: the bytes
 * that all of it has, as snprintf().
 */
size_t identity_escape(const void *text, size_t len, char *buf, size_t size);

/*
 * The name of a certificate, escaped: its first URI, else its first DNS name, else its subject.
 * Return: its bytes; 0: it has none; -E2BIG: it is too long for @buf; -EBADMSG:
 * its names cannot be read; -ENOMEM.
 */
int identity_of(gnutls_x509_crt_t crt, char buf[MRPC_IDENTITY_LEN]);

#endif /* LIBMRPC_TLS_IDENTITY_H */
