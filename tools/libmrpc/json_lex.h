/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tokens of JSON, by RFC 8259. What begins a token is skipped blanks. */
#ifndef LIBMRPC_JSON_LEX_H
#define LIBMRPC_JSON_LEX_H

#include "parse.h"

/* The first byte of the next token, which is the parser's @token; 0 at the end. */
char json_peek(struct parse *p) HIDDEN;

/* Steps over the next token if it is @c. */
bool json_take(struct parse *p, char c) HIDDEN;

/* @want: what must be there, for the error. */
bool json_expect(struct parse *p, char c, const char *want) HIDDEN;

/* Behind an element: is there another one? @more says; false is an error. */
bool json_more(struct parse *p, char close, bool *more) HIDDEN;

/* Steps over true, false or null if it is next. */
bool json_word(struct parse *p, const char *word) HIDDEN;

/* Reads a string to @buf. @want: what the string should be, for the error. */
bool json_string_token(struct parse *p, const char *want) HIDDEN;

/* Reads a number to @buf, as it is written. */
bool json_number_token(struct parse *p) HIDDEN;

/* Is all of @s a number? */
bool json_is_number(const char *s, size_t len) HIDDEN;

/* Steps over a value. */
bool json_skip(struct parse *p) HIDDEN;

#endif /* LIBMRPC_JSON_LEX_H */
