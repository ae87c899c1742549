/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tokens of protobuf's text format. What begins a token skips blanks and comments. */
#ifndef LIBMRPC_TEXT_LEX_H
#define LIBMRPC_TEXT_LEX_H

#include "parse.h"

/* The first byte of the next token, which is the parser's @token; 0 at the end. */
char text_peek(struct parse *p) HIDDEN;

/* Steps over the next token if it is @c, one that stands alone. */
bool text_skip(struct parse *p, char c) HIDDEN;

/* What must stand instead of the next token. False. */
bool text_unexpected(struct parse *p, const char *want) HIDDEN;

/* Reads a name, or a word, to @buf. */
bool text_word_token(struct parse *p, const char *want) HIDDEN;

/* Reads a type URL, as it stands in brackets, to @buf. */
bool text_url_token(struct parse *p) HIDDEN;

/* Reads a number, or a word that is to be one, to @buf, with a sign that may be apart. */
bool text_number_token(struct parse *p) HIDDEN;

/* Reads strings that stand side by side to @buf, as one. */
bool text_string_token(struct parse *p, const char *want) HIDDEN;

#endif /* LIBMRPC_TEXT_LEX_H */
