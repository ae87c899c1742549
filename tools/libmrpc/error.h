/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_ERROR_H
#define LIBMRPC_ERROR_H

#include "internal.h"

void set_error(const char *fmt, ...) MRPC_PRINTF(1, 2);
int fail(int err, const char *fmt, ...) MRPC_PRINTF(2, 3);	/* returns -err, sets errno */
int errno_of_status(int status);
int status_of_errno(int err);

#endif /* LIBMRPC_ERROR_H */
