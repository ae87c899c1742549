/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_TLS_KEYS_H
#define LIBMRPC_TLS_KEYS_H

#include <gnutls/gnutls.h>

#include "ktls.h"

/*
 * Fills in the keys with which this side receives, if @read, or sends. The caller erases them.
 * Return: 0, or -EOPNOTSUPP: the kernel does not take keys of this cipher.
 */
int keys_of(gnutls_session_t session, bool read, struct ktls_keys *k);

#endif /* LIBMRPC_TLS_KEYS_H */
