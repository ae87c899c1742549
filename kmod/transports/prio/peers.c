// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: the table of peers, and the routes to them.
 */
#include <linux/jhash.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>

#include "lib/prio/prio.h"
#include "lib/prio/wire.h"
#include "transports/prio/peers.h"
#include "transports/prio/reaper.h"

#define PRIO_MAX_PEERS	65536	/* of a host; clients find room when strangers do not */
#define PRIO_MAX_OF_HOST	(PRIO_MAX_PEERS / 4)	/* strangers of one remote host */
#define PRIO_HEADERS	(sizeof(struct udphdr) + MRPC_PRIO_DATA_HDR)

/* -- tables ------------------------------------------------------------------------------ */

/* Omits the local address: at clients' ports it is what a route said at some time. */
static u32 prio_path_hash(const void *data, u32 len, u32 seed)
{
	const struct prio_path *path = data;

	return jhash(&path->remote, sizeof(path->remote), seed ^
		     ((__force u32)path->rport << 16 | (__force u32)path->lport));
}

static u32 prio_peer_hash(const void *data, u32 len, u32 seed)
{
	const struct prio_peer *peer = data;

	return prio_path_hash(&peer->path, len, seed);
}

static int prio_peer_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct prio_peer *peer = obj;
	const struct prio_path *a = &peer->path, *b = arg->key;
	size_t far = offsetof(struct prio_path, remote);

	if (memcmp((const u8 *)a + far, (const u8 *)b + far, sizeof(*a) - far))
		return 1;
	return !peer->port->connects && !ipv6_addr_equal(&a->local, &b->local);
}

static struct kmem_cache *prio_peer_cache;	/* kmalloc() would take a KiB for each */

static const struct rhashtable_params prio_peer_params = {
	.head_offset		= offsetof(struct prio_peer, node),
	.key_len		= sizeof(struct prio_path),
	.hashfn			= prio_path_hash,
	.obj_hashfn		= prio_peer_hash,
	.obj_cmpfn		= prio_peer_cmp,
	.automatic_shrinking	= true,
};

int prio_peers_table(struct prio_host *host)
{
	return rhashtable_init(&host->peers, &prio_peer_params);
}

/*
 * Which of MRPC_PRIO_HOSTS a path leads to. A host may use any port and, of IPv6, any address of a
 * network; it cannot choose among many of these.
 */
u8 prio_path_host(const struct prio_host *host, const struct prio_path *path)
{
	const u32 *words = (__force const u32 *)path->remote.s6_addr32;

	static_assert(MRPC_PRIO_HOSTS - 1 == U8_MAX);
	return jhash2(words, path->family == AF_INET ? 1 : 2, host->ep.key[1]);
}

/* A peer goes: no look-up finds it any more. The caller frees it after a grace period. */
void prio_peer_unlist(struct prio_peer *peer)
{
	struct prio_host *host = peer->port->host;

	rhashtable_remove_fast(&host->peers, &peer->node, prio_peer_params);
	list_del(&peer->of_port);
	host->nr_peers--;
	if (!peer->port->connects &&
	    host->nr_strangers[peer->core.host]-- == PRIO_MAX_OF_HOST / 2)
		host->nr_crowded--;
}

/* -- peers: under host->lock --------------------------------------------------------------- */

struct prio_peer *prio_peer_find(struct prio_host *host, const struct prio_path *path)
{
	return rhashtable_lookup_fast(&host->peers, path, prio_peer_params);
}

/* prio_crowded() - are there so many peers that those without connections must go soon? */
bool prio_crowded(const struct prio_host *host)
{
	return READ_ONCE(host->nr_peers) >= PRIO_MAX_PEERS / 2 || READ_ONCE(host->nr_crowded);
}

/**
 * prio_peer_new() - make a peer that the protocol does not know yet
 * @port: the port through which it is reached
 * @path: its addresses
 *
 * Return: the peer, without links; the caller gives it to the protocol at once. NULL: no memory, or
 * too many peers.
 */
struct prio_peer *prio_peer_new(struct prio_port *port, const struct prio_path *path)
{
	struct prio_host *host = port->host;
	u8 at = prio_path_host(host, path);
	struct prio_peer *peer;

	if (prio_crowded(host))
		prio_ports_crowd();
	if (host->nr_peers >= (port->connects ? PRIO_MAX_PEERS : PRIO_MAX_PEERS / 4 * 3))
		return NULL;
	if (!port->connects && host->nr_strangers[at] >= PRIO_MAX_OF_HOST)
		return NULL;
	peer = kmem_cache_zalloc(prio_peer_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!peer)
		return NULL;
	peer->path = *path;
	peer->port = port;
	INIT_HLIST_HEAD(&peer->links);
	if (rhashtable_insert_fast(&host->peers, &peer->node, prio_peer_params)) {
		kmem_cache_free(prio_peer_cache, peer);
		return NULL;
	}
	peer->since = jiffies;
	list_add_tail(&peer->of_port, &port->idle);
	host->nr_peers++;
	if (!port->connects && ++host->nr_strangers[at] == PRIO_MAX_OF_HOST / 2)
		host->nr_crowded++;
	return peer;
}

/**
 * prio_peer_used() - add a link to a peer
 * @peer: the peer
 * @link: the link, new
 */
void prio_peer_used(struct prio_peer *peer, struct prio_link *link)
{
	list_move_tail(&peer->of_port, &peer->port->linked);
	hlist_add_head(&link->of_peer, &peer->links);
}

/**
 * prio_peer_unused() - remove a link from a peer
 * @peer: the peer
 * @link: the link, about to be freed
 */
