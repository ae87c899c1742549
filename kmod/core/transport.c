// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of transports. Each version is a module of its own. Version 1 is loaded by the
 * transport's name, the other versions are loaded like engine types.
 */
#include <linux/kmod.h>
#include <linux/mutex.h>

#include "core/engine.h"
#include "core/transport.h"

#define MRPC_NAME_CHARS	"abcdefghijklmnopqrstuvwxyz0123456789_"

static DEFINE_MUTEX(mrpc_transports_lock);
static LIST_HEAD(mrpc_transports);	/* by name and version; under mrpc_transports_lock */

static int mrpc_transport_cmp(const struct mrpc_transport_ops *ops, const char *name, u32 version)
{
	return strcmp(ops->name, name) ?: ops->version < version ? -1 : ops->version > version;
}

static struct mrpc_transport_ops *mrpc_transport_find(const char *name, u32 version)
{
	struct mrpc_transport_ops *ops;

	list_for_each_entry(ops, &mrpc_transports, list)
		if (ops->version == version && !strcmp(ops->name, name))
			return ops;
	return NULL;
}

static void mrpc_transport_list(struct mrpc_transport_ops *ops)
{
	struct list_head *pos;

	list_for_each(pos, &mrpc_transports)
		if (mrpc_transport_cmp(list_entry(pos, struct mrpc_transport_ops, list),
				       ops->name, ops->version) > 0)
			break;
	list_add_tail(&ops->list, pos);
}

/**
 * mrpc_transport_register() - register a version of a transport
 * @ops: its operations
 *
 * Context: process; may sleep.
 * Return: 0; -EEXIST; -EINVAL: @ops is not consistent.
 */
int mrpc_transport_register(struct mrpc_transport_ops *ops)
{
	int err = 0;

	if (!ops->version || strlen(ops->name) >= MRPC_TRANSPORT_LEN ||
	    (ops->type ? !ops->decompose || !ops->restore : ops->version > 1))
		return -EINVAL;
	mutex_lock(&mrpc_transports_lock);
	if (mrpc_transport_find(ops->name, ops->version))
		err = -EEXIST;
	if (!err && ops->type) {
		ops->type->transport = ops;
		err = mrpc_engine_register(ops->type);
	}
	if (!err)
		mrpc_transport_list(ops);
	mutex_unlock(&mrpc_transports_lock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_transport_register);

/**
 * mrpc_transport_unregister() - remove a transport, at module removal; it is not in use
 * @ops: its operations
 */
void mrpc_transport_unregister(struct mrpc_transport_ops *ops)
{
	mutex_lock(&mrpc_transports_lock);
	if (ops->type)
		mrpc_engine_unregister(ops->type);
	list_del(&ops->list);
	mutex_unlock(&mrpc_transports_lock);
}
EXPORT_SYMBOL_GPL(mrpc_transport_unregister);

static struct mrpc_transport_ops *mrpc_transport_try(const char *name)
{
	struct mrpc_transport_ops *ops;

	mutex_lock(&mrpc_transports_lock);
	ops = mrpc_transport_find(name, 1);
	if (ops && !try_module_get(ops->owner))
		ops = NULL;
	mutex_unlock(&mrpc_transports_lock);
	return ops;
}

/**
 * mrpc_transport_get() - find a transport's version 1, loading its module if need be
 * @name: NUL-terminated
 *
 * Other versions are loaded for certain scopes. They do not count here.
 *
 * Context: process; may sleep.
 * Return: its operations with a module reference, or NULL.
 */
const struct mrpc_transport_ops *mrpc_transport_get(const char *name)
{
	struct mrpc_transport_ops *ops = mrpc_transport_try(name);

	if (ops)
		return ops;
	/* As for congestion controls: only a caller that may configure may load. */
	if (!capable(CAP_NET_ADMIN) || strspn(name, MRPC_NAME_CHARS) != strlen(name))
		return NULL;
	request_module("mrpc-transport-%s", name);
	return mrpc_transport_try(name);
}
EXPORT_SYMBOL_GPL(mrpc_transport_get);

/**
 * mrpc_transport_put() - drop the module reference
 * @ops: the operations
 */
void mrpc_transport_put(const struct mrpc_transport_ops *ops)
{
	module_put(ops->owner);
}

/**
 * mrpc_transport_next() - iterate over the loaded transports
 * @name: name of the previous one, or ""
 * @version: version of the previous one
 *
 * Context: process; may sleep.
 * Return: the next transport in order of names and versions, with a module reference; or NULL.
 */
const struct mrpc_transport_ops *mrpc_transport_next(const char *name, u32 version)
{
	struct mrpc_transport_ops *ops, *next = NULL;

	mutex_lock(&mrpc_transports_lock);
	list_for_each_entry(ops, &mrpc_transports, list)
		if (mrpc_transport_cmp(ops, name, version) > 0 && try_module_get(ops->owner)) {
			next = ops;
			break;
		}
	mutex_unlock(&mrpc_transports_lock);
	return next;
}
