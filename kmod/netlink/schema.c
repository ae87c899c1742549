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

#define MRPC_NL_BATCH	16	/* schemas per walk through the cache */

static void mrpc_nl_copy_schema(struct mrpc_nl_schema *to, const struct mrpc_schema *from)
{
	to->id = from->id;
	to->users = from->ref;
	to->sessions = 0;
	to->len = from->len;
	to->size = from->size;
	to->nr_methods = from->plan->nr_methods;
	to->nr_types = from->plan->nr_types;
	to->nr_fields = from->plan->nr_fields;
	to->binds = from->binds;
	to->compile_ns = from->compile_ns;
	memcpy(to->hash, from->hash, MRPC_HASH_LEN);
	strscpy(to->service, mrpc_schema_service(from->plan), sizeof(to->service));
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

struct mrpc_nl_wanted {
	u32 id;			/* 0: any */
	const u8 *hash;		/* NULL: any */
	struct mrpc_nl_schema *found;
};

static int mrpc_nl_match(struct mrpc_schema *schema, void *ctx)
{
	struct mrpc_nl_wanted *w = ctx;

	if ((w->id && schema->id != w->id) ||
	    (w->hash && memcmp(schema->hash, w->hash, MRPC_HASH_LEN)))
		return 0;
	mrpc_nl_copy_schema(w->found, schema);
	return 1;
}

/**
 * mrpc_nl_find_schema() - look a schema up for a reader
 * @net: the reader's network namespace
 * @id: its number, or 0
 * @hash: its SHA-256, or NULL
 * @found: out: what is known of it
 *
 * Context: process; may sleep. Return: 0, -ENOENT or -ENOMEM.
 */
int mrpc_nl_find_schema(struct net *net, u32 id, const u8 *hash, struct mrpc_nl_schema *found)
{
	struct mrpc_nl_wanted w = { .id = id, .hash = hash, .found = found };
	struct xarray bound;
	int err;

	if (!mrpc_schemas_each(mrpc_nl_match, &w))
		return -ENOENT;
	err = mrpc_nl_bound(net, &bound);
	found->sessions = mrpc_nl_sessions(&bound, found->id);
	xa_destroy(&bound);
	if (err)
		return err;
	return mrpc_nl_visible(net, found) ? 0 : -ENOENT;
}

/* -- dump of schemas ------------------------------------------------------- */

/**
 * struct mrpc_nl_batch - the state of a dump
 * @bound: of the reader's namespace, when the dump began
 * @after: the last number that was put
 * @nr: of @items
 * @items: the lowest numbers above @after, ascending
 */
struct mrpc_nl_batch {
	struct xarray bound;
	u32 after;
	u32 nr;
	struct mrpc_nl_schema items[MRPC_NL_BATCH];
};

struct mrpc_nl_schema_ctx {
	struct mrpc_nl_batch *batch;
};

static int mrpc_nl_collect(struct mrpc_schema *schema, void *ctx)
{
	struct mrpc_nl_batch *b = ctx;
	u32 pos = b->nr;

	if (schema->id <= b->after)
		return 0;
	while (pos && b->items[pos - 1].id > schema->id)
		pos--;
	if (pos == MRPC_NL_BATCH)
		return 0;
	b->nr = min_t(u32, b->nr + 1, MRPC_NL_BATCH);
	memmove(&b->items[pos + 1], &b->items[pos], (b->nr - 1 - pos) * sizeof(b->items[0]));
	mrpc_nl_copy_schema(&b->items[pos], schema);
	return 0;
}

int mrpc_nl_schema_start(struct netlink_callback *cb)
{
	struct mrpc_nl_schema_ctx *ctx = (void *)cb->ctx;
	struct mrpc_nl_batch *b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	int err;

	BUILD_BUG_ON(sizeof(*ctx) > sizeof(cb->ctx));
	if (!b)
		return -ENOMEM;
	err = mrpc_nl_bound(genl_info_net(genl_info_dump(cb)), &b->bound);
	if (err) {
		xa_destroy(&b->bound);
		kfree(b);
		return err;
	}
	ctx->batch = b;
	return 0;
}

int mrpc_nl_schema_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_batch *b = ((struct mrpc_nl_schema_ctx *)cb->ctx)->batch;
	const struct genl_info *info = genl_info_dump(cb);
	struct net *net = genl_info_net(info);
	u32 i;
	int err;

	for (;;) {
		b->nr = 0;
		mrpc_schemas_each(mrpc_nl_collect, b);
		if (!b->nr)
			return 0;
		for (i = 0; i < b->nr; i++) {
			struct mrpc_nl_schema *schema = &b->items[i];

			schema->sessions = mrpc_nl_sessions(&b->bound, schema->id);
			err = mrpc_nl_visible(net, schema) ?
			      mrpc_nl_fill_schema(skb, info, schema) : 0;
			if (err)
				return err;
			b->after = schema->id;
		}
		cond_resched();
	}
}

int mrpc_nl_schema_done(struct netlink_callback *cb)
{
	struct mrpc_nl_batch *b = ((struct mrpc_nl_schema_ctx *)cb->ctx)->batch;

	xa_destroy(&b->bound);
	kfree(b);
	return 0;
}

/* -- dump of methods ------------------------------------------------------- */

struct mrpc_nl_method_ctx {
	u32 schema;
	u32 index;		/* of the next method */
};

struct mrpc_nl_methods {
	struct mrpc_nl_method_ctx *ctx;
	struct sk_buff *skb;
	const struct genl_info *info;
	int err;
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
	return err;
}

/* Under the cache's lock, which keeps the schema; putting attributes is copying. */
static int mrpc_nl_put_methods(struct mrpc_schema *schema, void *arg)
{
	struct mrpc_nl_methods *m = arg;

	if (schema->id != m->ctx->schema)
		return 0;
	while (m->ctx->index < schema->plan->nr_methods) {
		m->err = mrpc_nl_fill_method(m->skb, m->info, schema, m->ctx->index);
		if (m->err)
			break;
		m->ctx->index++;
	}
	return 1;
}

int mrpc_nl_method_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct mrpc_nl_methods m = {
		.ctx = (void *)cb->ctx,
		.skb = skb,
		.info = genl_info_dump(cb),
	};

	mrpc_schemas_each(mrpc_nl_put_methods, &m);
	return m.err;
}
