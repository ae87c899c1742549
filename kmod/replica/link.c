// SPDX-License-Identifier: GPL-2.0
/* Links of replicas: connections that the kernel makes to carry calls of other connections. */
#include <linux/ktime.h>

#include "call/handshake.h"
#include "call/tx.h"
#include "conn/close.h"
#include "conn/create.h"
#include "core/conn.h"
#include "core/notify.h"
#include "core/rpc.h"
#include "core/services.h"
#include "core/session.h"
#include "core/transport.h"
#include "exec/kick.h"
#include "lib/balance.h"
#include "replica/egress.h"
#include "replica/link.h"
#include "replica/replica.h"
#include "replica/set.h"

/* Under set->lock. */
static u32 mrpc_replica_index(const struct mrpc_replicas *set, const struct mrpc_replica *replica)
{
	u32 i;

	for (i = 0; i < set->b.nr; i++)
		if (set->b.members[i] == &replica->m)
			return i;
	return MRPC_LB_CANDIDATES;
}

/**
 * mrpc_replica_outcome() - handle a call that is no longer on a link
 * @link: the link
 * @call: the call
 * @sent: it was sent
 * @status: and ended with this status
 *
 * UNAVAILABLE counts against the replica; any other status is an answer.
 *
 * Context: process; may sleep.
 */
void mrpc_replica_outcome(struct mrpc_conn *link, const struct mrpc_call *call, bool sent,
			  u16 status)
{
	struct mrpc_replica *replica = link->replica;
	struct mrpc_replicas *set = replica->set;
	struct mrpc_lb_done end = { .key = replica->m.key, .status = status, .sent = sent };
	/* The acquire pairs with the release that sets a chooser, after set->done. */
	bool tell = smp_load_acquire(&set->chooser) && READ_ONCE(set->outcomes), kick;

	spin_lock(&set->lock);
	if (call->given)
		end.latency = ktime_get_ns() - call->given;
	if (!sent)
		mrpc_member_take_back(&replica->m);
	else if (status == MRPC_UNAVAILABLE)
		mrpc_member_bad(&set->b, &replica->m, ktime_get_ns());
	else
		mrpc_member_good(&replica->m);
	if (call->given && sent && status != MRPC_UNAVAILABLE)
		mrpc_member_took(&replica->m, end.latency);
	if (tell)
		end.index = mrpc_replica_index(set, replica);
	kick = mrpc_replicas_stir(set);
	spin_unlock(&set->lock);
	if (tell)
		set->done(set, call, &end);
	if (kick)
		mrpc_kick_again(set->conn, MRPC_CONN_TX_READY);
}

/**
 * mrpc_replica_up() - allow calls on a link
 * @link: the link; its handshake is done, and its end has not been reported
 *
 * Called once per link. Context: process.
 */
void mrpc_replica_up(struct mrpc_conn *link)
{
	struct mrpc_replica *replica = link->replica;
	struct mrpc_replicas *set = replica->set;
	bool kick;

	spin_lock(&set->lock);
	mrpc_member_up(&replica->m);
	replica->why = NULL;
	kick = mrpc_replicas_stir(set);
	spin_unlock(&set->lock);
	mrpc_notify_conn(link, MRPC_EVENT_CONN_OPEN);
	if (kick)
		mrpc_kick_again(set->conn, MRPC_CONN_TX_READY);
}

/* The replica has no link, and will not have one at once. */
static void mrpc_replica_fail(struct mrpc_replica *replica, const char *why)
{
	struct mrpc_replicas *set = replica->set;
	struct mrpc_conn *link;
	bool kick;

	spin_lock(&set->lock);
	link = replica->conn;
	replica->conn = NULL;
	replica->why = why;
	mrpc_member_down(&set->b, &replica->m, ktime_get_ns());
	kick = mrpc_replicas_stir(set);
	spin_unlock(&set->lock);
	if (link)
		mrpc_conn_put(link);
	if (kick)
		mrpc_kick_again(set->conn, MRPC_CONN_TX_READY);
}

/**
 * mrpc_replica_down() - handle the end of a link
 * @link: the link; its close work calls this
 */
