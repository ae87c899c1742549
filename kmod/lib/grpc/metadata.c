// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/metadata.h"
#include "lib/grpc/field.h"
#include "lib/message/meta.h"

#ifdef __KERNEL__
#include <linux/sprintf.h>
#else
#include <stdio.h>
#endif

/* Longer values are not worth a place in the table of 4 KiB. */
#define META_INDEX_MAX	64

static bool meta_binary(const u8 *key, u32 klen)
{
	return klen >= 4 && !memcmp(key + klen - 4, "-bin", 4);
}

static bool meta_printable(const u8 *value, u32 vlen)
{
	u32 i;

	for (i = 0; i < vlen; i++)
		if (value[i] < ' ' || value[i] > '~')
			return false;
	return true;
}

/* -- from fields ----------------------------------------------------------- */

void mrpc_grpc_meta_drop(struct mrpc_grpc_meta *m)
{
	if (m->dropped < U16_MAX)
		m->dropped++;
}

/* Where the value of a new entry goes, and in @room how long it can be; NULL: nowhere. */
static u8 *meta_value(const struct mrpc_grpc_meta *m, u32 klen, u32 *room)
{
	u32 head = sizeof(struct mrpc_meta_entry) + klen;

	if (head > m->room - m->len)
		return NULL;
	*room = m->room - m->len - head;
	return m->buf + m->len + head;
}

/* Make an entry of a value that is in its place already. */
static void meta_enter(struct mrpc_grpc_meta *m, const u8 *key, u32 klen, u32 vlen)
{
	struct mrpc_meta_entry e = { .klen = klen, .vlen = vlen };

	memcpy(m->buf + m->len, &e, sizeof(e));
	memcpy(m->buf + m->len + sizeof(e), key, klen);
	m->len += sizeof(e) + klen + vlen;
}

static int meta_hear_text(struct mrpc_grpc_meta *m, const u8 *key, u32 klen, const u8 *value,
			  u32 vlen)
{
	u32 room;
	u8 *to;

	if (!meta_printable(value, vlen))
		return -EINVAL;
	to = meta_value(m, klen, &room);
	if (!to || vlen > room)
		return -ENOSPC;
	memcpy(to, value, vlen);
	meta_enter(m, key, klen, vlen);
	return 0;
}

static int meta_hear_part(struct mrpc_grpc_meta *m, const u8 *key, u32 klen, const u8 *value,
			  u32 vlen)
{
	u32 room;
	u8 *to = meta_value(m, klen, &room);
	int n;

	if (!to)
		return -ENOSPC;
	n = mrpc_grpc_base64_decode(value, vlen, to, room);
	if (n < 0)
		return n;
	meta_enter(m, key, klen, n);
	return 0;
}

static int meta_hear_binary(struct mrpc_grpc_meta *m, const u8 *key, u32 klen, const u8 *value,
			    u32 vlen)
{
	u32 start = 0, end, n;
	int err;

	/* One part more than there are commas. Each takes room, or ends the loop. */
	do {
		const u8 *part;

		for (end = start; end < vlen && value[end] != ','; end++)
			;
		part = mrpc_grpc_trim(value + start, end - start, &n);
		err = meta_hear_part(m, key, klen, part, n);
		start = end + 1;
	} while (!err && start <= vlen);
	return err;
}

void mrpc_grpc_meta_hear(struct mrpc_grpc_meta *m, const u8 *name, u32 nlen, const u8 *value,
			 u32 vlen)
{
	u32 before = m->len;
	int err = -EINVAL;

	if (m->full)
		return;
	if (mrpc_meta_key_valid(name, nlen))
		err = meta_binary(name, nlen) ? meta_hear_binary(m, name, nlen, value, vlen) :
						meta_hear_text(m, name, nlen, value, vlen);
	if (!err)
		return;
	m->len = before;
	if (err == -ENOSPC)
		m->full = true;
	else
		mrpc_grpc_meta_drop(m);
}

/* -- to fields ------------------------------------------------------------- */

