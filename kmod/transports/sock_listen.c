// SPDX-License-Identifier: GPL-2.0
/* Listening TCP sockets, for every transport whose links are TCP sockets. */
#include <linux/net.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>

#include "core/listener.h"
#include "exec/kick.h"
#include "transports/sock.h"
#include "transports/sock_adopt.h"
#include "transports/sock_listen.h"

/**
 * struct mrpc_sock_listener - a listening socket
 *
 * Its listener owns it, from mrpc_sock_listen() to mrpc_sock_unlisten().
 *
 * @sock: the socket; its sk_user_data refers to the listener
 * @data_ready: the socket's own callback, to be put back
 */
struct mrpc_sock_listener {
	struct socket *sock;
	void (*data_ready)(struct sock *sk);
};

/* Softirq: only kicks the listener. */
static void mrpc_sock_listen_ready(struct sock *sk)
{
	struct mrpc_listener *l;

	read_lock_bh(&sk->sk_callback_lock);
	l = sk->sk_user_data;
	if (l && inet_sk_state_load(sk) == TCP_LISTEN)
		mrpc_kick_listener(l);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* Makes the socket's events those of the listener. Return: 0; -EALREADY: other code uses it. */
static int mrpc_sock_listen_hook(struct mrpc_listener *l, struct mrpc_sock_listener *sl)
{
	struct sock *sk = sl->sock->sk;
	int err = 0;

	write_lock_bh(&sk->sk_callback_lock);
	if (mrpc_sock_taken(sk, false)) {
		err = -EALREADY;
	} else {
		l->priv = sl;
		sl->data_ready = sk->sk_data_ready;
		sk->sk_user_data = l;
		sk->sk_data_ready = mrpc_sock_listen_ready;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return err;
}

/* Makes a listening socket that of @l. Return: 0 or a negative errno: it is the caller's. */
static int mrpc_sock_listen_attach(struct mrpc_listener *l, struct socket *sock)
{
	struct mrpc_sock_listener *sl = kzalloc(sizeof(*sl), GFP_KERNEL_ACCOUNT);
	int err;

	if (!sl)
		return -ENOMEM;
	sl->sock = sock;
	err = kernel_getsockname(sock, (struct sockaddr *)&l->addr);
	if (err >= 0) {
		l->addr_len = err;
		err = mrpc_sock_listen_hook(l, sl);
	}
	if (err)
		kfree(sl);
	else
		mrpc_kick_listener(l);
	return err;
}

/**
 * mrpc_sock_listen() - accept links at a TCP address
 * @l: the listener; its address is filled in
 * @addr: the address
 * @addr_len: bytes of @addr
 * @backlog: how many links may wait
 * @why: out: the reason of a failure that the errno does not tell
 *
 * A transport's listen(). Context: process; may sleep.
 * Return: 0 or a negative errno.
 */
int mrpc_sock_listen(struct mrpc_listener *l, const void *addr, u32 addr_len, u32 backlog,
		     const char **why)
{
	struct sockaddr_storage ss;
	struct socket *sock;
	int err;

	err = mrpc_sock_new(l->net, IPPROTO_TCP, addr, addr_len, &ss, &sock, why);
	if (err)
		return err;
	sock_set_reuseaddr(sock->sk);
	err = kernel_bind(sock, (struct sockaddr *)&ss, addr_len);
	if (!err)
		err = kernel_listen(sock, min(backlog, 4096U));
	if (!err)
		err = mrpc_sock_listen_attach(l, sock);
	if (err)
		sock_release(sock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_sock_listen);

/**
 * mrpc_sock_listen_on() - accept links at a listening socket of an application
 * @l: the listener; its address is filled in
 * @fd: the socket; -1 afterwards if it was taken away
 * @why: out: the reason of a failure that the errno does not tell
 *
 * A transport's listen_on(). Context: process; may sleep.
 * Return: 0 or a negative errno.
 */
int mrpc_sock_listen_on(struct mrpc_listener *l, int *fd, const char **why)
{
	struct socket *sock;
	int err;

	err = mrpc_sock_find(l->net, *fd, TCP_LISTEN, &sock, why);
	if (!err)
		err = mrpc_sock_take_over(sock, fd, why);
	if (err)
		return err;
	err = mrpc_sock_listen_attach(l, sock);
	if (err)
		mrpc_sock_put(sock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_sock_listen_on);

/**
 * mrpc_sock_waiting() - return true if a socket waits to be accepted; a hint
 * @l: the listener
 *
 * A transport's waiting().
 */
bool mrpc_sock_waiting(struct mrpc_listener *l)
{
	struct mrpc_sock_listener *sl = l->priv;

	return !reqsk_queue_empty(&inet_csk(sl->sock->sk)->icsk_accept_queue);
}
EXPORT_SYMBOL_GPL(mrpc_sock_waiting);

/* Takes one socket that waits. Return: 0; -EAGAIN: none waits; or another negative errno. */
static int mrpc_sock_take(struct mrpc_listener *l, struct socket **sock)
{
	struct mrpc_sock_listener *sl = l->priv;
	struct sock *sk;
	int err;

	err = kernel_accept(sl->sock, sock, O_NONBLOCK);
	if (err)
		return err;
	sk = (*sock)->sk;
	/* The child inherited the listener's callback and user data if they were set when it
	 * was made. Other code may have replaced them since.
	 */
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data == l)
		sk->sk_user_data = NULL;
	if (sk->sk_data_ready == mrpc_sock_listen_ready)
		sk->sk_data_ready = sl->data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	return 0;
}

/**
 * mrpc_sock_accept() - take one link that waits
 * @l: the listener; the caller owns its claim
 * @link: gets the socket; NULL: the socket is dropped
 * @attach: makes the socket that of the link
 *
 * Return: 0; -EAGAIN: none waits; or another negative errno.
 */
int mrpc_sock_accept(struct mrpc_listener *l, struct mrpc_link *link, mrpc_sock_attach attach)
{
	struct socket *sock;
	int err;

	err = mrpc_sock_take(l, &sock);
	if (err)
		return err;
	if (link)
		err = attach(link, sock);
	if (!link || err)
		sock_release(sock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_sock_accept);

/**
 * mrpc_sock_unlisten() - stop accepting
 * @l: the listener
 *
 * A transport's unlisten(): no callback into @l follows. Context: process; may sleep.
 */
void mrpc_sock_unlisten(struct mrpc_listener *l)
{
	struct mrpc_sock_listener *sl = l->priv;
	struct sock *sk;

	if (!sl)
		return;
	sk = sl->sock->sk;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = sl->data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	mrpc_sock_put(sl->sock);
	kfree(sl);
	l->priv = NULL;
}
EXPORT_SYMBOL_GPL(mrpc_sock_unlisten);
