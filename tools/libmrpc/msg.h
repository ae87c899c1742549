/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_MSG_H
#define LIBMRPC_MSG_H

#include "session.h"

void blocks_free(struct mrpc_session *session, void *blocks);
void *msg_spend(struct mrpc_msg *msg);	/* its blocks, which the caller must free */

#endif /* LIBMRPC_MSG_H */
