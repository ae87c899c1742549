// SPDX-License-Identifier: GPL-2.0
#include "lib/message/meta.h"

#define META_MAX_KEY	255
#define META_RESERVED	"mrpc-"

bool mrpc_meta_key_valid(const u8 *key, size_t len)
{
	size_t reserved = sizeof(META_RESERVED) - 1;
	size_t i;

	if (!len || len > META_MAX_KEY)
		return false;
	for (i = 0; i < len; i++) {
		u8 ch = key[i];

		if (!((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') ||
		      ch == '.' || ch == '_' || ch == '-'))
			return false;
	}
	return len < reserved || memcmp(key, META_RESERVED, reserved);
}

int mrpc_meta_valid(const void *buf, size_t len)
{
	const u8 *p = buf;
	int entries = 0;

	if (len > MRPC_MAX_META)
		return -EINVAL;
	while (len) {
		struct mrpc_meta_entry e;

		if (len < sizeof(e))
			return -EINVAL;
		memcpy(&e, p, sizeof(e));
		p += sizeof(e);
		len -= sizeof(e);
		if ((size_t)e.klen + e.vlen > len || !mrpc_meta_key_valid(p, e.klen))
			return -EINVAL;
		p += e.klen + e.vlen;
		len -= e.klen + e.vlen;
		entries++;
	}
	return entries;
}
