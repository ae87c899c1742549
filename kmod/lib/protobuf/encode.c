// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding protobuf: see encode.h for the contract.
 *
 * One walk serves to measure and to write. It goes from the last byte of the result to the first:
 * fields from the highest number to the lowest, elements from the last to the first, and of each
 * field first the value, then its length, then its tag.
 */
#include "lib/message/message_walk.h"
#include "lib/protobuf/encode.h"
#include "lib/protobuf/number.h"

/*
 * What is behind the walk's present place in the result is complete. @write is known where
 * functions are inlined: with it bytes are written, without it only counted.
 */
struct pb_encoder {
	const struct mrpc_pb_input *in;
	u32 head_len;
	u8 *buf;
	u32 room;		/* bytes of the buffer in front of the present place */
	u32 total;		/* bytes of the result behind it, with the cuts' */
	u32 cut_bytes;
	struct mrpc_pb_cut *cuts;
	u32 cuts_room;		/* cuts in front of the present place */
	struct mrpc_seg_at seg;	/* of the latest byte block */
	int ret;		/* why it cannot go on */
};

/* -- bytes ----------------------------------------------------------------- */

/* Takes @n bytes of the buffer, from the present place towards the begin. */
static __always_inline bool pb_take(struct pb_encoder *e, u32 n)
{
	if (unlikely(n > e->room)) {
		e->ret = e->ret ?: -EMSGSIZE;
		return false;
	}
	e->room -= n;
	e->total += n;
	return true;
}

static __always_inline void pb_put_varint(struct pb_encoder *e, u64 v, bool write)
{
	if (pb_take(e, mrpc_pb_varint_size(v)) && write)
		mrpc_pb_varint_put(e->buf + e->room, v);
}

static __always_inline void pb_put_tag(struct pb_encoder *e, const struct mrpc_field *f, u32 wire,
				       bool write)
{
	pb_put_varint(e, (u64)f->number << 3 | wire, write);
}

/* The length of what is in front of the @behind bytes, and the tag. */
static __always_inline void pb_put_len(struct pb_encoder *e, const struct mrpc_field *f,
				       u32 behind, bool write)
{
	pb_put_varint(e, e->total - behind, write);
	pb_put_tag(e, f, MRPC_PB_LEN, write);
}

static __always_inline void pb_put_bytes(struct pb_encoder *e, const u8 *p, u32 len, bool write)
{
	if (pb_take(e, len) && write)
		memcpy(e->buf + e->room, p, len);
}

/* -- values ---------------------------------------------------------------- */

static __always_inline void pb_put_number(struct pb_encoder *e, const struct mrpc_field *f,
					  const u8 *p, bool write)
{
	u64 v;

	if (mrpc_pb_wire_of(f->kind) != MRPC_PB_VARINT) {
		pb_put_bytes(e, p, f->elem_size, write);
		return;
	}
	v = mrpc_pb_load(f->kind, p);
	OPTIMIZER_HIDE_VAR(v);	/* read once: its size and its bytes belong together */
	pb_put_varint(e, v, write);
}

/* Is a number without explicit presence there? */
static bool pb_is_set(const struct mrpc_field *f, const u8 *p)
{
	u64 v;

	switch (f->elem_size) {
	case 1:
		return *p;
	case 4:
		return msg_get_u32(p);
	default:
		memcpy(&v, p, sizeof(v));
		return v;
	}
}

/* -- byte blocks ----------------------------------------------------------- */

/* Finds the segment of a block. The walk mostly goes to the segment before the latest one. */
static bool pb_seek(struct pb_encoder *e, u32 at, u64 len)
{
	const struct mrpc_seg_index *segs = e->in->segs;
	struct mrpc_seg_at *seg = &e->seg;

	if (at < seg->from) {
		seg->seg--;
		seg->from -= ALIGN(segs->segs[seg->seg].len, 8);
	}
	mrpc_seg_seek(segs, seg, at);
	return seg->from == at && segs->segs[seg->seg].len == len;
}

