/* SPDX-License-Identifier: MIT */
/*
 * A hash table of strings to bytes that threads can share.
 */
#ifndef KV_TABLE_H
#define KV_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct kv_table;

struct kv_table *kv_table_new(void);
void kv_table_free(struct kv_table *table);

/* Copies the value. 1 if the key had one before, 0 if not, -1 without memory. */
int kv_table_put(struct kv_table *table, const char *key, const void *value, size_t len);

/* Whether there was a value. */
bool kv_table_delete(struct kv_table *table, const char *key);

/*
 * Calls @use with the value, which does not change meanwhile. Whether there is
 * one.
 */
bool kv_table_get(struct kv_table *table, const char *key,
		  void (*use)(void *ctx, const void *value, size_t len), void *ctx);

/* Calls @use for each entry until it returns false. */
void kv_table_walk(struct kv_table *table,
		   bool (*use)(void *ctx, const char *key, size_t len), void *ctx);

#endif /* KV_TABLE_H */
