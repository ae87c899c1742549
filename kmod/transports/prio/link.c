// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: connections. A connection is an id that its client has chosen, over an
 * association that both ends share with others. It begins with a HELLO to a listener. A message
 * without content ends it, or the end of the association does.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/dst.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "core/link.h"
#include "core/listener.h"
#include "core/rpc.h"
#include "egress/domain.h"
#include "transports/prio/deliver.h"
#include "transports/prio/egress.h"
#include "transports/prio/forget.h"
#include "transports/prio/in.h"
#include "transports/prio/link.h"
#include "transports/prio/links.h"
#include "transports/prio/out.h"
#include "transports/prio/peers.h"
#include "transports/prio/port.h"
#include "transports/prio/pump.h"
#include "transports/prio/reaper.h"
#include "transports/prio/submit.h"
#include "transports/sock.h"

#define PRIO_BACKLOG	4096
#define PRIO_EGRESS_BATCH	32U	/* messages that join or leave a domain at once */

/* -- links: under host->lock ----------------------------------------------------------------- */

/* Ends a link that will not be accepted. Messages of its peer are refused from now on. */
static void prio_link_turn_away(struct prio_link *link)
{
	struct prio_out *bye = link->err ? NULL : prio_out_new(GFP_ATOMIC | __GFP_NOWARN);

	prio_link_forget(link);
	prio_in_forget(link);
	if (bye && !prio_out_bye(link, bye))
		prio_out_free(bye);
	prio_link_fail(link, -ECONNRESET);
	prio_link_put(link);
}

/* -- addresses ----------------------------------------------------------------------------- */

static void prio_sockaddr(struct sockaddr_storage *ss, u16 family, const struct in6_addr *addr,
			  __be16 port, u32 scope)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *in = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = family;
	if (family == AF_INET) {
		in->sin_port = port;
		in->sin_addr.s_addr = addr->s6_addr32[0];
	} else {
		in6->sin6_port = port;
		in6->sin6_addr = *addr;
		in6->sin6_scope_id = scope;
	}
}

static void prio_path_to(const struct sockaddr_storage *ss, struct prio_path *path)
{
	const struct sockaddr_in6 *in6 = (const void *)ss;
	const struct sockaddr_in *in = (const void *)ss;

	memset(path, 0, sizeof(*path));
	path->family = ss->ss_family;
	if (ss->ss_family == AF_INET) {
		path->rport = in->sin_port;
		path->remote.s6_addr32[0] = in->sin_addr.s_addr;
	} else {
		path->rport = in6->sin6_port;
		path->remote = in6->sin6_addr;
		if (ipv6_addr_type(&path->remote) & IPV6_ADDR_LINKLOCAL)
			path->scope = in6->sin6_scope_id;
	}
}

/* Converts an IPv4-mapped IPv6 address to an IPv4 address, as packets have no other form. */
static void prio_unmap(struct sockaddr_storage *ss)
{
	struct sockaddr_in6 in6 = *(struct sockaddr_in6 *)ss;
	struct in6_addr v4 = { .s6_addr32[0] = in6.sin6_addr.s6_addr32[3] };

	if (ss->ss_family == AF_INET6 && ipv6_addr_v4mapped(&in6.sin6_addr))
		prio_sockaddr(ss, AF_INET, &v4, in6.sin6_port, 0);
}

/*
 * Connects a socket of the caller's context. So hooks see it, and may change the address. It also
 * tells the local address.
 */
static int prio_probe(struct net *net, const void *addr, u32 addr_len, struct prio_path *path,
		      const char **why)
{
	struct sockaddr_storage ss, ours;
	struct prio_path local;
	struct socket *sock;
	int err;

	err = mrpc_sock_new(net, IPPROTO_UDP, addr, addr_len, &ss, &sock, why);
	if (err)
		return err;
	err = -EINVAL;
	if (!((struct sockaddr_in *)&ss)->sin_port) {	/* at the same offset in IPv6 addresses */
		*why = "the port of a prio address is not 0";
		goto out;
	}
	err = kernel_connect(sock, (struct sockaddr *)&ss, addr_len, 0);
	if (!err)
		err = kernel_getpeername(sock, (struct sockaddr *)&ss);
	if (err >= 0)
		err = kernel_getsockname(sock, (struct sockaddr *)&ours);
out:
	sock_release(sock);
	if (err < 0)
		return err;
	prio_unmap(&ss);
	prio_unmap(&ours);
	prio_path_to(&ours, &local);
	prio_path_to(&ss, path);
	path->local = local.remote;
	return 0;
}

/* -- the transport's operations --------------------------------------------------------------- */

