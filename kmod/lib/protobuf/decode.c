// SPDX-License-Identifier: GPL-2.0
/*
 * Decoding protobuf: see decode.h for the contract.
 *
 * A frame is a message whose own bytes are being read; a nested one gets a frame of its own when
 * the reader comes to it. At the first element of any repeated field, the reader counts the
 * elements in the rest of the message's own bytes. A count is the length in the field's
 * reference, with the offset 0, until the field's first element comes and an array is made. From
 * then on the length is the number of elements that are there.
 *
 * An array in the arena stands behind a word with the number of elements that it has room for.
 *
 * To merge, the reader reads into the struct block that is there. The counts then are in a block
 * of their own. An array with new elements is made anew, behind a copy of the old elements:
 * references in the arena do not depend on where they stand.
 */
#include "lib/message/message_walk.h"
#include "lib/protobuf/decode.h"
#include "lib/protobuf/number.h"

#define PB_FRESH	U32_MAX		/* frame.counts: not counted yet */
#define PB_MERGED	(U32_MAX - 1)	/* the same, and the block is not a new one */
#define PB_ROOM		8U		/* bytes in front of an array in the arena */

struct pb_decoder {
	struct mrpc_pb_message *m;
	struct mrpc_pb_scratch *scratch;
	const struct mrpc_schema_plan *plan;
	struct mrpc_msg_error *err;
	struct mrpc_pb_frame *frame;	/* the present one */
	u32 merges;
};

static noinline int pb_fail(struct pb_decoder *d, u32 pos, const char *what, int ret)
{
	d->err->what = what;
	d->err->type = d->frame->type;
	d->err->off = pos;
	return ret;
}

static int pb_malformed(struct pb_decoder *d, u32 pos, const char *what)
{
	return pb_fail(d, pos, what, -EINVAL);
}

/* For what the count has excluded. */
static int pb_changed(struct pb_decoder *d)
{
	return pb_malformed(d, d->frame->pos, "is where the input has changed");
}

/* -- the arena ------------------------------------------------------------- */

/* Takes @len bytes, which are not written, at *@at. */
static int pb_take(struct pb_decoder *d, u64 len, u32 *at)
{
	struct mrpc_pb_message *m = d->m;
	u64 need = ALIGN(len, 8) + m->arena_len;

	if (unlikely(need > m->arena_max))
		return pb_fail(d, d->frame->pos, "is where the message becomes too large",
			       -EMSGSIZE);
	if (unlikely(need > MRPC_MAX_HEAD))
		return pb_fail(d, d->frame->pos, "is where structures become too large", -EFBIG);
	if (unlikely(need > m->arena_cap)) {
		int ret = m->grow(m, need);

		if (ret)
			return pb_fail(d, d->frame->pos, "is where memory is lacking", ret);
	}
	*at = m->arena_len;
	m->arena_len = need;
	return 0;
}

static int pb_take_block(struct pb_decoder *d, u32 type, u32 *at)
{
	u32 size = d->plan->types[type].size;
	int ret = pb_take(d, size, at);

	if (!ret)
		memset(d->m->arena + *at, 0, size);
	return ret;
}

/* Makes an array with room for those of @ref, which it gets, and @more elements. */
static int pb_take_array(struct pb_decoder *d, const struct mrpc_field *f, struct mrpc_ref *ref,
			 u32 more)
{
	u64 old = (u64)ref->len * f->elem_size;
	u32 room = ref->len + more, at;
	int ret;

	ret = pb_take(d, PB_ROOM + old + (u64)more * f->elem_size, &at);
	if (ret)
		return ret;
	memcpy(d->m->arena + at, &room, sizeof(room));
	at += PB_ROOM;
	if (old)
		memcpy(d->m->arena + at, mrpc_pb_at(d->m, (u32)ref->off, old), old);
	ref->off = at;
	return 0;
}

/* -- fields ---------------------------------------------------------------- */

