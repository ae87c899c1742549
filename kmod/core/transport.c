// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of transports. Each is a module of its own, loaded by name.
 */
#include <linux/capability.h>
#include <linux/kmod.h>
#include <linux/mutex.h>

#include "transport.h"

#define MRPC_NAME_CHARS	"abcdefghijklmnopqrstuvwxyz0123456789_"

static DEFINE_MUTEX(mrpc_transports_lock);
static LIST_HEAD(mrpc_transports);	/* under mrpc_transports_lock */

static struct mrpc_transport_ops *mrpc_transport_find(const char *name)
{
	struct mrpc_transport_ops *ops;

	list_for_each_entry(ops, &mrpc_transports, list)
		if (!strcmp(ops->name, name))
			return ops;
	return NULL;
}

/**
 * mrpc_transport_register() - offer a transport
 * @ops: its operations
 *
 * Return: 0, or -EEXIST.
 */
int mrpc_transport_register(struct mrpc_transport_ops *ops)
{
	int err = -EEXIST;

	mutex_lock(&mrpc_transports_lock);
	if (!mrpc_transport_find(ops->name)) {
		list_add_tail(&ops->list, &mrpc_transports);
		err = 0;
	}
	mutex_unlock(&mrpc_transports_lock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_transport_register);

/**
 * mrpc_transport_unregister() - at module removal; nobody uses it any more
 * @ops: its operations
 */
void mrpc_transport_unregister(struct mrpc_transport_ops *ops)
{
	mutex_lock(&mrpc_transports_lock);
	list_del(&ops->list);
	mutex_unlock(&mrpc_transports_lock);
}
EXPORT_SYMBOL_GPL(mrpc_transport_unregister);

static struct mrpc_transport_ops *mrpc_transport_try(const char *name)
{
	struct mrpc_transport_ops *ops;

	mutex_lock(&mrpc_transports_lock);
	ops = mrpc_transport_find(name);
	if (ops && !try_module_get(ops->owner))
		ops = NULL;
	mutex_unlock(&mrpc_transports_lock);
	return ops;
}

/**
 * mrpc_transport_get() - find a transport, loading its module if need be
 * @name: NUL-terminated
 *
 * Context: process; may sleep.
 * Return: its operations with a module reference, or NULL.
 */
const struct mrpc_transport_ops *mrpc_transport_get(const char *name)
{
	struct mrpc_transport_ops *ops = mrpc_transport_try(name);

	if (ops)
		return ops;
	/* As for congestion controls: only who may configure may load. */
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
