/* SPDX-License-Identifier: GPL-2.0 */
/* Header fields for the tests of gRPC: lists of them, put by one end and heard by the other. */
#ifndef GRPC_FIELDS_H
#define GRPC_FIELDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grpc/metadata.h"
#include "lib/grpc/out.h"
#include "lib/grpc/request.h"
#include "lib/grpc/response.h"

#define FIELDS_MAX	2100	/* the shortest entries of metadata that fill it, and some */

/* One field, in memory of its exact size: an access behind it is caught. */
struct field {
	u8 *name;
	u8 *value;
	u32 nlen;
	u32 vlen;
	enum mrpc_grpc_mode mode;
};

struct fields {
	struct field f[FIELDS_MAX];
	u32 nr;
	u32 fail_at;	/* @put fails at this one, counted from 1; 0: never */
};

static inline void *fields_copy(const void *p, u32 len)
{
	u8 *copy = malloc(len ? len : 1);

	if (len)
		memcpy(copy, p, len);
	return copy;
}

static inline int fields_put(void *ctx, const u8 *name, u32 nlen, const u8 *value, u32 vlen,
			     enum mrpc_grpc_mode mode)
{
	struct fields *l = ctx;

	if (l->nr == FIELDS_MAX || l->nr + 1 == l->fail_at)
		return -E2BIG;
	l->f[l->nr++] = (struct field){ fields_copy(name, nlen), fields_copy(value, vlen), nlen,
					vlen, mode };
	return 0;
}

static inline void fields_clear(struct fields *l)
{
	while (l->nr) {
		free(l->f[--l->nr].name);
		free(l->f[l->nr].value);
	}
}

/* @scratch is of the size that must do for any list. */
static inline struct mrpc_grpc_out fields_out(struct fields *l)
{
	static u8 scratch[MRPC_GRPC_SCRATCH];

	fields_clear(l);
	return (struct mrpc_grpc_out){ .put = fields_put, .ctx = l, .scratch = scratch,
				       .room = sizeof(scratch) };
}

/* "name|value|mode\n" for each field. */
static inline const char *fields_text(const struct fields *l)
{
	static char text[8192];
	u32 n = 0, i;

	text[0] = 0;
	for (i = 0; i < l->nr && n < sizeof(text); i++)
		n += snprintf(text + n, sizeof(text) - n, "%.*s|%.*s|%u\n", (int)l->f[i].nlen,
			      l->f[i].name, (int)l->f[i].vlen, l->f[i].value, l->f[i].mode);
	return text;
}

static inline void fields_to_request(const struct fields *l, struct mrpc_grpc_request *r)
{
	u32 i;

	for (i = 0; i < l->nr; i++)
		mrpc_grpc_request_field(r, l->f[i].name, l->f[i].nlen, l->f[i].value,
					l->f[i].vlen);
}

static inline void fields_to_answer(const struct fields *l, struct mrpc_grpc_answer_block *b)
{
	u32 i;

	for (i = 0; i < l->nr; i++)
		mrpc_grpc_answer_field(b, l->f[i].name, l->f[i].nlen, l->f[i].value,
				       l->f[i].vlen);
}

/* Metadata in memory of its exact size. */
static inline struct mrpc_grpc_meta fields_meta(u32 room)
{
	return (struct mrpc_grpc_meta){ .buf = malloc(room ? room : 1), .room = room };
}

#endif /* GRPC_FIELDS_H */
