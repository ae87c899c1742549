// SPDX-License-Identifier: GPL-2.0
/*
 * Placements: the engines that an operator wants in a network namespace.
 */
#include "control/place.h"
#include "control/rollout.h"
#include "core/conn.h"
#include "core/engine_config.h"
#include "core/net.h"
#include "core/placement.h"
#include "core/session.h"

/* A scope that can never match is a mistake, because ids are not used twice. */
static int mrpc_scope_check(struct net *net, const struct mrpc_scope *scope,
			    struct netlink_ext_ack *extack)
{
	bool session = !scope->session, pid = !scope->pid, dp = !scope->datapath;
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_session *s = NULL;
	struct mrpc_conn *conn;
	u32 id = 0;

	while ((!session || !pid) && (s = mrpc_session_next(net, id))) {
		id = s->id;
		session |= s->id == scope->session;
		pid |= s->pid == scope->pid;
		mrpc_session_put(s);
	}
	spin_lock(&mn->lock);
	list_for_each_entry(conn, &mn->datapaths, dp.in_net)
		dp |= conn->dp_id == scope->datapath;
	spin_unlock(&mn->lock);
	if (!session)
		NL_SET_ERR_MSG_FMT(extack, "the scope matches nothing: there is no session %u",
				   scope->session);
	else if (!pid)
		NL_SET_ERR_MSG_FMT(extack, "the scope matches nothing: process %d has no session",
				   scope->pid);
	else if (!dp)
		NL_SET_ERR_MSG_FMT(extack, "the scope matches nothing: there is no datapath %u",
				   scope->datapath);
	return session && pid && dp ? 0 : -ENOENT;
}

static struct mrpc_placement *mrpc_placement_need(struct mrpc_net *mn, const char *name,
						  struct netlink_ext_ack *extack)
{
	struct mrpc_placement *p = mrpc_placement_find(mn, name);

	if (!p)
		NL_SET_ERR_MSG_FMT(extack, "there is no engine named '%s'", name);
	return p;
}

static void mrpc_placement_percent(struct mrpc_net *mn, struct mrpc_placement *p, u8 percent)
{
	spin_lock(&mn->lock);
	p->percent = percent;
	mn->gen++;
	spin_unlock(&mn->lock);
}

/* Ends a change: all datapaths have @group now. */
static void mrpc_placement_settle(struct mrpc_net *mn, struct mrpc_placement *p,
				  struct mrpc_group *group)
{
	struct mrpc_group *drop = group == p->next ? p->now : p->next;

	spin_lock(&mn->lock);
	p->now = group;
	p->next = NULL;
	p->changing = false;
	p->percent = 0;
	mn->gen++;
	if (!group) {
		list_del(&p->list);
		mn->nr_placements--;
	}
	spin_unlock(&mn->lock);
	if (drop)
		mrpc_group_put(drop);
	if (!group)
		mrpc_placement_put(p);
}

/*
 * Moves @percent of the datapaths in scope to the next configuration. At 100 the change is
 * complete, at 0 it is taken back. On failure the datapaths get what they had before this step.
 * Under mn->change.
 */
static int mrpc_placement_move(struct net *net, struct mrpc_placement *p, u8 percent,
			       struct mrpc_change_result *result, struct netlink_ext_ack *extack)
{
	struct mrpc_change_result back = {};
	struct mrpc_net *mn = mrpc_net(net);
	u8 before = p->percent;
	int err;

	mrpc_placement_percent(mn, p, percent);
	err = mrpc_change_apply(net, &p->scope, result, extack);
	if (err) {
		mrpc_placement_percent(mn, p, before);
		result->rolled_back = !mrpc_change_apply(net, &p->scope, &back, NULL);
		percent = before;
	}
	if (percent == 100)
		mrpc_placement_settle(mn, p, p->next);
	else if (!percent)
		mrpc_placement_settle(mn, p, p->now);
	return err;
}

