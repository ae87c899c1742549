// SPDX-License-Identifier: GPL-2.0
/* Placements: look-up, and which connections are in their scope. */
#include "core/conn.h"
#include "core/engine_config.h"
#include "core/net.h"
#include "core/placement.h"
#include "core/schema.h"
#include "core/session.h"
#include "lib/message/schema.h"

void mrpc_placement_put(struct mrpc_placement *p)
{
	if (!refcount_dec_and_test(&p->ref))
		return;
	if (p->now)
		mrpc_group_put(p->now);
	if (p->next && p->next != p->now)
		mrpc_group_put(p->next);
	kfree(p);
}

/**
 * mrpc_scope_has_service() - is a scope about the calls of a service?
 * @scope: the scope
 * @schema: of the service
 */
bool mrpc_scope_has_service(const struct mrpc_scope *scope, const struct mrpc_schema *schema)
{
	return !scope->service[0] || !strcmp(scope->service, mrpc_schema_service(schema->plan));
}

/**
 * mrpc_scope_services() - the services of a connection that a scope is about
 * @scope: the scope
 * @s: the services, which are known
 *
 * Return: a bit for each of s->list.
 */
u32 mrpc_scope_services(const struct mrpc_scope *scope, const struct mrpc_conn_services *s)
{
	u32 i, all = 0;

	for (i = 0; i < s->nr; i++)
		if (mrpc_scope_has_service(scope, s->list[i].schema))
			all |= BIT(i);
	return all;
}

static bool mrpc_scope_has_session(const struct mrpc_scope *scope, const struct mrpc_session *s)
{
	if (scope->session && scope->session != s->id)
		return false;
	if (scope->pid && scope->pid != s->pid)
		return false;
	if (scope->has_uid && !uid_eq(scope->uid, s->uid))
		return false;
	return !scope->cgroup || mrpc_session_in_cgroup(s, scope->cgroup);
}

/**
 * mrpc_scope_may_match() - may connections that a session accepts be in a scope?
 * @scope: the scope
 * @session: the session; it has a listener
 *
 * The services that the listener offers decide besides.
 */
bool mrpc_scope_may_match(const struct mrpc_scope *scope, const struct mrpc_session *session)
{
	return scope->side & MRPC_SIDE_SERVER && !scope->datapath &&
	       mrpc_scope_has_session(scope, session);
}

/**
 * mrpc_scope_matches() - is this connection's datapath in a scope?
 * @scope: the scope
 * @conn: a connection whose services are known
 */
bool mrpc_scope_matches(const struct mrpc_scope *scope, const struct mrpc_conn *conn)
{
	if (!(scope->side & (conn->link.accepted ? MRPC_SIDE_SERVER : MRPC_SIDE_CLIENT)))
		return false;
	if (scope->datapath && scope->datapath != conn->dp_id)
		return false;
	if (!mrpc_scope_has_session(scope, conn->session))
		return false;
	return mrpc_scope_services(scope, &conn->services);
}

/* Under mn->change or mn->lock. */
struct mrpc_placement *mrpc_placement_find(struct mrpc_net *mn, const char *name)
{
	struct mrpc_placement *p;

	list_for_each_entry(p, &mn->placements, list)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

/**
 * mrpc_placement_list() - a namespace's placements, in order
 * @net: the network namespace
 * @ids: room for the numbers of MRPC_PLACEMENTS_MAX
 *
 * All as they are at one moment.
 *
 * Return: how many there are.
 */
u32 mrpc_placement_list(struct net *net, u32 *ids)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_placement *p;
	u32 nr = 0;

	spin_lock(&mn->lock);
	list_for_each_entry(p, &mn->placements, list)
		ids[nr++] = p->id;
	spin_unlock(&mn->lock);
	return nr;
}

/* Return: the placement of that name with a reference, or NULL. */
struct mrpc_placement *mrpc_placement_by_name(struct net *net, const char *name)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_placement *p;

	spin_lock(&mn->lock);
	p = mrpc_placement_find(mn, name);
	if (p)
		mrpc_placement_get(p);
	spin_unlock(&mn->lock);
	return p;
}

/* Numbers are unique, names are not for ever. Return: with a reference, or NULL. */
struct mrpc_placement *mrpc_placement_by_id(struct net *net, u32 id)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_placement *p, *found = NULL;

	spin_lock(&mn->lock);
	list_for_each_entry(p, &mn->placements, list) {
		if (p->id != id)
			continue;
		mrpc_placement_get(p);
		found = p;
		break;
	}
	spin_unlock(&mn->lock);
	return found;
}

/**
 * mrpc_placement_choose() - what a placement wants on a datapath
 * @p: the placement; under mn->lock
 * @conn: a connection in its scope
 *
 * Datapaths are numbered one after the other, so that any share of them gets
 * a change of that share.
 *
 * Return: the configuration, without a reference, or NULL: no engine.
 */
struct mrpc_group *mrpc_placement_choose(const struct mrpc_placement *p,
					 const struct mrpc_conn *conn)
{
	/* 61 has no divisor in common with 100: neighbours are spread evenly. */
	bool next = p->changing && conn->dp_id * 61ULL % 100 < p->percent;

	return next ? p->next : p->now;
}