static const struct mrpc_field *pb_find(const struct mrpc_schema_plan *plan, u32 type, u32 number)
{
	const struct mrpc_type *t = &plan->types[type];
	const struct mrpc_field *fields = plan->fields + t->first_field;
	u32 low = 0, high = t->nr_fields;

	/* Most types number their fields from 1 on. */
	if (number <= high && fields[number - 1].number == number)
		return &fields[number - 1];
	while (low < high) {
		u32 mid = (low + high) / 2;

		if (fields[mid].number == number)
			return &fields[mid];
		if (fields[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Does a repeated field's wire type say that it is packed? */
static bool pb_packed(const struct mrpc_field *f, const struct mrpc_pb_token *t)
{
	return t->wire == MRPC_PB_LEN && f->kind < MRPC_KIND_STRING;
}

static bool pb_fits(const struct mrpc_field *f, const struct mrpc_pb_token *t)
{
	return t->wire == mrpc_pb_wire_of(f->kind) ||
	       (f->flags & MRPC_FIELD_REPEATED && pb_packed(f, t));
}

/* Varints that end within @len bytes. */
static u32 pb_count_varints(const u8 *p, u32 len)
{
	u32 n = 0;

	for (; len >= 8; len -= 8, p += 8)
		n += (~get_unaligned_le64(p) >> 7 & 0x0101010101010101ULL) *
		     0x0101010101010101ULL >> 56;
	for (; len; len--, p++)
		n += *p < 0x80;
	return n;
}

/* Elements of a repeated field that @t has. */
static int pb_elements(struct pb_decoder *d, const struct mrpc_field *f,
		       const struct mrpc_pb_token *t, u32 *n)
{
	const u8 *p = d->m->in + t->at;

	*n = 1;
	if (!pb_packed(f, t))
		return 0;
	if (mrpc_pb_wire_of(f->kind) != MRPC_PB_VARINT) {
		*n = (u32)t->value / f->elem_size;
		if ((u32)t->value % f->elem_size)
			return pb_malformed(d, t->at, "is where an array has a part of an element");
		return 0;
	}
	if (t->value && p[t->value - 1] >= 0x80)
		return pb_malformed(d, t->at, "is where an array has a part of a varint");
	*n = pb_count_varints(p, t->value);
	return 0;
}

/* Counts the elements in the message's own bytes from @pos on. */
static noinline int pb_count(struct pb_decoder *d, u32 pos)
{
	struct mrpc_pb_frame *fr = d->frame;
	int ret = 0;

	if (fr->counts == PB_MERGED)
		ret = pb_take_block(d, fr->type, &fr->counts);
	else
		fr->counts = fr->block;
	while (!ret && pos < fr->end) {
		const struct mrpc_field *f;
		struct mrpc_pb_token t;
		const char *why;
		u8 *place;
		u32 n;

		why = mrpc_pb_scan(d->m->in, &pos, fr->end, d->scratch->groups, &t);
		if (why)
			return pb_malformed(d, pos, why);
		f = pb_find(d->plan, fr->type, t.number);
		if (!f || !(f->flags & MRPC_FIELD_REPEATED) || !pb_fits(f, &t))
			continue;
		ret = pb_elements(d, f, &t, &n);
		place = d->m->arena + fr->counts + f->offset;
		msg_put_ref(place, 0, msg_get_ref(place).len + n);
	}
	return ret;
}

/*
 * Elements of @f for which there is no array yet: all those of this message at the first one,
 * later 0. *@ref becomes what the message has without them.
 */
static u32 pb_wanted(struct pb_decoder *d, const struct mrpc_field *f, struct mrpc_ref *ref)
{
	struct mrpc_pb_frame *fr = d->frame;
	u8 *counts = d->m->arena + fr->counts + f->offset;
	u32 more = 0;

	*ref = msg_get_ref(d->m->arena + fr->block + f->offset);
	if (fr->counts != fr->block) {
		more = msg_get_ref(counts).len;
		msg_put_ref(counts, 0, 0);
	} else if (!ref->off) {
		more = ref->len;
		ref->len = 0;
	}
	return more;
}

/* Is @t a packed array of fixed width, whose bytes are those of an array in a message? */
static bool pb_is_array(const struct mrpc_field *f, const struct mrpc_pb_token *t)
{
	return pb_packed(f, t) && mrpc_pb_wire_of(f->kind) != MRPC_PB_VARINT;
}

/*
 * Room for @n more elements of @f at *@at, in the arena. An array that is whole in the input
 * stays there: then *@at is 0.
 */
static int pb_extend(struct pb_decoder *d, const struct mrpc_field *f,
		     const struct mrpc_pb_token *t, u32 n, u32 *at)
{
	u32 block = d->frame->block;
	struct mrpc_ref ref;
	u32 more = pb_wanted(d, f, &ref), room;
	int ret;

	*at = 0;
	if (more == n && !ref.len && pb_is_array(f, t)) {
		msg_put_ref(d->m->arena + block + f->offset, MRPC_MAX_HEAD + t->at, n);
		return 0;
	}
	if (more) {
		ret = pb_take_array(d, f, &ref, more);
		if (ret)
			return ret;
	}
	/* Before the input there is room for nothing. */
	if (!ref.off || ref.off >= (s32)MRPC_MAX_HEAD)
		return pb_changed(d);
	memcpy(&room, d->m->arena + ref.off - PB_ROOM, sizeof(room));
	if (n > room - ref.len)
		return pb_changed(d);
	*at = ref.off + ref.len * f->elem_size;
	msg_put_ref(d->m->arena + block + f->offset, ref.off, ref.len + n);
	return 0;
}

/* -- values ---------------------------------------------------------------- */

static int pb_store_packed(struct pb_decoder *d, const struct mrpc_field *f,
			   const struct mrpc_pb_token *t, u32 n, u8 *to)
{
	u32 pos = t->at, end = t->at + t->value;

	if (pb_is_array(f, t)) {
		memcpy(to, d->m->in + pos, (size_t)n * f->elem_size);
		return 0;
	}
	for (; n; n--, to += f->elem_size) {
		u32 used;
		u64 v;

		used = mrpc_pb_varint_get(d->m->in + pos, end - pos, MRPC_PB_MAX_VARINT, &v);
		if (!used)
			return pb_malformed(d, pos, "is where a varint is too long");
		mrpc_pb_store(f->kind, to, v);
		pos += used;
	}
	return 0;
}

/* A reference to text or bytes, which stay in the input. */
static void pb_refer(u8 *place, const struct mrpc_pb_token *t)
{
	msg_put_ref(place, t->value ? MRPC_MAX_HEAD + t->at : 0, t->value);
}

static int pb_enter(struct pb_decoder *d, u32 type, u32 block, u32 counts,
		    const struct mrpc_pb_token *t)
{
	if (d->frame == &d->scratch->frames[MRPC_MAX_DEPTH - 1])
		return pb_malformed(d, t->at, "is where messages are nested too deeply");
	*++d->frame = (struct mrpc_pb_frame){
		.pos = t->at, .end = t->at + t->value, .block = block, .counts = counts,
		.type = type,
	};
	return 0;
}

static int pb_repeated(struct pb_decoder *d, const struct mrpc_field *f,
		       const struct mrpc_pb_token *t, u32 start)
{
	u32 n, at;
	int ret;

	if (d->frame->counts >= PB_MERGED) {
		ret = pb_count(d, start);
		if (ret)
			return ret;
	}
	ret = pb_elements(d, f, t, &n);
	if (!ret && n)
		ret = pb_extend(d, f, t, n, &at);
	if (ret || !n || !at)
		return ret;
	switch (f->kind) {
	case MRPC_KIND_MESSAGE:
		memset(d->m->arena + at, 0, f->elem_size);
		return pb_enter(d, f->type, at, PB_FRESH, t);
	case MRPC_KIND_STRING:
	case MRPC_KIND_BYTES:
		pb_refer(d->m->arena + at, t);
		return 0;
	default:
		if (pb_packed(f, t))
			return pb_store_packed(d, f, t, n, d->m->arena + at);
		mrpc_pb_store(f->kind, d->m->arena + at, t->value);
		return 0;
	}
}

/* The place of a singular field, which becomes present. */
static u8 *pb_place(struct pb_decoder *d, const struct mrpc_field *f)
{
	u8 *block = d->m->arena + d->frame->block;
	const struct mrpc_type *t = &d->plan->types[d->frame->type];

	if (f->flags & MRPC_FIELD_OPTIONAL) {
		u8 *word = block + f->has_bit / 32 * 4;
		u32 has = msg_get_u32(word) | BIT(f->has_bit % 32);

		memcpy(word, &has, sizeof(has));
	} else if (f->oneof != MRPC_SCHEMA_NO_ONEOF) {
		u8 *number = block + t->oneof_offset + 4 * f->oneof;

		if (msg_get_u32(number) != f->number) {
			memcpy(number, &f->number, sizeof(f->number));
			if (f->kind == MRPC_KIND_MESSAGE)
				msg_put_ref(block + f->offset, 0, 0);
		}
	}
	return block + f->offset;
}

static int pb_message(struct pb_decoder *d, const struct mrpc_field *f,
		      const struct mrpc_pb_token *t)
{
	struct mrpc_ref ref = msg_get_ref(pb_place(d, f));
	u32 block;
	int ret;

	if (ref.len) {
		if (d->merges++ == MRPC_PB_MAX_MERGES)
			return pb_malformed(d, t->at, "is where too many fields occur again");
		return pb_enter(d, f->type, ref.off, PB_MERGED, t);
	}
	ret = pb_take_block(d, f->type, &block);
	if (ret)
		return ret;
	msg_put_ref(d->m->arena + d->frame->block + f->offset, block, 1);
	return pb_enter(d, f->type, block, PB_FRESH, t);
}

static int pb_field(struct pb_decoder *d, const struct mrpc_field *f,
		    const struct mrpc_pb_token *t, u32 start)
{
	if (f->flags & MRPC_FIELD_REPEATED)
		return pb_repeated(d, f, t, start);
	switch (f->kind) {
	case MRPC_KIND_MESSAGE:
		return pb_message(d, f, t);
	case MRPC_KIND_STRING:
	case MRPC_KIND_BYTES:
		pb_refer(pb_place(d, f), t);
		return 0;
	default:
		mrpc_pb_store(f->kind, pb_place(d, f), t->value);
		return 0;
	}
}

/* -- messages -------------------------------------------------------------- */

/* The end of a message: a map entry without a value message gets an empty one. */
static int pb_leave(struct pb_decoder *d)
{
	const struct mrpc_type *t = &d->plan->types[d->frame->type];
	const struct mrpc_field *value = d->plan->fields + t->first_field + 1;
	u32 at = d->frame->block, block;
	int ret;

	if (!(t->flags & MRPC_TYPE_MAP_ENTRY) || value->kind != MRPC_KIND_MESSAGE ||
	    msg_get_ref(d->m->arena + at + value->offset).len)
		return 0;
	ret = pb_take_block(d, value->type, &block);
	if (!ret)
		msg_put_ref(d->m->arena + at + value->offset, block, 1);
	return ret;
}

/* Reads the present frame's message up to its end or to a nested one. */
static int pb_read(struct pb_decoder *d)
{
	struct mrpc_pb_frame *fr = d->frame;
	int ret = 0;

	while (!ret && fr->pos < fr->end && fr == d->frame) {
		const struct mrpc_field *f;
		struct mrpc_pb_token t;
		u32 start = fr->pos;
		const char *why;

		why = mrpc_pb_scan(d->m->in, &fr->pos, fr->end, d->scratch->groups, &t);
		if (unlikely(why))
			return pb_malformed(d, fr->pos, why);
		f = pb_find(d->plan, fr->type, t.number);
		if (likely(f && pb_fits(f, &t)))
			ret = pb_field(d, f, &t, start);
		else
			d->m->unknown++;
	}
	return ret;
}

int mrpc_pb_decode(struct mrpc_pb_message *m, struct mrpc_pb_scratch *scratch,
		   const struct mrpc_schema_plan *plan, u32 type, struct mrpc_msg_error *err)
{
	struct pb_decoder d = {
		.m = m, .scratch = scratch, .plan = plan, .err = err, .frame = scratch->frames,
	};
	u32 root;
	int ret;

	m->arena_len = 0;
	m->unknown = 0;
	msg_error_init(err);
	*d.frame = (struct mrpc_pb_frame){ .end = m->in_len, .counts = PB_FRESH, .type = type };
	if (type >= plan->nr_types)
		return pb_malformed(&d, type, "is not a type of the schema");
	if (m->in_len > MRPC_MAX_MESSAGE)
		return pb_fail(&d, m->in_len, "bytes are more than a message may have", -EMSGSIZE);
	ret = pb_take_block(&d, type, &root);
	while (!ret) {
		ret = pb_read(&d);
		if (ret || d.frame->pos < d.frame->end)
			continue;
		ret = pb_leave(&d);
		if (d.frame == scratch->frames)
			break;
		d.frame--;
	}
	return ret;
}

const void *mrpc_pb_at(void *message, u64 off, u64 len)
{
	struct mrpc_pb_message *m = message;

	if (off < MRPC_MAX_HEAD)
		return off <= m->arena_len && len <= m->arena_len - off ? m->arena + off : NULL;
	off -= MRPC_MAX_HEAD;
	return off <= m->in_len && len <= m->in_len - off ? m->in + off : NULL;
}

void mrpc_pb_source(struct mrpc_pb_message *m, struct mrpc_msg_src *src)
{
	*src = (struct mrpc_msg_src){
		.at = mrpc_pb_at, .ctx = m, .near = m->arena, .near_len = m->arena_len,
		.loose = true,
	};
}
