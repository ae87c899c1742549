// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: UDP ports, and their hosts.
 *
 * The listener's socket belongs to the user. So the hooks of the user's namespaces and cgroups
 * apply to the bind. The port outlives the listener while connections use it: their packets come
 * from there. All clients in a namespace share one port per family, which belongs to the kernel
 * (transports/prio/owner.c).
 */
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/sock.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/udp.h>

#include "core/call.h"
#include "lib/prio/prio.h"
#include "lib/prio/rule.h"
#include "transports/prio/egress.h"
#include "transports/prio/forget.h"
#include "transports/prio/links.h"
#include "transports/prio/owner.h"
#include "transports/prio/params.h"
#include "transports/prio/peers.h"
#include "transports/prio/port.h"
#include "transports/prio/pump.h"
#include "transports/prio/reaper.h"
#include "transports/prio/receive.h"

#define PRIO_BUCKETS	8192
#define PRIO_IDLE	(60 * HZ)	/* after that an idle peer is forgotten */

/**
 * struct prio_net - a network namespace
 *
 * Made and freed with the namespace, or with the module if that is loaded or unloaded meanwhile. A
 * host has a reference to its namespace. So there is no host at either time. All under
 * prio_ports_lock.
 *
 * @host: its host, or NULL
 * @used: it has had a host
 * @past: counters of its earlier hosts: counters only grow, even if all ports are closed
 */
struct prio_net {
	struct prio_host *host;
	bool used;
	struct mrpc_prio_stats past;
};

static unsigned int prio_net_id __read_mostly;
static DEFINE_MUTEX(prio_ports_lock);
static LIST_HEAD(prio_hosts);		/* under prio_ports_lock */
static struct kmem_cache *prio_gaps_cache;	/* own name: shows the memory that losses take */

/* -- hosts: under prio_ports_lock ---------------------------------------------------- */

static struct prio_net *prio_net(struct net *net)
{
	return net_generic(net, prio_net_id);
}

/* The two kinds are distinguished by their size. */
static_assert(sizeof(struct mrpc_prio_gaps) != sizeof(struct mrpc_order_levels));

static void *prio_small_alloc(void *ctx, size_t size)
{
	gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;

	return size == sizeof(struct mrpc_prio_gaps) ? kmem_cache_alloc(prio_gaps_cache, gfp) :
						       kmalloc(size, gfp);
}

/* kfree() also accepts objects of caches. */
static void prio_small_free(void *ctx, void *p, size_t size)
{
	kfree(p);
}

static const struct mrpc_prio_ops prio_small = {
	.alloc	= prio_small_alloc,
	.free	= prio_small_free,
};

static void prio_host_free(struct prio_host *host)
{
	prio_pump_stop(host);
	prio_owners_unhook(host);
	/* No context kicks any more. */
	hrtimer_cancel(&host->timer);
	cancel_work_sync(&host->pump);
	cancel_work_sync(&host->thread);
	prio_owners_free(host);
	__skb_queue_purge(&host->answers);
	mrpc_prio_fini(&host->ep);
	rhashtable_destroy(&host->links);
	rhashtable_destroy(&host->peers);
	kvfree(host->hash);
	put_net(host->net);
	kfree(host);
}

static int prio_tables_init(struct prio_host *host)
{
	int err = prio_peers_table(host);

	if (err)
		return err;
	err = prio_links_init(host);
	if (err)
		rhashtable_destroy(&host->peers);
	return err;
}

static struct prio_host *prio_host_new(struct net *net, int *err)
{
	struct prio_host *host = kzalloc(sizeof(*host), GFP_KERNEL_ACCOUNT);
	struct mrpc_prio_rule rule;
	u64 key[2];

	*err = -ENOMEM;
	if (!host)
		return NULL;
	host->hash = kvcalloc(PRIO_BUCKETS, sizeof(*host->hash), GFP_KERNEL_ACCOUNT);
	if (!host->hash || prio_tables_init(host)) {
		kvfree(host->hash);
		kfree(host);
		return NULL;
	}
	spin_lock_init(&host->lock);
	INIT_LIST_HEAD(&host->ports);
	INIT_LIST_HEAD(&host->ended);
	INIT_LIST_HEAD(&host->freed);
	__skb_queue_head_init(&host->answers);
	get_random_bytes(key, sizeof(key));
	/* Ids must never repeat, not even after this host is gone: 2^64 connections are enough. */
	get_random_bytes(&host->next_id, sizeof(host->next_id));
	host->net = get_net(net);
	prio_rule(&rule);
	prio_pump_init(host);
	prio_egress_init(host);
	*err = mrpc_prio_init(&host->ep, &rule, &prio_small, host, host->hash, PRIO_BUCKETS, key,
			      ktime_get_ns());
	if (!*err)
		*err = prio_owners_open(host);
	if (*err) {
		prio_host_free(host);
		return NULL;
	}
	list_add(&host->list, &prio_hosts);
	prio_net(net)->host = host;
	prio_net(net)->used = true;
	prio_reap_later();
	return host;
}

