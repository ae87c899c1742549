/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TCP transport, in versions that can be loaded at once. Each version is a module with all of
 * the code: transports/tcp/link.c, transports/tcp/send.c, transports/tcp/egress.c, and a file that
 * says which version it is. So each can finish what another one has begun.
 */
#ifndef MRPC_TRANSPORTS_TCP_TCP_H
#define MRPC_TRANSPORTS_TCP_TCP_H

#include <linux/net.h>

#include "call/stream.h"
#include "core/engine_type.h"
#include "core/rpc.h"
#include "core/transport.h"
#include "transports/sock.h"
#include "transports/sock_direct.h"
#include "transports/sock_listen.h"
#include "transports/sock_tls.h"

#define MRPC_TCP_BOUNCE	16384	/* bytes that are copied, summed and sent at once */

/**
 * struct mrpc_tcp - one link
 *
 * Its connection owns it. @sock->sk->sk_user_data refers back to the connection, under
 * sk_callback_lock, until release. It goes unchanged from one version to another. So it must not
 * refer to anything in a module.
 *
 * @sock: the socket
 * @direct: how the layers above TCP are left out
 * @tls: TLS of the socket
 * @stream: receive state; owner of the receive claim
 * @pages: the socket has been given pages of a heap; owner of the transmit claim
 * @down: send and receive fail
 * @copies: messages copied since the last try by reference; owner of the
 *	transmit claim, as the next
 * @copying: the message under way is copied
 * @bounce: MRPC_TCP_BOUNCE bytes, where byte blocks are copied that have a checksum;
 *	NULL until the first; owner of the transmit claim
 * @hooks: the socket's own callbacks, put back at release
 */
struct mrpc_tcp {
	struct socket *sock;
	struct mrpc_sock_direct direct;
	struct mrpc_sock_tls tls;
	struct mrpc_stream stream;
	bool pages;
	bool down;
	u32 copies;
	bool copying;
	u8 *bounce;
	struct mrpc_sock_hooks hooks;
};

static inline bool mrpc_tcp_plain(const struct mrpc_tcp *tcp)
{
	return mrpc_sock_plain(tcp->sock, &tcp->tls, &tcp->direct);
}

/* transports/tcp/link.c */
int mrpc_tcp_connect(struct mrpc_link *link, const void *addr, u32 addr_len,
		     const char **why);
int mrpc_tcp_adopt(struct mrpc_link *link, int *fd, const char **why);
int mrpc_tcp_accept(struct mrpc_listener *l, struct mrpc_link *link);
int mrpc_tcp_recv(struct mrpc_link *link, int budget);
void mrpc_tcp_shutdown(struct mrpc_link *link, bool abort);
bool mrpc_tcp_busy(struct mrpc_link *link);
void mrpc_tcp_release(struct mrpc_link *link);
u64 mrpc_tcp_backlog(struct mrpc_link *link);
void *mrpc_tcp_decompose(struct mrpc_link *link);
void *mrpc_tcp_restore(struct mrpc_link *link, const struct mrpc_transport_ops *from, void *state,
		       u64 uses, struct netlink_ext_ack *extack);

/* transports/tcp/send.c */
int mrpc_tcp_send(struct mrpc_link *link, struct mrpc_queue *q, u64 limit);

/* transports/tcp/egress.c */
u32 mrpc_tcp_credit(struct mrpc_link *link, u32 chunk);
u64 mrpc_tcp_below(struct mrpc_link *link);
void mrpc_tcp_device(struct mrpc_link *link, char *name);

/* Operations that are the same in all versions; restore() differs. */
#define MRPC_TCP_OPS							\
	.name		= "tcp",					\
	.owner		= THIS_MODULE,					\
	.connect	= mrpc_tcp_connect,				\
	.adopt		= mrpc_tcp_adopt,				\
	.listen		= mrpc_sock_listen,				\
	.listen_on	= mrpc_sock_listen_on,				\
	.waiting	= mrpc_sock_waiting,				\
	.accept		= mrpc_tcp_accept,				\
	.unlisten	= mrpc_sock_unlisten,				\
	.send		= mrpc_tcp_send,				\
	.recv		= mrpc_tcp_recv,				\
	.shutdown	= mrpc_tcp_shutdown,				\
	.busy		= mrpc_tcp_busy,				\
	.release	= mrpc_tcp_release,				\
	.backlog	= mrpc_tcp_backlog,				\
	.credit		= mrpc_tcp_credit,				\
	.below		= mrpc_tcp_below,				\
	.device		= mrpc_tcp_device,				\
	.decompose	= mrpc_tcp_decompose

#define MRPC_TCP_TYPE							\
	.name		= "tcp",					\
	.owner		= THIS_MODULE,					\
	.flags		= MRPC_ENGINE_NO_STAGE

#endif /* MRPC_TRANSPORTS_TCP_TCP_H */
