/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the readers of JSON, of the text format and of protobuf's encoding share. */
#ifndef LIBMRPC_PARSE_H
#define LIBMRPC_PARSE_H

#include "scratch.h"
#include "text.h"

/**
 * struct step - a field that is being read; they lie on the stack
 * @up: the field that it is in, or NULL
 * @field: it
 * @index: of the element, -1 for none
 */
struct step {
	const struct step *up;
	const struct mrpc_field_desc *field;
	__s64 index;
};

/**
 * struct parse - a text that is being read into a message
 * @msg: the message
 * @start: of the text
 * @pos: the next byte
 * @end: of the text
 * @token: where the token begins that an error is about
 * @buf: the last string, name or number, without quotes and escapes
 * @step: the innermost field that is being read
 * @depth: of the struct block being read; the root's is 1
 * @flags: MRPC_PARSE_*
 * @is_binary: errors say which byte, in place of the line
 * @scratch: memory for what a google.protobuf.Any holds
 * @err: the first error, negative errno
 */
struct parse {
	struct mrpc_msg *msg;
	const char *start;
	const char *pos;
	const char *end;
	const char *token;
	struct text buf;
	const struct step *step;
	unsigned int depth;
	unsigned int flags;
	bool is_binary;
	struct scratch scratch;
	int err;
};

/**
 * struct block - a struct block that is being read
 * @desc: its type
 * @m: it
 * @rooms: for each field: 0, it was not read; else 1 + the elements that its array has room for
 */
struct block {
	const struct mrpc_message_desc *desc;
	char *m;
	__u32 *rooms;
};

/* Reads a whole text into @to, a struct block, by @read. Return: 0 or a negative errno. */
int parse_all(struct parse *p, const struct mrpc_message_desc *desc, void *to,
	      bool (*read)(struct parse *p, const struct mrpc_message_desc *desc, char *m)) HIDDEN;

/* What is wrong, and what would be right. All return false; the first error stays. */
bool parse_fail(struct parse *p, const char *fmt, ...) MRPC_PRINTF(2, 3) HIDDEN;
bool parse_no_memory(struct parse *p) HIDDEN;
/* @want stands where @buf has something else. */
bool parse_not(struct parse *p, const char *want) HIDDEN;

/* What stands at @token, for errors: a piece that can be printed. */
struct excerpt {
	char text[48];
};

struct excerpt parse_excerpt(const char *s, size_t len) HIDDEN;
#define parse_seen(p)	(parse_excerpt((p)->token, (p)->end - (p)->token).text)
#define parse_buf(p)	(parse_excerpt((p)->buf.data, (p)->buf.len).text)

/* -- @buf --------------------------------------------------------------------- */

bool buf_reset(struct parse *p) HIDDEN;		/* "" */
bool buf_add(struct parse *p, const char *s, size_t len) HIDDEN;
bool buf_add_rune(struct parse *p, __u32 rune) HIDDEN;

/* Is it UTF-8? An error if not. */
bool parse_utf8(struct parse *p) HIDDEN;

/* Reads @nr hexadecimal digits at @pos. */
bool parse_hex(struct parse *p, unsigned int nr, __u32 *value) HIDDEN;

/* Adds the character of a \uXXXX, behind the "\u"; two of them for a pair of surrogates. */
bool parse_unicode(struct parse *p) HIDDEN;

/* -- struct blocks ------------------------------------------------------------ */

/* Can one more be in the one that is being read? */
bool block_has_level(struct parse *p) HIDDEN;
bool block_begin(struct parse *p, struct block *b, const struct mrpc_message_desc *desc,
		 char *m) HIDDEN;
void block_end(struct parse *p, struct block *b) HIDDEN;

/* Refuses a field that was claimed before. */
bool block_claim(struct parse *p, struct block *b, const struct mrpc_field_desc *f) HIDDEN;

/*
 * The place for the value of a field, or for the next one if it is repeated, and it is set. A
 * message's is its block. NULL: there is an error, as for a second field of a oneof.
 */
void *block_add(struct parse *p, struct block *b, const struct mrpc_field_desc *f) HIDDEN;

/* Drops the last element again. */
void block_drop(struct block *b, const struct mrpc_field_desc *f) HIDDEN;

/* Refuses a map with two entries that have one key. */
bool block_check_map(struct parse *p, struct block *b, const struct mrpc_field_desc *f) HIDDEN;

/* Did the message take what was put? Its error is that of the parser if not. */
bool put_done(struct parse *p) HIDDEN;

/* -- values, put at @place ---------------------------------------------------- */

/* A whole number; @too_large: for @magnitude, which is without the sign. */
struct whole {
	__u64 magnitude;
	bool negative;
	bool too_large;
};

/* @buf has the number as it is written. */
bool put_integer(struct parse *p, const struct mrpc_field_desc *f, void *place,
		 struct whole number) HIDDEN;

/* @buf as a number; one that is too large is infinite, or refused. */
bool put_real(struct parse *p, const struct mrpc_field_desc *f, void *place,
	      bool may_overflow) HIDDEN;
void put_double(const struct mrpc_field_desc *f, void *place, double d) HIDDEN;

/* @buf, which is UTF-8 if the field is a string. */
bool put_string(struct parse *p, void *place) HIDDEN;

/* The field with a name, that of JSON or that of the .proto. NULL: none has it. */
const struct mrpc_field_desc *find_field(const struct mrpc_message_desc *desc,
					 const struct text *name, bool of_json) HIDDEN;

/* The number of the value with a name. Return: false, none has it. */
bool find_enum(const struct mrpc_enum_desc *e, const struct text *name, __s32 *number) HIDDEN;

#endif /* LIBMRPC_PARSE_H */
