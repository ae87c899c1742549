// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fields and values that are read from a text, put into a message. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "map.h"
#include "parse.h"

#define FIRST_ROOM	4	/* elements */

/* -- struct blocks ------------------------------------------------------------ */

bool block_has_level(struct parse *p)
{
	return p->depth < MRPC_MAX_DEPTH ||
	       parse_fail(p, "messages are nested deeper than %u levels", MRPC_MAX_DEPTH);
}

bool block_begin(struct parse *p, struct block *b, const struct mrpc_message_desc *desc, char *m)
{
	*b = (struct block){ .desc = desc, .m = m };
	if (!block_has_level(p))
		return false;
	b->rooms = calloc(desc->nr_fields + 1, sizeof(*b->rooms));
	if (!b->rooms)
		return parse_no_memory(p);
	p->depth++;
	return true;
}

void block_end(struct parse *p, struct block *b)
{
	p->depth--;
	free(b->rooms);
}

static __u32 *room_of(struct block *b, const struct mrpc_field_desc *f)
{
	return &b->rooms[f - b->desc->fields];
}

bool block_claim(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	if (*room_of(b, f))
		return parse_fail(p, "field '%s' is there twice: one must go", f->name);
	*room_of(b, f) = 1;
	return true;
}

static bool oneof_is_free(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	const struct mrpc_field_desc *other;

	for (other = b->desc->fields; other < b->desc->fields + b->desc->nr_fields; other++)
		if (other->flags & MRPC_DESC_ONEOF && other->presence == f->presence &&
		    desc_is_set(other, b->m))
			return parse_fail(p, "field '%s' is of the same oneof as field '%s', which is "
					  "set: one must go", f->name, other->name);
	return true;
}

bool put_done(struct parse *p)
{
	if (!p->err)
		p->err = p->msg->err;
	return !p->err;
}

/* Unlike mrpc_msg_append() it knows the room of any number of arrays that grow in turn. */
static void *add_element(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	struct mrpc_ref *ref = (struct mrpc_ref *)(b->m + f->offset);
	__u32 len = ref->len, room = *room_of(b, f);
	size_t size = desc_elem_size(f);
	char *old = mrpc_ref_mut(p->msg->root, *ref), *array = old;

	if (!old || len + 1 >= room) {
		room = len < FIRST_ROOM ? FIRST_ROOM : 2 * len;
		array = mrpc_msg_alloc_array(p->msg, ref, room, size, 8);
		if (!put_done(p) || !array)
			return NULL;
		if (old)
			memcpy(array, old, len * size);
		*room_of(b, f) = room + 1;
	}
	ref->len = len + 1;
	return memset(array + len * size, 0, size);
}

static void set_present(struct block *b, const struct mrpc_field_desc *f)
{
	__u32 *word;

	if (f->flags & MRPC_DESC_ONEOF) {
		word = (__u32 *)(b->m + f->presence);
		*word = f->number;
	} else if (f->flags & MRPC_DESC_OPTIONAL) {
		word = (__u32 *)(b->m + f->presence / 32 * 4);
		*word |= 1U << f->presence % 32;
	}
}

void *block_add(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	void *place = b->m + f->offset;

	if (f->flags & MRPC_DESC_REPEATED)
		return add_element(p, b, f);
	if (f->flags & MRPC_DESC_ONEOF && !oneof_is_free(p, b, f))
		return NULL;
	set_present(b, f);
	if (f->kind != MRPC_DESC_MESSAGE)
		return place;
	place = mrpc_msg_alloc_struct(p->msg, place, f->message->size);
	return put_done(p) ? place : NULL;
}

void block_drop(struct block *b, const struct mrpc_field_desc *f)
{
	struct mrpc_ref *ref = (struct mrpc_ref *)(b->m + f->offset);

	if (!--ref->len)
		ref->off = 0;
}

bool block_check_map(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	struct mrpc_ref ref = desc_ref(f, b->m);
	const void *root = p->msg->root;
	const char **entries;
	__u32 i;

	if (ref.len < 2)
		return true;
	entries = map_sort(f, root, ref);
	if (!entries)
		return parse_no_memory(p);
	for (i = 1; i < ref.len; i++)
		if (!map_compare(f, root, entries[i - 1], root, entries[i])) {
			parse_fail(p, "entries %u and %u of map '%s', counted from 0, have the same key: one "
				   "must go", map_index(f, root, ref, entries[i - 1]),
				   map_index(f, root, ref, entries[i]), f->name);
			break;
		}
	free(entries);
	return !p->err;
}

/* -- numbers ------------------------------------------------------------------ */