/* Adds counters to others. */
static void prio_stats_add(struct mrpc_prio_stats *to, const struct mrpc_prio_stats *more)
{
	const u64 *from = (const u64 *)more;
	u64 *sum = (u64 *)to;
	u32 i;

	static_assert(sizeof(*to) % sizeof(*sum) == 0);
	for (i = 0; i < sizeof(*to) / sizeof(*sum); i++)
		sum[i] += from[i];
}

static void prio_host_settle(struct prio_host *host)
{
	struct prio_net *pn = prio_net(host->net);

	if (!list_empty(&host->ports))
		return;
	list_del(&host->list);
	pn->host = NULL;
	prio_stats_add(&pn->past, &host->ep.stats);
	prio_host_free(host);
}

static bool prio_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a6->sin6_port == b6->sin6_port && a6->sin6_scope_id == b6->sin6_scope_id &&
	       ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr);
}

/* -- ports: under prio_ports_lock ------------------------------------------------------ */

/* Directs packets for @sock to the port. Return: 0, or -EALREADY: the socket is in use. */
static int prio_port_hook(struct prio_port *port, struct socket *sock)
{
	struct sock *sk = sock->sk;
	int on = 1, err;

	/* With this, packets of one size come as one. Without it they come one by one. */
	sock->ops->setsockopt(sock, SOL_UDP, UDP_GRO, KERNEL_SOCKPTR(&on), sizeof(on));
	ip_sock_set_recverr(sk);
	if (sk->sk_family == AF_INET6)
		ip6_sock_set_recverr(sk);
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_ll_usec, 0);	/* the reader is already in softirq */
#endif
	write_lock_bh(&sk->sk_callback_lock);
	err = sk->sk_user_data ? -EALREADY : 0;
	if (!err) {
		port->data_ready = sk->sk_data_ready;
		port->error_report = sk->sk_error_report;
		sk->sk_data_ready = prio_packets_came;
		sk->sk_error_report = prio_errors_came;
		rcu_assign_sk_user_data(sk, port);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return err;
}

/* Stops directing packets for @sock to the port. */
static void prio_port_unhook(struct prio_port *port, struct socket *sock)
{
	struct sock *sk = sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, NULL);
	sk->sk_data_ready = port->data_ready;
	sk->sk_error_report = port->error_report;
	write_unlock_bh(&sk->sk_callback_lock);
	synchronize_rcu();	/* waits for callbacks that run */
}

static int prio_port_setup(struct prio_port *port)
{
	int err = kernel_getsockname(port->sock, (struct sockaddr *)&port->addr);

	if (err < 0)
		return err;
	port->number = inet_sk(port->sock->sk)->inet_sport;
	port->family = port->addr.ss_family;
	return prio_port_hook(port, port->sock);
}

/* Makes a port of @sock, which it owns on success. The caller is its first user. */
static struct prio_port *prio_port_new(struct net *net, struct socket *sock, bool connects,
				       int *err)
{
	struct prio_port *port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	struct prio_host *host;

	*err = -ENOMEM;
	if (!port)
		return NULL;
	host = prio_net(net)->host ?: prio_host_new(net, err);
	if (!host)
		goto free;
	port->host = host;
	port->sock = sock;
	port->connects = connects;
	port->taken = !connects;
	atomic_set(&port->users, 1);
	INIT_LIST_HEAD(&port->waiting);
	INIT_LIST_HEAD(&port->linked);
	INIT_LIST_HEAD(&port->idle);
	*err = prio_port_setup(port);
	if (*err)
		goto settle;
	list_add(&port->list, &host->ports);
	return port;
settle:
	prio_host_settle(host);
free:
	kfree(port);
	return NULL;
}

static void prio_port_close(struct prio_port *port)
{
	prio_port_unhook(port, port->sock);
	sock_release(port->sock);
	prio_peers_cut(port);
	prio_peers_idle(port, jiffies);
	list_del(&port->list);
	kfree(port);
}

/**
 * prio_port_connects() - find or make the port for clients
 * @net: in this namespace
 * @family: AF_INET or AF_INET6
 * @err: out: why not
 *
 * Context: process; may sleep. Return: the port, of which the caller is a user; or NULL.
 */
