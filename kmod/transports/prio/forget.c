// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: forgetting peers without connections.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <net/dst.h>

#include "lib/prio/prio.h"
#include "transports/prio/forget.h"
#include "transports/prio/peers.h"

#define PRIO_FORGET	256	/* peers at a time */
#define PRIO_FRESH	HZ	/* so long an idle association is trusted */

/*
 * Frees a peer, and the protocol forgets it. It has no links, so none of its chunks is under way.
 * It is not host->told.
 */
static void prio_peer_free(struct prio_host *host, struct prio_peer *peer)
{
	mrpc_prio_peer_remove(&host->ep, &peer->core);
	prio_settle(host);
	WARN_ON_ONCE(!hlist_empty(&peer->links));
	prio_peer_unlist(peer);
	dst_release(peer->dst);
	kfree_rcu(peer, rcu);	/* a table that grows may still read it */
}

/* Frees some peers idle since @until or longer. Return: true if more of these are left. */
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
		nr += 1 + peer->core.nr_rx;	/* rejected messages that it still sends */
		prio_peer_free(host, peer);
	}
	prio_unlock(host);
	return left;
}

/* Gives up some peers with links. Return: true if there were any, those just given up included. */
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
 * prio_peers_cut() - end all links of a port's peers
 * @port: a port without connections, at which no packet comes any more
 *
 * When a connection ends, its link stays until the peer knows. A context may just be making the
 * last packet for it, without the lock. This function waits for that. Context: process; may sleep.
 */
void prio_peers_cut(struct prio_port *port)
{
	while (prio_peers_cut_some(port))
		usleep_range(20, 100);
}

/**
 * prio_peers_idle() - forget the peers of a port that have had no connection for long
 * @port: the port. If it is about to be closed, it has no links and gets none
 * @until: idle since then, jiffies
 *
 * Other packets wait for the lock meanwhile, so it frees some at a time. Context: process; may
 * sleep.
 */
void prio_peers_idle(struct prio_port *port, unsigned long until)
{
	while (prio_peers_some(port, until))
		usleep_range(20, 100);
}

/**
 * prio_peer_to() - find or make a peer to connect to
 * @port: a port for clients
 * @path: addresses
 *
 * A peer without connections may have restarted. Then the first message would be lost with the old
 * association. So the peer is made anew, unless it was in use a moment ago.
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
