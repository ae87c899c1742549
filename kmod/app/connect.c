// SPDX-License-Identifier: GPL-2.0
/* MRPC_IOC_CONNECT: a connection with a complete handshake, or the reason why there is none. */
#include "app/connect.h"
#include "app/poll.h"
#include "call/handshake.h"
#include "call/tx.h"
#include "change/link_version.h"
#include "conn/create.h"
#include "core/conn.h"
#include "core/notify.h"
#include "core/refusal.h"
#include "core/services.h"
#include "core/session.h"
#include "core/transport.h"
#include "lib/message/wire.h"

#define MRPC_DEFAULT_MESSAGE	(64U << 20)
#define MRPC_DEFAULT_TIMEOUT	(10 * NSEC_PER_SEC)

/**
 * mrpc_conn_info() - MRPC_IOC_CONN_INFO
 * @session: the session
 * @info: names the connection; filled
 *
 * Return: 0 or -ENOENT.
 */
int mrpc_conn_info(struct mrpc_session *session, struct mrpc_conn_info *info)
{
	struct mrpc_conn *conn = mrpc_conn_find(session, info->conn);

	if (!conn)
		return -ENOENT;
	info->state = READ_ONCE(conn->state);
	info->accepted = conn->accepted;
	info->listener = conn->listener_id;
	info->calls = mrpc_conn_active(conn);
	strscpy_pad(info->transport, conn->home->name);
	memcpy(info->local, &conn->local, sizeof(info->local));
	memcpy(info->peer, &conn->peer, sizeof(info->peer));
	mrpc_conn_put(conn);
	return 0;
}

static bool mrpc_conn_is_up(void *ctx)
{
	struct mrpc_conn *conn = ctx;

	return READ_ONCE(conn->state) != MRPC_CONN_CONNECTING;
}

/* The link stands: shake hands. */
static int mrpc_conn_shake(struct mrpc_conn *conn, u64 until, struct mrpc_refusal *r)
{
	const char *why;
	bool closed;
	int err;

	r->status = MRPC_OK;
	conn->refusal = r;
	err = mrpc_conn_send_hello(conn);
	if (!err) {
		mrpc_datapath_tx(conn);
		err = mrpc_wait(conn->session, &conn->wait, mrpc_conn_is_up, conn, until);
	}
	spin_lock(&conn->lock);
	conn->refusal = NULL;
	closed = conn->state == MRPC_CONN_CLOSED;
	why = conn->why;
	spin_unlock(&conn->lock);
	if (err == -ETIME)
		mrpc_refuse(r, MRPC_DEADLINE_EXCEEDED, "the peer did not answer the handshake");
	if (err)
		return err == -ETIME ? -ETIMEDOUT : err;
	if (!closed)
		return 0;
	if (r->status == MRPC_OK) {
		if (test_bit(MRPC_CONN_REFUSED, &conn->flags)) {
			mrpc_refuse_link(r, NULL, -ECONNREFUSED);
			return -ECONNREFUSED;
		}
		mrpc_refuse(r, MRPC_UNAVAILABLE, "handshake: %s", why);
		return -ECONNRESET;
	}
	return -EPROTO;
}

/**
 * mrpc_conn_connect() - MRPC_IOC_CONNECT
 * @session: the session
 * @args: what to connect to; the id is filled
 * @r: why not
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno; -EPROTO: the peer refused, @r says why.
 */
int mrpc_conn_connect(struct mrpc_session *session, struct mrpc_connect *args,
		      struct mrpc_refusal *r)
{
	u64 until = ktime_get_ns() + mrpc_us_or(args->timeout_us, MRPC_DEFAULT_TIMEOUT);
	const struct mrpc_transport_ops *ops;
	const char *why = NULL;
	struct mrpc_conn *conn;
	u64 now;
	int err;

	ops = mrpc_transport_get(args->transport);
	if (!ops) {
		mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "there is no transport '%s'", args->transport);
		return -EPROTONOSUPPORT;
	}
	err = mrpc_session_here(session, r);
	if (err) {
		mrpc_transport_put(ops);
		return err;
	}
	conn = mrpc_conn_new(session, ops, NULL);
	if (IS_ERR(conn)) {
		mrpc_transport_put(ops);
		if (PTR_ERR(conn) == -EDQUOT)
			mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "this user has too many connections");
		return PTR_ERR(conn);
	}
	conn->max_message = min(args->max_message ?: MRPC_DEFAULT_MESSAGE, MRPC_MAX_MESSAGE);
	conn->keepalive = mrpc_conn_keepalive_ns(args->keepalive_us);
	err = mrpc_services_get(session, args, &conn->services, r);
	if (err)
		goto out;
	conn->nr_services = args->nr_schemas;
	err = mrpc_session_reserve(session, &conn->id);
	if (err)
		goto out;
	now = ktime_get_ns();
	err = -ETIMEDOUT;
	if (now < until)
		err = ops->connect(conn, args->addr, args->addr_len, until - now, &why);
	if (err) {
		mrpc_session_unreserve(session, conn->id);
		mrpc_refuse_link(r, why, err);
		goto out;
	}
	mrpc_link_begin(conn);
	err = mrpc_conn_publish(conn);
	if (err)
		goto close;
	err = mrpc_conn_shake(conn, until, r);
	if (err)
		goto close;
	args->id = conn->id;
	args->max_calls = READ_ONCE(conn->calls.limit);
	mrpc_notify_conn(conn, MRPC_EVENT_CONN_OPEN);
	mrpc_conn_put(conn);
	return 0;
close:
	mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the handshake failed", true);
	mrpc_conn_forget(conn);
out:
	mrpc_conn_put(conn);
	return err;
}