/* The entry at @meta, and where the next one is. */
static const u8 *meta_entry(const u8 *meta, struct mrpc_meta_entry *e, const u8 **key,
			    const u8 **value)
{
	memcpy(e, meta, sizeof(*e));
	*key = meta + sizeof(*e);
	*value = *key + e->klen;
	return *value + e->vlen;
}

static const char *admit_key(const u8 *key, u32 klen, bool reply)
{
	static const char own[] = "keys that begin with \"grpc-\" are gRPC's own";

	switch (mrpc_grpc_name_find(key, klen)) {
	case MRPC_GRPC_NAME_CONNECTION:
		return "HTTP/2 has no fields of a connection";
	case MRPC_GRPC_NAME_TE:
	case MRPC_GRPC_NAME_HOST:
	case MRPC_GRPC_NAME_CONTENT_TYPE:
	case MRPC_GRPC_NAME_CONTENT_LENGTH:
	case MRPC_GRPC_NAME_USER_AGENT:
		return "the transport itself sends or reads this field";
	case MRPC_GRPC_NAME_PLAIN_AUTHORITY:
		return reply ? NULL : "servers find the connection's authority under this key";
	case MRPC_GRPC_NAME_DETAILS:
	case MRPC_GRPC_NAME_PUSHBACK:
		return reply ? NULL : own;
	case MRPC_GRPC_NAME_ATTEMPTS:
		return reply ? own : NULL;
	case MRPC_GRPC_NAME_TIMEOUT:
	case MRPC_GRPC_NAME_ENCODING:
	case MRPC_GRPC_NAME_ACCEPT:
	case MRPC_GRPC_NAME_STATUS:
	case MRPC_GRPC_NAME_MESSAGE:
	case MRPC_GRPC_NAME_GRPC:
		return own;
	default:
		return NULL;
	}
}

static const char *admit_value(const u8 *value, u32 vlen)
{
	if (!meta_printable(value, vlen))
		return "the value is not printable ASCII, and the key does not end in \"-bin\"";
	if (vlen && (value[0] == ' ' || value[vlen - 1] == ' '))
		return "the value begins or ends with a space, which HTTP/2 does not carry";
	return NULL;
}

int mrpc_grpc_admit(const u8 *meta, u32 len, bool reply, char *why, u32 size)
{
	const u8 *end = meta + len, *key, *value;
	struct mrpc_meta_entry e;

	while (meta < end) {
		const char *fault;

		meta = meta_entry(meta, &e, &key, &value);
		fault = admit_key(key, e.klen, reply);
		if (!fault && !meta_binary(key, e.klen))
			fault = admit_value(value, e.vlen);
		if (!fault)
			continue;
		snprintf(why, size, "metadata \"%.*s\": %s", e.klen, (const char *)key, fault);
		return -EINVAL;
	}
	return 0;
}

static bool meta_is(const u8 *key, u32 klen, const char *name)
{
	return klen == strlen(name) && !memcmp(key, name, klen);
}

static enum mrpc_grpc_mode meta_mode(const u8 *key, u32 klen, u32 vlen)
{
	if (meta_is(key, klen, "authorization") || meta_is(key, klen, "proxy-authorization"))
		return MRPC_GRPC_NEVER;
	if (vlen > META_INDEX_MAX || meta_is(key, klen, "cookie"))
		return MRPC_GRPC_WITHOUT;
	return MRPC_GRPC_SEEN;
}

void mrpc_grpc_put_meta(struct mrpc_grpc_out *out, const u8 *meta, u32 len)
{
	const u8 *end = meta + len, *key, *value;
	struct mrpc_meta_entry e;

	while (meta < end && !out->err) {
		meta = meta_entry(meta, &e, &key, &value);
		if (meta_binary(key, e.klen)) {
			u8 *text = mrpc_grpc_scratch(out, MRPC_GRPC_BASE64_LEN((u32)e.vlen));

			if (text)
				mrpc_grpc_put(out, key, e.klen, text,
					      mrpc_grpc_base64_encode(value, e.vlen, text),
					      MRPC_GRPC_WITHOUT);
			continue;
		}
		mrpc_grpc_put(out, key, e.klen, value, e.vlen, meta_mode(key, e.klen, e.vlen));
	}
}
