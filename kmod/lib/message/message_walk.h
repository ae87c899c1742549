/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The depth-first walk over a message, shared by message.c and snapshot.c. It is a template:
 * each user passes a visitor that the compiler can see. So there is no indirect call for each
 * field.
 *
 * Every access to the head uses an offset from its start, because a grower may have moved it.
 */
#ifndef MRPC_LIB_MESSAGE_MESSAGE_WALK_H
#define MRPC_LIB_MESSAGE_MESSAGE_WALK_H

#include "lib/message/message.h"

/* Struct blocks of one type, of which one is being walked. */
struct msg_frame {
	u32 block;	/* where the present element starts in the head */
	u32 left;	/* elements to walk, with the present one */
	u16 type;
	u16 left_fields;	/* of the type's active list */
};

/*
 * In the first walk of a snapshot, @structs, @text and @bytes are counts, and @room is what they
 * leave of the largest message. In the other walks they are the offsets where the next block
 * must stand.
 */
struct msg_walk {
	const struct mrpc_schema_plan *plan;
	struct mrpc_msg_error *err;
	u8 *head;
	u32 structs;
	u32 text;
	u32 bytes;
	union {
		struct {	/* snapshot */
			const struct mrpc_msg_src *src;
			struct mrpc_msg_buf *buf;
			u64 root;
			u32 room;
			u32 head_room;	/* of @room: struct blocks and text */
			bool whole;	/* byte blocks are copied, too */
		};
		struct {	/* verify: ends of the sections */
			u32 structs_end;
			u32 text_end;
			u32 bytes_end;
		};
	};
};

typedef int (*msg_visit_t)(struct msg_walk *w, const struct mrpc_field *f, u32 at);

/* message.c */
int mrpc_msg_refuse(struct msg_walk *w, const struct mrpc_field *f, s64 off, u64 len,
		    const char *what);
int mrpc_msg_refuse_ref(struct msg_walk *w, const struct mrpc_field *f, struct mrpc_ref ref,
			const char *what);
int mrpc_msg_refuse_value(struct msg_walk *w, u32 type, s64 value, const char *what);
const struct mrpc_field *mrpc_msg_member(const struct mrpc_schema_plan *plan,
					 const struct mrpc_type *t, const u8 *block, u32 oneof);
int mrpc_msg_tidy_block(struct msg_walk *w, const struct mrpc_type *t, u32 at, bool fix);

static inline void msg_error_init(struct mrpc_msg_error *err)
{
	err->what = NULL;
	err->type = U32_MAX;
	err->field = U32_MAX;
	err->off = 0;
	err->len = 0;
}

