/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of texts or of 64-bit integers, for rules: up to a million keys, looked
 * up in a time that does not depend on how many there are.
 *
 * A hash table with open addressing, keyed with SipHash, and the keys, in one
 * allocation of the owner's.
 *
 * Edited in place, read without a lock. One writer at a time (the owner's mutex);
 * readers at any time: under RCU if the set can be replaced. A reader
 * finds every key that was in the set all the while, and none that was not;
 * one that is added or deleted meanwhile is found or not. For that, a key never
 * moves and a deleted key's bytes are not used again; so a set that is edited
 * runs full in time. The owner then makes a new and larger one
 * (mrpc_set_copy()), replaces the pointer, and frees the old one after a grace
 * period.
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
 * @kind: enum mrpc_set_kind
 * @mask: slots - 1
 * @nr_keys: in the set
 * @nr_used: slots that are not empty; deleted ones too
 * @longest: bytes of the longest key there ever was
 * @bytes: room for keys
 * @bytes_used: of that
 * @slots: empty (0), deleted (1), or a key: its hash << 32 | where
 *	it is: 2 + offset behind the slots / 2
 *
 * Only @nr_keys is for others, to show.
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
 * @keys: how many there can be; deleted ones count until the set is copied
 * @key_bytes: of all keys together; INT: 8 for each
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
 * @hash_key: random: who knows it can make the set slow
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
 * Return: 0; -EEXIST; -EINVAL: too long, or not 8; -ENOSPC: the set must be copied
 * to a larger one.
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
 * @set: may be edited meanwhile
 * @key: as for mrpc_set_add()
 * @len: its bytes; any
 */
bool mrpc_set_has(const struct mrpc_set *set, const void *key, u32 len);

static inline bool mrpc_set_has_int(const struct mrpc_set *set, u64 key)
{
	return mrpc_set_has(set, &key, sizeof(key));
}

/**
 * mrpc_set_next() - walk over all keys
 * @set: nobody edits it
 * @pos: 0 at the start
 * @len: out: bytes of the key
 *
 * Return: the key, or NULL after the last.
 */
const void *mrpc_set_next(const struct mrpc_set *set, u32 *pos, u32 *len);

/**
 * mrpc_set_need() - what a copy of the set needs
 * @set: nobody edits it
 * @key_bytes: out: of all its keys
 *
 * Return: how many keys it has.
 */
u32 mrpc_set_need(const struct mrpc_set *set, u64 *key_bytes);

/**
 * mrpc_set_copy() - add all keys of one set to another
 * @to: of the same kind; has no reader yet
 * @from: nobody edits it; may be read
 *
 * Return: 0 or -ENOSPC.
 */
int mrpc_set_copy(struct mrpc_set *to, const struct mrpc_set *from);

#endif /* MRPC_LIB_DS_SET_H */
