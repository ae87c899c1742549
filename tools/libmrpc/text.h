/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts that grow, and how values are written in them. */
#ifndef LIBMRPC_TEXT_H
#define LIBMRPC_TEXT_H

#include "desc.h"

/**
 * struct text - a text being made
 * @data: NULL, or a string
 * @len: its bytes
 * @cap: allocated
 * @err: the first error: ENOMEM, EINVAL; nothing is added after it
 */
struct text {
	char *data;
	size_t len;
	size_t cap;
	int err;
};

void text_add(struct text *t, const char *data, size_t len) HIDDEN;
void text_printf(struct text *t, const char *fmt, ...) MRPC_PRINTF(2, 3) HIDDEN;

/* As short as can be read back as the same number. */
void text_number(struct text *t, double d, bool is_float) HIDDEN;

/* A number of any kind but an enum's, or a bool. */
void text_scalar(struct text *t, const struct mrpc_field_desc *f, union value v) HIDDEN;

/* The value's name, NULL for a number that has none. */
const char *text_enum(const struct mrpc_enum_desc *e, __s32 number) HIDDEN;

static inline bool text_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The text, for free(), or NULL with errno. */
char *text_take(struct text *t) HIDDEN;

#endif /* LIBMRPC_TEXT_H */