/* Makes a link to @path. It takes over the caller's use of @port. */
static int prio_link_to(struct mrpc_link *upper, struct prio_port *port,
			const struct prio_path *path)
{
	struct prio_link *link = kzalloc(sizeof(*link), GFP_KERNEL_ACCOUNT);
	struct prio_host *host = port->host;
	struct prio_peer *peer;
	int err = -ENOMEM;

	if (!link)
		return -ENOMEM;
	spin_lock_bh(&host->lock);
	peer = prio_peer_to(port, path);
	if (peer)
		err = prio_link_setup(link, peer, ++host->next_id ?: ++host->next_id);
	if (!err) {
		link->upper = upper;
		upper->priv = link;
	}
	prio_unlock(host);
	if (err)
		kfree(link);
	return err;
}

int prio_connect(struct mrpc_link *upper, const void *addr, u32 addr_len,
		 const char **why)
{
	struct net *net = upper->net;
	struct prio_path path;
	struct prio_port *port;
	int err;

	err = prio_probe(net, addr, addr_len, &path, why);
	if (err)
		return err;
	port = prio_port_connects(net, path.family, &err);
	if (!port)
		return err;
	path.lport = port->number;
	prio_sockaddr(&upper->peer, path.family, &path.remote, path.rport, path.scope);
	prio_sockaddr(&upper->local, path.family, &path.local, path.lport, path.scope);
	err = prio_link_to(upper, port, &path);
	if (err)
		prio_port_put(port);
	return err;
}

/* Binds @sock to @ss and makes it a port, of which the caller is a user. NULL: see @err. */
static struct prio_port *prio_port_bound(struct net *net, struct socket *sock,
					 const struct sockaddr_storage *ss, u32 addr_len, int *err)
{
	*err = kernel_bind(sock, (struct sockaddr *)ss, addr_len);
	if (*err == -EADDRINUSE) {
		prio_ports_unused(net);
		*err = kernel_bind(sock, (struct sockaddr *)ss, addr_len);
	}
	if (*err == -EADDRINUSE)
		return prio_port_adopt(net, sock, ss, addr_len, err);
	return *err ? NULL : prio_port_listens(net, sock, err);
}

int prio_listen(struct mrpc_listener *l, const void *addr, u32 addr_len, u32 backlog,
		const char **why)
{
	struct net *net = l->net;
	struct sockaddr_storage ss;
	struct prio_port *port;
	struct socket *sock;
	int err;

	err = mrpc_sock_new(net, IPPROTO_UDP, addr, addr_len, &ss, &sock, why);
	if (err)
		return err;
	port = prio_port_bound(net, sock, &ss, addr_len, &err);
	if (!port) {
		sock_release(sock);
		return err;
	}
	spin_lock_bh(&port->host->lock);
	err = port->l ? -EADDRINUSE : 0;
	if (!err) {
		port->backlog = clamp(backlog, 1U, PRIO_BACKLOG);
		l->priv = port;
		memcpy(&l->addr, &port->addr, sizeof(l->addr));
		l->addr_len = port->family == AF_INET ? sizeof(struct sockaddr_in) :
			      sizeof(struct sockaddr_in6);
		port->l = l;
	}
	prio_unlock(port->host);
	if (err)
		prio_port_put(port);
	return err;
}

bool prio_waiting(struct mrpc_listener *l)
{
	struct prio_port *port = l->priv;

	return READ_ONCE(port->nr_waiting);
}

int prio_accept(struct mrpc_listener *l, struct mrpc_link *upper)
{
	struct prio_port *port = l->priv;
	struct prio_link *link;

	spin_lock_bh(&port->host->lock);
	link = prio_link_waiting(port);
	if (link && upper) {
		const struct prio_path *path = &link->key.peer->path;

		prio_sockaddr(&upper->local, path->family, &path->local, path->lport,
			      path->scope);
		prio_sockaddr(&upper->peer, path->family, &path->remote, path->rport,
			      path->scope);
		upper->priv = link;
		link->upper = upper;
	} else if (link) {
		prio_link_turn_away(link);
	}
	prio_unlock(port->host);
	if (link && !upper)
		prio_pump_run(port->host);
	return link ? 0 : -EAGAIN;
}

void prio_unlisten(struct mrpc_listener *l)
{
	struct prio_port *port = l->priv;
	struct prio_link *link;

	if (!port)
		return;
	spin_lock_bh(&port->host->lock);
	port->l = NULL;
	WRITE_ONCE(port->taken, false);
	while ((link = prio_link_waiting(port)))
		prio_link_turn_away(link);
	prio_unlock(port->host);
	prio_pump_run(port->host);
	l->priv = NULL;
	prio_port_put(port);
}

int prio_send(struct mrpc_link *upper, struct mrpc_queue *q, u64 limit)
{
	struct mrpc_rpc *rpc = mrpc_queue_peek(q);
	struct prio_link *link = upper->priv;
	int err;

	if (READ_ONCE(link->down))
		return -EPIPE;
	err = prio_out_submit(upper, rpc);
	if (err)
		return err;
	rpc->done = mrpc_rpc_total(rpc);
	return 0;
}

