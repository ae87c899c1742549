/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading what a google.protobuf.Any holds as a message of its type. */
#ifndef LIBMRPC_PARSE_ANY_H
#define LIBMRPC_PARSE_ANY_H

#include "any.h"
#include "parse.h"

/**
 * struct parse_any - an Any that is being read
 * @any: it, zeroed
 * @url: its type URL
 * @desc: the type that it names
 * @around: the message that it is in
 * @mark: where @parse.scratch was
 * @entered: is @mark set?
 */
struct parse_any {
	struct any *any;
	struct text url;
	const struct mrpc_message_desc *desc;
	struct mrpc_msg *around;
	struct scratch_mark mark;
	bool entered;
};

/*
 * Begins with the Any at @m; @buf is the type URL. @parse.msg is then the message that the Any will
 * hold. Return: its root. NULL: there is an error.
 */
char *parse_any_begin(struct parse *p, struct parse_any *a, char *m) HIDDEN;

/* Encodes that message into the Any, if it was read. Follows each parse_any_begin(). Return: is it? */
bool parse_any_end(struct parse *p, struct parse_any *a, bool was_read) HIDDEN;

#endif /* LIBMRPC_PARSE_ANY_H */
