// SPDX-License-Identifier: GPL-2.0
/* MRPC_IOC_SERVE: a listener for services of the session. */
#include <linux/list.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "app/adopt.h"
#include "app/listen.h"
#include "conn/accept.h"
#include "conn/create.h"
#include "core/listener.h"
#include "core/notify.h"
#include "core/refusal.h"
#include "core/services.h"
#include "core/session.h"
#include "core/transport.h"
#include "core/user.h"
#include "exec/kick.h"
#include "lib/ds/claim.h"

/* Returns a new listener, charged to the user of @session, or NULL. */
static struct mrpc_listener *mrpc_listener_new(struct mrpc_session *session,
					       struct mrpc_refusal *r, int *err)
{
	struct mrpc_listener *l;

	*err = mrpc_user_charge_listener(session);
	if (*err) {
		mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "this user has too many listeners");
		return NULL;
	}
	l = kzalloc(sizeof(*l), GFP_KERNEL_ACCOUNT);
	if (!l) {
		mrpc_user_uncharge_listener(session->user);
		*err = -ENOMEM;
		return NULL;
	}
	kref_init(&l->ref);
	mrpc_session_get(session);
	l->session = session;
	l->net = session->net;
	INIT_LIST_HEAD(&l->ready);
	spin_lock_init(&l->lock);
	INIT_LIST_HEAD(&l->shaking);
	l->seed = get_random_u32();
	INIT_DELAYED_WORK(&l->retry, mrpc_listener_retry);
	return l;
}

static int mrpc_listener_open(struct mrpc_listener *l, const struct mrpc_connect *args,
			      struct mrpc_refusal *r)
{
	const char *why = NULL;
	int err = l->ops->listen(l, args->addr, args->addr_len, args->backlog ?: 128, &why);

	if (err)
		mrpc_refuse_link(r, why, err);
	return err;
}

/**
 * mrpc_listener_serve() - MRPC_IOC_SERVE: open a listener
 * @session: the session
 * @args: address and services; the id and the bound address are filled in
 * @r: out: the reason of a failure
 *
 * Context: process; may sleep.
 * Return: 0 or a negative errno.
 */
int mrpc_listener_serve(struct mrpc_session *session, struct mrpc_connect *args,
			struct mrpc_refusal *r)
{
	const struct mrpc_transport_ops *ops = mrpc_transport_get(args->transport);
	struct mrpc_listener *l;
	int err;

	if (!ops) {
		mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "there is no transport '%s'", args->transport);
		return -EPROTONOSUPPORT;
	}
	err = mrpc_session_here(session, r);
	if (err) {
		mrpc_transport_put(ops);
		return err;
	}
	l = mrpc_listener_new(session, r, &err);
	if (!l) {
		mrpc_transport_put(ops);
		return err;
	}
	l->ops = ops;
	/* No thread accepts before the listener can be found. */
	mrpc_claim_init(&l->claim);
	mrpc_claim_disable(&l->claim);
	l->max_message = min(args->max_message ?: 64U << 20, MRPC_MAX_MESSAGE);
	l->keepalive = mrpc_conn_keepalive_ns(args->keepalive_us);
	err = mrpc_services_get(session, args, &l->services, r);
	if (err)
		goto out;
	l->nr_services = args->nr_schemas;
	err = mrpc_session_reserve(session, &l->id);
	if (err)
		goto out;
	if (args->flags & MRPC_CONNECT_ADOPT)
		err = mrpc_adopt_listen(l, args, r);
	else
		err = mrpc_listener_open(l, args, r);
	if (err) {
		mrpc_session_unreserve(session, l->id);
		goto out;
	}
	err = mrpc_listener_publish(l);
	if (err) {
		ops->unlisten(l);
		mrpc_ready_remove_listener(l);
		goto out;
	}
	args->id = l->id;
	args->addr_len = l->addr_len;
	memcpy(args->addr, &l->addr, sizeof(args->addr));
	mrpc_notify_listener(l, MRPC_EVENT_LISTENER_OPEN);
out:
	if (err)
		mrpc_user_uncharge_listener(session->user);
	mrpc_listener_put(l);
	return err;
}
