/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory for messages that are never sent: what a google.protobuf.Any holds, while it is converted. */
#ifndef LIBMRPC_SCRATCH_H
#define LIBMRPC_SCRATCH_H

#include "desc.h"

#define SCRATCH_MAX	(64U << 20)	/* bytes of all messages that are open at a time */

/* In mrpc_msg.flags: all in one piece of ordinary memory, which does not grow. */
#define MSG_SCRATCH	2

/**
 * struct scratch - messages, one in another; starts as { 0 }
 * @msg: builds the innermost one
 * @memory: of all; NULL before the first one
 */
struct scratch {
	struct mrpc_msg msg;
	void *memory;
};

/* Where the message around was. */
struct scratch_mark {
	void *root;
	__u8 *cur;
};

/* Begins a message. Return: its root, zeroed, or NULL: no memory, and mrpc_last_error() says so. */
void *scratch_enter(struct scratch *s, size_t root_size, struct scratch_mark *mark) HIDDEN;

/* Drops it. */
void scratch_leave(struct scratch *s, const struct scratch_mark *mark) HIDDEN;

void scratch_free(struct scratch *s) HIDDEN;

#endif /* LIBMRPC_SCRATCH_H */
