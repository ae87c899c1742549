// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Metadata: building and reading it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

static bool key_ok(const char *key, size_t len)
{
	size_t i;

	if (len < 1 || len > 255 || !strncmp(key, "mrpc-", 5))
		return false;
	for (i = 0; i < len; i++) {
		char c = key[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '_' || c == '-'))
			return false;
	}
	return true;
}

static int meta_fail(struct mrpc_meta *meta, int err)
{
	if (!meta->err)
		meta->err = err;
	return err;
}

int mrpc_meta_add(struct mrpc_meta *meta, const char *key, const void *value, size_t len)
{
	size_t klen = key ? strlen(key) : 0, need;
	struct mrpc_meta_entry entry;
	u8 *data;
	u32 cap;

	if (!key_ok(key, klen))
		return meta_fail(meta, fail(EINVAL, "'%s' cannot be a key of metadata: keys are 1 to "
					    "255 of a-z, 0-9, '.', '_', '-', and do not begin with "
					    "'mrpc-'", key ? key : ""));
	if (len > MRPC_MAX_META || meta->len + sizeof(entry) + klen + len > MRPC_MAX_META)
		return meta_fail(meta, fail(EMSGSIZE, "metadata exceeds %u bytes with '%s'",
					    MRPC_MAX_META, key));
	need = meta->len + sizeof(entry) + klen + len;
	if (need > meta->cap) {
		for (cap = 128; cap < need; cap *= 2)
			;
		data = realloc(meta->data, cap);
		if (!data)
			return meta_fail(meta, fail(ENOMEM, "out of memory"));
		meta->data = data;
		meta->cap = cap;
	}
	entry.klen = (u16)klen;
	entry.vlen = (u16)len;
	data = meta->data + meta->len;
	memcpy(data, &entry, sizeof(entry));
	memcpy(data + sizeof(entry), key, klen);
	if (len)
		memcpy(data + sizeof(entry) + klen, value, len);
	meta->len = (u32)need;
	return 0;
}

int mrpc_meta_add_str(struct mrpc_meta *meta, const char *key, const char *value)
{
	return mrpc_meta_add(meta, key, value, value ? strlen(value) : 0);
}

void mrpc_meta_free(struct mrpc_meta *meta)
{
	free(meta->data);
	memset(meta, 0, sizeof(*meta));
}

void mrpc_meta_begin(struct mrpc_meta_iter *it, const void *meta, size_t len)
{
	memset(it, 0, sizeof(*it));
	if (meta && len) {
		it->pos = meta;
		it->end = it->pos + len;
	}
}

bool mrpc_meta_next(struct mrpc_meta_iter *it)
{
	struct mrpc_meta_entry entry;
	size_t left = it->pos ? (size_t)(it->end - it->pos) : 0;

	if (left < sizeof(entry))
		return false;
	memcpy(&entry, it->pos, sizeof(entry));
	if ((size_t)entry.klen + entry.vlen > left - sizeof(entry))
		return false;
	it->key = (const char *)it->pos + sizeof(entry);
	it->klen = entry.klen;
	it->value = it->key + entry.klen;
	it->vlen = entry.vlen;
	it->pos += sizeof(entry) + entry.klen + entry.vlen;
	return true;
}

const void *mrpc_meta_find(const void *meta, size_t len, const char *key, __u32 *vlen)
{
	size_t klen = strlen(key);
	struct mrpc_meta_iter it;

	mrpc_meta_begin(&it, meta, len);
	while (mrpc_meta_next(&it)) {
		if (it.klen == klen && !memcmp(it.key, key, klen)) {
			if (vlen)
				*vlen = it.vlen;
			return it.value;
		}
	}
	if (vlen)
		*vlen = 0;
	return NULL;
}