struct range {
	const char *name;
	__u64 most;		/* and least is -@most - 1, or 0 */
	bool is_signed;
};

static struct range range_of(const struct mrpc_field_desc *f)
{
	switch (f->kind) {
	case MRPC_DESC_UINT32:
	case MRPC_DESC_FIXED32:
		return (struct range){ "from 0 to 4294967295", UINT32_MAX, false };
	case MRPC_DESC_UINT64:
	case MRPC_DESC_FIXED64:
		return (struct range){ "from 0 to 18446744073709551615", UINT64_MAX, false };
	case MRPC_DESC_INT64:
	case MRPC_DESC_SINT64:
	case MRPC_DESC_SFIXED64:
		return (struct range){ "from -9223372036854775808 to 9223372036854775807",
				       INT64_MAX, true };
	default:
		return (struct range){ "from -2147483648 to 2147483647", INT32_MAX, true };
	}
}

bool put_integer(struct parse *p, const struct mrpc_field_desc *f, void *place,
		 struct whole number)
{
	struct range range = range_of(f);
	__u64 bits = number.negative ? -number.magnitude : number.magnitude, most = range.most;
	__u32 word = (__u32)bits;

	if (number.negative)
		most = range.is_signed ? range.most + 1 : 0;
	if (number.too_large || number.magnitude > most)
		return parse_fail(p, "%s is out of range: the number must be %s", parse_buf(p),
				  range.name);
	if (desc_elem_size(f) == 4)
		memcpy(place, &word, 4);
	else
		memcpy(place, &bits, 8);
	return true;
}

void put_double(const struct mrpc_field_desc *f, void *place, double d)
{
	float single = (float)d;

	if (f->kind == MRPC_DESC_FLOAT)
		memcpy(place, &single, sizeof(single));
	else
		memcpy(place, &d, sizeof(d));
}

/* The program's locale may have another point. */
bool put_real(struct parse *p, const struct mrpc_field_desc *f, void *place, bool may_overflow)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
	double d;

	if (!c)
		return parse_no_memory(p);
	/* A double between would be rounded twice. */
	d = f->kind == MRPC_DESC_FLOAT ? (double)strtof_l(p->buf.data, NULL, c) :
					 strtod_l(p->buf.data, NULL, c);
	freelocale(c);
	if (!isfinite(d) && !may_overflow)
		return parse_fail(p, "%s is out of range: a %s must be between %s and %s", parse_buf(p),
				  f->kind == MRPC_DESC_FLOAT ? "float" : "double",
				  f->kind == MRPC_DESC_FLOAT ? "-3.4028235e38" : "-1.7976931348623157e308",
				  f->kind == MRPC_DESC_FLOAT ? "3.4028235e38" : "1.7976931348623157e308");
	put_double(f, place, d);
	return true;
}

/* -- names -------------------------------------------------------------------- */

/* @name can have NULs in it. */
static bool is_named(const char *s, const struct text *name)
{
	return strlen(s) == name->len && !memcmp(s, name->data, name->len);
}

const struct mrpc_field_desc *find_field(const struct mrpc_message_desc *desc,
					 const struct text *name, bool of_json)
{
	__u32 i;

	for (i = 0; i < desc->nr_fields; i++)
		if (is_named(of_json ? desc->fields[i].json_name : desc->fields[i].name, name))
			return &desc->fields[i];
	return NULL;
}

bool find_enum(const struct mrpc_enum_desc *e, const struct text *name, __s32 *number)
{
	__u32 i;

	for (i = 0; e && i < e->nr_values; i++)
		if (is_named(e->values[i].name, name)) {
			*number = e->values[i].number;
			return true;
		}
	return false;
}

/* -- strings ------------------------------------------------------------------ */

/*
 * Bytes of the character at @s, 0 if it is none. The second byte's range leaves out overlong
 * forms, surrogates and what is above 0x10ffff.
 */
static size_t utf8_len(const unsigned char *s, size_t left)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4, i;

	if (len == 1)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4 || len > left)
		return 0;
	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

bool parse_utf8(struct parse *p)
{
	const unsigned char *s = (const unsigned char *)p->buf.data;
	size_t i, len;

	for (i = 0; i < p->buf.len; i += len) {
		len = utf8_len(s + i, p->buf.len - i);
		if (!len)
			return parse_fail(p, "the string is not UTF-8: byte %zu of it is 0x%02x", i + 1,
					  s[i]);
	}
	return true;
}

bool put_string(struct parse *p, void *place)
{
	mrpc_msg_set_bytes(p->msg, place, p->buf.data, p->buf.len);
	return put_done(p);
}