void mrpc_replica_down(struct mrpc_conn *link)
{
	struct mrpc_replica *replica = link->replica;

	mrpc_conn_forget(link);
	mrpc_replica_fail(replica, link->why);
	mrpc_replicas_queue(replica->set);
}

/**
 * mrpc_replica_parent() - number of the connection that a link carries calls for
 * @link: the link
 */
u32 mrpc_replica_parent(const struct mrpc_conn *link)
{
	return link->replica->set->conn->id;
}

/**
 * mrpc_replica_free() - drop a link's reference to its replica, with the link's last reference
 * @link: the link
 */
void mrpc_replica_free(struct mrpc_conn *link)
{
	mrpc_replica_put(link->replica);
}

/* Sets up a link with the services and limits of its connection. */
static int mrpc_link_like(struct mrpc_conn *link, const struct mrpc_conn *conn)
{
	int err;

	link->link.max_message = conn->link.max_message;
	link->link.keepalive = conn->link.keepalive;
	err = mrpc_services_copy(&link->services, conn->services.list, conn->services.nr);
	if (err)
		return err;
	/* It is given calls in places that may not sleep. */
	return mrpc_calls_grow(link, link->calls.client.limit);
}

/* Starts a link. From here on its close work reports its end. */
static void mrpc_link_start(struct mrpc_replica *replica, struct mrpc_conn *link)
{
	struct mrpc_replicas *set = replica->set;

	mrpc_conn_get(link);
	replica->tried = ktime_get_ns();
	spin_lock(&set->lock);
	replica->conn = link;
	spin_unlock(&set->lock);
	if (mrpc_conn_publish(link) || mrpc_conn_send_hello(link))
		mrpc_conn_close(link, MRPC_UNAVAILABLE, "no handshake could be begun", true);
	else
		mrpc_datapath_tx(link);
}

/* Return: NULL, or why there is no link. */
static const char *mrpc_link_try(struct mrpc_replica *replica)
{
	const struct mrpc_replica_place *place = &replica->place;
	struct mrpc_conn *conn = replica->set->conn, *link;
	const char *why = NULL;
	int err;

	__module_get(place->ops->owner);
	link = mrpc_conn_new(conn->session, place->ops, NULL);
	if (IS_ERR(link)) {
		mrpc_transport_put(place->ops);
		return PTR_ERR(link) == -EDQUOT ? "this user has too many connections" :
						  "no memory for a connection";
	}
	refcount_inc(&replica->ref);
	link->replica = replica;
	err = mrpc_link_like(link, conn);
	if (!err)
		err = mrpc_session_reserve(conn->session, &link->id);
	if (err) {
		why = "no memory for a connection";
	} else {
		err = place->ops->connect(&link->link, &place->addr, place->addr_len, &why);
		if (err)
			mrpc_session_unreserve(conn->session, link->id);
		else
			mrpc_link_start(replica, link);
	}
	mrpc_conn_put(link);
	return err ? why ?: "no link can be made" : NULL;
}

/* Connects with the application's credentials, as far as that is possible outside of it. */
void mrpc_replica_connect(struct mrpc_replica *replica)
{
	const struct cred *cred = override_creds(replica->set->conn->session->cred);
	const char *why = mrpc_link_try(replica);

	revert_creds(cred);
	if (why)
		mrpc_replica_fail(replica, why);
}

/* Drains a replica that leaves: its link finishes the calls that it carries. */
void mrpc_replica_drain(struct mrpc_replica *replica, struct mrpc_conn *link, bool ending)
{
	if (!link) {
		list_del(&replica->list);
		mrpc_replica_put(replica);
		return;
	}
	switch (READ_ONCE(link->state)) {
	case MRPC_CONN_CONNECTING:
		ending = true;
		break;
	case MRPC_CONN_READY:
		if (!ending)
			mrpc_conn_bye(link);
		break;
	}
	if (ending) {
		set_bit(MRPC_CONN_LEFT, &link->flags);	/* ends in order, if it is idle */
		mrpc_conn_close(link, MRPC_UNAVAILABLE, "the connection has ended", true);
	}
}
