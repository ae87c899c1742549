// SPDX-License-Identifier: GPL-2.0
/* Links of the transport grpc: how they begin and end. */
#include <linux/log2.h>
#include <linux/net.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "core/link.h"
#include "core/transport.h"
#include "transports/grpc/link.h"
#include "transports/grpc/pump.h"
#include "transports/grpc/receive.h"
#include "transports/grpc/stream.h"
#include "transports/sock.h"
#include "transports/sock_adopt.h"
#include "transports/sock_listen.h"

#define GRPC_STREAM_WINDOW	(256U << 10)
#define GRPC_CONN_WINDOW	(8U << 20)
#define GRPC_HEADER_LIST	MRPC_HPACK_MAX_LIST
#define GRPC_PROBES		3	/* of TCP's keepalive, before the peer is gone */

/* Makes the HTTP/2 connection. Return: 0 or -ENOMEM. */
static int grpc_h2_begin(struct grpc_link *gl)
{
	u32 nr_gone = roundup_pow_of_two(max(gl->nr_slots + 32, MRPC_H2_MIN_GONE + 0U));
	struct mrpc_h2_config config = {
		.server = gl->link->accepted,
		.max_streams = gl->nr_slots,
		.stream_window = GRPC_STREAM_WINDOW,
		.conn_window = GRPC_CONN_WINDOW,
		.max_header_list = GRPC_HEADER_LIST,
		.seed = get_random_u32() | 1,
		.bits = clamp(ilog2(gl->nr_slots) + 1, 1, 16),
		.nr_gone = nr_gone,
	};

	gl->buckets = kvcalloc(1U << config.bits, sizeof(*gl->buckets), GFP_KERNEL_ACCOUNT);
	gl->resets = kvcalloc(nr_gone, sizeof(*gl->resets), GFP_KERNEL_ACCOUNT);
	gl->slots = kvcalloc(gl->nr_slots, sizeof(*gl->slots), GFP_KERNEL_ACCOUNT);
	gl->used = kvcalloc(BITS_TO_LONGS(gl->nr_slots), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!gl->buckets || !gl->resets || !gl->slots || !gl->used)
		return -ENOMEM;
	config.buckets = gl->buckets;
	config.gone = gl->resets;
	mrpc_h2_parser_init(&gl->in.parser, config.server);
	mrpc_hpack_table_init(&gl->in.table);
	mrpc_hpack_table_init(&gl->out.table);
	return mrpc_h2_init(&gl->h2, &config, ktime_get_ns());
}

static void grpc_link_free(struct grpc_link *gl)
{
	kvfree(gl->buckets);
	kvfree(gl->resets);
	kvfree(gl->slots);
	kvfree(gl->used);
	mrpc_sock_direct_end(&gl->direct);
	kfree(gl->spare);
	kfree(gl);
}

/* The peer is silent between calls. TCP's own probes find out if it is gone. */
static void grpc_sock_probe(const struct mrpc_link *link, struct sock *sk)
{
	int seconds = clamp_t(u64, div_u64(link->keepalive, NSEC_PER_SEC), 1, MAX_TCP_KEEPIDLE);

	sock_set_keepalive(sk);
	tcp_sock_set_keepidle(sk, seconds);
	tcp_sock_set_keepintvl(sk, seconds);
	tcp_sock_set_keepcnt(sk, GRPC_PROBES);
}