/* All messages of a round go into the same order first; then they are sent. */
void prio_flush(struct mrpc_link *upper)
{
	struct prio_link *link = upper->priv;

	prio_pump_run(link->host);
}

int prio_recv(struct mrpc_link *upper, int budget)
{
	return prio_in_run(upper->priv, budget);
}

void prio_shutdown(struct mrpc_link *upper, bool abort)
{
	struct prio_link *link = upper->priv;

	WRITE_ONCE(link->down, true);
}

/* Does the peer have something to acknowledge? */
bool prio_busy(struct mrpc_link *upper)
{
	struct prio_link *link = upper->priv;

	return READ_ONCE(link->nr_outs) && !READ_ONCE(link->err);
}

void prio_release(struct mrpc_link *upper)
{
	struct prio_link *link = upper->priv;
	struct prio_host *host = link->host;
	struct prio_port *port = link->port;
	struct prio_out *bye = prio_out_new(GFP_KERNEL);

	mrpc_domain_leave(upper);
	atomic_inc(&port->users);	/* keeps the host until the end of this function */
	spin_lock_bh(&host->lock);
	prio_link_forget(link);
	prio_unlock(host);
	prio_in_drop(link, upper);
	WRITE_ONCE(upper->priv, NULL);	/* prio_slow() may look */
	spin_lock_bh(&host->lock);
	prio_out_abort(link);
	link->ref++;	/* for the bytes of aborted messages */
	/* Without memory for this message, the peer finds out when it sends something. */
	if (bye && !link->err && prio_out_bye(link, bye))
		bye = NULL;
	prio_link_fail(link, -ESHUTDOWN);
	prio_link_put(link);
	prio_unlock(host);
	if (bye)
		prio_out_free(bye);
	prio_pump_run(host);
	prio_out_strip(link);
	spin_lock_bh(&host->lock);
	prio_link_put(link);
	prio_unlock(host);
	prio_port_put(port);
}

u64 prio_backlog(struct mrpc_link *upper)
{
	struct prio_link *link = upper->priv;

	return READ_ONCE(link->out_bytes);
}

bool prio_slow(struct mrpc_link *upper, u64 now, u64 patience)
{
	struct prio_link *link;
	bool slow;

	rcu_read_lock();	/* the connection may be ending: its link is freed by RCU */
	link = READ_ONCE(upper->priv);
	slow = link && prio_in_slow(link, now, patience);
	rcu_read_unlock();
	return slow;
}

/* -- egress domains ---------------------------------------------------------------- */

static void prio_egress_move(struct prio_out *out, bool joins)
{
	if (!out->gone)
		return;
	if (joins)
		prio_egress_join(out);
	else
		prio_egress_leave(out);
}

/* Moves some of a link's messages: the first go behind the others. Return: there may be more. */
static bool prio_egress_some(struct prio_link *link, bool joins)
{
	u32 nr = PRIO_EGRESS_BATCH;
	struct prio_out *out;

	while (nr--) {
		out = list_first_entry_or_null(&link->outs, struct prio_out, of_link);
		if (!out || out->moved == link->moves)
			return false;
		out->moved = link->moves;
		list_move_tail(&out->of_link, &link->outs);
		prio_egress_move(out, joins);
	}
	return true;
}

/*
 * Moves a link's messages into a domain or out of it. There may be thousands: so it moves some at a
 * time and releases host->lock in between. A new message checks by itself whether its connection
 * has a domain, and an ended one leaves. So only the old messages, which are in front, have to be
 * moved. There is one pass at a time: the connection's change is exclusive.
 */
void prio_egress(struct mrpc_link *upper, bool joins)
{
	struct prio_link *link = upper->priv;
	struct prio_host *host = link->host;

	spin_lock_bh(&host->lock);
	link->moves++;
	while (prio_egress_some(link, joins)) {
		prio_unlock(host);
		cond_resched();
		spin_lock_bh(&host->lock);
	}
	prio_unlock(host);
	prio_pump_kick(host);	/* not at once: they may now join another domain, or end */
}

struct mrpc_sender *prio_sender(struct mrpc_link *upper)
{
	struct prio_link *link = upper->priv;

	return &link->host->sender;
}

void prio_device(struct mrpc_link *upper, char *name)
{
	struct prio_link *link = upper->priv;
	struct dst_entry *dst;
	struct prio_path path;

	name[0] = 0;
	spin_lock_bh(&link->host->lock);
	path = link->key.peer->path;
	spin_unlock_bh(&link->host->lock);
	dst = prio_path_route(link->host, &path);
	if (!dst)
		return;
	rcu_read_lock();
	strscpy(name, READ_ONCE(dst->dev)->name, IFNAMSIZ);
	rcu_read_unlock();
	dst_release(dst);
}
