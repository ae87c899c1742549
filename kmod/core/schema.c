// SPDX-License-Identifier: GPL-2.0
/*
 * Binding: the cache of compiled schemas.
 *
 * It is content-addressed, so the host has only one. A session that knows the bytes may use the
 * result. Compiling happens outside the lock. Two sessions that bind the same new schema at the
 * same time both compile it, and one result is kept.
 *
 * Users choose the bytes, so the hash table has a random seed. The schemas that a session binds are
 * charged to its user. The number of schemas that no session binds any more is limited here.
 */
#include <crypto/sha2.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "core/schema.h"
#include "lib/message/schema.h"

#define MRPC_UNUSED_MAX		64		/* schemas kept for later binds */
#define MRPC_UNUSED_BYTES	(4 << 20)	/* bytes of their plans */

static const struct rhashtable_params mrpc_schema_params = {
	.key_len = MRPC_HASH_LEN,
	.key_offset = offsetof(struct mrpc_schema, hash),
	.head_offset = offsetof(struct mrpc_schema, node),
	.automatic_shrinking = true,
};

static DEFINE_SPINLOCK(mrpc_schemas_lock);
static struct rhashtable mrpc_schemas;		/* by hash; under mrpc_schemas_lock */
static DEFINE_XARRAY_ALLOC1(mrpc_schema_ids);	/* by id; entries under mrpc_schemas_lock */
static u32 mrpc_next_schema;			/* under the lock of mrpc_schema_ids */
static u32 mrpc_nr_schemas;
static LIST_HEAD(mrpc_unused);			/* under mrpc_schemas_lock, as all below */
static u32 mrpc_nr_unused;
static u64 mrpc_unused_bytes;

static void mrpc_schema_free(struct mrpc_schema *schema)
{
	if (!schema)
		return;
	kvfree(schema->plan);
	kfree(schema);
}

/* Adds a user to @schema, if it is not NULL. Under mrpc_schemas_lock. */
static struct mrpc_schema *mrpc_schema_take(struct mrpc_schema *schema)
{
	if (schema && !schema->ref++) {
		list_del_init(&schema->lru);
		mrpc_nr_unused--;
		mrpc_unused_bytes -= schema->size;
	}
	return schema;
}

/* Under mrpc_schemas_lock. */
static struct mrpc_schema *mrpc_schema_find(const u8 *hash)
{
	return mrpc_schema_take(rhashtable_lookup_fast(&mrpc_schemas, hash, mrpc_schema_params));
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

/* Puts a schema into the cache, unless it is there already. Return: the schema of the cache. */
static struct mrpc_schema *mrpc_schema_enter(struct mrpc_schema *fresh)
{
	struct mrpc_schema *schema;
	int err = 0;

	spin_lock(&mrpc_schemas_lock);
	schema = mrpc_schema_find(fresh->hash);
	if (schema)
		schema->binds++;
	else
		err = rhashtable_insert_fast(&mrpc_schemas, &fresh->node, mrpc_schema_params);
	if (!schema && !err) {
		/* The reservation holds the place: this allocates nothing. */
		xa_store(&mrpc_schema_ids, fresh->id, fresh, GFP_ATOMIC);
		mrpc_nr_schemas++;
		schema = fresh;
	}
	spin_unlock(&mrpc_schemas_lock);
	if (schema == fresh)
		return schema;
	xa_release(&mrpc_schema_ids, fresh->id);
	mrpc_schema_free(fresh);
	return schema ?: ERR_PTR(err);
}

/**
 * mrpc_schema_bind() - find a compiled schema, or verify and compile it
 * @buf: binary schema in kernel memory
 * @len: its bytes
 * @hit: out: the schema was in the cache
 * @err: filled when the schema is refused
 *
 * Context: process; may sleep.
 * Return: the schema with a reference, or ERR_PTR(-EINVAL, -E2BIG, -ENOMEM, -EBUSY).
 */
struct mrpc_schema *mrpc_schema_bind(const void *buf, u32 len, bool *hit,
				     struct mrpc_schema_error *err)
{
	struct mrpc_schema *schema, *fresh;
	u8 hash[MRPC_HASH_LEN];
	int ret;

	sha256(buf, len, hash);
	spin_lock(&mrpc_schemas_lock);
	schema = mrpc_schema_find(hash);
	if (schema)
		schema->binds++;
	spin_unlock(&mrpc_schemas_lock);
	*hit = schema;
	if (schema)
		return schema;

	fresh = mrpc_schema_new(buf, len, hash, err);
	if (IS_ERR(fresh))
		return fresh;
	ret = xa_alloc_cyclic(&mrpc_schema_ids, &fresh->id, NULL, xa_limit_32b, &mrpc_next_schema,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		mrpc_schema_free(fresh);
		return ERR_PTR(ret);
	}
	return mrpc_schema_enter(fresh);
}

/**
 * mrpc_schema_lookup() - find a schema that is in the cache
 * @hash: its SHA-256
 *
 * Context: process. Return: the schema with a reference, or NULL.
 */
struct mrpc_schema *mrpc_schema_lookup(const u8 *hash)
{
	struct mrpc_schema *schema;

	spin_lock(&mrpc_schemas_lock);
	schema = mrpc_schema_find(hash);
	spin_unlock(&mrpc_schemas_lock);
	return schema;
}

/**
 * mrpc_schema_next() - iterate over the cache, for dumps
 * @after: id of the last one, 0 for the first
 *
 * Context: process. Return: the schema with a reference, or NULL.
 */
struct mrpc_schema *mrpc_schema_next(u32 after)
{
	struct mrpc_schema *schema;
	unsigned long id = after;

	spin_lock(&mrpc_schemas_lock);
	schema = mrpc_schema_take(xa_find_after(&mrpc_schema_ids, &id, U32_MAX, XA_PRESENT));
	spin_unlock(&mrpc_schemas_lock);
	return schema;
}

/**
 * mrpc_schema_count() - return the number of schemas in the cache, used or not
 */
u32 mrpc_schema_count(void)
{
	return READ_ONCE(mrpc_nr_schemas);
}

/**
 * mrpc_schema_get() - take another reference, for a caller that has one
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
		rhashtable_remove_fast(&mrpc_schemas, &old->node, mrpc_schema_params);
		xa_erase(&mrpc_schema_ids, old->id);
		mrpc_nr_schemas--;
		mrpc_nr_unused--;
		mrpc_unused_bytes -= old->size;
	}
	spin_unlock(&mrpc_schemas_lock);
	list_for_each_entry_safe(old, next, &dead, lru)
		mrpc_schema_free(old);
}
EXPORT_SYMBOL_GPL(mrpc_schema_put);

int __init mrpc_schemas_init(void)
{
	return rhashtable_init(&mrpc_schemas, &mrpc_schema_params);
}

static void mrpc_schema_end(void *ptr, void *arg)
{
	struct mrpc_schema *schema = ptr;

	WARN_ON_ONCE(schema->ref);
	mrpc_schema_free(schema);
}

/**
 * mrpc_schemas_exit() - free the cache; no schema is used any more
 */
void mrpc_schemas_exit(void)
{
	rhashtable_free_and_destroy(&mrpc_schemas, mrpc_schema_end, NULL);
	xa_destroy(&mrpc_schema_ids);
}
