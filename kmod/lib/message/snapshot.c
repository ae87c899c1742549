// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: the snapshot; see message.h for the contract.
 *
 * It walks twice. The first walk copies struct blocks, so that afterwards every
 * length is known and none can change; the second, over the copy, resolves what
 * goes behind the struct section. What a reference adds to the message is
 * counted before anything is copied, so sharing in the heap (which unfolds into
 * a tree here) cannot cost more than @max_total, nor more kernel memory than MRPC_MAX_HEAD.
 */
#include "lib/message/message_walk.h"
#include "lib/message/utf8.h"

/*
 * Takes @len bytes, before anything of that size is copied. Only text is no multiple of 8, as room
 * for all of it is: so what fits does so with the padding behind the text, too.
 */
static __always_inline int snap_take(struct msg_walk *w, const struct mrpc_field *f,
				     struct mrpc_ref ref, u64 len)
{
	if (unlikely(len > w->room)) {
		mrpc_msg_refuse_ref(w, f, ref, "makes the message too large");
		return -EMSGSIZE;
	}
	w->room -= len;
	return 0;
}

/* What is not in the region of the root, or nowhere. */
static noinline const void *snap_far(struct msg_walk *w, const struct mrpc_field *f,
				     struct mrpc_ref ref, u64 len, u32 align)
{
	u64 off = w->root + (u64)(s64)ref.off;
	const void *p = NULL;

	if (off <= MRPC_MAX_HEAP && len <= MRPC_MAX_HEAP - off)
		p = w->src->at(w->src->ctx, off, len);
	if (!p)
		mrpc_msg_refuse_ref(w, f, ref, "is outside the send heap");
	else if (!IS_ALIGNED(off, align) && !w->src->loose)
		mrpc_msg_refuse_ref(w, f, ref, "is not aligned");
	else
		return p;
	return NULL;
}

static __always_inline const void *snap_at(struct msg_walk *w, const struct mrpc_field *f,
					   struct mrpc_ref ref, u64 len, u32 align)
{
	/* A negative distance beyond the heap's start wraps to a huge offset. */
	u64 off = w->root + (u64)(s64)ref.off;
	u64 in = off - w->src->near_off;

	if (likely(in < w->src->near_len && len <= w->src->near_len - in &&
		   IS_ALIGNED(off, align)))
		return w->src->near + in;
	return snap_far(w, f, ref, len, align);
}

/* Refuses a block of the head: for what it refers to, or for its size. Return: a negative errno. */
static noinline int snap_refuse_head(struct msg_walk *w, const struct mrpc_field *f,
				     struct mrpc_ref ref, u64 len, u32 align)
{
	if (!snap_at(w, f, ref, len, align))
		return -EINVAL;
	mrpc_msg_refuse_ref(w, f, ref, "makes the structures and text too large");
	return -EFBIG;
}

/*
 * Takes @room bytes of the struct and text sections, for the @len that @ref refers to. They are
 * kernel memory, of which a message may have less.
 */
static __always_inline int snap_take_head(struct msg_walk *w, const struct mrpc_field *f,
					  struct mrpc_ref ref, u64 len, u32 align, u64 room)
{
	int ret = snap_take(w, f, ref, room);

	if (unlikely(ret))
		return ret;
	if (unlikely(room > w->head_room))
		return snap_refuse_head(w, f, ref, len, align);
	w->head_room -= room;
	return 0;
}

static noinline int snap_grow_to(struct msg_walk *w, const struct mrpc_field *f,
				 struct mrpc_ref ref, u64 need)
{
	int ret;

	ret = w->buf->grow_head(w->buf, need);
	w->head = w->buf->head;
	if (ret)
		mrpc_msg_refuse_ref(w, f, ref, "is not copied for lack of memory");
	return ret;
}

static __always_inline int snap_grow(struct msg_walk *w, const struct mrpc_field *f,
				     struct mrpc_ref ref, u64 need)
{
	return likely(need <= w->buf->head_cap) ? 0 : snap_grow_to(w, f, ref, need);
}

/* Copies @len bytes to the end of the struct section, which is at *@at. */
static __always_inline int snap_struct(struct msg_walk *w, const struct mrpc_field *f,
				       struct mrpc_ref ref, u64 len, u32 align, u32 *at)
{
	const void *p;
	int ret;

