// SPDX-License-Identifier: GPL-2.0
/*
 * Engine types, and the configurations that placements give them.
 */
#include <linux/capability.h>
#include <linux/kmod.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "core/engine.h"
#include "core/placement.h"

static DEFINE_MUTEX(mrpc_engines_lock);
static LIST_HEAD(mrpc_engines);		/* under mrpc_engines_lock */

/* The newest of a name if @version is 0. Under mrpc_engines_lock. */
static struct mrpc_engine_ops *mrpc_engine_find(const char *name, u32 version)
{
	struct mrpc_engine_ops *ops, *best = NULL;

	list_for_each_entry(ops, &mrpc_engines, list) {
		if (strcmp(ops->name, name))
			continue;
		if (version ? ops->version == version : !best || ops->version > best->version)
			best = ops;
	}
	return best;
}

/**
 * mrpc_engine_register() - make a type of engine known
 * @ops: static, of the calling module
 *
 * Context: process; may sleep.
 * Return: 0; -EEXIST; -EINVAL: what it says of itself is not consistent.
 */
int mrpc_engine_register(struct mrpc_engine_ops *ops)
{
	int err = 0;
	bool stands_aside = ops->call_end || ops->flags & MRPC_ENGINE_NO_STAGE;

	if (!ops->name || !ops->version || !ops->owner || ops->oldest > ops->version ||
	    (ops->dirs ? !ops->do_work : !stands_aside) ||
	    strlen(ops->name) >= MRPC_PLACEMENT_NAME)
		return -EINVAL;
	mutex_lock(&mrpc_engines_lock);
	if (mrpc_engine_find(ops->name, ops->version))
		err = -EEXIST;
	else
		list_add_tail(&ops->list, &mrpc_engines);
	mutex_unlock(&mrpc_engines_lock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_engine_register);

/**
 * mrpc_engine_unregister() - forget a type
 * @ops: the type; nothing of it is in use, since its module goes
 */
void mrpc_engine_unregister(struct mrpc_engine_ops *ops)
{
	mutex_lock(&mrpc_engines_lock);
	list_del(&ops->list);
	mutex_unlock(&mrpc_engines_lock);
}
EXPORT_SYMBOL_GPL(mrpc_engine_unregister);

/**
 * mrpc_engine_hold() - a reference to a type
 * @ops: a type that one holds, or under mrpc_engines_lock
 *
 * Return: false: it is going, which it does not where one holds it.
 */
bool mrpc_engine_hold(const struct mrpc_engine_ops *ops)
{
	if (!try_module_get(ops->owner))
		return false;
	if (!ops->hold || ops->hold(ops))
		return true;
	module_put(ops->owner);
	return false;
}

/**
 * mrpc_engine_try() - find a type of those that are loaded
 * @name: its name
 * @version: its version, 0: the newest
 *
 * Context: process; may sleep. Return: the type with a module reference, or NULL.
 */
const struct mrpc_engine_ops *mrpc_engine_try(const char *name, u32 version)
{
	struct mrpc_engine_ops *ops;

	mutex_lock(&mrpc_engines_lock);
	ops = mrpc_engine_find(name, version);
	if (ops && !mrpc_engine_hold(ops))
		ops = NULL;
	mutex_unlock(&mrpc_engines_lock);
	return ops;
}

static bool mrpc_engine_load(const char *name, u32 version)
{
	/* Modules are the host's: its administrator's right. */
	if (!capable(CAP_SYS_MODULE))
		return false;
	if (version)
		request_module("mrpc-engine-%s-%u", name, version);
	else
		request_module("mrpc-engine-%s", name);
	return true;
}

/**
 * mrpc_engine_get() - find a type, loading its module if need be
 * @name: its name
 * @version: its version, 0: the newest that is loaded, or else can be
 * @extack: why not
 *
 * Context: process; may sleep.
 * Return: the type with a module reference, or an ERR_PTR.
 */
const struct mrpc_engine_ops *mrpc_engine_get(const char *name, u32 version,
					      struct netlink_ext_ack *extack)
{
	const struct mrpc_engine_ops *ops = mrpc_engine_try(name, version);
	bool loaded = false;

	if (!ops) {
		loaded = mrpc_engine_load(name, version);
		ops = mrpc_engine_try(name, version);
	}
	if (ops)
		return ops;
	ops = mrpc_engine_try(name, 0);
	if (ops) {
		NL_SET_ERR_MSG_FMT(extack, "engine type '%s' has no version %u; the newest loaded is %u",
				   name, version, ops->version);
		mrpc_engine_put(ops);
	} else if (loaded) {
		NL_SET_ERR_MSG_FMT(extack, "there is no engine type '%s'", name);
	} else {
		NL_SET_ERR_MSG_FMT(extack, "engine type '%s' is not loaded, and loading needs CAP_SYS_MODULE",
				   name);
	}
	return ERR_PTR(-ENOENT);
}

/**
 * mrpc_engine_put() - end of a reference to a type
 * @ops: the type
 *
 * Context: process; may sleep.
 */
void mrpc_engine_put(const struct mrpc_engine_ops *ops)
{
	struct module *owner = ops->owner;

	if (ops->drop)
		ops->drop(ops);
	module_put(owner);
}

/* In order of names and versions. */
static int mrpc_engine_cmp(const struct mrpc_engine_ops *ops, const char *name, u32 version)
{
	return strcmp(ops->name, name) ?: ops->version < version ? -1 : ops->version > version;
}

/**
 * mrpc_engine_next() - the types, one after the other
 * @name: of the one before, or ""
 * @version: likewise
 *
 * Return: the next one in order of names and versions, with a reference; or NULL.
 */
const struct mrpc_engine_ops *mrpc_engine_next(const char *name, u32 version)
{
	struct mrpc_engine_ops *ops, *next;

	mutex_lock(&mrpc_engines_lock);
	do {
		next = NULL;
		list_for_each_entry(ops, &mrpc_engines, list)
			if (mrpc_engine_cmp(ops, name, version) > 0 &&
			    (!next || mrpc_engine_cmp(ops, next->name, next->version) < 0))
				next = ops;
		if (!next)
			break;
		name = next->name;
		version = next->version;
	} while (!mrpc_engine_hold(next));
	mutex_unlock(&mrpc_engines_lock);
	return next;
}

/* -- configurations --------------------------------------------------------- */

/**
 * mrpc_group_alloc() - begin a configuration, with default values
 * @net: the network namespace of its placement
 * @ops: the type; its module reference is taken over on success
 *
 * The caller sets values (mrpc_group_set()) and makes it ready, or puts it.
 *
 * Return: the group with one reference, or NULL.
 */
struct mrpc_group *mrpc_group_alloc(struct net *net, const struct mrpc_engine_ops *ops)
{
	struct mrpc_group *g;
	u32 i;

	g = kzalloc(struct_size(g, values, ops->nr_params), GFP_KERNEL_ACCOUNT);
	if (!g)
		return NULL;
	refcount_set(&g->ref, 1);
	g->nr = ops->nr_params;
	g->ops = ops;
	g->net = net;
	for (i = 0; i < g->nr; i++)
		g->values[i].num = ops->params[i].def;
	return g;
}

/**
 * mrpc_group_put() - drop a reference to a configuration
 * @g: the group
 *
 * Context: process; may sleep.
 */
void mrpc_group_put(struct mrpc_group *g)
{
	u32 i;

	if (!refcount_dec_and_test(&g->ref))
		return;
	if (g->ready && g->ops->group_destroy)
		g->ops->group_destroy(g);
	for (i = 0; i < g->nr; i++)
		kvfree(g->values[i].data);
	if (g->also)
		mrpc_engine_put(g->also);
	mrpc_engine_put(g->ops);
	kfree(g);
}

static const struct mrpc_param *mrpc_param_find(const struct mrpc_engine_ops *ops,
						const char *name, struct netlink_ext_ack *extack)
{
	u32 i;

	for (i = 0; i < ops->nr_params; i++)
		if (!strcmp(ops->params[i].name, name))
			return &ops->params[i];
	NL_SET_ERR_MSG_FMT(extack, "engine type '%s' version %u has no parameter '%s'", ops->name,
			   ops->version, name);
	return NULL;
}

static int mrpc_param_number(const struct mrpc_param *p, u64 num, struct netlink_ext_ack *extack)
{
	if (p->flags & MRPC_PARAM_UNLIMITED && num == U64_MAX)
		return 0;
	if (p->type == MRPC_PARAM_BOOL && num <= 1)
		return 0;
	if (p->type == MRPC_PARAM_U64 && num >= p->min && num <= p->max)
		return 0;
	if (p->type == MRPC_PARAM_CHOICE) {
		u64 i;

		for (i = 0; p->choices[i]; i++)
			if (i == num)
				return 0;
		NL_SET_ERR_MSG_FMT(extack, "%s is %llu, but there are %llu choices", p->name, num, i);
		return -ERANGE;
	}
	NL_SET_ERR_MSG_FMT(extack, "%s is %llu, allowed is %llu to %llu", p->name, num, p->min,
			   p->type == MRPC_PARAM_BOOL ? 1 : p->max);
	return -ERANGE;
}

/* A copy with a NUL behind it, which the length does not count. */
static int mrpc_param_data(const struct mrpc_param *p, struct mrpc_value *v, const void *data,
			   u32 len, struct netlink_ext_ack *extack)
{
	u8 *copy;

	if (len < p->min || len > p->max) {
		NL_SET_ERR_MSG_FMT(extack, "%s has %u bytes, allowed is %llu to %llu", p->name, len,
				   p->min, p->max);
		return -ERANGE;
	}
	copy = kvmalloc(len + 1, GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, len);
	copy[len] = 0;
	kvfree(v->data);
	v->data = copy;
	v->len = len;
	return 0;
}

/**
 * mrpc_group_set() - set one parameter of a configuration in the making
 * @g: the group
 * @param: its name
 * @data: string or binary, or NULL
 * @len: bytes of @data
 * @num: the number
 * @is_num: @num is given, not @data
 * @extack: why not
 *
 * Return: 0, -ENOENT, -EINVAL (another kind of value), -ERANGE or -ENOMEM.
 */
int mrpc_group_set(struct mrpc_group *g, const char *param, const void *data, u32 len, u64 num,
		   bool is_num, struct netlink_ext_ack *extack)
{
	const struct mrpc_param *p = mrpc_param_find(g->ops, param, extack);
	struct mrpc_value *v;
	int err;

	if (!p)
		return -ENOENT;
	if (is_num != (p->type < MRPC_PARAM_STRING)) {
		NL_SET_ERR_MSG_FMT(extack, "%s takes a %s", p->name, is_num ? "text" : "number");
		return -EINVAL;
	}
	v = &g->values[p - g->ops->params];
	if (is_num) {
		err = mrpc_param_number(p, num, extack);
		if (!err)
			v->num = num;
	} else {
		err = mrpc_param_data(p, v, data, len, extack);
	}
	if (!err)
		v->set = true;
	return err;
}

static int mrpc_group_copy(struct mrpc_group *g, u32 i, const struct mrpc_param *was,
			   const struct mrpc_value *old, struct netlink_ext_ack *extack)
{
	const struct mrpc_param *p = &g->ops->params[i];
	int err;

	if (g->values[i].set || strcmp(was->name, p->name) || was->type != p->type)
		return 0;
	if (p->type < MRPC_PARAM_STRING) {
		err = mrpc_param_number(p, old->num, extack);
		if (!err)
			g->values[i].num = old->num;
	} else {
		err = mrpc_param_data(p, &g->values[i], old->data, old->len, extack);
	}
	if (!err)
		g->values[i].set = true;
	return err;
}

/* What the operator does not say stays as it was, in another version too. */
static int mrpc_group_inherit(struct mrpc_group *g, const struct mrpc_group *prev,
			      struct netlink_ext_ack *extack)
{
	u32 i, k;
	int err;

	for (k = 0; k < prev->nr; k++) {
		if (!prev->values[k].set)
			continue;
		for (i = 0; i < g->nr; i++) {
			err = mrpc_group_copy(g, i, &prev->ops->params[k], &prev->values[k],
					      extack);
			if (err)
				return err;
		}
	}
	return 0;
}

/**
 * mrpc_group_ready() - a configuration has its values: have the type prepare it
 * @g: the group
 * @prev: the configuration that it replaces, or NULL. Of the same type:
 *	parameters that were not set are inherited
 * @extack: why not
 *
 * Context: process; may sleep.
 * Return: 0 or a negative errno; the caller then puts the group.
 */
int mrpc_group_ready(struct mrpc_group *g, const struct mrpc_group *prev,
		     struct netlink_ext_ack *extack)
{
	u32 i;
	int err;

	if (prev && !strcmp(prev->ops->name, g->ops->name)) {
		err = mrpc_group_inherit(g, prev, extack);
		if (err)
			return err;
	}
	for (i = 0; i < g->nr; i++) {
		if (g->ops->params[i].flags & MRPC_PARAM_REQUIRED && !g->values[i].set) {
			NL_SET_ERR_MSG_FMT(extack, "engine type '%s' needs parameter '%s'",
					   g->ops->name, g->ops->params[i].name);
			return -EINVAL;
		}
	}
	if (g->ops->group_create) {
		err = g->ops->group_create(g, prev && prev->ops == g->ops ? prev : NULL, extack);
		if (err)
			return err;
	}
	g->ready = true;
	return 0;
}
