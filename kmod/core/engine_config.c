// SPDX-License-Identifier: GPL-2.0
/* Configurations of engines: groups and their parameters. */
#include <linux/kmod.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/engine.h"
#include "core/engine_config.h"

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
