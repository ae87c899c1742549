// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that an application hands over: to a connection, to a listener, or through a listener to
 * a connection. The kernel believes what the application says about the peer's name, and shows it
 * as that: the application could serve any peer anyway.
 */
#include <linux/err.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "app/adopt.h"
#include "conn/accept.h"
#include "core/link.h"
#include "core/listener.h"
#include "core/refusal.h"
#include "core/session.h"
#include "core/transport.h"

static int mrpc_adopt_refuse(struct mrpc_refusal *r, const struct mrpc_transport_ops *ops)
{
	mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "the transport '%s' takes no sockets", ops->name);
	return -EOPNOTSUPP;
}

/* Copies the peer's name from the application. Return: it, NULL for none, or an error pointer. */
static char *mrpc_adopt_identity(u64 from, u32 len, struct mrpc_refusal *r)
{
	char *name;
	u32 i;

	if (!len)
		return NULL;
	if (len >= MRPC_IDENTITY_LEN) {
		mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "the peer's name has %u bytes, %u are allowed",
			    len, MRPC_IDENTITY_LEN - 1);
		return ERR_PTR(-ENAMETOOLONG);
	}
	name = memdup_user_nul(u64_to_user_ptr(from), len);
	if (IS_ERR(name))
		return name;
	for (i = 0; i < len; i++)
		if (name[i] < ' ' || name[i] > '~')
			break;
	if (i == len)
		return name;
	kfree(name);
	mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "byte %u of the peer's name is not printable", i);
	return ERR_PTR(-EINVAL);
}

/* What is handed over for one link. */
struct mrpc_adopt_work {
	u64 identity;
	u32 identity_len;
	int *fd;
	struct mrpc_refusal *r;
};

static int mrpc_adopt_begin(struct mrpc_link *link, void *ctx)
{
	struct mrpc_adopt_work *w = ctx;
	const char *why = NULL;
	char *identity;
	int err;

	if (!link->ops->adopt)
		return mrpc_adopt_refuse(w->r, link->ops);
	identity = mrpc_adopt_identity(w->identity, w->identity_len, w->r);
	if (IS_ERR(identity))
		return PTR_ERR(identity);
	link->identity = identity;	/* freed with the connection */
	link->identity_len = w->identity_len;
	err = link->ops->adopt(link, w->fd, &why);
	if (err)
		mrpc_refuse_link(w->r, why, err);
	return err;
}

/**
 * mrpc_adopt_link() - begin a link with the socket of MRPC_IOC_CONNECT
 * @link: the link
 * @args: with MRPC_CONNECT_ADOPT; the peer's address is filled in, and the descriptor if it is taken
 * @r: out: the reason of a failure
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int mrpc_adopt_link(struct mrpc_link *link, struct mrpc_connect *args, struct mrpc_refusal *r)
{
	struct mrpc_adopt_work w = {
		.identity = args->identity,
		.identity_len = args->identity_len,
		.fd = &args->fd,
		.r = r,
	};
	int err = mrpc_adopt_begin(link, &w);

	if (!err) {
		memcpy(args->addr, &link->peer, sizeof(args->addr));
		args->addr_len = link->peer.ss_family == AF_INET ? sizeof(struct sockaddr_in) :
								   sizeof(struct sockaddr_in6);
	}
	return err;
}

/* Checks an address that is only shown. Return: 0 or a negative errno. */
static int mrpc_adopt_address(const struct mrpc_connect *args, struct mrpc_refusal *r)
{
	sa_family_t family = *(const sa_family_t *)args->addr;

	if ((family == AF_INET && args->addr_len == sizeof(struct sockaddr_in)) ||
	    (family == AF_INET6 && args->addr_len == sizeof(struct sockaddr_in6)))
		return 0;
	mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "the address is no sockaddr_in or sockaddr_in6");
	return -EAFNOSUPPORT;
}

/**
 * mrpc_adopt_listen() - open a listener with the socket of MRPC_IOC_SERVE, or without one
 * @l: the listener
 * @args: with MRPC_CONNECT_ADOPT
 * @r: out: the reason of a failure
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int mrpc_adopt_listen(struct mrpc_listener *l, struct mrpc_connect *args, struct mrpc_refusal *r)
{
	const char *why = NULL;
	int err;

	if (!l->ops->adopt)
		return mrpc_adopt_refuse(r, l->ops);
	if (args->fd == -1) {
		err = mrpc_adopt_address(args, r);
		if (err)
			return err;
		memcpy(&l->addr, args->addr, args->addr_len);
		l->addr_len = args->addr_len;
		return 0;
	}
	err = l->ops->listen_on(l, &args->fd, &why);
	if (err)
		mrpc_refuse_link(r, why, err);
	return err;
}

/**
 * mrpc_conn_adopt() - MRPC_IOC_ADOPT: give a listener a connection
 * @session: the session
 * @args: listener, socket, the peer's name; the id is filled in, and the descriptor if it is taken
 * @r: out: the reason of a failure
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int mrpc_conn_adopt(struct mrpc_session *session, struct mrpc_adopt *args,
		    struct mrpc_refusal *r)
{
	struct mrpc_adopt_work w = {
		.identity = args->identity,
		.identity_len = args->identity_len,
		.fd = &args->fd,
		.r = r,
	};
	struct mrpc_listener *l = mrpc_listener_find(session, args->listener);
	int err = -EINVAL;

	if (!l) {
		mrpc_refuse(r, MRPC_NOT_FOUND, "there is no listener %u", args->listener);
		return -ENOENT;
	}
	if (l->priv)
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, "listener %u has a socket of its own", l->id);
	else
		err = mrpc_listener_add(l, mrpc_adopt_begin, &w, &args->id);
	if (err == -EBUSY && !r->detail[0])
		mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "too many handshakes are under way");
	else if (err == -ESHUTDOWN)
		mrpc_refuse(r, MRPC_UNAVAILABLE, "the listener is being closed");
	else if (err == -EDQUOT)
		mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "this user has too many connections");
	mrpc_listener_put(l);
	return err;
}