/*
 * Goes to a block of @len bytes. *@p: its address, if @fetch is set; else an address that must not
 * be read.
 */
static bool pb_find_block(struct pb_encoder *e, struct mrpc_ref ref, u64 len, bool fetch,
			  const u8 **p)
{
	const struct mrpc_pb_input *in = e->in;
	u32 at = (u32)ref.off - e->head_len;

	*p = in->head;
	if (at >= in->len.bytes || len > in->len.bytes - at)
		goto bad;
	if (in->bytes) {
		*p = in->bytes + at;
		return true;
	}
	if (!pb_seek(e, at, len))
		goto bad;
	if (!fetch)
		return true;
	*p = in->src->at(in->src->ctx, in->segs->segs[e->seg.seg].src, len);
	if (*p)
		return true;
bad:
	e->ret = -EINVAL;
	return false;
}

static void pb_cut(struct pb_encoder *e, struct mrpc_ref ref, u32 len, bool write)
{
	if (!e->cuts_room) {
		e->ret = -EMSGSIZE;
		return;
	}
	e->cuts_room--;
	e->cut_bytes += len;
	e->total += len;
	if (write)
		e->cuts[e->cuts_room] = (struct mrpc_pb_cut){
			.at = e->room, .off = ref.off, .len = len,
			.seg = e->in->bytes ? U32_MAX : e->seg.seg,
		};
}

/* A block as it is: copied, or by reference. */
static __always_inline void pb_put_block(struct pb_encoder *e, struct mrpc_ref ref, u64 len,
					 bool write)
{
	const u8 *p;

	if (!len || !pb_find_block(e, ref, len, write && len < MRPC_PB_CUT, &p))
		return;
	if (len < MRPC_PB_CUT)
		pb_put_bytes(e, p, len, write);
	else
		pb_cut(e, ref, len, write);
}

/* -- fields ---------------------------------------------------------------- */

/* Text or bytes, with length and tag. */
static __always_inline void pb_put_leaf(struct pb_encoder *e, const struct mrpc_field *f,
					const u8 *place, bool write)
{
	struct mrpc_ref ref = msg_get_ref(place);
	u32 behind = e->total;

	if (f->kind == MRPC_KIND_BYTES)
		pb_put_block(e, ref, ref.len, write);
	else
		pb_put_bytes(e, e->in->head + ref.off, ref.len, write);
	pb_put_len(e, f, behind, write);
}

static __always_inline void pb_put_leaves(struct pb_encoder *e, const struct mrpc_field *f,
					  struct mrpc_ref ref, bool write)
{
	const u8 *items = e->in->head + ref.off;

	while (ref.len-- && !e->ret)
		pb_put_leaf(e, f, items + (size_t)ref.len * sizeof(ref), write);
}

/* Numbers, each for itself: p[0] to p[n - 1]. */
static __always_inline void pb_put_numbers(struct pb_encoder *e, const struct mrpc_field *f,
					   const u8 *p, u32 n, bool write)
{
	u32 behind = e->total, wire = mrpc_pb_wire_of(f->kind);
	bool packed = f->flags & MRPC_FIELD_PACKED;

	while (n-- && !e->ret) {
		pb_put_number(e, f, p + (size_t)n * f->elem_size, write);
		if (!packed)
			pb_put_tag(e, f, wire, write);
	}
	if (packed)
		pb_put_len(e, f, behind, write);
}

static __always_inline void pb_put_array(struct pb_encoder *e, const struct mrpc_field *f,
					 struct mrpc_ref ref, bool write)
{
	u64 len = (u64)ref.len * f->elem_size;
	bool varint = mrpc_pb_wire_of(f->kind) == MRPC_PB_VARINT;
	u32 behind = e->total;
	const u8 *p;

	if (f->shape == MRPC_SHAPE_BOOLS) {
		pb_put_numbers(e, f, e->in->head + ref.off, ref.len, write);
	} else if (varint && !e->in->bytes) {
		e->ret = -ENODATA;
	} else if (!varint && f->flags & MRPC_FIELD_PACKED) {
		pb_put_block(e, ref, len, write);
		pb_put_len(e, f, behind, write);
	} else if (pb_find_block(e, ref, len, write, &p)) {
		pb_put_numbers(e, f, p, ref.len, write);
	}
}

