// SPDX-License-Identifier: GPL-2.0
/* Accepting: a listener turns waiting links into connections. */
#include <linux/delay.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <net/ipv6.h>

#include "change/link_version.h"
#include "conn/accept.h"
#include "conn/create.h"
#include "core/conn.h"
#include "core/globals.h"
#include "core/listener.h"
#include "core/notify.h"
#include "core/services.h"
#include "core/session.h"
#include "core/user.h"
#include "exec/kick.h"
#include "lib/ds/claim.h"

#define MRPC_ACCEPT_BUDGET	64	/* links before others get a turn */
#define MRPC_SILENT_TIME	(250 * NSEC_PER_MSEC)	/* for a handshake while others wait */

int mrpc_listener_publish(struct mrpc_listener *l)
{
	int err;

	kref_get(&l->ref);
	err = mrpc_session_publish(l->session, l->id, xa_tag_pointer(l, MRPC_LISTENER_TAG));
	if (err) {
		mrpc_listener_put(l);
		return err;
	}
	mrpc_claim_enable(&l->claim);
	mrpc_kick_listener(l);
	return 0;
}

/* -- handshakes under way ---------------------------------------------------- */

/* The peer's host, as far as it cannot choose among many: of IPv6 the network. */
static u8 mrpc_listener_slot(const struct mrpc_listener *l, const struct sockaddr_storage *peer)
{
	const struct sockaddr_in6 *in6 = (const void *)peer;
	const struct sockaddr_in *in = (const void *)peer;
	u32 hash = 0;

	if (peer->ss_family == AF_INET)
		hash = jhash_1word((__force u32)in->sin_addr.s_addr, l->seed);
	else if (peer->ss_family == AF_INET6 && ipv6_addr_v4mapped(&in6->sin6_addr))
		hash = jhash_1word((__force u32)in6->sin6_addr.s6_addr32[3], l->seed);
	else if (peer->ss_family == AF_INET6)
		hash = jhash2((__force const u32 *)in6->sin6_addr.s6_addr32, 2, l->seed);
	return hash % MRPC_LISTENER_PEERS;
}

static void mrpc_listener_shakes(struct mrpc_listener *l, struct mrpc_conn *conn)
{
	conn->shaking_slot = mrpc_listener_slot(l, &conn->link.peer);
	spin_lock(&l->lock);
	list_add_tail(&conn->shaking, &l->shaking);
	WRITE_ONCE(l->accepted, l->accepted + 1);
	WRITE_ONCE(l->pending, l->pending + 1);
	l->peers[conn->shaking_slot]++;
	spin_unlock(&l->lock);
}

/* The oldest of the addresses with most handshakes under way, if it is old enough. */
static struct mrpc_conn *mrpc_listener_oldest(struct mrpc_listener *l)
{
	struct mrpc_conn *conn, *found = NULL;
	u32 most = 0, i;

	spin_lock(&l->lock);
	for (i = 1; i < MRPC_LISTENER_PEERS; i++)
		if (l->peers[i] > l->peers[most])
			most = i;
	list_for_each_entry(conn, &l->shaking, shaking)
		if (conn->shaking_slot == most) {
			if (ktime_get_ns() - conn->opened >= MRPC_SILENT_TIME &&
			    kref_get_unless_zero(&conn->ref))
				found = conn;
			break;
		}
	spin_unlock(&l->lock);
	return found;
}

/*
 * May a link be accepted? At the limit the one that has been silent for longest makes room, of
 * the address that has most, so that one peer with many does not keep others out.
 *
 * Return: 0; -EBUSY: not yet.
 */
static int mrpc_listener_room(struct mrpc_listener *l)
{
	struct mrpc_conn *conn;

	if (READ_ONCE(l->pending) < MRPC_LISTENER_PENDING)
		return 0;
	conn = mrpc_listener_oldest(l);
	if (!conn)
		return -EBUSY;
	/* A connection whose HELLO is being answered is not silent: it settles by itself. */
	if (test_bit(MRPC_CONN_DENIED, &conn->flags))
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the handshake was refused", false);
	else if (!test_and_set_bit(MRPC_CONN_HEARD, &conn->flags))
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "no handshake in time, and others wait",
				true);
	mrpc_listener_settled(conn);
	mrpc_conn_put(conn);
	return 0;
}

/* -- accepting ----------------------------------------------------------------- */

/* Returns a connection without a link, or an error pointer: no memory, or too many of the user. */
static struct mrpc_conn *mrpc_listener_conn(struct mrpc_listener *l)
{
	struct mrpc_conn *conn;

	__module_get(l->ops->owner);
	conn = mrpc_conn_new(l->session, l->ops, l);
	if (IS_ERR(conn)) {
		module_put(l->ops->owner);
		return conn;
	}
	conn->link.max_message = l->max_message;
	conn->link.keepalive = l->keepalive;
	return conn;
}

