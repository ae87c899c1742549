/* SPDX-License-Identifier: GPL-2.0 */
/* What a field is in C, and the frame of the functions that handle it. */
#ifndef MRPCC_GEN_FIELD_H
#define MRPCC_GEN_FIELD_H

#include "model.h"

const char *scalar_ctype(u8 kind);	/* of a number or bool */
const char *kind_name(u8 kind);	/* in a .proto */
bool kind_is_scalar(u8 kind);
bool field_has_presence(const struct field *field);
const char *field_prototype(const struct field *field);	/* "repeated string x = 3" */
const char *field_is_set(const struct field *field);	/* condition on m; NULL: none */
const char *field_mark_set(const struct field *field);	/* statement on m; "" : none */

/*
 * "static inline @ret@name(parameters)" and the opening brace. @ret ends in a
 * space or an asterisk; parameters end with NULL. The name is taken.
 */
void gen_function(struct buf *out, const struct field *field, const char *ret,
		  const char *prefix, ...) __attribute__((sentinel));
void gen_prototype(struct buf *out, const char *ret, const char *name, const char **params);

#endif /* MRPCC_GEN_FIELD_H */
