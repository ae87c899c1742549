// SPDX-License-Identifier: LGPL-2.1-or-later
/* Copies of messages, whatever they refer to. */
#include <errno.h>

#include "desc.h"

static void copy_block(struct mrpc_msg *msg, char *to, const struct mrpc_message_desc *desc,
		       const void *root, const char *from, unsigned int depth);

static void copy_refs(struct mrpc_msg *msg, struct mrpc_ref *to, const void *root,
		      struct mrpc_ref ref)
{
	const struct mrpc_ref *from = mrpc_ref_ptr(root, ref);
	struct mrpc_ref *refs = mrpc_msg_alloc_array(msg, to, ref.len, sizeof(*refs), 8);
	__u32 i;

	for (i = 0; refs && i < ref.len; i++)
		mrpc_msg_set_bytes(msg, &refs[i], mrpc_ref_ptr(root, from[i]), from[i].len);
}

static void copy_blocks(struct mrpc_msg *msg, struct mrpc_ref *to,
			const struct mrpc_field_desc *f, const void *root, struct mrpc_ref ref,
			unsigned int depth)
{
	const char *from = mrpc_ref_ptr(root, ref);
	size_t size = f->message->size;
	char *blocks = mrpc_msg_alloc_array(msg, to, ref.len, size, 8);
	__u32 i;

	for (i = 0; blocks && i < ref.len; i++)
		copy_block(msg, blocks + i * size, f->message, root, from + i * size, depth + 1);
}

static void copy_ref(struct mrpc_msg *msg, struct mrpc_ref *to, const struct mrpc_field_desc *f,
		     const void *root, struct mrpc_ref ref, unsigned int depth)
{
	if (f->kind == MRPC_DESC_MESSAGE)
		copy_blocks(msg, to, f, root, ref, depth);
	else if (!(f->flags & MRPC_DESC_REPEATED))
		mrpc_msg_set_bytes(msg, to, mrpc_ref_ptr(root, ref), ref.len);
	else if (f->kind >= MRPC_DESC_STRING)
		copy_refs(msg, to, root, ref);
	else
		mrpc_msg_set_array(msg, to, mrpc_ref_ptr(root, ref), ref.len, desc_elem_size(f));
}

/* One that is being built can be in itself: the depth is bounded. */
static void copy_block(struct mrpc_msg *msg, char *to, const struct mrpc_message_desc *desc,
		       const void *root, const char *from, unsigned int depth)
{
	__u32 i;

	if (depth > MRPC_MAX_DEPTH) {
		msg->err = msg->err ? msg->err : -EINVAL;
		return;
	}
	memcpy(to, from, desc->size);
	for (i = 0; i < desc->nr_fields; i++) {
		const struct mrpc_field_desc *f = &desc->fields[i];
		struct mrpc_ref *ref = (struct mrpc_ref *)(to + f->offset);

		if (!(f->flags & MRPC_DESC_REPEATED) && f->kind < MRPC_DESC_STRING)
			continue;
		/* In a oneof the place can be another member's. */
		if (desc_is_set(f, from))
			copy_ref(msg, ref, f, root, desc_ref(f, from), depth);
		else if (!(f->flags & MRPC_DESC_ONEOF))
			*ref = (struct mrpc_ref){ 0 };
	}
}

void mrpc_msg_copy(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		   const void *root, const void *from)
{
	if (to)
		copy_block(msg, to, desc, root, from, 1);
}
