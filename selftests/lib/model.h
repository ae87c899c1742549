/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simple second opinion about messages: trees, decoded from and encoded to
 * the wire by recursion, from the description in message.h and not from the
 * plan's active and dead lists.
 */
#ifndef MODEL_H
#define MODEL_H

#include "lib/message/message.h"

/* Memory that is freed at once. */
struct model_pool {
	struct model_block *blocks;
};

void *model_alloc(struct model_pool *pool, size_t size);	/* zeroed */
void model_free(struct model_pool *pool);

/**
 * struct model_field - the value of one field
 * @present: singular: it is set (scalars without explicit presence: always);
 *	repeated: @n is not 0
 * @n: elements; text and bytes: bytes
 * @data: scalars: their bytes; text and bytes: the content
 * @items: repeated text and bytes: the elements
 * @msgs: messages
 */
struct model_field {
	bool present;
	u32 n;
	u8 *data;
	struct model_field *items;
	struct model_msg **msgs;
};

struct model_msg {
	u32 type;
	struct model_field *fields;	/* as the type's fields */
	u32 placed;			/* for the writer: 1 + where */
};

/* Bytes of a repeated field's element, or of a scalar, on the wire. */
u32 model_elem_size(const struct mrpc_schema_plan *plan, const struct mrpc_field *f);

/* The canonical encoding, to be freed. */
u8 *model_encode(const struct mrpc_schema_plan *plan, const struct model_msg *msg,
		 struct mrpc_msg_len *len);

/* Trusts @wire to be in order, but for asserting that it stays inside. */
struct model_msg *model_decode(struct model_pool *pool, const struct mrpc_schema_plan *plan,
			       u32 type, const u8 *wire, const struct mrpc_msg_len *len);

bool model_equal(const struct mrpc_schema_plan *plan, const struct model_msg *a,
		 const struct model_msg *b);

#endif /* MODEL_H */