/* Under mn->change: begins a change of a placement to @group, a reference. */
static int mrpc_placement_begin(struct mrpc_net *mn, struct mrpc_placement *p,
				struct mrpc_group *group, struct netlink_ext_ack *extack)
{
	if (p->changing) {
		NL_SET_ERR_MSG_FMT(extack, "'%s' is changing, at %u %%: step it to 100 or 0 first",
				   p->name, p->percent);
		return -EBUSY;
	}
	spin_lock(&mn->lock);
	p->next = group;
	p->changing = true;
	p->percent = 0;
	spin_unlock(&mn->lock);
	return 0;
}

static int mrpc_placement_insert(struct mrpc_net *mn, struct mrpc_placement *p,
				 const struct mrpc_placement_args *args,
				 struct netlink_ext_ack *extack)
{
	struct mrpc_placement *at = NULL;
	struct list_head *where = mn->placements.prev;

	if (mrpc_placement_find(mn, p->name)) {
		NL_SET_ERR_MSG_FMT(extack, "there is an engine '%s' already: choose another name",
				   p->name);
		return -EEXIST;
	}
	if (mn->nr_placements >= MRPC_PLACEMENTS_MAX) {
		NL_SET_ERR_MSG_FMT(extack, "%u engines are placed in this network namespace, the most it takes",
				   mn->nr_placements);
		return -ENOSPC;
	}
	if (args->before || args->after) {
		at = mrpc_placement_need(mn, args->before ?: args->after, extack);
		if (!at)
			return -ENOENT;
		where = args->before ? at->list.prev : &at->list;
	}
	spin_lock(&mn->lock);
	p->id = ++mn->next_id;
	list_add(&p->list, where);
	mn->nr_placements++;
	spin_unlock(&mn->lock);
	return 0;
}

/**
 * mrpc_placement_add() - place an engine type on a scope
 * @net: the network namespace
 * @args: name, position and scope
 * @group: the configuration; a reference is taken over in any case
 * @result: what was done
 * @id: out: the placement's number
 * @extack: why not
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno, after which nothing has changed.
 */
int mrpc_placement_add(struct net *net, const struct mrpc_placement_args *args,
		       struct mrpc_group *group, struct mrpc_change_result *result, u32 *id,
		       struct netlink_ext_ack *extack)
{
	const char *name = args->name ?: group->ops->name;
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_placement *p = NULL;
	size_t size;
	int err;

	err = mrpc_scope_check(net, &args->scope, extack);
	if (err)
		goto out;
	err = -ENOMEM;
	size = strlen(args->scope.service) + 1;
	p = kzalloc(struct_size(p, service, size), GFP_KERNEL_ACCOUNT);
	if (!p)
		goto out;
	refcount_set(&p->ref, 1);
	spin_lock_init(&p->past.lock);
	strscpy(p->name, name, sizeof(p->name));
	p->scope = args->scope;
	p->scope.service = memcpy(p->service, args->scope.service, size);
	p->changing = true;
	p->next = group;
	err = mutex_lock_interruptible(&mn->change);
	if (err)
		goto out;
	err = mrpc_placement_insert(mn, p, args, extack);
	if (!err) {
		*id = p->id;
		group = NULL;
		err = mrpc_placement_move(net, p, args->percent, result, extack);
		p = NULL;	/* the list owns it, or it is freed */
	} else {
		p->next = NULL;
	}
	mutex_unlock(&mn->change);
out:
	kfree(p);
	if (group)
		mrpc_group_put(group);
	return err;
}

/**
 * mrpc_placement_set() - give a placement another configuration, or type
 * @net: the network namespace
 * @name: of the placement
 * @from: the configuration that @group was made from; it has the values that were not given
 * @group: the configuration; a reference is taken over in any case
 * @percent: of the datapaths, 1 to 100
 * @result: what was done
 * @extack: why not
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno, after which nothing has changed. -ESTALE: another request has set
 * it meanwhile, so @from is not the present configuration.
 */