static inline u32 msg_get_u32(const u8 *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline struct mrpc_ref msg_get_ref(const u8 *p)
{
	struct mrpc_ref ref;

	memcpy(&ref, p, sizeof(ref));
	return ref;
}

static inline void msg_put_ref(u8 *p, u32 off, u32 len)
{
	struct mrpc_ref ref = { .off = off, .len = len };

	memcpy(p, &ref, sizeof(ref));
}

/* As mrpc_msg_tidy_block(), for @n blocks from @at. Most types have nothing to tidy. */
static __always_inline int msg_tidy(struct msg_walk *w, const struct mrpc_type *t, u32 at,
				    u32 n, bool fix)
{
	int ret = 0;

	if (t->nr_dead)
		for (; n && !ret; n--, at += t->size)
			ret = mrpc_msg_tidy_block(w, t, at, fix);
	return ret;
}

/* Walks over a type without nested fields (mrpc_type.plain). Most types are so. */
static __always_inline int msg_walk_plain(struct msg_walk *w, const struct mrpc_type *t,
					  msg_visit_t visit)
{
	const struct mrpc_field *fields = w->plan->fields + t->first_field;
	const u16 *next = w->plan->active + t->first_active, *end = next + t->nr_active;

	for (; next < end; next++) {
		const struct mrpc_field *f = fields + *next;
		int ret = visit(w, f, f->offset);

		if (unlikely(ret)) {
			w->err->type = t - w->plan->types;
			return ret;
		}
	}
	return 0;
}

/*
 * Visits every active field of the type @t at the head's start, and of all struct blocks that it
 * refers to. The visitor checks a reference to a struct block and leaves it in the head in the
 * form of the wire. The walk follows it.
 */
static __always_inline int msg_walk_nested(struct msg_walk *w, const struct mrpc_type *t,
					   msg_visit_t visit)
{
	const struct mrpc_schema_plan *plan = w->plan;
	/* Entries are written before they are read, so zeroing the stack is not needed. */
	struct msg_frame stack[MRPC_MAX_DEPTH - 1] __uninitialized;
	const u16 *next = plan->active + t->first_active, *end = next + t->nr_active;
	const struct mrpc_field *fields = plan->fields + t->first_field;
	u32 block = 0, left = 1, depth = 0;

	for (;;) {
		while (next < end) {
			const struct mrpc_field *f = fields + *next++;
			struct mrpc_ref ref;
			int ret;

			if (f->oneof != MRPC_SCHEMA_NO_ONEOF) {
				f = mrpc_msg_member(plan, t, w->head + block, f->oneof);
				if (!f)
					continue;
			}
			ret = visit(w, f, block + f->offset);
			if (unlikely(ret)) {
				if (w->err->type == U32_MAX)
					w->err->type = t - plan->types;
				return ret;
			}
			if (f->kind != MRPC_KIND_MESSAGE)
				continue;
			ref = msg_get_ref(w->head + block + f->offset);
			if (!ref.len)
				continue;
			if (depth == MRPC_MAX_DEPTH - 1) {
				w->err->type = t - plan->types;
				return mrpc_msg_refuse_ref(w, f, ref, "is nested too deeply");
			}
			if (!plan->types[f->type].nr_active)
				continue;
			stack[depth++] = (struct msg_frame){
				.block = block, .left = left,
				.type = t - plan->types, .left_fields = end - next,
			};
			t = &plan->types[f->type];
			fields = plan->fields + t->first_field;
			next = plan->active + t->first_active;
			end = next + t->nr_active;
			block = ref.off;
			left = ref.len;
		}
		if (--left) {
			block += t->size;
			next = plan->active + t->first_active;
			continue;
		}
		if (!depth)
			return 0;
		depth--;
		t = &plan->types[stack[depth].type];
		fields = plan->fields + t->first_field;
		end = plan->active + t->first_active + t->nr_active;
		next = end - stack[depth].left_fields;
		block = stack[depth].block;
		left = stack[depth].left;
	}
}

/* Checks that a field may be absent: any may, but not a message chosen by its oneof's case. */
static inline int msg_check_absent(struct msg_walk *w, const struct mrpc_field *f,
				   struct mrpc_ref ref)
{
	if (f->shape == MRPC_SHAPE_MESSAGE && f->oneof != MRPC_SCHEMA_NO_ONEOF)
		return mrpc_msg_refuse_ref(w, f, ref, "is absent, but chosen by its oneof's case");
	return 0;
}

/* Length in bytes of the byte block of a present reference. */
static inline u64 msg_bytes_len(const struct mrpc_field *f, u32 len)
{
	return f->shape == MRPC_SHAPE_ARRAY ? (u64)len * f->elem_size : len;
}

/* Length in bytes of the struct section's block of a present reference. */
static inline u64 msg_structs_len(const struct mrpc_field *f, u32 len)
{
	if (f->shape == MRPC_SHAPE_TEXTS || f->shape == MRPC_SHAPE_BYTESS)
		return (u64)len * sizeof(struct mrpc_ref);
	return (u64)len * f->elem_size;
}

#endif /* MRPC_LIB_MESSAGE_MESSAGE_WALK_H */
