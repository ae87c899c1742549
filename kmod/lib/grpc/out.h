/* SPDX-License-Identifier: GPL-2.0 */
/* Header fields on their way to the HPACK encoder. */
#ifndef MRPC_LIB_GRPC_OUT_H
#define MRPC_LIB_GRPC_OUT_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"
#include "lib/grpc/base64.h"
#include "lib/grpc/path.h"
#include "lib/grpc/percent.h"

/* How the HPACK encoder is to treat a field. */
enum mrpc_grpc_mode {
	MRPC_GRPC_INDEX,	/* goes into the dynamic table: calls repeat it */
	MRPC_GRPC_SEEN,		/* goes into the table when it comes for the second time */
	MRPC_GRPC_WITHOUT,	/* stays out: it differs from call to call */
	MRPC_GRPC_NEVER,	/* stays out here and at every hop: it is a secret */
};

/* Scratch memory that no list of fields exceeds, see struct mrpc_grpc_out. */
#define MRPC_GRPC_SCRATCH	(MRPC_GRPC_BASE64_LEN(MRPC_MAX_META) +	\
				 MRPC_GRPC_PERCENT_LEN(MRPC_MAX_DETAIL) + \
				 MRPC_GRPC_MAX_PATH + 256)

/**
 * struct mrpc_grpc_out - where the functions mrpc_grpc_put_*() put fields
 * @put: takes one field; 0, or an error which ends the list. Name and value stay where they are
 *	as long as the caller's own arguments and @scratch do
 * @ctx: for @put
 * @scratch: memory for values that are made, at most MRPC_GRPC_SCRATCH bytes for one list
 * @room: its bytes
 * @used: of these
 * @err: the first error of @put, or -ENOSPC: @room is too small. Nothing is put after it
 *
 * The caller sets all but @used and @err, which are 0.
 */
struct mrpc_grpc_out {
	int (*put)(void *ctx, const u8 *name, u32 nlen, const u8 *value, u32 vlen,
		   enum mrpc_grpc_mode mode);
	void *ctx;
	u8 *scratch;
	u32 room;
	u32 used;
	int err;
};

/* mrpc_grpc_put() - put one field, unless there was an error */
static inline void mrpc_grpc_put(struct mrpc_grpc_out *out, const void *name, u32 nlen,
				 const void *value, u32 vlen, enum mrpc_grpc_mode mode)
{
	if (!out->err)
		out->err = out->put(out->ctx, name, nlen, value, vlen, mode);
}

/* mrpc_grpc_put_text() - put a field of which both parts are literals */
#define mrpc_grpc_put_text(out, name, value, mode) \
	mrpc_grpc_put(out, name, sizeof(name) - 1, value, sizeof(value) - 1, mode)

/* mrpc_grpc_scratch() - Return: @len bytes of scratch memory, or NULL: an error is set */
static inline u8 *mrpc_grpc_scratch(struct mrpc_grpc_out *out, u32 len)
{
	u8 *p = out->scratch + out->used;

	if (out->err)
		return NULL;
	if (len > out->room - out->used) {
		out->err = -ENOSPC;
		return NULL;
	}
	out->used += len;
	return p;
}

#endif /* MRPC_LIB_GRPC_OUT_H */
