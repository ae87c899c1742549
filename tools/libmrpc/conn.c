// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Binding schemas, and connections that this side makes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "channel.h"
#include "clock.h"
#include "conn.h"
#include "secure.h"

#define CONNECT_TIMEOUT_US	10000000u

static struct bind *bind_find(struct mrpc_session *session, const struct mrpc_service_desc *desc)
{
	struct bind *b;

	for (b = session->binds; b; b = b->next)
		if (b->len == desc->schema_len &&
		    (b->schema == desc->schema || !memcmp(b->schema, desc->schema, b->len)))
			return b;
	return NULL;
}

/* Under the session's lock. */
static int bind_locked(struct mrpc_session *session, const struct mrpc_service_desc *desc,
		       struct mrpc_bind_info *info)
{
	char why[EXPLAIN_LEN] = "";
	struct mrpc_bind arg = { .size = sizeof(arg) };
	struct bind *b = bind_find(session, desc);
	int err;

	if (!b) {
		b = calloc(1, sizeof(*b));
		if (!b)
			return fail(ENOMEM, "out of memory");
		arg.schema = (uintptr_t)desc->schema;
		arg.len = desc->schema_len;
		arg.explain.buf = (uintptr_t)why;
		arg.explain.len = sizeof(why);
		err = session_ioctl(session, MRPC_IOC_BIND, &arg);
		if (err) {
			free(b);
			return fail(-err, "cannot bind the schema of %s: %s", desc->name,
				    why[0] ? why : strerror(-err));
		}
		b->schema = desc->schema;
		b->len = desc->schema_len;
		b->info.id = arg.id;
		b->info.hit = arg.hit;
		b->info.bind_ns = arg.bind_ns;
		memcpy(b->info.hash, arg.hash, sizeof(b->info.hash));
		b->next = session->binds;
		session->binds = b;
	}
	*info = b->info;
	return 0;
}

int mrpc_session_bind(struct mrpc_session *session, const struct mrpc_service_desc *desc,
		      struct mrpc_bind_info *info)
{
	struct mrpc_bind_info ignored;
	int err = session_check(session);

	if (err)
		return err;
	pthread_mutex_lock(&session->lock);
	err = bind_locked(session, desc, info ? info : &ignored);
	pthread_mutex_unlock(&session->lock);
	return err;
}

int bind_services(struct mrpc_session *session, const struct mrpc_service_desc *const services[],
		  u32 nr, struct mrpc_connect *arg)
{
	struct mrpc_bind_info info;
	u32 i;
	int err;

	if (nr < 1 || nr > MRPC_MAX_SERVICES)
		return fail(EINVAL, "a connection has 1 to %u services, not %u",
			    MRPC_MAX_SERVICES, nr);
	for (i = 0; i < nr; i++) {
		err = mrpc_session_bind(session, services[i], &info);
		if (err)
			return err;
		arg->schemas[i] = info.id;
	}
	arg->nr_schemas = nr;
	return 0;
}

static void conn_end(struct session_end *end)
{
	struct mrpc_conn *conn = (void *)((u8 *)end - offsetof(struct mrpc_conn, end));

	if (conn->channel)
		channel_end(conn->channel);
	free(conn);
}

struct mrpc_conn *conn_new(struct mrpc_session *session,
			   const struct mrpc_service_desc *const services[], u32 nr)
{
	struct mrpc_conn *conn = calloc(1, sizeof(*conn) + nr * sizeof(conn->services[0]));

	if (!conn) {
		fail(ENOMEM, "out of memory");
		return NULL;
	}
	conn->session = session;
	conn->nr = nr;
	memcpy(conn->services, services, nr * sizeof(conn->services[0]));
	return conn;
}

void conn_made(struct mrpc_conn *conn)
{
	session_at_end(conn->session, &conn->end, conn_end);
}

void conn_give(struct mrpc_conn *conn)
{
	session_forget_end(conn->session, &conn->end);
	free(conn);
}

/* The look-up of a name counts, too. */
static int connect_to(struct mrpc_session *session, const char *address,
		      const struct mrpc_conn_opts *opts, struct mrpc_connect *arg)
{
	u64 until = until_us(opts->timeout_us ? opts->timeout_us : CONNECT_TIMEOUT_US);
	struct address list[ADDRESSES_MAX];
	int nr = addr_resolve(address, false, list, ADDRESSES_MAX);

	return nr < 0 ? nr : attempt_connect(session, address, opts->tls, list, nr, until, NULL,
					     NULL, arg);
}

struct mrpc_conn *mrpc_connect(struct mrpc_session *session, const char *address,
			       const struct mrpc_service_desc *const services[], unsigned int nr,
			       const struct mrpc_conn_opts *opts)
{
	static const struct mrpc_conn_opts none;
	struct mrpc_connect arg = { 0 };
	struct mrpc_conn *conn;

	if (!opts)
		opts = &none;
	if (session_check(session) || bind_services(session, services, nr, &arg))
		return NULL;
	if (opts->tls && (secure_check(opts->tls, false) || addr_check_secure(address)))
		return NULL;
	arg.keepalive_us = opts->keepalive_us;
	arg.max_message = opts->max_message;
	conn = conn_new(session, services, nr);
	if (!conn)
		return NULL;
	if (connect_to(session, address, opts, &arg)) {
		free(conn);
		return NULL;
	}
	conn->id = arg.id;
	conn->max_calls = arg.max_calls;
	conn_made(conn);
	return conn;
}

int mrpc_conn_close(struct mrpc_conn *conn, __u64 drain_us)
{
	struct mrpc_session *session;
	int err;

	if (!conn)
		return 0;
	session = conn->session;
	err = session_check(session);
	if (err)
		return err;
	session_forget_end(session, &conn->end);
	err = conn->channel ? channel_close(conn->channel, drain_us) :
			      session_close_id(session, conn->id, drain_us);
	free(conn);
	return err ? fail(-err, "cannot close the connection in order: %s", strerror(-err)) : 0;
}

__u32 mrpc_conn_id(const struct mrpc_conn *conn)
{
	return conn->channel ? channel_peek(conn->channel) : conn->id;
}

struct mrpc_session *mrpc_conn_session(const struct mrpc_conn *conn)
{
	return conn->session;
}

int mrpc_conn_query(struct mrpc_conn *conn, struct mrpc_conn_info *info)
{
	int err = session_check(conn->session);

	if (err)
		return err;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->conn = mrpc_conn_id(conn);
	if (!info->conn)
		return fail(ENOTCONN, "the channel has no connection now");
	err = session_ioctl(conn->session, MRPC_IOC_CONN_INFO, info);
	return err ? fail(-err, "cannot look at the connection: %s", strerror(-err)) : 0;
}
