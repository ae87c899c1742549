// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP transport: links, receiving, and the end of links.
 *
 * Sockets are made in the caller's context as user sockets. So network namespace, LSM hooks, cgroup
 * rules and memory accounting apply as if the application had made them.
 *
 * Part of every version of the transport: tcp.h.
 */
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "call/stream.h"
#include "core/link.h"
#include "core/listener.h"
#include "core/rpc.h"
#include "exec/kick.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"
#include "transports/sock.h"
#include "transports/sock_adopt.h"
#include "transports/tcp/tcp.h"

/* -- links ------------------------------------------------------------------ */

/*
 * Makes @sock the socket of @link; afterwards its events go there.
 * Return: 0; -ENOMEM; -EALREADY: other code uses the socket's callbacks.
 */
static int mrpc_tcp_attach(struct mrpc_link *link, struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct mrpc_tcp *tcp;
	int err;

	tcp = kzalloc(sizeof(*tcp), GFP_KERNEL_ACCOUNT);
	if (!tcp)
		return -ENOMEM;
	tcp->sock = sock;
	tcp->direct.prot = sk->sk_prot;
	mrpc_sock_prepare(link, sock);
	if (link->tls_version)
		mrpc_sock_tls_begin(link, sk, &tcp->tls);
	link->priv = tcp;
	err = mrpc_sock_hook(link, sk, &tcp->hooks);
	if (err) {
		link->priv = NULL;
		kfree(tcp);
	}
	return err;
}

int mrpc_tcp_connect(struct mrpc_link *link, const void *addr, u32 addr_len,
		     const char **why)
{
	return mrpc_sock_connect(link, addr, addr_len, mrpc_tcp_attach, why);
}

int mrpc_tcp_adopt(struct mrpc_link *link, int *fd, const char **why)
{
	return mrpc_sock_adopt(link, fd, mrpc_tcp_attach, why);
}

int mrpc_tcp_accept(struct mrpc_listener *l, struct mrpc_link *link)
{
	return mrpc_sock_accept(l, link, mrpc_tcp_attach);
}

/* -- receiving -------------------------------------------------------------- */

static int mrpc_tcp_read(struct mrpc_link *link, struct kvec *vec, size_t nr, size_t len)
{
	struct mrpc_tcp *tcp = link->priv;

	if (READ_ONCE(tcp->down))
		return 0;
	return mrpc_sock_direct_read(tcp->sock, &tcp->tls, &tcp->direct, vec, nr, len);
}

int mrpc_tcp_recv(struct mrpc_link *link, int budget)
{
	struct mrpc_tcp *tcp = link->priv;
	struct sock *sk = tcp->sock->sk;
	int n = mrpc_stream_recv(link, &tcp->stream, mrpc_tcp_read, budget);

	/* The end of the stream may have come together with the bytes just read: then there is
	 * no second event.
	 */
	if (n >= 0 && n < budget &&
	    (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN || READ_ONCE(sk->sk_err)))
		mrpc_link_kick_rx(link);
	/* Input has stopped for lack of room, so a reset is not read. It is detected here. */
	if (n == -EAGAIN && inet_sk_state_load(sk) == TCP_CLOSE)
		return -ECONNRESET;
	return n;
}

void mrpc_tcp_shutdown(struct mrpc_link *link, bool abort)
{
	struct mrpc_tcp *tcp = link->priv;

	WRITE_ONCE(tcp->down, true);
	/* A reset frees the send queue, with its pages. */
	if (abort)
		sock_no_linger(tcp->sock->sk);
	else
		mrpc_sock_shutdown(tcp->sock, &tcp->tls);
}

bool mrpc_tcp_busy(struct mrpc_link *link)
{
	struct mrpc_tcp *tcp = link->priv;

	return mrpc_sock_end(tcp->sock, &tcp->tls);
}

void mrpc_tcp_release(struct mrpc_link *link)
{
	struct mrpc_tcp *tcp = link->priv;
	struct sock *sk = tcp->sock->sk;

	mrpc_sock_unhook(sk, &tcp->hooks);
	/* Unsent bytes are left to the network, unless they hold pages of a session, or end in the
	 * middle of a record of TLS.
	 */
	if (tcp->tls.link ? mrpc_sock_tls_sends(sk) : tcp->pages && mrpc_sock_unacked(sk))
		sock_no_linger(sk);
	link->priv = NULL;
	mrpc_sock_close(tcp->sock);
	mrpc_stream_free(link, &tcp->stream);
	mrpc_sock_direct_end(&tcp->direct);
	kfree(tcp->bounce);
	kfree(tcp);
}

u64 mrpc_tcp_backlog(struct mrpc_link *link)
{
	struct mrpc_tcp *tcp = link->priv;

	return mrpc_sock_backlog(tcp->sock->sk);
}

/* -- from version to version -------------------------------------------------- */

/* The state is the whole link. Bytes in the socket, and half received ones, go with it. */
void *mrpc_tcp_decompose(struct mrpc_link *link)
{
	return link->priv;
}

/*
 * All versions are made from this source, so they have one layout. A version with another layout
 * converts here what @from has decomposed, or refuses.
 */
void *mrpc_tcp_restore(struct mrpc_link *link, const struct mrpc_transport_ops *from, void *state,
		       u64 uses, struct netlink_ext_ack *extack)
{
	struct mrpc_tcp *tcp = state;

	/* The buffer stays for messages that have a checksum and are not sent yet. */
	if (uses & MRPC_FEATURE_CRC && !tcp->bounce) {
		tcp->bounce = kmalloc(MRPC_TCP_BOUNCE, GFP_KERNEL_ACCOUNT);
		if (!tcp->bounce)
			return ERR_PTR(-ENOMEM);
	}
	return tcp;
}
