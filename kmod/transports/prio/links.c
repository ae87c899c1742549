// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: the table of links, and their lifetime. All under host->lock.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "exec/kick.h"
#include "lib/prio/wire.h"
#include "transports/prio/links.h"
#include "transports/prio/peers.h"
#include "transports/prio/reaper.h"

static const struct rhashtable_params prio_link_params = {
	.head_offset		= offsetof(struct prio_link, node),
	.key_offset		= offsetof(struct prio_link, key),
	.key_len		= sizeof(struct prio_link_key),
	.automatic_shrinking	= true,
};

int prio_links_init(struct prio_host *host)
{
	return rhashtable_init(&host->links, &prio_link_params);
}

/* prio_link_find() - find the link for a message, or NULL */
struct prio_link *prio_link_find(struct prio_peer *peer, u64 id)
{
	struct prio_link_key key = { .peer = peer, .id = id };

	return rhashtable_lookup_fast(&peer->port->host->links, &key, prio_link_params);
}

/* prio_link_put() - drop a reference */
void prio_link_put(struct prio_link *link)
{
	if (--link->ref)
		return;
	prio_peer_unused(link->key.peer, link);
	prio_port_put(link->port);
	kfree_rcu(link, rcu);	/* a table that grows may still read it */
}

/* Sets up a link of @peer. The caller is already a user of its port. */
int prio_link_setup(struct prio_link *link, struct prio_peer *peer, u64 id)
{
	link->ref = 1;
	link->port = peer->port;
	link->host = peer->port->host;
	link->key.peer = peer;
	link->key.id = id;
	INIT_LIST_HEAD(&link->waiting);
	INIT_LIST_HEAD(&link->outs);
	INIT_LIST_HEAD(&link->ins);
	INIT_LIST_HEAD(&link->ready);
	INIT_LIST_HEAD(&link->early);
	INIT_LIST_HEAD(&link->heads);
	if (rhashtable_insert_fast(&link->host->links, &link->node, prio_link_params))
		return -ENOMEM;
	link->known = true;
	prio_peer_used(peer, link);
	return 0;
}

/* From now on no message comes for the link. */
void prio_link_forget(struct prio_link *link)
{
	if (link->known)
		rhashtable_remove_fast(&link->host->links, &link->node, prio_link_params);
	link->known = false;
	link->upper = NULL;
}

/**
 * prio_link_arrives() - make a link for a new connection of a peer
 * @peer: the peer
 * @id: of the connection
 * @code: out: why not: enum mrpc_prio_refusal
 *
 * Return: the link, which waits to be accepted; or NULL.
 */
struct prio_link *prio_link_arrives(struct prio_peer *peer, u64 id, u32 *code)
{
	struct prio_port *port = peer->port;
	struct prio_link *link;

	if (!port->l)
		return NULL;
	*code = MRPC_PRIO_LATER;
	if (port->nr_waiting >= port->backlog)
		return NULL;
	link = kzalloc(sizeof(*link), GFP_ATOMIC | __GFP_NOWARN);
	if (!link)
		return NULL;
	if (prio_link_setup(link, peer, id)) {
		kfree(link);
		return NULL;
	}
	link->token = peer->core.local;
	atomic_inc(&port->users);
	list_add_tail(&link->waiting, &port->waiting);
	WRITE_ONCE(port->nr_waiting, port->nr_waiting + 1);
	mrpc_kick_listener(port->l);
	return link;
}

/* The next link that waits to be accepted, or NULL. */
struct prio_link *prio_link_waiting(struct prio_port *port)
{
	struct prio_link *link = list_first_entry_or_null(&port->waiting, struct prio_link,
							  waiting);

	if (!link)
		return NULL;
	list_del_init(&link->waiting);
	WRITE_ONCE(port->nr_waiting, port->nr_waiting - 1);
	return link;
}
