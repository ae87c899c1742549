/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets with kernel TLS, to be handed over. There is no handshake: both ends have keys that the
 * tests know.
 */
#ifndef RAW_TLS_H
#define RAW_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "raw.h"

/* What a server of raw_tls_accept() says that its clients are called. */
#define RAW_TLS_IDENTITY	"spiffe://test/client"

/* The end of a connection that has accepted it, or has made it. */
enum raw_tls_end { RAW_TLS_SERVER, RAW_TLS_CLIENT };

/* Sets up TLS of a connected socket: @rx, @tx: in these directions. Dies if it cannot. */
void raw_tls_on(int fd, enum raw_tls_end end, bool rx, bool tx);
/* The same in both directions; so many records seem to have been received and sent. */
void raw_tls_used(int fd, enum raw_tls_end end, uint64_t received, uint64_t sent);

/* A connected pair of TCP sockets on 127.0.0.1, or [::1] with @ip6. */
void raw_tcp_pair(int fds[2], bool ip6);

/* Sends a record of another type than data; a negative errno if it cannot. */
int raw_tls_record(int fd, uint8_t type, const void *buf, uint32_t len);

/* Makes a connection with TLS that the kernel is to adopt, to c->addr. Return: it. */
int raw_tls_connect(const struct mrpc_connect *c);
/* Listens at c->addr, and writes its port there. */
int raw_tls_listen(struct mrpc_connect *c);
/* Has a thread give each connection of @sock to @listener, until that is gone. */
void raw_tls_accept(struct raw *s, int sock, uint32_t listener);

#endif /* RAW_TLS_H */
