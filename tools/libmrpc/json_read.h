/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON: what json_read.c and json_read_known.c say to each other. */
#ifndef LIBMRPC_JSON_READ_H
#define LIBMRPC_JSON_READ_H

#include "json_form.h"
#include "json_lex.h"

/* Reads a struct block of any type. */
bool json_read_block(struct parse *p, const struct mrpc_message_desc *desc, char *m) HIDDEN;

/* Reads the value of a field, an array or a map. */
bool json_read_field(struct parse *p, struct block *b, const struct mrpc_field_desc *f) HIDDEN;

/* Reads a block of a type with a form of its own, which @form says. */
bool json_read_known(struct parse *p, const struct mrpc_message_desc *desc, char *m,
		     enum json_form form) HIDDEN;

#endif /* LIBMRPC_JSON_READ_H */
