/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON: what json_read.c, json_read_known.c and json_read_any.c say to each other. */
#ifndef LIBMRPC_JSON_READ_H
#define LIBMRPC_JSON_READ_H

#include "json_form.h"
#include "json_lex.h"

/* Reads a struct block of any type. */
bool json_read_block(struct parse *p, const struct mrpc_message_desc *desc, char *m) HIDDEN;

/* Reads the name of a field to @buf. */
static inline bool json_name_token(struct parse *p)
{
	return json_string_token(p, "a field's name in quotes");
}

/* Reads what follows the name in @buf: the value of a field of the block. */
bool json_read_member(struct parse *p, struct block *b) HIDDEN;

/* Reads the value of a field, an array or a map. */
bool json_read_field(struct parse *p, struct block *b, const struct mrpc_field_desc *f) HIDDEN;

/* Reads a block of a type with a form of its own, which @form says. */
bool json_read_known(struct parse *p, const struct mrpc_message_desc *desc, char *m,
		     enum json_form form) HIDDEN;

/* Reads a google.protobuf.Any. */
bool json_read_any(struct parse *p, char *m) HIDDEN;

#endif /* LIBMRPC_JSON_READ_H */
