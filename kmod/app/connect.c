// SPDX-License-Identifier: GPL-2.0
/* MRPC_IOC_CONNECT: a connection with a complete handshake, or the reason why there is none. */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "app/adopt.h"
#include "app/connect.h"
#include "app/poll.h"
#include "call/handshake.h"
#include "call/tx.h"
#include "change/link_version.h"
#include "conn/create.h"
#include "core/conn.h"
#include "core/listener.h"
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
	info->accepted = conn->link.accepted;
	info->listener = conn->listener ? conn->listener->id : 0;
	info->calls = mrpc_conn_active(conn);
	strscpy_pad(info->transport, conn->link.home->name);
	memcpy(info->local, &conn->link.local, sizeof(info->local));
	memcpy(info->peer, &conn->link.peer, sizeof(info->peer));
	strscpy_pad(info->identity, conn->link.identity ?: "");
	info->tls_version = conn->link.tls_version;
	info->tls_cipher = conn->link.tls_cipher;
	mrpc_conn_put(conn);
	return 0;
}

static bool mrpc_conn_is_up(void *ctx)
{
	struct mrpc_conn *conn = ctx;

	return READ_ONCE(conn->state) != MRPC_CONN_CONNECTING;
}

/* What a peer may not have liked that has ended the link instead of answering. */
static const char *mrpc_connect_hint(const struct mrpc_conn *conn, int err)
{
	/* Without TLS, where the peer has the same transport; and a server that is told to stop */
	if (!conn->link.ops->adopt || test_bit(MRPC_CONN_BYE, &conn->flags))
		return "";
	if (err == -EPROTO)
		return ": it may have another transport at this address";
	if (err != -ESHUTDOWN && err != -ECONNRESET && err != -EPIPE)
		return "";
	return conn->link.tls_version ? ": it may have refused the certificate of this end" :
					": it may expect TLS, or another transport";
}

/* What came of an attempt that has ended. Return: a negative errno. */
static int mrpc_connect_failed(struct mrpc_conn *conn, struct mrpc_refusal *r)
{
	int err = READ_ONCE(conn->link.err);

	spin_lock(&conn->lock);
	*r = *conn->refusal;
	spin_unlock(&conn->lock);
	if (r->status != MRPC_OK)
		return -EPROTO;
	switch (err) {
	case 0:
	case -ESHUTDOWN:
	case -ECONNRESET:
	case -EPIPE:
	case -EPROTO:
	case -EBADMSG:	/* these say what the peer did after there was a link */
		mrpc_refuse(r, MRPC_UNAVAILABLE, "handshake: %s%s", conn->why,
			    mrpc_connect_hint(conn, err));
		return -ECONNRESET;
	default:
		mrpc_refuse_link(r, NULL, err);
		return err;
	}
}

/* Return: 0; -EINTR or -ETIME: not yet; else why it has failed. */
static int mrpc_connect_wait(struct mrpc_conn *conn, u64 until, struct mrpc_refusal *r)
{
	int err = mrpc_wait(conn->session, &conn->wait, mrpc_conn_is_up, conn, until);
	bool closed;

	if (err)
		return err;
	spin_lock(&conn->lock);
	closed = conn->state == MRPC_CONN_CLOSED;
	spin_unlock(&conn->lock);
	if (closed)
		return mrpc_connect_failed(conn, r);
	if (!test_and_set_bit(MRPC_CONN_SHOOK, &conn->flags))
		mrpc_notify_conn(conn, MRPC_EVENT_CONN_OPEN);
	return 0;
}

static int mrpc_connect_link(struct mrpc_link *link, const struct mrpc_connect *args,
			     struct mrpc_refusal *r)
{
	const char *why = NULL;
	int err = link->ops->connect(link, args->addr, args->addr_len, &why);

	if (err)
		mrpc_refuse_link(r, why, err);
	return err;
}

static int mrpc_connect_begin(struct mrpc_conn *conn, struct mrpc_connect *args,
			      struct mrpc_refusal *r)
{
	int err;