	*at = w->structs;
	ret = snap_take_head(w, f, ref, len, align, ALIGN(len, 8));
	if (ret)
		return ret;
	w->structs += ALIGN(len, 8);
	ret = snap_grow(w, f, ref, w->structs);
	if (ret)
		return ret;
	p = snap_at(w, f, ref, len, align);
	if (!p)
		return -EINVAL;
	memcpy(w->head + *at, p, len);
	/* From here the compiler must not go back to the source. */
	barrier();
	if (*at + len < w->structs)
		memset(w->head + *at + len, 0, w->structs - *at - len);
	return 0;
}

/* What a reference in the head adds to the text or byte section. */
static __always_inline int snap_count(struct msg_walk *w, const struct mrpc_field *f, u32 at,
				      bool text)
{
	struct mrpc_ref ref = msg_get_ref(w->head + at);
	u64 len = text ? (u64)ref.len + 1 : ALIGN(msg_bytes_len(f, ref.len), 8);
	int ret;

	if (!ref.len) {
		msg_put_ref(w->head + at, 0, 0);
		return 0;
	}
	ret = text ? snap_take_head(w, f, ref, ref.len, 1, len) : snap_take(w, f, ref, len);
	if (ret)
		return ret;
	if (text)
		w->text += len;
	else
		w->bytes += len;
	return 0;
}

static noinline int snap_block(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	bool bools = f->shape == MRPC_SHAPE_BOOLS;
	struct mrpc_ref ref = msg_get_ref(w->head + at);
	u32 pos, i;
	int ret;

	if (!ref.len) {
		msg_put_ref(w->head + at, 0, 0);
		return msg_check_absent(w, f, ref);
	}
	if (f->shape == MRPC_SHAPE_MESSAGE && ref.len != 1)
		return mrpc_msg_refuse_ref(w, f, ref, "has a length other than 0 or 1");
	ret = snap_struct(w, f, ref, msg_structs_len(f, ref.len), bools ? 1 : 8, &pos);
	if (ret)
		return ret;
	msg_put_ref(w->head + at, pos, ref.len);

	switch (f->shape) {
	case MRPC_SHAPE_BOOLS:
		for (i = 0; i < ref.len; i++)
			w->head[pos + i] = !!w->head[pos + i];
		return 0;
	case MRPC_SHAPE_TEXTS:
	case MRPC_SHAPE_BYTESS:
		for (i = 0; i < ref.len && !ret; i++, pos += sizeof(ref))
			ret = snap_count(w, f, pos, f->shape == MRPC_SHAPE_TEXTS);
		return ret;
	default:
		return msg_tidy(w, &w->plan->types[f->type], pos, ref.len, true);
	}
}

/* The first walk: struct blocks, and the lengths of the other sections. */
static __always_inline int snap_visit(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	switch (f->shape) {
	case MRPC_SHAPE_SCALAR:
		return 0;
	case MRPC_SHAPE_BOOL:
		w->head[at] = !!w->head[at];
		return 0;
	case MRPC_SHAPE_TEXT:
		return snap_count(w, f, at, true);
	case MRPC_SHAPE_BYTES:
	case MRPC_SHAPE_ARRAY:
		return snap_count(w, f, at, false);
	default:
		return snap_block(w, f, at);
	}
}

static __always_inline int snap_text(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	struct mrpc_ref ref = msg_get_ref(w->head + at);
	u8 *to = w->head + w->text;
	const void *p;

	if (!ref.len)
		return 0;
	p = snap_at(w, f, ref, ref.len, 1);
	if (!p)
		return -EINVAL;
	memcpy(to, p, ref.len);
	barrier();
	to[ref.len] = 0;
	if (!mrpc_utf8_valid(to, ref.len))
		return mrpc_msg_refuse_ref(w, f, ref, "is not UTF-8");
	msg_put_ref(w->head + at, w->text, ref.len);
	w->text += ref.len + 1;
	return 0;
}

/* Record a byte block, which stays in the heap. */
static int snap_record(struct msg_walk *w, const struct mrpc_field *f, struct mrpc_ref ref, u64 len)
{
	struct mrpc_msg_buf *buf = w->buf;

	if (unlikely(buf->nr_segs == buf->segs_cap)) {
		int ret = buf->grow_segs(buf, buf->nr_segs + 1);

		if (ret) {
			mrpc_msg_refuse_ref(w, f, ref, "is not recorded for lack of memory");
			return ret;
		}
	}
	buf->segs[buf->nr_segs++] = (struct mrpc_msg_seg){
		.src = w->root + (u64)(s64)ref.off,
		.len = len,
	};
	return 0;
}

