/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON: what json.c, json_known.c and json_any.c say to each other. */
#ifndef LIBMRPC_JSON_H
#define LIBMRPC_JSON_H

#include "scratch.h"
#include "text.h"

/**
 * struct json - a message being written
 * @t: so far
 * @root: the root of the message, or of what an Any in it holds
 * @scratch: memory for what an Any holds
 * @depth: of the struct block being written; the root's is 1
 */
struct json {
	struct text t;
	const void *root;
	struct scratch scratch;
	unsigned int depth;
};

/* Writes a block of a type with a form of its own. Return: false, its type has none. */
bool json_known(struct json *j, const struct mrpc_message_desc *desc, const char *m) HIDDEN;

/* A google.protobuf.Any, with what it holds. */
void json_any(struct json *j, const char *m) HIDDEN;

/* What has no form in JSON, and why. */
void json_refuse(struct json *j, const char *fmt, ...) MRPC_PRINTF(2, 3) HIDDEN;

void json_block(struct json *j, const struct mrpc_message_desc *desc, const char *m) HIDDEN;

/* The members of an object; @first: nothing stands before them. */
void json_fields(struct json *j, const struct mrpc_message_desc *desc, const char *m,
		 bool first) HIDDEN;
void json_string(struct json *j, const char *s, __u32 len) HIDDEN;

/* The value of a field of @m, whatever it is. */
void json_field(struct json *j, const struct mrpc_field_desc *f, const char *m) HIDDEN;

#endif /* LIBMRPC_JSON_H */