static bool pb_present(const struct mrpc_type *t, const struct mrpc_field *f, const u8 *block)
{
	const u8 *place = block + f->offset;

	if (f->flags & MRPC_FIELD_REPEATED)
		return msg_get_ref(place).len;
	if (f->flags & MRPC_FIELD_OPTIONAL)
		return msg_get_u32(block + f->has_bit / 32 * 4) >> f->has_bit % 32 & 1;
	if (f->members || t->flags & MRPC_TYPE_MAP_ENTRY)
		return true;	/* the walk comes only to the member that is set */
	return f->kind < MRPC_KIND_STRING ? pb_is_set(f, place) : msg_get_ref(place).len;
}

/* A field that is no message, or an array of such. */
static __always_inline void pb_put_field(struct pb_encoder *e, const struct mrpc_field *f,
					 const u8 *place, bool write)
{
	switch (f->shape) {
	case MRPC_SHAPE_SCALAR:
	case MRPC_SHAPE_BOOL:
		pb_put_number(e, f, place, write);
		pb_put_tag(e, f, mrpc_pb_wire_of(f->kind), write);
		break;
	case MRPC_SHAPE_TEXT:
	case MRPC_SHAPE_BYTES:
		pb_put_leaf(e, f, place, write);
		break;
	case MRPC_SHAPE_TEXTS:
	case MRPC_SHAPE_BYTESS:
		pb_put_leaves(e, f, msg_get_ref(place), write);
		break;
	default:
		pb_put_array(e, f, msg_get_ref(place), write);
	}
}

/* -- messages -------------------------------------------------------------- */

/*
 * Of the oneofs' members among @f and the fields before it, one behind the other, the last one
 * that is set, or NULL. The time is bounded by the fewer: these members, or the oneofs.
 */
static const struct mrpc_field *pb_member(const struct mrpc_schema_plan *plan,
					  const struct mrpc_type *t, const u8 *block,
					  const struct mrpc_field *f)
{
	const u8 *cases = block + t->oneof_offset;
	u32 n = f->members, first = f[1 - (s32)n].number, best = 0, oneof = 0, i;

	if (n <= t->nr_oneofs) {
		for (; n; n--, f--)
			if (msg_get_u32(cases + 4 * f->oneof) == f->number)
				return f;
		return NULL;
	}
	for (i = 0; i < t->nr_oneofs; i++) {
		u32 number = msg_get_u32(cases + 4 * i);

		if (number >= first && number <= f->number && number > best) {
			best = number;
			oneof = i;
		}
	}
	return best ? mrpc_msg_member(plan, t, block, oneof) : NULL;
}

/* The next field in front, of the *@left first ones of the type, that may be present; or NULL. */
static const struct mrpc_field *pb_before(const struct mrpc_schema_plan *plan,
					  const struct mrpc_type *t, const u8 *block, u16 *left)
{
	const struct mrpc_field *fields = plan->fields + t->first_field, *f;

	while (*left) {
		f = &fields[*left - 1];
		if (!f->members) {
			--*left;
			return f;
		}
		*left -= f->members;
		f = pb_member(plan, t, block, f);
		if (f) {
			*left = f - fields;
			return f;
		}
	}
	return NULL;
}

/* Begins a field of messages: with its last one. */
static struct mrpc_pb_level *pb_descend(struct pb_encoder *e, struct mrpc_pb_level *level,
					const struct mrpc_pb_level *last,
					const struct mrpc_field *f, struct mrpc_ref ref)
{
	if (level == last) {
		e->ret = -EINVAL;
		return level;
	}
	*++level = (struct mrpc_pb_level){
		.block = ref.off + (ref.len - 1) * f->elem_size, .left = ref.len,
		.behind = e->total, .type = f->type,
		.field = e->in->plan->types[f->type].nr_fields,
	};
	return level;
}