static __always_inline int snap_bytes(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	struct mrpc_ref ref = msg_get_ref(w->head + at);
	u32 align = f->shape == MRPC_SHAPE_ARRAY ? f->elem_size : 1;
	u64 len = msg_bytes_len(f, ref.len);
	u8 *to = w->head + w->bytes;
	const void *p;

	if (!ref.len)
		return 0;
	p = snap_at(w, f, ref, len, align);
	if (!p)
		return -EINVAL;
	if (w->whole) {
		/* The padding: less than these, which the block is written over. */
		memset(to + ALIGN(len, 8) - 8, 0, 8);
		memcpy(to, p, len);
		barrier();	/* nothing reads the heap again for what the copy has */
	} else {
		int ret = snap_record(w, f, ref, len);

		if (ret)
			return ret;
	}
	msg_put_ref(w->head + at, w->bytes, ref.len);
	w->bytes += ALIGN(len, 8);
	return 0;
}

/* The text or byte blocks of an array of references. */
static noinline int snap_leaves(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	struct mrpc_ref ref = msg_get_ref(w->head + at);
	int ret = 0;

	for (at = ref.off; ref.len && !ret; ref.len--, at += sizeof(ref))
		ret = f->shape == MRPC_SHAPE_TEXTS ? snap_text(w, f, at) : snap_bytes(w, f, at);
	return ret;
}

/* The second walk: text and byte blocks, whose places are known now. */
static __always_inline int snap_visit_leaf(struct msg_walk *w, const struct mrpc_field *f, u32 at)
{
	switch (f->shape) {
	case MRPC_SHAPE_TEXT:
		return snap_text(w, f, at);
	case MRPC_SHAPE_BYTES:
	case MRPC_SHAPE_ARRAY:
		return snap_bytes(w, f, at);
	case MRPC_SHAPE_TEXTS:
	case MRPC_SHAPE_BYTESS:
		return snap_leaves(w, f, at);
	default:
		return 0;
	}
}

static noinline int snap_nested(struct msg_walk *w, const struct mrpc_type *t, bool leaves)
{
	return leaves ? msg_walk_nested(w, t, snap_visit_leaf) : msg_walk_nested(w, t, snap_visit);
}

int mrpc_msg_snapshot(const struct mrpc_schema_plan *plan, u32 type,
		      const struct mrpc_msg_src *src, u64 root,
		      struct mrpc_msg_buf *buf, struct mrpc_msg_error *err)
{
	struct msg_walk w __uninitialized;	/* written before it is read */
	struct mrpc_ref none = { 0 };
	const struct mrpc_type *t;
	u32 head_len, at;
	int ret;

	w.plan = plan;
	w.err = err;
	w.head = buf->head;
	w.structs = 0;
	w.text = 0;
	w.bytes = 0;
	w.src = src;
	w.buf = buf;
	w.root = root;
	w.room = min_t(u32, buf->max_total, MRPC_MAX_MESSAGE) & ~7U;
	w.head_room = MRPC_MAX_HEAD;
	buf->nr_segs = 0;
	memset(&buf->len, 0, sizeof(buf->len));
	msg_error_init(err);
	if (type >= plan->nr_types)
		return mrpc_msg_refuse_value(&w, U32_MAX, type, "is not a type of the schema");
	t = &plan->types[type];
	ret = snap_struct(&w, NULL, none, t->size, 8, &at);
	if (ret) {
		err->type = type;
		err->off = root;
		return ret;
	}
	ret = msg_tidy(&w, t, 0, 1, true);
	if (!ret)
		ret = t->plain ? msg_walk_plain(&w, t, snap_visit) : snap_nested(&w, t, false);
	if (ret)
		return ret;

	buf->len.structs = w.structs;
	buf->len.text = w.text;
	buf->len.bytes = w.bytes;
	if (!w.text && !w.bytes)
		return 0;
	head_len = mrpc_msg_head_len(&buf->len);
	w.whole = mrpc_msg_total(&buf->len) <= buf->max_whole;
	ret = snap_grow(&w, NULL, none, w.whole ? mrpc_msg_total(&buf->len) : head_len);
	if (ret)
		return ret;
	/* The padding behind the text: less than these, which the text is written over. */
	if (w.text)
		memset(w.head + head_len - 8, 0, 8);
	w.text = buf->len.structs;
	w.bytes = head_len;
	return t->plain ? msg_walk_plain(&w, t, snap_visit_leaf) : snap_nested(&w, t, true);
}

