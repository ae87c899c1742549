// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages in protobuf's encoding. The length of a piece is known when the piece is written: it gets
 * a byte in front, and the piece moves if its length takes more.
 */
#include <endian.h>
#include <errno.h>

#include "protobuf.h"
#include "text.h"

static void write_block(struct text *t, const struct mrpc_message_desc *desc, const void *root,
			const char *m, unsigned int depth);
static void write_entry(struct text *t, const struct mrpc_message_desc *entry, const void *root,
			const char *e, unsigned int depth);

/* Return: bytes */
static size_t encode_varint(char *to, __u64 value)
{
	size_t len = 0;

	for (; value >= 0x80; value >>= 7)
		to[len++] = (char)(value | 0x80);
	to[len++] = (char)value;
	return len;
}

static void write_varint(struct text *t, __u64 value)
{
	char bytes[10];

	text_add(t, bytes, encode_varint(bytes, value));
}

static void write_tag(struct text *t, const struct mrpc_field_desc *f, enum wire wire)
{
	write_varint(t, (__u64)f->number << 3 | wire);
}

/* -- pieces with a length ----------------------------------------------------- */

static size_t begin_piece(struct text *t)
{
	text_add(t, "", 1);
	return t->len;
}

static void end_piece(struct text *t, size_t begin)
{
	size_t len = t->len - begin, more;
	char bytes[10];

	more = encode_varint(bytes, len) - 1;
	text_add(t, bytes, more);
	if (t->err)
		return;
	if (more)
		memmove(t->data + begin + more, t->data + begin, len);
	memcpy(t->data + begin - 1, bytes, more + 1);
	if (t->len > INT32_MAX)
		t->err = EMSGSIZE;
}

/* -- values ------------------------------------------------------------------- */

static __u64 zigzag(__s64 value)
{
	return (__u64)value << 1 ^ (value < 0 ? ~0ULL : 0);
}

/* What a varint has for the value. */
static __u64 number_of(const struct mrpc_field_desc *f, union value v)
{
	switch (f->kind) {
	case MRPC_DESC_BOOL:
		return v.b;
	case MRPC_DESC_INT32:
	case MRPC_DESC_ENUM:
		return (__u64)(__s64)v.i32;
	case MRPC_DESC_SINT32:
		return zigzag(v.i32);
	case MRPC_DESC_UINT32:
		return v.u32;
	case MRPC_DESC_SINT64:
		return zigzag(v.i64);
	default:
		return v.u64;
	}
}

static void write_scalar(struct text *t, const struct mrpc_field_desc *f, union value v)
{
	__le32 word = htole32(v.u32);
	__le64 two = htole64(v.u64);

	switch (wire_of(f)) {
	case WIRE_32:
		text_add(t, (const char *)&word, 4);
		break;
	case WIRE_64:
		text_add(t, (const char *)&two, 8);
		break;
	default:
		write_varint(t, number_of(f, v));
	}
}

/* @p: where the value is; NULL for an empty message */
static void write_value(struct text *t, const struct mrpc_field_desc *f, const void *root,
			const char *p, unsigned int depth)
{
	union value v;
	size_t begin;

	if (f->kind == MRPC_DESC_MESSAGE) {
		begin = begin_piece(t);
		if (f->flags & MRPC_DESC_MAP)
			write_entry(t, f->message, root, p, depth + 1);
		else if (p)
			write_block(t, f->message, root, p, depth + 1);
		end_piece(t, begin);
		return;
	}
	v = desc_value(f, p);
	if (f->kind >= MRPC_DESC_STRING) {
		write_varint(t, v.ref.len);
		text_add(t, mrpc_ref_str(root, v.ref), v.ref.len);
	} else {
		write_scalar(t, f, v);
	}
}

/* -- fields ------------------------------------------------------------------- */

static void write_array(struct text *t, const struct mrpc_field_desc *f, const void *root,
			const char *m, unsigned int depth)
{
	struct mrpc_ref ref = desc_ref(f, m);
	const char *p = mrpc_ref_ptr(root, ref);
	bool packed = f->flags & MRPC_DESC_PACKED;
	size_t begin = 0;
	__u32 i;

	if (packed) {
		write_tag(t, f, WIRE_LEN);
		begin = begin_piece(t);
	}
	for (i = 0; i < ref.len && !t->err; i++, p += desc_elem_size(f)) {
		if (!packed)
			write_tag(t, f, wire_of(f));
		write_value(t, f, root, p, depth);
	}
	if (packed)
		end_piece(t, begin);
}

static void write_field(struct text *t, const struct mrpc_field_desc *f, const void *root,
			const char *m, unsigned int depth)
{
	const char *p = m + f->offset;

	if (f->flags & MRPC_DESC_REPEATED) {
		write_array(t, f, root, m, depth);
		return;
	}
	if (f->kind == MRPC_DESC_MESSAGE)
		p = mrpc_ref_ptr(root, desc_ref(f, m));
	write_tag(t, f, wire_of(f));
	write_value(t, f, root, p, depth);
}

/* Protobuf writes the key and the value of an entry whatever they are. */
static void write_entry(struct text *t, const struct mrpc_message_desc *entry, const void *root,
			const char *e, unsigned int depth)
{
	write_field(t, &entry->fields[0], root, e, depth);
	write_field(t, &entry->fields[1], root, e, depth);
}

/* One that is being built can be in itself: the depth is bounded. */
static void write_block(struct text *t, const struct mrpc_message_desc *desc, const void *root,
			const char *m, unsigned int depth)
{
	__u32 i;

	if (depth > MRPC_MAX_DEPTH)
		t->err = t->err ? t->err : EINVAL;
	for (i = 0; i < desc->nr_fields && !t->err; i++)
		if (desc_is_set(&desc->fields[i], m))
			write_field(t, &desc->fields[i], root, m, depth);
}

void *mrpc_to_protobuf(const struct mrpc_message_desc *desc, const void *root, const void *m,
		       size_t *len)
{
	struct text t = { 0 };

	write_block(&t, desc, root, m, 1);
	*len = t.len;
	return text_take(&t);
}