/* Ends the present message with its length and tag. Return: the level to go on with. */
static __always_inline struct mrpc_pb_level *pb_ascend(struct pb_encoder *e,
						       struct mrpc_pb_level *level, bool write)
{
	const struct mrpc_schema_plan *plan = e->in->plan;
	const struct mrpc_type *t = &plan->types[level->type];

	pb_put_len(e, plan->fields + plan->types[level[-1].type].first_field + level[-1].field,
		   level->behind, write);
	if (!--level->left)
		return level - 1;
	level->block -= t->size;
	level->behind = e->total;
	level->field = t->nr_fields;
	return level;
}

static __always_inline void pb_walk(struct pb_encoder *e, struct mrpc_pb_levels *levels, bool write)
{
	const struct mrpc_schema_plan *plan = e->in->plan;
	struct mrpc_pb_level *level = levels->levels;

	*level = (struct mrpc_pb_level){
		.left = 1, .type = e->in->type, .field = plan->types[e->in->type].nr_fields,
	};
	while (!e->ret) {
		const struct mrpc_type *t = &plan->types[level->type];
		const u8 *block = e->in->head + level->block;
		const struct mrpc_field *f = pb_before(plan, t, block, &level->field);
		struct mrpc_ref ref;

		if (!f) {
			if (level == levels->levels)
				break;
			level = pb_ascend(e, level, write);
			continue;
		}
		if (!pb_present(t, f, block))
			continue;
		if (f->kind != MRPC_KIND_MESSAGE) {
			pb_put_field(e, f, block + f->offset, write);
			continue;
		}
		ref = msg_get_ref(block + f->offset);
		if (ref.len)
			level = pb_descend(e, level, &levels->levels[MRPC_MAX_DEPTH - 1], f, ref);
		else
			pb_put_len(e, f, e->total, write);
	}
}

static void pb_encoder_init(struct pb_encoder *e, const struct mrpc_pb_input *in)
{
	memset(e, 0, sizeof(*e));
	e->in = in;
	e->head_len = mrpc_msg_head_len(&in->len);
}

int mrpc_pb_size(const struct mrpc_pb_input *in, struct mrpc_pb_levels *levels, u32 max_total,
		 struct mrpc_pb_size *size)
{
	struct pb_encoder e;

	max_total = min_t(u32, max_total, S32_MAX);
	pb_encoder_init(&e, in);
	e.room = max_total;
	e.cuts_room = U32_MAX;
	pb_walk(&e, levels, false);
	if (e.ret)
		return e.ret;
	if (e.total > max_total)
		return -EMSGSIZE;
	size->total = e.total;
	size->buf_len = e.total - e.cut_bytes;
	size->nr_cuts = U32_MAX - e.cuts_room;
	return 0;
}

/* Writes the message. One copy of the walk serves all that write. */
static noinline void pb_write(struct pb_encoder *e, struct mrpc_pb_levels *levels)
{
	pb_walk(e, levels, true);
}

int mrpc_pb_encode(const struct mrpc_pb_input *in, struct mrpc_pb_levels *levels,
		   const struct mrpc_pb_size *size, u8 *buf, struct mrpc_pb_cut *cuts)
{
	struct pb_encoder e;

	pb_encoder_init(&e, in);
	e.buf = buf;
	e.room = size->buf_len;
	e.cuts = cuts;
	e.cuts_room = size->nr_cuts;
	pb_write(&e, levels);
	/* Whatever it ran out of: it is another message. */
	return e.ret || e.room || e.cuts_room || e.total != size->total ? -EINVAL : 0;
}

int mrpc_pb_encode_small(const struct mrpc_pb_input *in, struct mrpc_pb_levels *levels, u8 *buf,
			 u32 room)
{
	struct pb_encoder e;

	pb_encoder_init(&e, in);
	e.buf = buf;
	e.room = min_t(u32, room, S32_MAX);
	pb_write(&e, levels);
	return e.ret ?: (int)e.total;
}