void prio_peer_unused(struct prio_peer *peer, struct prio_link *link)
{
	hlist_del(&link->of_peer);
	if (!hlist_empty(&peer->links))
		return;
	peer->since = jiffies;
	list_move_tail(&peer->of_port, &peer->port->idle);
}

static int prio_peer_end(const struct prio_peer *peer)
{
	return peer->core.status == MRPC_PRIO_SILENT ? -ETIMEDOUT : -ECONNRESET;
}

/* Does the end of an association, or a new one, end @link? */
static bool prio_link_ends(const struct prio_link *link, const struct mrpc_prio_peer *core)
{
	if (core->state == MRPC_PRIO_PEER_UP)
		return link->token && link->token != core->local;
	/* The protocol sends unheard messages again to the next incarnation. */
	return link->token || core->status != MRPC_PRIO_RESTARTED;
}

/**
 * prio_peer_events() - handle associations that were made or have ended
 * @host: the host
 *
 * A connection belongs to one association, and ends with it: the other end of the next association
 * does not know it. A connection whose OPEN has not arrived belongs to none.
 */
void prio_peer_events(struct prio_host *host)
{
	struct mrpc_prio_peer *core;
	struct prio_link *link;

	while ((core = mrpc_prio_peer_event(&host->ep))) {
		struct prio_peer *peer = prio_peer_of(core);

		hlist_for_each_entry(link, &peer->links, of_peer) {
			if (prio_link_ends(link, core))
				prio_link_fail(link, prio_peer_end(peer));
		}
	}
}

/* prio_peer_refused() - end the links of a peer where no endpoint answers the HELLO */
void prio_peer_refused(struct prio_peer *peer)
{
	struct prio_link *link;

	hlist_for_each_entry(link, &peer->links, of_peer)
		prio_link_fail(link, -ECONNREFUSED);
}

/* -- routes ------------------------------------------------------------------------------ */

static struct dst_entry *prio_route4(struct prio_host *host, struct prio_path *path)
{
	struct flowi4 fl = {
		.flowi4_proto	= IPPROTO_UDP,
		.saddr		= path->local.s6_addr32[0],
		.daddr		= path->remote.s6_addr32[0],
		.fl4_sport	= path->lport,
		.fl4_dport	= path->rport,
	};
	struct rtable *rt = ip_route_output_flow(host->net, &fl, host->owner->sk);

	if (IS_ERR(rt))
		return NULL;
	path->local.s6_addr32[0] = fl.saddr;
	return &rt->dst;
}

static struct dst_entry *prio_route6(struct prio_host *host, struct prio_path *path)
{
	struct flowi6 fl = {
		.flowi6_proto	= IPPROTO_UDP,
		.flowi6_oif	= path->scope,
		.saddr		= path->local,
		.daddr		= path->remote,
		.fl6_sport	= path->lport,
		.fl6_dport	= path->rport,
	};
	struct dst_entry *dst;

	if (!ipv6_mod_enabled())
		return NULL;
	dst = ipv6_stub->ipv6_dst_lookup_flow(host->net, NULL, &fl, NULL);
	if (IS_ERR(dst))
		return NULL;
	path->local = fl.saddr;
	return dst;
}

/**
 * prio_path_route() - find the route to an address
 * @host: the host
 * @path: the addresses; the local one is filled if it is zero
 *
 * Context: any but hard interrupt, no lock. Return: a reference, or NULL: there is none.
 */
struct dst_entry *prio_path_route(struct prio_host *host, struct prio_path *path)
{
	return path->family == AF_INET ? prio_route4(host, path) : prio_route6(host, path);
}

/* Bytes of payload in one packet. There is always some room for the protocol's own packets. */
static u32 prio_dst_payload(const struct prio_path *path, const struct dst_entry *dst)
{
	u32 headers = PRIO_HEADERS + (path->family == AF_INET ? sizeof(struct iphdr) :
				      sizeof(struct ipv6hdr));

	return clamp(dst_mtu(dst), headers + 256, PRIO_MAX_PACKET) - headers;
}

/**
 * prio_peer_route() - find the route to a peer
 * @host: the host; the caller pumps
 * @peer: the peer
 *
 * Also tells the protocol the size of a packet, and whether the peer is near. Context: softirq, no
 * lock. Return: a reference, or NULL: there is none now.
 */
struct dst_entry *prio_peer_route(struct prio_host *host, struct prio_peer *peer)
{
	struct dst_entry *dst = peer->dst;
	u32 payload;
	bool near;

	if (dst && !dst_check(dst, peer->dst_cookie)) {
		dst_release(dst);
		dst = NULL;
	}
	if (!dst) {
		dst = prio_path_route(host, &peer->path);
		peer->dst_cookie = dst && peer->path.family == AF_INET6 ?
				   rt6_get_cookie(dst_rt6_info(dst)) : 0;
	}
	peer->dst = dst;
	if (!dst)
		return NULL;
	payload = prio_dst_payload(&peer->path, dst);
	near = dst->dev->flags & IFF_LOOPBACK;
	if (payload != peer->core.path || near != peer->core.near) {
		spin_lock(&host->lock);
		mrpc_prio_peer_payload(&peer->core, payload);
		mrpc_prio_peer_near(&host->ep, &peer->core, near);
		spin_unlock(&host->lock);
	}
	dst_hold(dst);
	return dst;
}

int prio_peers_init(void)
{
	prio_peer_cache = KMEM_CACHE(prio_peer, 0);
	return prio_peer_cache ? 0 : -ENOMEM;
}

/* Waits for peers that are freed after a grace period. */
void prio_peers_exit(void)
{
	kmem_cache_destroy(prio_peer_cache);
}
