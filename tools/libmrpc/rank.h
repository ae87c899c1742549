/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_RANK_H
#define LIBMRPC_RANK_H

#include "session.h"

/* Makes the kernel's side of one rank of a group. @id: its number. 0 or -errno, with the error set. */
int rank_new(struct mrpc_session *session, u64 key, u32 ranks, u32 rank, u64 limit_us, u32 *id);

/* Gives a connection to rank @to of group @id to it. 0 or -errno, with the error set. */
int rank_link(struct mrpc_session *session, u32 id, u32 to, u32 conn);

/* Leaves the group. */
void rank_end(struct mrpc_session *session, u32 id);

#endif /* LIBMRPC_RANK_H */