struct prio_port *prio_port_connects(struct net *net, u16 family, int *err)
{
	struct sockaddr_storage any = { .ss_family = family };
	struct prio_host *host;
	struct prio_port *port;
	struct socket *sock;

	mutex_lock(&prio_ports_lock);
	host = prio_net(net)->host;
	if (host)
		list_for_each_entry(port, &host->ports, list)
			if (port->connects && port->family == family) {
				atomic_inc(&port->users);
				goto out;
			}
	port = NULL;
	*err = prio_sock_kern(net, family, &sock);
	if (*err)
		goto out;
	if (family == AF_INET6)
		ip6_sock_set_v6only(sock->sk);
	*err = kernel_bind(sock, (struct sockaddr *)&any, family == AF_INET6 ?
			   sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
	if (!*err)
		port = prio_port_new(net, sock, true, err);
	if (!port)
		sock_release(sock);
out:
	mutex_unlock(&prio_ports_lock);
	return port;
}

/**
 * prio_port_listens() - make a bound socket a port
 * @net: its namespace
 * @sock: the socket; on success the port owns it
 * @err: out: why not
 *
 * Context: process; may sleep. Return: the port, of which the caller is a user; or NULL.
 */
struct prio_port *prio_port_listens(struct net *net, struct socket *sock, int *err)
{
	struct prio_port *port;

	mutex_lock(&prio_ports_lock);
	port = prio_port_new(net, sock, false, err);
	mutex_unlock(&prio_ports_lock);
	return port;
}

/**
 * prio_ports_unused() - close listeners' ports that are not in use any more
 * @net: their namespace
 *
 * They are about to be closed in any case. One that the reaper is closing just now is closed when
 * this returns. Context: process; may sleep.
 */
void prio_ports_unused(struct net *net)
{
	struct prio_host *host;
	struct prio_port *port, *next;

	mutex_lock(&prio_ports_lock);
	host = prio_net(net)->host;
	if (!host)
		goto out;
	list_for_each_entry_safe(port, next, &host->ports, list) {
		if (port->connects || atomic_read(&port->users))
			continue;
		prio_port_close(port);
	}
	prio_host_settle(host);
out:
	mutex_unlock(&prio_ports_lock);
}

/* The port that has this address and no listener, or NULL; under prio_ports_lock. */
static struct prio_port *prio_port_left(struct net *net, const struct sockaddr_storage *addr)
{
	struct prio_host *host = prio_net(net)->host;
	struct prio_port *port;

