/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wake-ups of a link that is a socket, for every transport that has one. They
 * are the core's, so that they stay when another version of the transport takes the
 * socket over.
 */
#ifndef MRPC_TRANSPORTS_SOCK_H
#define MRPC_TRANSPORTS_SOCK_H

#include <net/inet_connection_sock.h>
#include <net/sock.h>

struct mrpc_link;
struct net;
struct sock;
struct sockaddr_storage;
struct socket;

/*
 * Makes a TCP socket that of a link, which gets its events and owns it. Return: 0 or a negative
 * errno, after which the socket is the caller's.
 */
typedef int (*mrpc_sock_attach)(struct mrpc_link *link, struct socket *sock);

/*
 * The socket's own callbacks, to be put back. With TLS, @write_space is the one that TLS calls, and
 * @record_ready is the one that it calls when it has a record; else that is NULL.
 */
struct mrpc_sock_hooks {
	void (*data_ready)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*error_report)(struct sock *sk);
	void (*record_ready)(struct sock *sk);
};

/*
 * A BPF program may have given the socket to a sockmap or a ULP. @tls: the socket was adopted with
 * TLS. Under sk_callback_lock.
 */
static inline bool mrpc_sock_taken(const struct sock *sk, bool tls)
{
	return sk->sk_user_data || inet_csk_has_ulp(sk) != tls;
}

int mrpc_sock_hook(struct mrpc_link *link, struct sock *sk, struct mrpc_sock_hooks *hooks);
int mrpc_sock_new(struct net *net, int protocol, const void *addr, u32 addr_len,
		  struct sockaddr_storage *ss, struct socket **sock, const char **why);
int mrpc_sock_connect(struct mrpc_link *link, const void *addr, u32 addr_len,
		      mrpc_sock_attach attach, const char **why);
void mrpc_sock_close(struct socket *sock);
void mrpc_sock_put(struct socket *sock);
void mrpc_sock_discard(struct socket *sock);
u64 mrpc_sock_backlog(const struct sock *sk);
bool mrpc_sock_unacked(const struct sock *sk);
void mrpc_sock_prepare(struct mrpc_link *link, struct socket *sock);
void mrpc_sock_unhook(struct sock *sk, const struct mrpc_sock_hooks *hooks);

#endif /* MRPC_TRANSPORTS_SOCK_H */
