// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of keys; see set.h for the contract.
 *
 * A key is in the first slot that was free when it was added, counting from
 * where its hash points; nothing between there and it is ever empty again. At
 * most half of the slots are not empty, so every search ends, soon.
 */
#include "lib/ds/set.h"
#include "lib/ds/siphash.h"

#ifdef __KERNEL__
#include <asm/barrier.h>
#else
#include "lib/ds/claim_native.h"
#endif

#define SET_EMPTY	0
#define SET_DELETED	1
#define SET_FIRST	2	/* where the first key is */

/* How a key is kept: its length, its bytes, padding to 2. */
static u32 set_room(u32 len)
{
	return sizeof(u16) + ALIGN(len, 2);
}

static u64 set_slots(u32 keys)
{
	u64 slots = 8;

	while (slots < 2ULL * keys)
		slots *= 2;
	return slots;
}

static u64 set_bytes(u32 keys, u64 key_bytes)
{
	return key_bytes + (u64)keys * (sizeof(u16) + 1);
}

size_t mrpc_set_size(u32 keys, u64 key_bytes)
{
	if (keys > MRPC_SET_MAX_KEYS || key_bytes > MRPC_SET_MAX_BYTES)
		return 0;
	return sizeof(struct mrpc_set) + set_slots(keys) * sizeof(u64) +
	       set_bytes(keys, key_bytes);
}

struct mrpc_set *mrpc_set_init(void *mem, u32 kind, u32 keys, u64 key_bytes,
			       const u64 hash_key[2])
{
	struct mrpc_set *set = mem;

	memset(mem, 0, mrpc_set_size(keys, key_bytes));
	set->hash_key[0] = hash_key[0];
	set->hash_key[1] = hash_key[1];
	set->kind = kind;
	set->mask = set_slots(keys) - 1;
	set->bytes = set_bytes(keys, key_bytes);
	return set;
}

static u32 set_hash(const struct mrpc_set *set, const void *key, u32 len)
{
	return mrpc_hsiphash(key, len, set->hash_key);
}

static u8 *set_at(const struct mrpc_set *set, u64 slot)
{
	return (u8 *)&set->slots[set->mask + 1ULL] + ((u32)slot - SET_FIRST) * 2ULL;
}

static bool set_is_key(u64 slot)
{
	return (u32)slot >= SET_FIRST;
}

static const u8 *set_key(const struct mrpc_set *set, u64 slot, u32 *len)
{
	const u8 *at = set_at(set, slot);
	u16 n;

	memcpy(&n, at, sizeof(n));
	*len = n;
	return at + sizeof(n);
}

/*
 * The slot of a key, or mask + 1: it is not there. *@free: the first slot on the
 * way that could take it.
 */
static u32 set_find(const struct mrpc_set *set, const void *key, u32 len, u32 hash, u32 *free)
{
	u32 i, have_len;

	*free = set->mask + 1;
	for (i = hash & set->mask;; i = (i + 1) & set->mask) {
		/* Pairs with the release in mrpc_set_add(): the key's bytes are there. */
		u64 slot = smp_load_acquire(&set->slots[i]);

		if (!set_is_key(slot)) {
			if (*free > set->mask)
				*free = i;
			if (slot == SET_EMPTY)
				return set->mask + 1;
		} else if (slot >> 32 == hash) {
			const u8 *have = set_key(set, slot, &have_len);

			if (have_len == len && !memcmp(have, key, len))
				return i;
		}
	}
}

bool mrpc_set_has(const struct mrpc_set *set, const void *key, u32 len)
{
	u32 free;

	/* A sender's long text is not worth hashing. */
	if (len > READ_ONCE(set->longest))
		return false;
	return set_find(set, key, len, set_hash(set, key, len), &free) <= set->mask;
}

int mrpc_set_add(struct mrpc_set *set, const void *key, u32 len)
{
	u64 slot;
	u32 hash;
	u16 len16 = len;
	u32 free;
	u8 *at;

	if (len > MRPC_SET_MAX_KEY_LEN || (set->kind == MRPC_SET_INT && len != sizeof(u64)))
		return -EINVAL;
	hash = set_hash(set, key, len);
	if (set_find(set, key, len, hash, &free) <= set->mask)
		return -EEXIST;
	if (set_room(len) > set->bytes - set->bytes_used)
		return -ENOSPC;
	if (set->slots[free] == SET_EMPTY) {
		if (set->nr_used > set->mask / 2)
			return -ENOSPC;
		set->nr_used++;
	}
	slot = (u64)hash << 32 | (SET_FIRST + set->bytes_used / 2);
	at = set_at(set, slot);
	memcpy(at, &len16, sizeof(len16));
	memcpy(at + sizeof(len16), key, len);
	set->bytes_used += set_room(len);
	set->nr_keys++;
	if (len > set->longest)
		WRITE_ONCE(set->longest, len);
	/* Pairs with the acquire in set_find(). */
	smp_store_release(&set->slots[free], slot);
	return 0;
}

int mrpc_set_del(struct mrpc_set *set, const void *key, u32 len)
{
	u32 free, i = set_find(set, key, len, set_hash(set, key, len), &free);

	if (i > set->mask)
		return -ENOENT;
	WRITE_ONCE(set->slots[i], SET_DELETED);
	set->nr_keys--;
	return 0;
}

const void *mrpc_set_next(const struct mrpc_set *set, u32 *pos, u32 *len)
{
	while (*pos <= set->mask) {
		u64 slot = set->slots[(*pos)++];

		if (set_is_key(slot))
			return set_key(set, slot, len);
	}
	return NULL;
}

u32 mrpc_set_need(const struct mrpc_set *set, u64 *key_bytes)
{
	u32 pos = 0, len;

	*key_bytes = 0;
	while (mrpc_set_next(set, &pos, &len))
		*key_bytes += len;
	return set->nr_keys;
}

int mrpc_set_copy(struct mrpc_set *to, const struct mrpc_set *from)
{
	const void *key;
	u32 pos = 0, len;
	int ret = 0;

	while (!ret && (key = mrpc_set_next(from, &pos, &len)))
		ret = mrpc_set_add(to, key, len);
	return ret;
}
