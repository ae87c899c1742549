/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_FIRST_BYTE_H
#define LIBMRPC_FIRST_BYTE_H

#include "secure.h"

/*
 * What a listener without TLS uses in place of a TLS configuration: its "handshake" waits for the
 * client's first byte, leaves it in the socket, and says which of the two transports it belongs to.
 */
extern struct mrpc_tls first_byte;

#endif /* LIBMRPC_FIRST_BYTE_H */
