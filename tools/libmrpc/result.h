/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_RESULT_H
#define LIBMRPC_RESULT_H

#include "session.h"

void result_fill(struct mrpc_session *session, struct mrpc_result *res,
		 const struct mrpc_cqe *cqe);
void result_fail(struct mrpc_result *res, int status, const char *fmt, ...) MRPC_PRINTF(3, 4);

/* The end of a call that this library ends, and that the kernel has not got. */
static inline struct mrpc_cqe cqe_unsent(int status)
{
	return (struct mrpc_cqe){
		.type = MRPC_CQE_REPLY,
		.flags = MRPC_CQE_LOCAL | MRPC_CQE_UNSENT,
		.status = (u16)status,
	};
}

#endif /* LIBMRPC_RESULT_H */
