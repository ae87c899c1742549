/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_GROUP_H
#define LIBMRPC_GROUP_H

#include "session.h"

/**
 * struct mrpc_group - one rank of a group
 * @session: whose
 * @end: with the session
 * @id: the kernel's number
 * @ranks: how many there are
 * @rank: this one
 */
struct mrpc_group {
	struct mrpc_session *session;
	struct session_end end;
	u32 id;
	u32 ranks;
	u32 rank;
};

#endif /* LIBMRPC_GROUP_H */