	conn->link.max_message = min(args->max_message ?: MRPC_DEFAULT_MESSAGE,
				     MRPC_MAX_MESSAGE);
	conn->link.keepalive = mrpc_conn_keepalive_ns(args->keepalive_us);
	conn->refusal = kzalloc(sizeof(*conn->refusal), GFP_KERNEL_ACCOUNT);
	if (!conn->refusal)
		return -ENOMEM;
	err = mrpc_services_get(conn->session, args, &conn->services.list, r);
	if (err)
		return err;
	conn->services.nr = args->nr_schemas;
	err = mrpc_session_reserve(conn->session, &conn->id);
	if (err)
		return err;
	if (args->flags & MRPC_CONNECT_ADOPT)
		err = mrpc_adopt_link(&conn->link, args, r);
	else
		err = mrpc_connect_link(&conn->link, args, r);
	if (err) {
		mrpc_session_unreserve(conn->session, conn->id);
		return err;
	}
	mrpc_link_begin(conn);
	err = mrpc_conn_publish(conn);
	if (!err)
		err = mrpc_conn_send_hello(conn);
	if (!err)
		mrpc_datapath_tx(conn);
	return err;
}

/* Return: a connection in the making, a reference, or an error pointer. */
static struct mrpc_conn *mrpc_connect_new(struct mrpc_session *session, struct mrpc_connect *args,
					  struct mrpc_refusal *r)
{
	const struct mrpc_transport_ops *ops = mrpc_transport_get(args->transport);
	struct mrpc_conn *conn;
	int err;

	if (!ops) {
		mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "there is no transport '%s'", args->transport);
		return ERR_PTR(-EPROTONOSUPPORT);
	}
	err = mrpc_session_here(session, r);
	if (err) {
		mrpc_transport_put(ops);
		return ERR_PTR(err);
	}
	conn = mrpc_conn_new(session, ops, NULL);
	if (IS_ERR(conn)) {
		mrpc_transport_put(ops);
		if (PTR_ERR(conn) == -EDQUOT)
			mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "this user has too many connections");
		return conn;
	}
	err = mrpc_connect_begin(conn, args, r);
	if (err) {
		if (conn->link.priv) {
			mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the handshake failed", true);
			mrpc_conn_forget(conn);
		}
		mrpc_conn_put(conn);
		return ERR_PTR(err);
	}
	args->id = conn->id;
	return conn;
}

/* One that was begun before: a signal, or the time, ended the wait for it. */
static struct mrpc_conn *mrpc_connect_find(struct mrpc_session *session, u32 id)
{
	struct mrpc_conn *conn = mrpc_conn_find(session, id);

	if (conn && conn->refusal)	/* one that the application has begun */
		return conn;
	if (conn)
		mrpc_conn_put(conn);
	return ERR_PTR(-ENOENT);
}

/**
 * mrpc_conn_connect() - MRPC_IOC_CONNECT
 * @session: the session
 * @args: what to connect to; the id and the time limit are filled
 * @r: why not
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno; -EPROTO: the peer refused, @r says why; -EINTR, and with
 * MRPC_CONNECT_KEEP -ETIME: the attempt goes on, and @args names it.
 */
int mrpc_conn_connect(struct mrpc_session *session, struct mrpc_connect *args,
		      struct mrpc_refusal *r)
{
	struct mrpc_conn *conn;
	int err;

	if (!args->until_ns)
		args->until_ns = ktime_get_ns() + MRPC_DEFAULT_TIMEOUT;
	conn = args->id ? mrpc_connect_find(session, args->id) :
			  mrpc_connect_new(session, args, r);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	err = mrpc_connect_wait(conn, args->until_ns, r);
	if (!err) {
		args->max_calls = READ_ONCE(conn->calls.client.limit);
	} else if (err == -EINTR ? fatal_signal_pending(current) :
		   !(err == -ETIME && args->flags & MRPC_CONNECT_KEEP)) {
		if (err == -ETIME) {
			mrpc_refuse(r, MRPC_DEADLINE_EXCEEDED,
				    "the peer did not answer the handshake");
			err = -ETIMEDOUT;
		}
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the handshake failed", true);
		mrpc_conn_forget(conn);
		args->id = 0;
	}
	mrpc_conn_put(conn);
	return err;
}