	if (!host)
		return NULL;
	list_for_each_entry(port, &host->ports, list)
		if (!port->connects && !READ_ONCE(port->taken) &&
		    prio_same_address(&port->addr, addr))
			return port;
	return NULL;
}

static void prio_sock_alone(struct sock *sk)
{
	lock_sock(sk);
	sk->sk_reuseport = 0;
	release_sock(sk);
}

/*
 * Replaces the port's socket by @sock. For a moment both have the address, which the network stack
 * allows to sockets of one user. So no other socket can take it in between.
 */
static int prio_port_exchange(struct prio_port *port, struct socket *sock,
			      const struct sockaddr_storage *addr, u32 addr_len)
{
	struct socket *old = port->sock;
	int err = prio_port_hook(port, sock);

	if (err)
		return err;
	sock_set_reuseport(old->sk);
	sock_set_reuseport(sock->sk);
	err = kernel_bind(sock, (struct sockaddr *)addr, addr_len);
	if (err) {
		prio_sock_alone(old->sk);
		prio_port_unhook(port, sock);
		return err;
	}
	port->sock = sock;
	prio_port_unhook(port, old);
	sock_release(old);
	prio_sock_alone(sock->sk);
	return 0;
}

/**
 * prio_port_adopt() - take over the port that has an address, if its listener has gone
 * @net: the namespace
 * @sock: a socket that is not bound; on success the port owns it
 * @addr: the address
 * @addr_len: its bytes
 * @err: out: why not
 *
 * Connections outlive their listener, and keep its port in use. The next listener of the same user
 * gets the same port, with a socket of its own.
 *
 * Context: process; may sleep. Return: the port, of which the caller is a user; or NULL.
 */
struct prio_port *prio_port_adopt(struct net *net, struct socket *sock,
				  const struct sockaddr_storage *addr, u32 addr_len, int *err)
{
	struct prio_port *port;

	mutex_lock(&prio_ports_lock);
	port = prio_port_left(net, addr);
	*err = port ? prio_port_exchange(port, sock, addr, addr_len) : -EADDRINUSE;
	if (*err) {
		port = NULL;
	} else {
		WRITE_ONCE(port->taken, true);
		atomic_inc(&port->users);
	}
	mutex_unlock(&prio_ports_lock);
	return port;
}

/* A listener's port without users expires at once. A clients' port may soon be used again. */
static bool prio_port_expired(const struct prio_port *port)
{
	return !port->connects || time_after_eq(jiffies, READ_ONCE(port->unused) + PRIO_GRACE);
}

/* Return: true if a port without users stays, because a user may still come. */
static bool prio_reap_host(struct prio_host *host, bool all)
{
	struct prio_port *port, *next;
	bool unused, left = false;

	list_for_each_entry_safe(port, next, &host->ports, list) {
		unused = !atomic_read(&port->users);
		if (all || (unused && prio_port_expired(port))) {
			prio_port_close(port);
			continue;
		}
		left |= unused;
		prio_peers_idle(port, jiffies - (prio_crowded(host) ? PRIO_GRACE : PRIO_IDLE));
	}
	prio_host_settle(host);
	return left;
}

static void prio_reap(struct work_struct *work)
{
	struct prio_host *host, *next;
	bool unused = false;

	mutex_lock(&prio_ports_lock);
	list_for_each_entry_safe(host, next, &prio_hosts, list)
		unused |= prio_reap_host(host, false);
	if (unused)
		prio_reap_soon();
	if (!list_empty(&prio_hosts))
		prio_reap_later();
	mutex_unlock(&prio_ports_lock);
}

/* prio_ports_apply() - apply changed settings to all hosts */
void prio_ports_apply(void)
{
	struct mrpc_prio_rule rule;
	struct prio_host *host;

	prio_rule(&rule);
	mutex_lock(&prio_ports_lock);
	list_for_each_entry(host, &prio_hosts, list) {
		spin_lock_bh(&host->lock);
		mrpc_prio_set(&host->ep, &rule);
		prio_unlock(host);
		prio_pump_kick(host);
	}
	mutex_unlock(&prio_ports_lock);
}

static void prio_look_host(struct prio_host *host, struct prio_look *look)
{
	spin_lock_bh(&host->lock);
	look->rule = host->ep.rule;
	prio_stats_add(&look->stats, &host->ep.stats);
	look->peers = host->nr_peers;
	look->links = atomic_read(&host->links.nelems);
	look->messages_out = host->ep.nr_tx;
	look->messages_in = host->ep.nr_rx;
	look->gap_maps = host->ep.nr_gaps;
	look->staged = host->staged;
	look->outstanding = host->ep.outstanding;
	look->below = sk_wmem_alloc_get(host->owner->sk) + sk_wmem_alloc_get(host->other->sk) +
		      sk_wmem_alloc_get(host->gated->sk) + sk_wmem_alloc_get(host->control->sk);
	spin_unlock_bh(&host->lock);
}

/**
 * prio_look() - get the state of the transport in a network namespace
 * @net: the namespace
 * @look: out
 *
 * Context: process; may sleep. Return: true if it was ever used there.
 */
bool prio_look(struct net *net, struct prio_look *look)
{
	struct prio_net *pn = prio_net(net);
	bool used;

	memset(look, 0, sizeof(*look));
	prio_rule(&look->rule);
	mutex_lock(&prio_ports_lock);
	used = pn->used;
	look->stats = pn->past;
	if (pn->host)
		prio_look_host(pn->host, look);
	mutex_unlock(&prio_ports_lock);
	return used;
}

static struct pernet_operations prio_net_ops = {
	.id	= &prio_net_id,
	.size	= sizeof(struct prio_net),
};

/* prio_ports_init() - called before the first port is made */
int __init prio_ports_init(void)
{
	int err;

	prio_gaps_cache = KMEM_CACHE(mrpc_prio_gaps, SLAB_NO_MERGE);
	if (!prio_gaps_cache)
		return -ENOMEM;
	prio_reaper_init(prio_reap);
	prio_params_init(prio_ports_apply);
	err = register_pernet_subsys(&prio_net_ops);
	if (err)
		kmem_cache_destroy(prio_gaps_cache);
	return err;
}

/* prio_ports_exit() - called at module removal: ends all ports that are left */
void prio_ports_exit(void)
{
	struct prio_host *host, *next;

	mutex_lock(&prio_ports_lock);
	list_for_each_entry_safe(host, next, &prio_hosts, list)
		prio_reap_host(host, true);
	mutex_unlock(&prio_ports_lock);
	prio_reaper_stop();	/* without hosts it is not scheduled again */
	synchronize_net();	/* waits for the last callbacks of sockets */
	unregister_pernet_subsys(&prio_net_ops);
	kmem_cache_destroy(prio_gaps_cache);
}
