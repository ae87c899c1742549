// SPDX-License-Identifier: GPL-2.0
/*
 * Links of replicas in egress domains.
 *
 * A link sends by a device as other connections do. So it takes turns in the domain there, as the
 * tenant of its connection: its calls have passed that connection's engines. No placement applies
 * to a link. So it is only in the list mrpc_net.links, and only its domain changes.
 *
 * The connection's engines say the tenant. They change under the connection's change_lock. Lock
 * order: the connection's change_lock, then the link's, then claims. The owner of a claim leaves
 * the work to the link's change_work.
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
 * mrpc_replica_place() - move a link to the domain to which it belongs, as the right tenant
 * @link: the link; its handshake is done
 *
 * After that it may carry calls, if it did not before. Context: process; waits.
 */
void mrpc_replica_place(struct mrpc_conn *link)
{
	struct mrpc_conn *conn = link->replica->set->conn;

	/* The connection's engines are going, and the link ends with it. */
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
 * mrpc_replica_join() - a link's handshake is done
 * @link: the link
 *
 * If there are domains, it carries no call before it has joined its own.
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
	/* A domain that is made now finds the link in the list. */
	if (domains)
		mrpc_datapath_change_later(link);
	else if (!test_and_set_bit(MRPC_CONN_CARRIES, &link->flags))
		mrpc_replica_up(link);
}

/**
 * mrpc_replicas_place() - place links again, because their connection's engines have changed
 * @conn: the connection; its links may belong to another tenant now
 *
 * Context: any but interrupt; does not wait.
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
