/* SPDX-License-Identifier: GPL-2.0 */
/* How links read, send and end a TCP socket, which may have kernel TLS. */
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
 * @link: the link; NULL: the socket has no TLS, and the rest is zero. Immutable
 * @control: the handshake message under way; owner of the receive claim
 * @sealed: bytes that this end's key has encrypted; owner of the transmit claim
 * @deaf: nothing more is read, because of a record without data. The end of the link, as the next
 * @ended: the peer has been told that no more comes
 */
struct mrpc_sock_tls {
	struct mrpc_link *link;
	struct mrpc_tls_control control;
	u64 sealed;
	bool deaf;
	bool ended;
};

void mrpc_sock_tls_begin(struct mrpc_link *link, const struct sock *sk,
			 struct mrpc_sock_tls *tls);
int mrpc_sock_read(struct socket *sock, struct mrpc_sock_tls *tls, struct kvec *vec, size_t nr,
		   size_t len);
int mrpc_sock_send(struct socket *sock, struct mrpc_sock_tls *tls, struct msghdr *msg);
void mrpc_sock_shutdown(struct socket *sock, const struct mrpc_sock_tls *tls);
bool mrpc_sock_end(struct socket *sock, struct mrpc_sock_tls *tls);
bool mrpc_sock_tls_sends(struct sock *sk);

#endif /* MRPC_TRANSPORTS_SOCK_TLS_H */
