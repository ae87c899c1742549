// SPDX-License-Identifier: GPL-2.0
/* The connections of a rank: the application makes them, and gives them to it. */
#include "core/call.h"
#include "core/conn.h"
#include "core/refusal.h"
#include "core/rpc.h"
#include "exec/kick.h"
#include "group/end.h"
#include "group/link.h"
#include "group/member.h"
#include "group/run.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"

/**
 * mrpc_member_conn() - return the connection to another rank with a reference, or NULL
 * @m: the rank
 * @rank: the other rank
 *
 * Context: any but hard interrupt.
 */
struct mrpc_conn *mrpc_member_conn(struct mrpc_member *m, u32 rank)
{
	struct mrpc_conn *conn;

	spin_lock_bh(&m->lock);
	conn = m->links[rank].conn;
	if (conn)
		mrpc_conn_get(conn);
	spin_unlock_bh(&m->lock);
	return conn;
}

/**
 * mrpc_member_frame() - make a frame without bytes for another rank
 * @conn: the connection to it
 * @type: enum mrpc_wire_type
 * @meta_len: bytes of its body
 * @detail_len: bytes of its detail
 *
 * The caller fills it in, and submits it. Context: process; may sleep.
 * Return: the frame; NULL: there is no memory.
 */
struct mrpc_call *mrpc_member_frame(struct mrpc_conn *conn, u8 type, u32 meta_len, u32 detail_len)
{
	struct mrpc_call *call = mrpc_call_new(conn, MRPC_ROLE_CHUNK, GFP_KERNEL);

	if (!call)
		return NULL;
	call->priority = MRPC_RANK_CONTROL;
	call->rpc.frame.type = type;
	if (!mrpc_rpc_prefix(&call->rpc, meta_len, detail_len))
		return call;
	mrpc_call_put(call);
	return NULL;
}

/**
 * mrpc_conn_member() - return the rank for which something has arrived
 * @conn: the connection
 *
 * Context: owner of the receive claim.
 * Return: the rank; or NULL: the connection has none yet, and is kicked when it has.
 */
struct mrpc_member *mrpc_conn_member(struct mrpc_conn *conn)
{
	/* Pairs with the release in mrpc_member_set_link(). */
	struct mrpc_member *m = smp_load_acquire(&conn->member);

	if (!m)
		set_bit(MRPC_CONN_EARLY, &conn->flags);
	return m;
}

/* Why a connection cannot belong to a group, or NULL. */
static const char *mrpc_member_unfit(struct mrpc_conn *conn)
{
	if (!mrpc_features_accept(&conn->link.features, MRPC_FEATURE_GROUP))
		return "its transport, or the peer, carries no chunks of groups";
	if (min(conn->services.peer_max_message, conn->link.max_message) < MRPC_WIRE_CHUNK_BYTES)
		return "it takes messages of less than a chunk of 64 KiB";
	return NULL;
}

/* Under both locks. */
static int mrpc_member_set_link(struct mrpc_member *m, u32 rank, struct mrpc_conn *conn)
{
	if (m->status != MRPC_OK)
		return -ESHUTDOWN;
	if (m->links[rank].conn || m->links[rank].left)
		return -EEXIST;
	mrpc_conn_get(conn);
	conn->member_rank = rank;
	/* Pairs with the acquire in mrpc_conn_member(). */
	smp_store_release(&conn->member, m);
	/* From here on the member sends chunks over it. mrpc_member_sent() asks for the member. */
	m->links[rank].conn = conn;
	return 0;
}

/* Makes a READY connection one of @m's. It takes over a reference of @m if this succeeds. */
static int mrpc_member_bind(struct mrpc_member *m, u32 rank, struct mrpc_conn *conn)
{
	int err = 0;

	spin_lock(&conn->lock);
	if (conn->state != MRPC_CONN_READY) {
		err = -ENOTCONN;
	} else if (conn->member) {
		err = -EBUSY;
	} else if (mrpc_member_unfit(conn)) {	/* known once it is READY */
		err = -EOPNOTSUPP;
	} else {
		spin_lock_bh(&m->lock);
		err = mrpc_member_set_link(m, rank, conn);
		spin_unlock_bh(&m->lock);
	}
	spin_unlock(&conn->lock);
	return err;
}

static void mrpc_refuse_bind(struct mrpc_refusal *r, const struct mrpc_group_link *args,
			     struct mrpc_conn *conn, int err)
{
	if (err == -ENOTCONN)
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, "connection %u is not ready", args->conn);
	else if (err == -EBUSY)
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, "connection %u belongs to a group",
			    args->conn);
	else if (err == -EEXIST)
		mrpc_refuse(r, MRPC_ALREADY_EXISTS, "rank %u has a connection, or has left", args->rank);
	else if (err == -EOPNOTSUPP)
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, "connection %u: %s", args->conn,
			    mrpc_member_unfit(conn));
	else
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, "the group has ended");
}

static int mrpc_member_link_conn(struct mrpc_member *m, const struct mrpc_group_link *args,
				 struct mrpc_conn *conn, struct mrpc_refusal *r)
{
	int err;

	if (args->rank >= m->ranks || args->rank == m->rank) {
		mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
			    "rank %u: another rank than %u of the %u is meant", args->rank,
			    m->rank, m->ranks);
		return -EINVAL;
	}
	kref_get(&m->ref);
	err = mrpc_member_bind(m, args->rank, conn);
	if (err) {
		mrpc_member_put(m);
		mrpc_refuse_bind(r, args, conn, err);
		return err;
	}
	/* The peer may have sent a chunk before, and a report may be owed to it. */
	mrpc_kick_again(conn, MRPC_CONN_RX_READY);
	mrpc_member_run(m);
	return 0;
}

/**
 * mrpc_member_link() - MRPC_IOC_GROUP_LINK
 * @session: the session
 * @args: rank and connection
 * @r: out: the reason of a failure
 *
 * Context: process; may sleep.
 * Return: 0; -ENOENT; -EINVAL; -EOPNOTSUPP; -ENOTCONN, -EBUSY, -EEXIST, -ESHUTDOWN.
 */
int mrpc_member_link(struct mrpc_session *session, const struct mrpc_group_link *args,
		     struct mrpc_refusal *r)
{
	struct mrpc_member *m = mrpc_member_find(session, args->group);
	struct mrpc_conn *conn;
	int err = -ENOENT;

	if (!m) {
		mrpc_refuse(r, MRPC_NOT_FOUND, "no group %u", args->group);
		return -ENOENT;
	}
	conn = mrpc_conn_find(session, args->conn);
	if (conn) {
		err = mrpc_member_link_conn(m, args, conn, r);
		mrpc_conn_put(conn);
	} else {
		mrpc_refuse(r, MRPC_NOT_FOUND, "no connection %u", args->conn);
	}
	mrpc_member_put(m);
	return err;
}

/**
 * mrpc_member_unlink() - the link of a connection has ended
 * @conn: the connection, which belongs to a group; no thread has its claims
 *
 * Context: process; may sleep.
 */
void mrpc_member_unlink(struct mrpc_conn *conn)
{
	struct mrpc_member *m = conn->member;
	struct mrpc_member_link *link = &m->links[conn->member_rank];
	bool left;

	spin_lock_bh(&m->lock);
	link->conn = NULL;
	left = link->left;
	if (m->receiving == conn)
		m->receiving = NULL;
	spin_unlock_bh(&m->lock);
	if (!left)
		mrpc_member_fail(m, MRPC_UNAVAILABLE, "rank %u is lost: %s", conn->member_rank,
				 conn->why);
	mrpc_member_run(m);
	mrpc_conn_put(conn);
}
