/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of texts or of 64-bit integers, for rules. A set has up to a million keys. The time of a
 * look-up does not depend on their number.
 *
 * A set is a hash table with open addressing, keyed with SipHash. The table and the keys are in
 * one allocation of the owner.
 *
 * The set is edited in place and read without a lock. The owner's mutex allows one writer at a
 * time. Readers run at any time, under RCU if the set can be replaced. A reader finds every key
 * that is in the set during the whole look-up, and no key that is never in it. A key that is
 * added or deleted meanwhile is found or not. To ensure this, a key never moves, and the bytes
 * of a deleted key are not used again. So a set fills up while it is edited. Then the owner
 * makes a larger one (mrpc_set_copy()), replaces the pointer, and frees the old set after a
 * grace period.
 */
#ifndef MRPC_LIB_DS_SET_H
#define MRPC_LIB_DS_SET_H

#include "lib/ds/types.h"

#define MRPC_SET_MAX_KEYS	(1U << 20)
#define MRPC_SET_MAX_KEY_LEN	1024
#define MRPC_SET_MAX_BYTES	(256U << 20)	/* of all keys */

enum mrpc_set_kind {
	MRPC_SET_TEXT = 1,	/* any bytes */
	MRPC_SET_INT,		/* 64-bit patterns: -1 and 2^64 - 1 are one key */
};

/**
 * struct mrpc_set - a set
 * @hash_key: for SipHash
 * @hash_key: for SipHash
 * @kind: enum mrpc_set_kind
 * @mask: slots - 1
 * @nr_keys: keys in the set
 * @nr_used: slots that are not empty, those of deleted keys included
 * @longest: bytes of the longest key that was ever added
 * @bytes: room for keys
 * @bytes_used: how much of @bytes is used
 * @slots: empty (0), deleted (1), or a key: its hash << 32 | position. The position is
 *	2 + the offset behind the slots / 2
 *
 * Users of the set may read only @nr_keys, for display.
 */
struct mrpc_set {
	u64 hash_key[2];
	u32 kind;
	u32 mask;
	u32 nr_keys;
	u32 nr_used;
	u32 longest;
	u32 bytes;
	u32 bytes_used;
	u32 resv;
	u64 slots[];
};

/**
 * mrpc_set_size() - memory that a set needs
 * @keys: room for so many keys; a deleted key counts until the set is copied
 * @key_bytes: bytes of all keys together; INT: 8 for each
 *
 * Return: bytes, or 0: more than MRPC_SET_MAX_KEYS or MRPC_SET_MAX_BYTES.
 */
size_t mrpc_set_size(u32 keys, u64 key_bytes);

/**
 * mrpc_set_init() - make an empty set
 * @mem: mrpc_set_size(@keys, @key_bytes) bytes, aligned to 8
 * @kind: enum mrpc_set_kind
 * @keys: as for mrpc_set_size()
 * @key_bytes: as for mrpc_set_size()
 * @hash_key: random and secret: an attacker that knows it can make the set slow
 *
 * Return: @mem.
 */
struct mrpc_set *mrpc_set_init(void *mem, u32 kind, u32 keys, u64 key_bytes,
			       const u64 hash_key[2]);

/**
 * mrpc_set_add() - add a key
 * @set: only one writer at a time
 * @key: INT: a u64 in the processor's byte order
 * @len: its bytes, at most MRPC_SET_MAX_KEY_LEN; INT: 8
 *
 * Return: 0; -EEXIST; -EINVAL: too long, or not 8 bytes for INT; -ENOSPC: the owner must copy
 * the set to a larger one.
 */
int mrpc_set_add(struct mrpc_set *set, const void *key, u32 len);

/**
 * mrpc_set_del() - delete a key
 * @set: only one writer at a time
 * @key: as for mrpc_set_add()
 * @len: its bytes
 *
 * Return: 0 or -ENOENT.
 */
int mrpc_set_del(struct mrpc_set *set, const void *key, u32 len);

/**
 * mrpc_set_has() - is the key in the set?
 * @set: a writer may edit it meanwhile
 * @key: as for mrpc_set_add()
 * @len: its bytes, any number
 */
bool mrpc_set_has(const struct mrpc_set *set, const void *key, u32 len);

static inline bool mrpc_set_has_int(const struct mrpc_set *set, u64 key)
{
	return mrpc_set_has(set, &key, sizeof(key));
}

/**
 * mrpc_set_next() - walk over all keys
 * @set: the caller keeps writers out
 * @pos: 0 at the start
 * @len: out: bytes of the key
 *
 * Return: the key, or NULL after the last.
 */
const void *mrpc_set_next(const struct mrpc_set *set, u32 *pos, u32 *len);

/**
 * mrpc_set_need() - tell what a copy of the set needs
 * @set: the caller keeps writers out
 * @key_bytes: out: bytes of all its keys
 *
 * Return: number of its keys.
 */
u32 mrpc_set_need(const struct mrpc_set *set, u64 *key_bytes);

/**
 * mrpc_set_copy() - add all keys of one set to another
 * @to: of the same kind; has no reader yet
 * @from: the caller keeps writers out; readers are allowed
 *
 * Return: 0 or -ENOSPC.
 */
int mrpc_set_copy(struct mrpc_set *to, const struct mrpc_set *from);

#endif /* MRPC_LIB_DS_SET_H */
