/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a google.protobuf.Any holds. */
#ifndef LIBMRPC_ANY_H
#define LIBMRPC_ANY_H

#include "scratch.h"

/* As mrpcc generates it */
struct any {
	struct mrpc_ref type_url;
	struct mrpc_ref value;
};

static inline bool desc_is_any(const struct mrpc_message_desc *desc)
{
	return !strcmp(desc->name, "google.protobuf.Any");
}

/* Why a type URL names no type: a sentence. */
struct any_why {
	char text[400];
};

/* The type that a type URL names. NULL: @why says why none. */
const struct mrpc_message_desc *any_find(const char *url, size_t len, struct any_why *why) HIDDEN;

/* Decodes what @any of type @desc holds. Return: the root, or NULL: the scratch message has an error. */
void *any_open(struct scratch *s, struct scratch_mark *mark, const struct mrpc_message_desc *desc,
	       const void *root, const struct any *any) HIDDEN;

/* Puts an encoded message into @any, a block of @msg. */
void any_put(struct mrpc_msg *msg, struct any *any, const char *url, size_t url_len,
	     const void *data, size_t len) HIDDEN;

#endif /* LIBMRPC_ANY_H */
