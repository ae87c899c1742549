// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: schemas and their methods.
 *
 * The cache is the host's. The initial namespace sees all of it; another one
 * sees what its own sessions have bound.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "core/schema.h"
#include "core/session.h"
#include "lib/message/schema.h"
#include "netlink/netlink.h"
#include "netlink/schema.h"
#include "netlink/session.h"

/* Takes over the reference to @from. */
static void mrpc_nl_copy_schema(struct mrpc_nl_schema *to, struct mrpc_schema *from)
{
	to->schema = from;
	to->id = from->id;
	to->users = READ_ONCE(from->ref) - 1;	/* one is ours */
	to->sessions = 0;
	to->len = from->len;
	to->size = from->size;
	to->nr_methods = from->plan->nr_methods;
	to->nr_types = from->plan->nr_types;
	to->nr_fields = from->plan->nr_fields;
	to->binds = from->binds;
	to->compile_ns = from->compile_ns;
	memcpy(to->hash, from->hash, MRPC_HASH_LEN);
	to->service = mrpc_schema_service(from->plan);
}

static int mrpc_nl_bound_by(struct mrpc_session *session, struct xarray *bound)
{
	unsigned long nr;
	void *old;
	int err = 0;
	u32 i;

	mutex_lock(&session->lock);
	for (i = 0; i < session->nr_schemas && !err; i++) {
		u32 id = session->schemas[i]->id;

		old = xa_load(bound, id);
		nr = old ? xa_to_value(old) : 0;
		err = xa_err(xa_store(bound, id, xa_mk_value(nr + 1), GFP_KERNEL_ACCOUNT));
	}
	mutex_unlock(&session->lock);
	return err;
}

/*
 * Which schemas the sessions of a namespace have bound: from numbers of schemas
 * to numbers of sessions. The caller destroys @bound, also after -ENOMEM.
 */
static int mrpc_nl_bound(struct net *net, struct xarray *bound)
{
	struct mrpc_session *session;
	u32 after = 0;
	int err;

	xa_init(bound);
	while ((session = mrpc_session_next(net, after))) {
		after = session->id;
		err = mrpc_nl_bound_by(session, bound);
		mrpc_session_put(session);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

static u32 mrpc_nl_sessions(struct xarray *bound, u32 id)
{
	void *entry = xa_load(bound, id);

	return entry ? xa_to_value(entry) : 0;
}

static bool mrpc_nl_visible(struct net *net, const struct mrpc_nl_schema *schema)
{
	return net_eq(net, &init_net) || schema->sessions;
}

/* -- one schema ------------------------------------------------------------ */

/* By number or hash, or both. Return: the schema with a reference, or NULL. */
static struct mrpc_schema *mrpc_nl_lookup(u32 id, const u8 *hash)
{
	struct mrpc_schema *schema = hash ? mrpc_schema_lookup(hash) : mrpc_schema_next(id - 1);

	if (!schema || !id || schema->id == id)
		return schema;
	mrpc_schema_put(schema);
	return NULL;
}

/**
 * mrpc_nl_find_schema() - look a schema up for a reader
 * @net: the reader's network namespace
 * @id: its number, or 0
 * @hash: its SHA-256, or NULL
 * @found: out: what is known of it, with a reference to the schema
 *
 * Context: process; may sleep. Return: 0, -ENOENT or -ENOMEM: then there is no reference.
 */
int mrpc_nl_find_schema(struct net *net, u32 id, const u8 *hash, struct mrpc_nl_schema *found)
{
	struct mrpc_schema *schema = mrpc_nl_lookup(id, hash);
	struct xarray bound;
	int err;

	if (!schema)
		return -ENOENT;
	mrpc_nl_copy_schema(found, schema);
	err = mrpc_nl_bound(net, &bound);
	found->sessions = mrpc_nl_sessions(&bound, found->id);
	xa_destroy(&bound);
	if (!err && !mrpc_nl_visible(net, found))
		err = -ENOENT;
	if (err)
		mrpc_schema_put(schema);
	return err;
}

/* -- dump of schemas ------------------------------------------------------- */

/**
 * struct mrpc_nl_schemas - the state of a dump
 * @bound: of the reader's namespace, when the dump began
 * @after: the last number that was put
 */
struct mrpc_nl_schemas {
	struct xarray bound;
	u32 after;
};

struct mrpc_nl_schema_ctx {
	struct mrpc_nl_schemas *all;
};

int mrpc_nl_schema_start(struct netlink_callback *cb)
{
	struct mrpc_nl_schema_ctx *ctx = (void *)cb->ctx;
	struct mrpc_nl_schemas *all = kzalloc(sizeof(*all), GFP_KERNEL_ACCOUNT);
	int err;

	BUILD_BUG_ON(sizeof(*ctx) > sizeof(cb->ctx));
	if (!all)
		return -ENOMEM;
	err = mrpc_nl_bound(genl_info_net(genl_info_dump(cb)), &all->bound);
	if (err) {
		xa_destroy(&all->bound);
		kfree(all);
		return err;
	}
	ctx->all = all;
	return 0;
}

int mrpc_nl_schema_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_schemas *all = ((struct mrpc_nl_schema_ctx *)cb->ctx)->all;
	const struct genl_info *info = genl_info_dump(cb);
	struct net *net = genl_info_net(info);
	struct mrpc_nl_schema found;
	struct mrpc_schema *schema;
	int err;

	while ((schema = mrpc_schema_next(all->after))) {
		mrpc_nl_copy_schema(&found, schema);
		found.sessions = mrpc_nl_sessions(&all->bound, found.id);
		err = mrpc_nl_visible(net, &found) ? mrpc_nl_fill_schema(skb, info, &found) : 0;
		mrpc_schema_put(schema);
		if (err)
			return err;
		all->after = found.id;
		cond_resched();
	}
	return 0;
}

int mrpc_nl_schema_done(struct netlink_callback *cb)
{
	struct mrpc_nl_schemas *all = ((struct mrpc_nl_schema_ctx *)cb->ctx)->all;

	xa_destroy(&all->bound);
	kfree(all);
	return 0;
}

/* -- dump of methods ------------------------------------------------------- */

struct mrpc_nl_method_ctx {
	u32 schema;
	u32 index;		/* of the next method */
};

int mrpc_nl_method_start(struct netlink_callback *cb)
{
	struct mrpc_nl_method_ctx *ctx = (void *)cb->ctx;
	const struct genl_info *info = genl_info_dump(cb);
	struct mrpc_nl_schema found;
	int err;

	BUILD_BUG_ON(sizeof(*ctx) > sizeof(cb->ctx));
	if (GENL_REQ_ATTR_CHECK(info, MRPC_A_METHOD_SCHEMA))
		return -EINVAL;
	ctx->schema = nla_get_u32(info->attrs[MRPC_A_METHOD_SCHEMA]);
	ctx->index = 0;
	err = mrpc_nl_find_schema(genl_info_net(info), ctx->schema, NULL, &found);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[MRPC_A_METHOD_SCHEMA],
					"there is no schema %u", ctx->schema);
	if (!err)
		mrpc_schema_put(found.schema);
	return err;
}

int mrpc_nl_method_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_method_ctx *ctx = (void *)cb->ctx;
	struct mrpc_schema *schema = mrpc_nl_lookup(ctx->schema, NULL);
	int err = 0;

	if (!schema)
		return 0;
	while (!err && ctx->index < schema->plan->nr_methods) {
		err = mrpc_nl_fill_method(skb, genl_info_dump(cb), schema, ctx->index);
		if (!err)
			ctx->index++;
	}
	mrpc_schema_put(schema);
	return err;
}
