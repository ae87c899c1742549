// SPDX-License-Identifier: GPL-2.0
/*
 * Engine types, and the configurations that placements give them.
 */
#include <linux/kmod.h>
#include <linux/mutex.h>

#include "core/engine_type.h"
#include "core/placement.h"

static DEFINE_MUTEX(mrpc_engines_lock);
static LIST_HEAD(mrpc_engines);		/* under mrpc_engines_lock */

/* Finds a type; the newest of the name if @version is 0. Under mrpc_engines_lock. */
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
 * mrpc_engine_register() - register an engine type
 * @ops: the type: static, of the calling module
 *
 * Context: process; may sleep.
 * Return: 0; -EEXIST; -EINVAL: @ops is not consistent.
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
 * mrpc_engine_unregister() - remove an engine type
 * @ops: the type; not in use, since its module goes
 */
void mrpc_engine_unregister(struct mrpc_engine_ops *ops)
{
	mutex_lock(&mrpc_engines_lock);
	list_del(&ops->list);
	mutex_unlock(&mrpc_engines_lock);
}
EXPORT_SYMBOL_GPL(mrpc_engine_unregister);

/**
 * mrpc_engine_hold() - take a reference to a type
 * @ops: a type that the caller holds already, or under mrpc_engines_lock
 *
 * Return: false: the type is going. This cannot happen if the caller holds it.
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
 * mrpc_engine_try() - find a type among those that are loaded
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
	/* Modules belong to the host: loading one is its administrator's right. */
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
 * @version: its version, 0: the newest that is loaded; if there is none, that can be loaded
 * @extack: out: the reason of a failure
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
 * mrpc_engine_put() - drop a reference to a type
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

/* Compares a type with a name and version, for their order. */
static int mrpc_engine_cmp(const struct mrpc_engine_ops *ops, const char *name, u32 version)
{
	return strcmp(ops->name, name) ?: ops->version < version ? -1 : ops->version > version;
}

/**
 * mrpc_engine_next() - iterate over the types
 * @name: name of the previous type, or ""
 * @version: version of the previous type
 *
 * Return: the next type in order of names and versions, with a reference; or NULL.
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
