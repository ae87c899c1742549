// SPDX-License-Identifier: GPL-2.0
/*
 * Links of replicas in egress domains.
 *
 * What a link carries leaves by a device as everything does, so it takes turns there: as the
 * tenant that its connection is, whose engines it has passed. No placement reaches a link, so it is
 * in no list but mrpc_net.links, and only its domain changes.
 *
 * The tenant is in the engines of the connection, which change under its change_lock: that is taken
 * before the link's, and both before claims. Who owns a claim leaves it to the link's change_work.
 */
#include <linux/list.h>

#include "chain/chain.h"
#include "change/change.h"
#include "core/conn.h"
#include "core/net.h"
#include "core/session.h"
#include "replica/egress.h"
#include "replica/link.h"
#include "replica/replica.h"

/**
 * mrpc_replica_place() - put a link in the domain in which it belongs, as the tenant that it is
 * @link: the link; its handshake is done
 *
 * Then it may carry calls, if it did not before. Context: process; waits.
 */
void mrpc_replica_place(struct mrpc_conn *link)
{
	struct mrpc_conn *conn = link->replica->set->conn;

	/* Its engines go, and this one ends with it. */
	if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED)
		return;
	mutex_lock(&conn->dp.change_lock);
	mutex_lock_nested(&link->dp.change_lock, SINGLE_DEPTH_NESTING);
	mrpc_datapath_place(link, mrpc_chain_of(&conn->dp));
	/* Under the lock: its end comes later, and is told later. */
	if (READ_ONCE(link->state) == MRPC_CONN_READY &&
	    !test_and_set_bit(MRPC_CONN_CARRIES, &link->flags))
		mrpc_replica_up(link);
	mutex_unlock(&link->dp.change_lock);
	mutex_unlock(&conn->dp.change_lock);
}

/**
 * mrpc_replica_join() - a link has shaken hands
 * @link: the link
 *
 * Where there are domains it carries nothing before it is in its own.
 *
 * Context: owner of its receive claim.
 */
void mrpc_replica_join(struct mrpc_conn *link)
{
	struct mrpc_net *mn = mrpc_net(link->session->net);
	bool domains;

	spin_lock(&mn->lock);
	list_add_tail(&link->dp.in_net, &mn->links);
	mn->nr_links++;
	domains = mn->nr_domains;
	spin_unlock(&mn->lock);
	/* A domain that comes now finds it in the list. */
	if (domains)
		mrpc_datapath_change_later(link);
	else if (!test_and_set_bit(MRPC_CONN_CARRIES, &link->flags))
		mrpc_replica_up(link);
}

/**
 * mrpc_replicas_place() - a connection's engines are others: its links may be another tenant's
 * @conn: the connection
 *
 * Context: any but interrupt; nothing is waited for.
 */
void mrpc_replicas_place(struct mrpc_conn *conn)
{
	struct mrpc_net *mn = mrpc_net(conn->session->net);
	struct mrpc_conn *link;

	if (list_empty_careful(&conn->replicas) || !READ_ONCE(mn->nr_domains))
		return;
	spin_lock(&mn->lock);
	list_for_each_entry(link, &mn->links, dp.in_net)
		if (link->replica->set->conn == conn)
			mrpc_datapath_change_later(link);
	spin_unlock(&mn->lock);
}
