// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kv-table.h"

/* Keys are spread over shards, each with its own lock, which grow by themselves. */
#define SHARDS		64
#define BUCKETS_MIN	64

struct entry {
	struct entry *next;
	uint64_t hash;
	char *key;
	void *value;
	size_t len;
};

struct shard {
	pthread_rwlock_t lock;
	struct entry **buckets;
	size_t nr_buckets;
	size_t nr;
};

struct kv_table {
	struct shard shards[SHARDS];
};

/* FNV-1a; good enough for keys from friends. */
static uint64_t hash(const char *key)
{
	uint64_t h = 0xcbf29ce484222325;

	while (*key)
		h = (h ^ (unsigned char)*key++) * 0x100000001b3;
	return h ^ h >> 32;
}

static struct shard *shard_of(struct kv_table *table, uint64_t h)
{
	return &table->shards[h % SHARDS];
}

static struct entry **find(struct shard *s, uint64_t h, const char *key)
{
	struct entry **p = &s->buckets[h / SHARDS % s->nr_buckets];

	while (*p && ((*p)->hash != h || strcmp((*p)->key, key)))
		p = &(*p)->next;
	return p;
}

/* Without memory the chains just get longer. */
static void grow(struct shard *s)
{
	size_t nr = s->nr_buckets * 2, i;
	struct entry **buckets = calloc(nr, sizeof(*buckets)), *e;

	if (!buckets)
		return;
	for (i = 0; i < s->nr_buckets; i++) {
		while ((e = s->buckets[i])) {
			s->buckets[i] = e->next;
			e->next = buckets[e->hash / SHARDS % nr];
			buckets[e->hash / SHARDS % nr] = e;
		}
	}
	free(s->buckets);
	s->buckets = buckets;
	s->nr_buckets = nr;
}

static void entry_free(struct entry *e)
{
	if (!e)
		return;
	free(e->key);
	free(e->value);
	free(e);
}

struct kv_table *kv_table_new(void)
{
	struct kv_table *table = calloc(1, sizeof(*table));
	size_t i;

	for (i = 0; table && i < SHARDS; i++) {
		pthread_rwlock_init(&table->shards[i].lock, NULL);
		table->shards[i].nr_buckets = BUCKETS_MIN;
		table->shards[i].buckets = calloc(BUCKETS_MIN, sizeof(struct entry *));
		if (!table->shards[i].buckets) {
			kv_table_free(table);
			return NULL;
		}
	}
	return table;
}

void kv_table_free(struct kv_table *table)
{
	struct entry *e;
	size_t i, j;

	for (i = 0; table && i < SHARDS; i++) {
		struct shard *s = &table->shards[i];

		for (j = 0; s->buckets && j < s->nr_buckets; j++) {
			while ((e = s->buckets[j])) {
				s->buckets[j] = e->next;
				entry_free(e);
			}
		}
		free(s->buckets);
	}
	free(table);
}

int kv_table_put(struct kv_table *table, const char *key, const void *value, size_t len)
{
	struct entry *e = calloc(1, sizeof(*e)), **p, *old;
	uint64_t h = hash(key);
	struct shard *s = shard_of(table, h);

	if (!e)
		return -1;
	e->hash = h;
	e->key = strdup(key);
	e->value = malloc(len ? len : 1);
	e->len = len;
	if (!e->key || !e->value) {
		entry_free(e);
		return -1;
	}
	if (len)
		memcpy(e->value, value, len);

	pthread_rwlock_wrlock(&s->lock);
	p = find(s, h, key);
	old = *p;
	e->next = old ? old->next : NULL;
	*p = e;
	if (!old && ++s->nr > s->nr_buckets)
		grow(s);
	pthread_rwlock_unlock(&s->lock);
	entry_free(old);
	return old ? 1 : 0;
}

bool kv_table_delete(struct kv_table *table, const char *key)
{
	uint64_t h = hash(key);
	struct shard *s = shard_of(table, h);
	struct entry **p, *e;

	pthread_rwlock_wrlock(&s->lock);
	p = find(s, h, key);
	e = *p;
	if (e) {
		*p = e->next;
		s->nr--;
	}
	pthread_rwlock_unlock(&s->lock);
	entry_free(e);
	return e;
}

bool kv_table_get(struct kv_table *table, const char *key,
		  void (*use)(void *ctx, const void *value, size_t len), void *ctx)
{
	uint64_t h = hash(key);
	struct shard *s = shard_of(table, h);
	struct entry *e;

	pthread_rwlock_rdlock(&s->lock);
	e = *find(s, h, key);
	if (e)
		use(ctx, e->value, e->len);
	pthread_rwlock_unlock(&s->lock);
	return e;
}

void kv_table_walk(struct kv_table *table,
		   bool (*use)(void *ctx, const char *key, size_t len), void *ctx)
{
	bool more = true;
	struct entry *e;
	size_t i, j;

	for (i = 0; i < SHARDS && more; i++) {
		struct shard *s = &table->shards[i];

		pthread_rwlock_rdlock(&s->lock);
		for (j = 0; j < s->nr_buckets && more; j++)
			for (e = s->buckets[j]; e && more; e = e->next)
				more = use(ctx, e->key, e->len);
		pthread_rwlock_unlock(&s->lock);
	}
}
