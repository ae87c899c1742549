// SPDX-License-Identifier: GPL-2.0
/* MRPC_IOC_CLOSE: ends a connection or listener, at once or when its calls have ended. */
#include <linux/ktime.h>

#include "app/close.h"
#include "app/poll.h"
#include "conn/accept.h"
#include "conn/close.h"
#include "core/conn.h"
#include "core/listener.h"
#include "core/session.h"

/* Return: 0, -ETIME or -EINTR. */
static int mrpc_conn_wait_drained(struct mrpc_conn *conn, u64 until)
{
	return mrpc_wait(conn->session, &conn->wait, mrpc_conn_is_drained, conn, until);
}

/*
 * All of them stop taking calls before any is waited for. A connection of a group ends with the group,
 * and only its calls end here.
 */
static int mrpc_listener_drain(struct mrpc_listener *l, u64 until)
{
	struct mrpc_session *session = l->session;
	struct mrpc_conn *conn;
	unsigned long id;
	int err = 0;

	for (id = 0; (conn = mrpc_conn_next(session, &id)); id++) {
		if (conn->listener == l && READ_ONCE(conn->member))
			mrpc_conn_deny_calls(conn);
		else if (conn->listener == l)
			mrpc_conn_bye(conn);
		mrpc_conn_put(conn);
	}
	for (id = 0; (conn = mrpc_conn_next(session, &id)); id++) {
		if (conn->listener == l && !test_bit(MRPC_CONN_NO_CALLS, &conn->flags)) {
			err = mrpc_conn_wait_drained(conn, until) ?: err;
			mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the server has shut down", false);
		}
		mrpc_conn_put(conn);
	}
	return err;
}

static bool mrpc_conn_is_closed(void *ctx)
{
	struct mrpc_conn *conn = ctx;

	return test_bit(MRPC_CONN_DEAD, &conn->flags);
}

/**
 * mrpc_conn_end() - MRPC_IOC_CLOSE
 * @session: the session
 * @args: what to close
 *
 * A listener stops accepting; with MRPC_CLOSE_DRAIN the connections that it
 * accepted are drained and closed too, but for those of groups. When this returns 0, the
 * connection's calls have completed.
 *
 * Context: process; may sleep.
 * Return: 0; -ENOENT; -EINTR or -ETIME while draining, or while its calls complete: the
 * connection is closed all the same.
 */
int mrpc_conn_end(struct mrpc_session *session, const struct mrpc_close *args)
{
	u64 until = ktime_get_ns() + mrpc_us_or(args->timeout_us, 5 * NSEC_PER_SEC);
	bool drain = args->flags & MRPC_CLOSE_DRAIN;
	struct mrpc_listener *l;
	struct mrpc_conn *conn;
	int err = 0, ended;

	conn = mrpc_conn_find(session, args->id);
	if (conn) {
		if (drain) {
			mrpc_conn_bye(conn);
			err = mrpc_conn_wait_drained(conn, until);
		}
		/* The peer of one that is still being made need not hear of it. */
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "closed by this side",
				READ_ONCE(conn->state) == MRPC_CONN_CONNECTING);
		ended = mrpc_wait(session, &conn->wait, mrpc_conn_is_closed, conn,
				  ktime_get_ns() + 3 * NSEC_PER_SEC);
		err = err ?: ended;
		mrpc_conn_forget(conn);
		mrpc_conn_put(conn);
		return err;
	}
	l = mrpc_listener_find(session, args->id);
	if (!l)
		return -ENOENT;
	mrpc_listener_close(l);
	if (drain)
		err = mrpc_listener_drain(l, until);
	mrpc_listener_put(l);
	return err;
}

/**
 * mrpc_conn_undo() - end a connection or listener that its application does not know of
 * @session: the session
 * @id: of the connection or listener
 *
 * Context: process; may sleep.
 */
void mrpc_conn_undo(struct mrpc_session *session, u32 id)
{
	const struct mrpc_close args = {
		.id = id,
		.flags = MRPC_CLOSE_DRAIN,
		.timeout_us = 1,
	};

	mrpc_conn_end(session, &args);
}