int mrpc_placement_set(struct net *net, const char *name, const struct mrpc_group *from,
		       struct mrpc_group *group, u8 percent,
		       struct mrpc_change_result *result, struct netlink_ext_ack *extack)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_placement *p;
	int err;

	err = mutex_lock_interruptible(&mn->change);
	if (err) {
		mrpc_group_put(group);
		return err;
	}
	p = mrpc_placement_need(mn, name, extack);
	err = !p ? -ENOENT : !p->changing && p->now != from ? -ESTALE :
	      mrpc_placement_begin(mn, p, group, extack);
	if (err)
		mrpc_group_put(group);
	else
		err = mrpc_placement_move(net, p, percent, result, extack);
	mutex_unlock(&mn->change);
	return err;
}

static int mrpc_placement_leaves(struct mrpc_net *mn, struct mrpc_placement *p,
				 struct netlink_ext_ack *extack)
{
	return mrpc_placement_begin(mn, p, NULL, extack);
}

static int mrpc_placement_goes_on(struct mrpc_net *mn, struct mrpc_placement *p,
				  struct netlink_ext_ack *extack)
{
	if (p->changing)
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "no change of '%s' is in progress", p->name);
	return -EINVAL;
}

/* @begin: makes it a change in progress, under mn->change. */
static int mrpc_placement_take(struct net *net, const char *name,
			       int (*begin)(struct mrpc_net *mn, struct mrpc_placement *p,
					    struct netlink_ext_ack *extack),
			       u8 percent, struct mrpc_change_result *result,
			       struct netlink_ext_ack *extack)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_placement *p;
	int err;

	err = mutex_lock_interruptible(&mn->change);
	if (err)
		return err;
	p = mrpc_placement_need(mn, name, extack);
	err = p ? begin(mn, p, extack) : -ENOENT;
	if (!err)
		err = mrpc_placement_move(net, p, percent, result, extack);
	mutex_unlock(&mn->change);
	return err;
}

/**
 * mrpc_placement_del() - remove a placement
 * @net: the network namespace
 * @name: of the placement
 * @percent: of the datapaths, 1 to 100
 * @result: what was done
 * @extack: why not
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno, after which nothing has changed.
 */
int mrpc_placement_del(struct net *net, const char *name, u8 percent,
		       struct mrpc_change_result *result, struct netlink_ext_ack *extack)
{
	return mrpc_placement_take(net, name, mrpc_placement_leaves, percent, result, extack);
}

/**
 * mrpc_placement_step() - continue a change in progress, or take it back
 * @net: the network namespace
 * @name: of the placement
 * @percent: of the datapaths; 100 completes the change, 0 takes it back
 * @result: what was done
 * @extack: why not
 *
 * Context: process; waits, interruptibly.
 * Return: 0 or a negative errno, after which nothing has changed.
 */
int mrpc_placement_step(struct net *net, const char *name, u8 percent,
			struct mrpc_change_result *result, struct netlink_ext_ack *extack)
{
	return mrpc_placement_take(net, name, mrpc_placement_goes_on, percent, result, extack);
}

/**
 * mrpc_placement_group() - get the present configuration of a placement
 * @net: the network namespace
 * @name: of the placement
 * @extack: why not
 *
 * Return: the group with a reference, or an ERR_PTR.
 */
struct mrpc_group *mrpc_placement_group(struct net *net, const char *name,
					struct netlink_ext_ack *extack)
{
	struct mrpc_net *mn = mrpc_net(net);
	struct mrpc_group *g = ERR_PTR(-ENOENT);
	struct mrpc_placement *p;

	spin_lock(&mn->lock);
	p = mrpc_placement_find(mn, name);
	if (p && p->now) {
		g = p->now;
		mrpc_group_get(g);
	}
	spin_unlock(&mn->lock);
	if (!p)
		NL_SET_ERR_MSG_FMT(extack, "there is no engine named '%s'", name);
	else if (IS_ERR(g))
		NL_SET_ERR_MSG_FMT(extack, "'%s' is being added", name);
	return g;
}
