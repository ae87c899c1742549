/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_LIB_MESSAGE_META_H
#define MRPC_LIB_MESSAGE_META_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"

/**
 * mrpc_meta_key_valid() - is this the key of an entry?
 * @key: bytes
 * @len: how many
 *
 * Keys are 1 to 255 bytes of [a-z0-9._-]; keys that begin with "mrpc-" are reserved and refused.
 */
bool mrpc_meta_key_valid(const u8 *key, size_t len);

/**
 * mrpc_meta_valid() - check an encoded metadata block (struct mrpc_meta_entry)
 * @buf: the block, in memory that no one else can write
 * @len: its bytes, at most MRPC_MAX_META
 *
 * Keys are as mrpc_meta_key_valid() says. Values are any bytes. The last entry ends at @len.
 *
 * Return: number of entries, or -EINVAL.
 */
int mrpc_meta_valid(const void *buf, size_t len);

#endif /* MRPC_LIB_MESSAGE_META_H */