/* Makes @sock the socket of @link, which gets its events. Return: 0 or a negative errno. */
static int grpc_attach(struct mrpc_link *link, struct socket *sock)
{
	struct grpc_link *gl = kzalloc(sizeof(*gl), GFP_KERNEL_ACCOUNT);
	int err;

	if (!gl)
		return -ENOMEM;
	gl->link = link;
	gl->sock = sock;
	gl->nr_slots = mrpc_link_max_calls(link);
	spin_lock_init(&gl->lock);
	INIT_LIST_HEAD(&gl->in.assembling);
	gl->in.due = MRPC_H2_NEVER;
	INIT_LIST_HEAD(&gl->out.sending);
	INIT_LIST_HEAD(&gl->out.blocked);
	INIT_LIST_HEAD(&gl->fresh);
	INIT_LIST_HEAD(&gl->gone);
	INIT_LIST_HEAD(&gl->resumed);
	INIT_LIST_HEAD(&gl->credits);
	err = grpc_h2_begin(gl);
	if (err)
		goto fail;
	mrpc_sock_prepare(link, sock);
	grpc_sock_probe(link, sock->sk);
	if (link->tls_version)
		mrpc_sock_tls_begin(link, sock->sk, &gl->tls);
	gl->direct.prot = sock->sk->sk_prot;
	link->priv = gl;
	err = mrpc_sock_hook(link, sock->sk, &gl->hooks);
	if (!err)
		return 0;
	link->priv = NULL;
fail:
	grpc_link_free(gl);
	return err;
}

int grpc_connect(struct mrpc_link *link, const void *addr, u32 addr_len, const char **why)
{
	return mrpc_sock_connect(link, addr, addr_len, grpc_attach, why);
}

int grpc_adopt(struct mrpc_link *link, int *fd, const char **why)
{
	return mrpc_sock_adopt(link, fd, grpc_attach, why);
}

int grpc_accept(struct mrpc_listener *l, struct mrpc_link *link)
{
	return mrpc_sock_accept(l, link, grpc_attach);
}

void grpc_shutdown(struct mrpc_link *link, bool abort)
{
	struct grpc_link *gl = link->priv;

	WRITE_ONCE(gl->down, true);
	/* A peer that broke a rule has been told so by GOAWAY, which a reset would overtake. */
	if (abort && !gl->h2.why) {
		sock_no_linger(gl->sock->sk);
		return;
	}
	mrpc_sock_shutdown(gl->sock, &gl->tls);
}

bool grpc_busy(struct mrpc_link *link)
{
	struct grpc_link *gl = link->priv;

	return mrpc_sock_end(gl->sock, &gl->tls);
}

void grpc_release(struct mrpc_link *link)
{
	struct grpc_link *gl = link->priv;
	struct mrpc_h2_stream *h2;
	u32 i;

	/* Unread input would make the end a reset. grpc_busy() was not asked after GOAWAY. */
	if (gl->h2.why)
		mrpc_sock_end(gl->sock, &gl->tls);
	if (gl->tls.link && mrpc_sock_tls_sends(gl->sock->sk))
		sock_no_linger(gl->sock->sk);
	mrpc_sock_unhook(gl->sock->sk, &gl->hooks);
	link->priv = NULL;
	mrpc_sock_close(gl->sock);
	grpc_in_free(gl);
	if (gl->out.cur)
		grpc_stream_put(gl->out.cur);
	grpc_put_all(gl, &gl->out.sending, send);
	grpc_put_all(gl, &gl->out.blocked, send);
	grpc_put_all(gl, &gl->fresh, fresh);
	grpc_put_all(gl, &gl->gone, gone);
	grpc_put_all(gl, &gl->resumed, resume);
	grpc_put_all(gl, &gl->credits, credit);
	for (i = 0; i < gl->nr_slots; i++)
		if (gl->slots[i])
			grpc_stream_put(gl->slots[i]);
	while ((h2 = mrpc_h2_streams_newest(&gl->h2.streams))) {
		mrpc_h2_forget(&gl->h2, h2);
		grpc_stream_put(grpc_stream_of(h2));
	}
	kvfree(gl->out.work);
	kfree(gl->out.table.ring);
	grpc_link_free(gl);
}

u64 grpc_backlog(struct mrpc_link *link)
{
	struct grpc_link *gl = link->priv;

	return mrpc_sock_backlog(gl->sock->sk);
}
