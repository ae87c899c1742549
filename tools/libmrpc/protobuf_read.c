// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages from protobuf's encoding, which can come from anywhere. @parse.end is the end of the
 * innermost piece that is being read: nothing behind it is looked at.
 */
#include <endian.h>

#include "parse.h"
#include "protobuf.h"

#define NUMBER_MAX	0x1fffffffU	/* of a field */
#define VALUE_BYTES	10		/* of a varint */
#define SHORT_BYTES	5		/* of one that is a tag or a length */

static bool read_fields(struct parse *p, const struct mrpc_message_desc *desc, char *m);

/* -- tokens ------------------------------------------------------------------- */

static bool too_short(struct parse *p)
{
	return parse_fail(p, "the bytes end within the field that begins here: its message must be whole");
}

/* Bits beyond 64 are dropped, as protobuf does. @max: bytes */
static bool read_varint(struct parse *p, unsigned int max, __u64 *value)
{
	unsigned int i;
	unsigned char byte;

	*value = 0;
	for (i = 0; i < max; i++) {
		if (p->pos == p->end)
			return too_short(p);
		byte = *p->pos++;
		*value |= (__u64)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return true;
	}
	return parse_fail(p, "a number has more than %u bytes: the last one must be below 0x80", max);
}

/* @len: 4 or 8 */
static bool read_fixed(struct parse *p, size_t len, __u64 *value)
{
	__le64 bytes = 0;

	if ((size_t)(p->end - p->pos) < len)
		return too_short(p);
	memcpy(&bytes, p->pos, len);
	p->pos += len;
	*value = le64toh(bytes);
	return true;
}

static bool read_value(struct parse *p, enum wire wire, __u64 *value)
{
	if (wire == WIRE_VARINT)
		return read_varint(p, VALUE_BYTES, value);
	return read_fixed(p, wire == WIRE_32 ? 4 : 8, value);
}

/* The bytes of a piece from @pos on are there. */
static bool read_length(struct parse *p, size_t *len)
{
	__u64 value;

	*len = 0;
	if (!read_varint(p, SHORT_BYTES, &value))
		return false;
	if (value > (size_t)(p->end - p->pos))
		return too_short(p);
	*len = value;
	return true;
}

static bool read_tag(struct parse *p, __u32 *number, enum wire *wire)
{
	__u64 tag;

	p->token = p->pos;
	if (!read_varint(p, SHORT_BYTES, &tag))
		return false;
	if (tag >> 3 > NUMBER_MAX || !(tag >> 3))
		return parse_fail(p, "%llu is no number of a field: it must be from 1 to %u",
				  (unsigned long long)(tag >> 3), NUMBER_MAX);
	if ((tag & 7) > WIRE_32)
		return parse_fail(p, "%u is no wire type: it must be from 0 to 5", (unsigned int)(tag & 7));
	*number = (__u32)(tag >> 3);
	*wire = tag & 7;
	return true;
}

/* -- what is skipped ---------------------------------------------------------- */

static bool skip_field(struct parse *p, __u32 number, enum wire wire);

static bool skip_group(struct parse *p, __u32 group)
{
	__u32 number;
	enum wire wire;

	if (!block_has_level(p))
		return false;
	p->depth++;
	do {
		if (!read_tag(p, &number, &wire))
			return false;
		if (wire == WIRE_GROUP_END && number != group)
			return parse_fail(p, "group %u ends here, and group %u must end first", number,
					  group);
	} while (wire != WIRE_GROUP_END && skip_field(p, number, wire));
	p->depth--;
	return !p->err;
}

/* Steps over what follows a tag. */
static bool skip_field(struct parse *p, __u32 number, enum wire wire)
{
	__u64 value;
	size_t len;

	switch (wire) {
	case WIRE_LEN:
		if (!read_length(p, &len))
			return false;
		p->pos += len;
		return true;
	case WIRE_GROUP:
		return skip_group(p, number);
	case WIRE_GROUP_END:
		return parse_fail(p, "group %u ends here, and has no beginning", number);
	default:
		return read_value(p, wire, &value);
	}
}

/* -- values ------------------------------------------------------------------- */

