// SPDX-License-Identifier: GPL-2.0
/*
 * Binding: the cache of compiled schemas.
 *
 * Content-addressed, so it is one for the host: whoever knows the bytes may use
 * the result. Compiling happens outside the lock; two sessions that bind the
 * same new schema at the same time both compile, and one result is kept.
 */
#include <crypto/sha2.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "core/schema.h"
#include "lib/message/schema.h"

#define MRPC_UNUSED_MAX		64		/* schemas kept for later binds */
#define MRPC_UNUSED_BYTES	(4 << 20)	/* and their plans */

static DEFINE_SPINLOCK(mrpc_schemas_lock);
static DEFINE_HASHTABLE(mrpc_schemas, 8);	/* under mrpc_schemas_lock */
static LIST_HEAD(mrpc_unused);			/* under mrpc_schemas_lock */

static u32 mrpc_nr_unused;
static u64 mrpc_unused_bytes;
static u32 mrpc_next_schema;

static u32 mrpc_hash_key(const u8 *hash)
{
	return *(const u32 *)hash;
}

static void mrpc_schema_free(struct mrpc_schema *schema)
{
	if (!schema)
		return;
	kvfree(schema->plan);
	kfree(schema);
}

/* Under mrpc_schemas_lock. */
static struct mrpc_schema *mrpc_schema_find(const u8 *hash)
{
	struct mrpc_schema *schema;

	hash_for_each_possible(mrpc_schemas, schema, node, mrpc_hash_key(hash)) {
		if (memcmp(schema->hash, hash, MRPC_HASH_LEN))
			continue;
		if (!schema->ref++) {
			list_del_init(&schema->lru);
			mrpc_nr_unused--;
			mrpc_unused_bytes -= schema->size;
		}
		schema->binds++;
		return schema;
	}
	return NULL;
}

static struct mrpc_schema *mrpc_schema_new(const void *buf, u32 len, const u8 *hash,
					   struct mrpc_schema_error *err)
{
	s64 size = mrpc_schema_size(buf, len, err);
	struct mrpc_schema *schema;
	u64 start = ktime_get_ns();
	void *plan;
	int ret;

	if (size < 0)
		return ERR_PTR(size);
	schema = kzalloc(sizeof(*schema), GFP_KERNEL_ACCOUNT);
	plan = kvzalloc(size, GFP_KERNEL_ACCOUNT);
	ret = -ENOMEM;
	if (!schema || !plan)
		goto fail;
	ret = mrpc_schema_compile(buf, len, plan, size, err);
	if (ret)
		goto fail;
	schema->ref = 1;
	schema->binds = 1;
	INIT_LIST_HEAD(&schema->lru);
	memcpy(schema->hash, hash, MRPC_HASH_LEN);
	schema->len = len;
	schema->size = size;
	schema->plan = plan;
	schema->compile_ns = ktime_get_ns() - start;
	return schema;
fail:
	kvfree(plan);
	kfree(schema);
	return ERR_PTR(ret);
}

/**
 * mrpc_schema_bind() - find a compiled schema, or verify and compile it
 * @buf: binary schema in kernel memory
 * @len: its bytes
 * @hit: out: it was there
 * @err: filled when the schema is refused
 *
 * Context: process; may sleep.
 * Return: the schema with a reference, or ERR_PTR(-EINVAL, -E2BIG, -ENOMEM).
 */
struct mrpc_schema *mrpc_schema_bind(const void *buf, u32 len, bool *hit,
				     struct mrpc_schema_error *err)
{
	struct mrpc_schema *schema, *fresh;
	u8 hash[MRPC_HASH_LEN];

	sha256(buf, len, hash);
	spin_lock(&mrpc_schemas_lock);
	schema = mrpc_schema_find(hash);
	spin_unlock(&mrpc_schemas_lock);
	*hit = schema;
	if (schema)
		return schema;

	fresh = mrpc_schema_new(buf, len, hash, err);
	if (IS_ERR(fresh))
		return fresh;
	spin_lock(&mrpc_schemas_lock);
	schema = mrpc_schema_find(hash);
	if (!schema) {
		fresh->id = ++mrpc_next_schema;
		hash_add(mrpc_schemas, &fresh->node, mrpc_hash_key(hash));
		schema = fresh;
		fresh = NULL;
	}
	spin_unlock(&mrpc_schemas_lock);
	mrpc_schema_free(fresh);
	return schema;
}

/**
 * mrpc_schema_get() - another reference for one that holds one
 * @schema: the schema
 */
void mrpc_schema_get(struct mrpc_schema *schema)
{
	spin_lock(&mrpc_schemas_lock);
	schema->ref++;
	spin_unlock(&mrpc_schemas_lock);
}
EXPORT_SYMBOL_GPL(mrpc_schema_get);

/**
 * mrpc_schema_put() - drop a reference
 * @schema: the schema, or NULL
 *
 * Context: process.
 */
void mrpc_schema_put(struct mrpc_schema *schema)
{
	struct mrpc_schema *old, *next;
	LIST_HEAD(dead);

	if (!schema)
		return;
	spin_lock(&mrpc_schemas_lock);
	if (!--schema->ref) {
		list_add_tail(&schema->lru, &mrpc_unused);
		mrpc_nr_unused++;
		mrpc_unused_bytes += schema->size;
	}
	while (mrpc_nr_unused > MRPC_UNUSED_MAX || mrpc_unused_bytes > MRPC_UNUSED_BYTES) {
		old = list_first_entry(&mrpc_unused, struct mrpc_schema, lru);
		list_move(&old->lru, &dead);
		hash_del(&old->node);
		mrpc_nr_unused--;
		mrpc_unused_bytes -= old->size;
	}
	spin_unlock(&mrpc_schemas_lock);
	list_for_each_entry_safe(old, next, &dead, lru)
		mrpc_schema_free(old);
}
EXPORT_SYMBOL_GPL(mrpc_schema_put);

int mrpc_schemas_each(int (*fn)(struct mrpc_schema *schema, void *ctx), void *ctx)
{
	struct mrpc_schema *schema;
	int bkt, ret = 0;

	spin_lock(&mrpc_schemas_lock);
	hash_for_each(mrpc_schemas, bkt, schema, node) {
		ret = fn(schema, ctx);
		if (ret)
			break;
	}
	spin_unlock(&mrpc_schemas_lock);
	return ret;
}

/**
 * mrpc_schemas_exit() - free the cache; nobody uses a schema any more
 */
void mrpc_schemas_exit(void)
{
	struct mrpc_schema *schema;
	struct hlist_node *next;
	int bkt;

	hash_for_each_safe(mrpc_schemas, bkt, next, schema, node) {
		WARN_ON_ONCE(schema->ref);
		hash_del(&schema->node);
		mrpc_schema_free(schema);
	}
}
