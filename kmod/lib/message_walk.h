/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What message.c and snapshot.c share: the depth-first walk over a message. It
 * is a template: each user passes a visitor that the compiler can see, so that
 * there is no indirect call for each field.
 *
 * The head is reached through an offset from its start at every access: a
 * grower may have moved it.
 */
#ifndef MRPC_LIB_MESSAGE_WALK_H
#define MRPC_LIB_MESSAGE_WALK_H

#include "message.h"

struct msg_frame {
	u32 block;	/* where the present element starts in the head */
	u32 left;	/* elements to walk, with the present one */
	u16 type;
	u16 next;	/* index in the type's active list */
};

/*
 * @structs, @text and @bytes are what the first walk of a snapshot has counted;
 * for the other walks they are the offsets where the next block must stand.
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
			u64 max_total;
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
void mrpc_msg_error_init(struct mrpc_msg_error *err);
int mrpc_msg_refuse(struct msg_walk *w, const struct mrpc_field *f, s64 off, u64 len,
		    const char *what);
int mrpc_msg_refuse_ref(struct msg_walk *w, const struct mrpc_field *f, struct mrpc_ref ref,
			const char *what);
int mrpc_msg_refuse_value(struct msg_walk *w, u32 type, s64 value, const char *what);
const struct mrpc_field *mrpc_msg_member(const struct mrpc_schema_plan *plan,
					 const struct mrpc_type *t, const u8 *block, u32 oneof);
int mrpc_msg_tidy_block(struct msg_walk *w, const struct mrpc_type *t, u32 at, bool fix);

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

/* The same for @n blocks from @at; most types have nothing to tidy. */
static __always_inline int msg_tidy(struct msg_walk *w, const struct mrpc_type *t, u32 at,
				    u32 n, bool fix)
{
	int ret = 0;

	if (t->nr_dead)
		for (; n && !ret; n--, at += t->size)
			ret = mrpc_msg_tidy_block(w, t, at, fix);
	return ret;
}

/*
 * Visits every active field of the @type at the head's start and of all struct
 * blocks it refers to. A visitor leaves the reference to a struct block in the
 * head as it is on the wire, and has checked it: the walk follows it.
 */
static __always_inline int msg_walk(struct msg_walk *w, u32 type, msg_visit_t visit)
{
	const struct mrpc_schema_plan *plan = w->plan;
	const struct mrpc_type *t = &plan->types[type];
	/* Written before it is read; kernels that zero the stack need not. */
	struct msg_frame stack[MRPC_MAX_DEPTH] __uninitialized;
	struct msg_frame *fr = stack;

	*fr = (struct msg_frame){ .left = 1, .type = type };
	for (;;) {
		while (fr->next < t->nr_active) {
			const struct mrpc_field *f = plan->fields + t->first_field +
						     plan->active[t->first_active + fr->next++];
			struct mrpc_ref ref;
			int ret;

			if (f->oneof != MRPC_SCHEMA_NO_ONEOF) {
				f = mrpc_msg_member(plan, t, w->head + fr->block, f->oneof);
				if (!f)
					continue;
			}
			ret = visit(w, f, fr->block + f->offset);
			if (unlikely(ret)) {
				if (w->err->type == U32_MAX)
					w->err->type = fr->type;
				return ret;
			}
			if (f->kind != MRPC_KIND_MESSAGE)
				continue;
			ref = msg_get_ref(w->head + fr->block + f->offset);
			if (!ref.len)
				continue;
			if (fr == &stack[MRPC_MAX_DEPTH - 1]) {
				w->err->type = fr->type;
				return mrpc_msg_refuse_ref(w, f, ref, "is nested too deeply");
			}
			if (!plan->types[f->type].nr_active)
				continue;
			*++fr = (struct msg_frame){
				.block = ref.off,
				.left = ref.len,
				.type = f->type,
			};
			t = &plan->types[f->type];
		}
		if (--fr->left) {
			fr->block += t->size;
			fr->next = 0;
			continue;
		}
		if (fr == stack)
			return 0;
		t = &plan->types[(--fr)->type];
	}
}

/* Any field may be absent but a message that its oneof's case has chosen. */
static inline int msg_check_absent(struct msg_walk *w, const struct mrpc_field *f,
				   struct mrpc_ref ref)
{
	if (f->shape == MRPC_SHAPE_MESSAGE && f->oneof != MRPC_SCHEMA_NO_ONEOF)
		return mrpc_msg_refuse_ref(w, f, ref, "is absent, but chosen by its oneof's case");
	return 0;
}

/* Bytes that a present reference to a byte block stands for. */
static inline u64 msg_bytes_len(const struct mrpc_field *f, u32 len)
{
	return f->shape == MRPC_SHAPE_ARRAY ? (u64)len * f->elem_size : len;
}

/* Bytes of what a present reference to the struct section stands for. */
static inline u64 msg_structs_len(const struct mrpc_field *f, u32 len)
{
	if (f->shape == MRPC_SHAPE_TEXTS || f->shape == MRPC_SHAPE_BYTESS)
		return (u64)len * sizeof(struct mrpc_ref);
	return (u64)len * f->elem_size;
}

#endif /* MRPC_LIB_MESSAGE_WALK_H */
