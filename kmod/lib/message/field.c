// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a field of a message by a compiled path; see field.h for the contract
 * and field_compile.c for how paths are made.
 *
 * The head has been verified: references are in bounds, elements are as many as
 * they say, and what a oneof's case names is there. So nothing is checked here
 * but what decides whether the field is there.
 */
#include "lib/message/field_step.h"
#include "lib/message/message_walk.h"
#include "lib/message/utf8.h"

static u64 field_get_u64(const u8 *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The same number with the exponent and mantissa of a double; no arithmetic. */
static u64 field_widen(u32 bits)
{
	u64 sign = (u64)(bits >> 31) << 63;
	u32 exp = bits >> 23 & 0xff;
	u64 man = bits & 0x7fffff;
	u32 high;

	/* Not a number stays so, and quiet, as when a processor widens it. */
	if (exp == 0xff)
		return sign | 0x7ffULL << 52 | man << 29 | (u64)!!man << 51;
	if (exp)
		return sign | (u64)(exp - 127 + 1023) << 52 | man << 29;
	if (!man)
		return sign;
	/* Too small for a float to have a leading one, but not for a double. */
	high = fls64(man) - 1;
	return sign | (u64)(high - 149 + 1023) << 52 | (man << (52 - high) & ~(1ULL << 52));
}

static void field_load(u32 kind, const u8 *p, struct mrpc_field_value *value)
{
	switch (kind) {
	case MRPC_KIND_BOOL:
		value->u = *p;
		break;
	case MRPC_KIND_INT32:
	case MRPC_KIND_SINT32:
	case MRPC_KIND_SFIXED32:
	case MRPC_KIND_ENUM:
		value->s = (s32)msg_get_u32(p);
		break;
	case MRPC_KIND_UINT32:
	case MRPC_KIND_FIXED32:
		value->u = msg_get_u32(p);
		break;
	case MRPC_KIND_FLOAT:
		value->bits = field_widen(msg_get_u32(p));
		break;
	default:
		value->u = field_get_u64(p);
	}
}

/* @len bytes at @off of the message, which are in its byte section; or NULL. */
static const u8 *field_content(const struct mrpc_view *view, u32 off, u32 len,
			       struct mrpc_field_value *value)
{
	const u8 *p = NULL;

	if (view->bytes)
		p = (const u8 *)view->bytes + (off - view->head_len);
	else if (view->piece)
		p = view->piece(view, off, len);
	if (p)
		return p;
	value->u = 0;
	value->off = off;
	value->len = len;
	return NULL;
}

static bool field_guard(const struct mrpc_step *s, const u8 *block)
{
	u32 word = msg_get_u32(block + s->guard_off);

	return s->guard == GUARD_HAS ? word & s->guard_val : word == s->guard_val;
}

static bool field_key_matches(const struct mrpc_field_path *path, const struct mrpc_step *s,
			      const u8 *head, const u8 *key)
{
	struct mrpc_ref ref;

	switch (s->kind) {
	case MRPC_KIND_STRING:
		ref = msg_get_ref(key);
		return ref.len == s->arg &&
		       !memcmp(head + ref.off, (const u8 *)path + s->key_off, ref.len);
	case MRPC_KIND_BOOL:
		return *key == s->arg;
	case MRPC_KIND_INT64:
	case MRPC_KIND_SINT64:
	case MRPC_KIND_UINT64:
	case MRPC_KIND_FIXED64:
	case MRPC_KIND_SFIXED64:
		return field_get_u64(key) == s->arg;
	default:
		return msg_get_u32(key) == (u32)s->arg;
	}
}

/* Of several entries with one key, protobuf means the last. */
static const u8 *field_entry(const struct mrpc_field_path *path, const struct mrpc_step *s,
			     const u8 *head, struct mrpc_ref ref)
{
	const u8 *first = head + ref.off;
	const u8 *entry = first + (size_t)ref.len * s->stride;

	while (entry > first) {
		entry -= s->stride;
		/* A key is the first field: at the start of its block. */
		if (field_key_matches(path, s, head, entry))
			return entry;
	}
	return NULL;
}

static int field_leaf(const struct mrpc_step *s, const struct mrpc_view *view, const u8 *at,
		      struct mrpc_field_value *value)
{
	struct mrpc_ref ref;
	const u8 *p;

	switch (s->op) {
	case LEAF_SCALAR:
		field_load(s->kind, at, value);
		return 0;
	case LEAF_HERE:
		return 0;
	}

	ref = msg_get_ref(at);
	switch (s->op) {
	case LEAF_TEXT:
		value->ptr = ref.len ? (const char *)view->head + ref.off : "";
		value->len = ref.len;
		return 0;
	case LEAF_BYTES:
		value->ptr = "";
		value->len = ref.len;
		if (!ref.len)
			return 0;
		value->ptr = (const char *)field_content(view, ref.off, ref.len, value);
		return value->ptr ? 0 : -ENODATA;
	case LEAF_ITEM:
		if (s->arg >= ref.len)
			return -ENOENT;
		p = field_content(view, ref.off + s->arg * s->stride, s->stride, value);
		if (!p)
			return -ENODATA;
		field_load(s->kind, p, value);
		return 0;
	case LEAF_LIST:
		value->u = ref.len;
		return ref.len ? 0 : -ENOENT;
	case LEAF_MESSAGE:
		return ref.len ? 0 : -ENOENT;
	default:	/* LEAF_LENGTH */
		value->u = ref.len;
		return 0;
	}
}

/* To the leaf of a path. Return: 0, with *@leaf, and *@at what it is about; -ENOENT; -E2BIG. */
static int field_follow(const struct mrpc_field_path *path, const struct mrpc_view *view,
			const struct mrpc_step **leaf, const u8 **at)
{
	const u8 *head = view->head, *block = head;
	const struct mrpc_step *s;
	struct mrpc_ref ref;

	if (!head)
		return -ENOENT;
	for (s = path->steps;; s++) {
		if (s->guard && !field_guard(s, block))
			return -ENOENT;
		*at = block + s->offset;
		if (s->op >= LEAF_FIRST) {
			*leaf = s;
			return 0;
		}
		ref = msg_get_ref(*at);
		switch (s->op) {
		case STEP_MESSAGE:
			if (!ref.len)
				return -ENOENT;
			block = head + ref.off;
			break;
		case STEP_ELEMENT:
			if (s->arg >= ref.len)
				return -ENOENT;
			block = head + ref.off + s->arg * s->stride;
			break;
		default:	/* STEP_ENTRY */
			if (ref.len > MRPC_FIELD_MAX_ENTRIES)
				return -E2BIG;
			block = field_entry(path, s, head, ref);
			if (!block)
				return -ENOENT;
		}
	}
}

int mrpc_field_read(const struct mrpc_field_path *path, const struct mrpc_view *view,
		    struct mrpc_field_value *value)
{
	const struct mrpc_step *s;
	const u8 *at;
	int err;

	value->kind = path->kind;
	err = field_follow(path, view, &s, &at);
	return err ?: field_leaf(s, view, at, value);
}

static int field_store(u32 kind, u8 *p, const struct mrpc_field_value *value)
{
	u32 word;

	switch (kind) {
	case MRPC_KIND_BOOL:
		if (value->u > 1)
			return -ERANGE;
		*p = value->u;
		return 0;
	case MRPC_KIND_INT32:
	case MRPC_KIND_SINT32:
	case MRPC_KIND_SFIXED32:
	case MRPC_KIND_ENUM:
		if (value->s != (s32)value->s)
			return -ERANGE;
		word = value->s;
		break;
	case MRPC_KIND_UINT32:
	case MRPC_KIND_FIXED32:
		if (value->u != (u32)value->u)
			return -ERANGE;
		word = value->u;
		break;
	case MRPC_KIND_FLOAT:	/* of a double's bits much would be lost */
		return -EINVAL;
	default:
		memcpy(p, &value->u, sizeof(value->u));
		return 0;
	}
	memcpy(p, &word, sizeof(word));
	return 0;
}

/* The new text may be in memory that others write: what counts is what has come. */
static int field_store_text(char *to, const struct mrpc_field_value *value)
{
	if (!mrpc_utf8_valid(value->ptr, value->len))
		return -EILSEQ;
	memcpy(to, value->ptr, value->len);
	if (mrpc_utf8_valid(to, value->len))
		return 0;
	memset(to, 0, value->len);
	return -EILSEQ;
}

int mrpc_field_write(const struct mrpc_field_path *path, const struct mrpc_view *view,
		     const struct mrpc_field_value *value)
{
	/* A piece may be a copy. */
	const struct mrpc_view own = {
		.head = view->head, .head_len = view->head_len, .bytes = view->bytes,
	};
	struct mrpc_field_value is = {};
	const struct mrpc_step *s;
	const u8 *at;
	int err;

	err = field_follow(path, &own, &s, &at);
	if (err)
		return err;
	if (s->op == LEAF_SCALAR)
		return field_store(s->kind, (u8 *)at, value);
	if (s->op != LEAF_TEXT && s->op != LEAF_BYTES && s->op != LEAF_ITEM)
		return -EINVAL;
	err = field_leaf(s, &own, at, &is);
	if (err)
		return err;
	if (s->op == LEAF_ITEM) {
		at = field_content(&own, msg_get_ref(at).off + s->arg * s->stride, s->stride, &is);
		return field_store(s->kind, (u8 *)at, value);
	}
	if (value->len != is.len)
		return -EMSGSIZE;
	if (!is.len)
		return 0;
	if (s->op == LEAF_TEXT)
		return field_store_text((char *)is.ptr, value);
	memcpy((char *)is.ptr, value->ptr, is.len);
	return 0;
}
