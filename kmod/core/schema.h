/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_SCHEMA_H
#define MRPC_CORE_SCHEMA_H

#include <linux/list.h>
#include <linux/mrpc.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>

struct mrpc_schema_error;
struct mrpc_schema_plan;

/**
 * struct mrpc_schema - a compiled schema, shared by all users that bind the same bytes
 *
 * Immutable after publication. @ref counts users. At zero the schema stays in the cache and can be
 * found by hash, until it is the oldest of too many.
 *
 * @ref: users; 0 to 1 and back under mrpc_schemas_lock
 * @id: unique in the cache
 * @node: entry of the hash table; under mrpc_schemas_lock
 * @lru: entry of the list of unused schemas; under mrpc_schemas_lock
 * @hash: SHA-256 of the binary form
 * @len: bytes of the binary form
 * @size: bytes of the plan
 * @binds: number of binds; under mrpc_schemas_lock
 * @compile_ns: time that the first bind took
 * @plan: the compiled form, the start of one allocation
 */
struct mrpc_schema {
	u32 ref;
	u32 id;
	struct rhash_head node;
	struct list_head lru;
	u8 hash[MRPC_HASH_LEN];
	u32 len;
	u32 size;
	u64 binds;
	u64 compile_ns;
	const struct mrpc_schema_plan *plan;
};

struct mrpc_schema *mrpc_schema_bind(const void *buf, u32 len, bool *hit,
				     struct mrpc_schema_error *err);
void mrpc_schema_get(struct mrpc_schema *schema);
void mrpc_schema_put(struct mrpc_schema *schema);
struct mrpc_schema *mrpc_schema_lookup(const u8 *hash);
struct mrpc_schema *mrpc_schema_next(u32 after);
u32 mrpc_schema_count(void);
int mrpc_schemas_init(void);
void mrpc_schemas_exit(void);

#endif /* MRPC_CORE_SCHEMA_H */
