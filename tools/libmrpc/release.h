/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_RELEASE_H
#define LIBMRPC_RELEASE_H

#include "session.h"

/* Blocks that a thread holds back before it returns them all at once. */
#define RELEASE_BYTES	(64u << 10)
#define RELEASE_WITH_CALL 8	/* blocks: fewer do not go with a synchronous call */

void release_block(struct mrpc_session *session, u32 block, u32 bytes);
u32 release_take(struct tctx *t, u32 *blocks);
void release_flush(struct tctx *t);

#endif /* LIBMRPC_RELEASE_H */