/* Begins a connection with the link that @begin makes. The caller keeps its reference. */
static int mrpc_listener_begin(struct mrpc_listener *l, struct mrpc_conn *conn,
			       mrpc_link_begin_fn begin, void *ctx)
{
	int err;

	err = mrpc_services_copy(&conn->services, l->services, l->nr_services);
	if (err)
		return err;
	err = mrpc_session_reserve(l->session, &conn->id);
	if (err)
		return err;
	err = begin(&conn->link, ctx);
	if (err) {
		mrpc_session_unreserve(l->session, conn->id);
		return err;
	}
	mrpc_link_begin(conn);
	mrpc_listener_shakes(l, conn);
	err = mrpc_conn_publish(conn);
	if (err)
		mrpc_listener_settled(conn);
	return err;
}

static int mrpc_listener_take(struct mrpc_link *link, void *ctx)
{
	struct mrpc_listener *l = ctx;

	return l->ops->accept(l, link);
}

/* Accept one link. Return: 0; -EAGAIN: none waits; or it was dropped. */
static int mrpc_listener_accept(struct mrpc_listener *l)
{
	struct mrpc_conn *conn;
	int err;

	if (!l->priv || !l->ops->waiting(l))
		return -EAGAIN;
	err = mrpc_listener_room(l);
	if (err)
		return err;
	conn = mrpc_listener_conn(l);
	if (IS_ERR(conn))
		return l->ops->accept(l, NULL);
	err = mrpc_listener_begin(l, conn, mrpc_listener_take, l);
	mrpc_conn_put(conn);
	return err;
}

/**
 * mrpc_listener_add() - begin a connection with a link that does not wait at the listener
 * @l: the listener, which has no socket
 * @begin: makes the link
 * @ctx: for @begin
 * @id: out: the connection
 *
 * Context: process; may sleep. Several threads may call it at once: then some more handshakes than
 * the limit can be under way.
 * Return: 0; -EBUSY: too many handshakes are under way, and all are young; -EDQUOT: the user has
 * too many connections; or another negative errno.
 */
int mrpc_listener_add(struct mrpc_listener *l, mrpc_link_begin_fn begin, void *ctx, u32 *id)
{
	struct mrpc_conn *conn;
	int err;

	if (READ_ONCE(l->closed))
		return -ESHUTDOWN;
	err = mrpc_listener_room(l);
	if (err)
		return err;
	conn = mrpc_listener_conn(l);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	err = mrpc_listener_begin(l, conn, begin, ctx);
	if (!err)
		*id = conn->id;
	mrpc_conn_put(conn);
	return err;
}

/**
 * mrpc_listener_run() - accept what waits
 * @l: the listener
 *
 * Context: process; may sleep.
 */
void mrpc_listener_run(struct mrpc_listener *l)
{
	int budget = MRPC_ACCEPT_BUDGET, err;

	if (!mrpc_claim_begin(&l->claim))
		return;
	do {
		err = 0;
		while (!err && !READ_ONCE(l->closed) && budget-- > 0)
			err = mrpc_listener_accept(l);
	} while (mrpc_claim_end(&l->claim));
	if (err == -EAGAIN || READ_ONCE(l->closed))
		return;
	if (!err) {
		mrpc_kick_listener(l);
		return;
	}
	/* No memory, all handshakes are young, or the like: not at once again. */
	kref_get(&l->ref);
	if (!queue_delayed_work(mrpc_end_wq, &l->retry, HZ / 10))
		mrpc_listener_put(l);
}

void mrpc_listener_retry(struct work_struct *work)
{
	struct mrpc_listener *l = container_of(to_delayed_work(work), struct mrpc_listener, retry);

	mrpc_kick_listener(l);
	mrpc_listener_put(l);
}

/**
 * mrpc_listener_close() - stop accepting; accepted connections stay
 * @l: the listener
 *
 * Context: process; may sleep.
 */
void mrpc_listener_close(struct mrpc_listener *l)
{
	struct mrpc_session *session = l->session;
	void *entry = xa_tag_pointer(l, MRPC_LISTENER_TAG);

	if (xa_cmpxchg(&session->conns, l->id, entry, NULL, 0) != entry)
		return;
	spin_lock_bh(&session->ready_lock);
	WRITE_ONCE(l->closed, true);
	spin_unlock_bh(&session->ready_lock);
	if (cancel_delayed_work_sync(&l->retry))
		mrpc_listener_put(l);
	if (!mrpc_claim_disable(&l->claim))
		while (!mrpc_claim_idle(&l->claim))
			usleep_range(20, 100);
	l->ops->unlisten(l);
	mrpc_user_uncharge_listener(session->user);
	mrpc_ready_remove_listener(l);
	mrpc_notify_listener(l, MRPC_EVENT_LISTENER_CLOSE);
	mrpc_listener_put(l);
}
