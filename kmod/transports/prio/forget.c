// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: peers without connections, which are forgotten.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <net/dst.h>

#include "lib/prio/prio.h"
#include "transports/prio/forget.h"
#include "transports/prio/peers.h"

#define PRIO_FORGET	256	/* peers at a time */
#define PRIO_FRESH	HZ	/* an idle association is believed in */

/*
 * The protocol forgets it. It has no links, so none of its chunks is under way, and it is not
 * host->told.
 */
static void prio_peer_free(struct prio_host *host, struct prio_peer *peer)
{
	mrpc_prio_peer_remove(&host->ep, &peer->core);
	prio_settle(host);
	WARN_ON_ONCE(!hlist_empty(&peer->links));
	prio_peer_unlist(peer);
	dst_release(peer->dst);
	kfree_rcu(peer, rcu);	/* a table that grows may be looking at it */
}

/* Some of those idle since @until at the latest. Return: whether others are left of these. */
static bool prio_peers_some(struct prio_port *port, unsigned long until)
{
	struct prio_host *host = port->host;
	struct prio_peer *peer;
	bool left;
	u32 nr = 0;

	spin_lock_bh(&host->lock);
	for (;;) {
		peer = list_first_entry_or_null(&port->idle, struct prio_peer, of_port);
		left = peer && !time_after32(peer->since, until);
		if (!left || nr >= PRIO_FORGET || peer == host->told)
			break;
		nr += 1 + peer->core.nr_rx;	/* those that were rejected, and that it still sends */
		prio_peer_free(host, peer);
	}
	prio_unlock(host);
	return left;
}

/* Some of those with links. Return: whether there are such, also those that it took just now. */
static bool prio_peers_cut_some(struct prio_port *port)
{
	struct prio_host *host = port->host;
	struct prio_peer *peer;
	bool left;
	u32 nr = 0;

	spin_lock_bh(&host->lock);
	left = !list_empty(&port->linked);
	list_for_each_entry(peer, &port->linked, of_port) {
		if (nr >= PRIO_FORGET)
			break;
		nr += 1 + peer->core.nr_tx + peer->core.nr_rx;
		mrpc_prio_peer_give_up(&host->ep, &peer->core, ktime_get_ns());
	}
	prio_unlock(host);
	return left;
}

/**
 * prio_peers_cut() - no peer of a port has links any more
 * @port: a port without connections, at which no packet comes any more
 *
 * A connection's end leaves its link behind until the peer has heard of it. Whoever makes the
 * last packet for it just now, without the lock, is waited for. Context: process; may sleep.
 */
void prio_peers_cut(struct prio_port *port)
{
	while (prio_peers_cut_some(port))
		usleep_range(20, 100);
}

/**
 * prio_peers_idle() - forget who has had no connection for long
 * @port: a port: its peers. If it is about to be closed there are no links, and none come
 * @until: and since when, jiffies
 *
 * Others' packets wait meanwhile: for some at a time. Context: process; may sleep.
 */
void prio_peers_idle(struct prio_port *port, unsigned long until)
{
	while (prio_peers_some(port, until))
		usleep_range(20, 100);
}

/**
 * prio_peer_to() - somebody to connect to
 * @port: of those who connect
 * @path: addresses
 *
 * One without connections may have restarted since: what is sent first would be lost with the old
 * association. So there is a new one, unless it has been used just now.
 *
 * Return: the peer, or NULL: as prio_peer_new().
 */
struct prio_peer *prio_peer_to(struct prio_port *port, const struct prio_path *path)
{
	struct prio_host *host = port->host;
	struct prio_peer *peer = prio_peer_find(host, path);

	if (peer && hlist_empty(&peer->links) && peer != host->told &&
	    time_after32(jiffies, peer->since + PRIO_FRESH)) {
		prio_peer_free(host, peer);
		peer = NULL;
	}
	if (peer)
		return peer;
	peer = prio_peer_new(port, path);
	if (!peer)
		return NULL;
	mrpc_prio_peer_add(&host->ep, &peer->core, PRIO_FIRST_PAYLOAD, ktime_get_ns());
	peer->core.host = prio_path_host(host, path);
	return peer;
}
