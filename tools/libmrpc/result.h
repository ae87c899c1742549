/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_RESULT_H
#define LIBMRPC_RESULT_H

#include "session.h"

void result_fill(struct mrpc_session *session, struct mrpc_result *res,
		 const struct mrpc_cqe *cqe);
void result_fail(struct mrpc_result *res, int status, const char *fmt, ...) MRPC_PRINTF(3, 4);

#endif /* LIBMRPC_RESULT_H */