static __u64 unzigzag(__u64 value)
{
	return value >> 1 ^ (value & 1 ? ~0ULL : 0);
}

static bool read_scalar(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	union value v;

	if (!read_value(p, wire_of(f), &v.u64))
		return false;
	if (f->kind == MRPC_DESC_BOOL)
		v.b = v.u64;
	else if (f->kind == MRPC_DESC_SINT32)
		v.u32 = (__u32)unzigzag((__u32)v.u64);
	else if (f->kind == MRPC_DESC_SINT64)
		v.u64 = unzigzag(v.u64);
	else if (desc_elem_size(f) == 4)
		v.u32 = (__u32)v.u64;
	memcpy(place, &v, desc_elem_size(f));
	return true;
}

static bool read_string(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	size_t len;

	if (!read_length(p, &len) || !buf_reset(p) || !buf_add(p, p->pos, len))
		return false;
	p->pos += len;
	return (f->kind == MRPC_DESC_BYTES || parse_utf8(p)) && put_string(p, place);
}

static bool read_message(struct parse *p, const struct mrpc_field_desc *f, char *m)
{
	const char *end = p->end;
	size_t len;

	if (!read_length(p, &len))
		return false;
	p->end = p->pos + len;
	if (!read_fields(p, f->message, m))
		return false;
	p->end = end;
	return true;
}

/* -- fields ------------------------------------------------------------------- */

/* A message that is there again is merged with what was there; what else a oneof has goes. */
static void *place_of(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	if (f->kind == MRPC_DESC_MESSAGE && !(f->flags & MRPC_DESC_REPEATED) && desc_is_set(f, b->m))
		return mrpc_ref_mut(p->msg->root, desc_ref(f, b->m));
	if (f->flags & MRPC_DESC_ONEOF)
		memset(b->m + f->presence, 0, 4);
	return block_add(p, b, f);
}

static bool read_one(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	struct step step = { p->step, f, -1 };
	void *place = place_of(p, b, f);
	bool ok;

	if (!place)
		return false;
	if (f->flags & MRPC_DESC_REPEATED)
		step.index = (__s64)desc_ref(f, b->m).len - 1;
	p->step = &step;
	if (f->kind == MRPC_DESC_MESSAGE)
		ok = read_message(p, f, place);
	else if (f->kind >= MRPC_DESC_STRING)
		ok = read_string(p, f, place);
	else
		ok = read_scalar(p, f, place);
	p->step = step.up;
	return ok;
}

static bool read_packed(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	const char *end = p->end;
	size_t len;

	if (!read_length(p, &len))
		return false;
	p->end = p->pos + len;
	while (p->pos < p->end)
		if (!read_one(p, b, f))
			return false;
	p->end = end;
	return true;
}

static const struct mrpc_field_desc *field_of(const struct mrpc_message_desc *desc, __u32 number)
{
	__u32 low = 0, high = desc->nr_fields, i;

	while (low < high) {
		i = (low + high) / 2;
		if (desc->fields[i].number == number)
			return &desc->fields[i];
		if (desc->fields[i].number < number)
			low = i + 1;
		else
			high = i;
	}
	return NULL;
}

static bool read_field(struct parse *p, struct block *b)
{
	const struct mrpc_field_desc *f;
	enum wire wire;
	__u32 number;

	if (!read_tag(p, &number, &wire))
		return false;
	f = field_of(b->desc, number);
	if (f && wire == wire_of(f))
		return read_one(p, b, f);
	if (f && wire == WIRE_LEN && f->flags & MRPC_DESC_REPEATED)
		return read_packed(p, b, f);
	return skip_field(p, number, wire);
}

static bool read_fields(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	struct block b;

	if (!block_begin(p, &b, desc, m))
		return false;
	while (p->pos < p->end)
		if (!read_field(p, &b))
			break;
	block_end(p, &b);
	return !p->err;
}

int mrpc_from_protobuf(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		       const void *data, size_t len)
{
	const char *start = data ? data : "";
	struct parse p = { .msg = msg, .start = start, .pos = start, .end = start + len,
			   .token = start, .is_binary = true };

	return parse_all(&p, desc, to, read_fields);
}
