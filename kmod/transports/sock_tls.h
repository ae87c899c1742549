/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets with kernel TLS: what they need beyond a plain socket. */
#ifndef MRPC_TRANSPORTS_SOCK_TLS_H
#define MRPC_TRANSPORTS_SOCK_TLS_H

#include <linux/types.h>

#include "lib/tls/control.h"

struct kvec;
struct mrpc_link;
struct msghdr;
struct sock;
struct socket;

/**
 * struct mrpc_sock_tls - TLS of a link's socket
 * @control: the handshake message under way; owner of the receive claim
 * @sealed: bytes that this end's key has encrypted; owner of the transmit claim
 * @ended: the peer has been told that no more comes; only after the link's claims are quiet
 */
struct mrpc_sock_tls {
	struct mrpc_tls_control control;
	u64 sealed;
	bool ended;
};

void mrpc_sock_tls_begin(const struct sock *sk, struct mrpc_sock_tls *tls);
int mrpc_sock_tls_read(struct mrpc_link *link, struct socket *sock, struct mrpc_sock_tls *tls,
		       struct kvec *vec, size_t nr, size_t len);
bool mrpc_sock_tls_waits(const struct sock *sk);
int mrpc_sock_tls_send(struct mrpc_link *link, struct socket *sock, struct mrpc_sock_tls *tls,
		       struct msghdr *msg);
bool mrpc_sock_tls_end(struct socket *sock, struct mrpc_sock_tls *tls);

#endif /* MRPC_TRANSPORTS_SOCK_TLS_H */
