/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What functions say when they fail. */
#ifndef MRPC_NCCL_ERROR_H
#define MRPC_NCCL_ERROR_H

#include <mrpc.h>

#include "nccl.h"

#define ERROR_TEXT	(MRPC_MAX_DETAIL + 128)

/* Sets what ncclGetLastError() says in this thread. Return: @result. */
ncclResult_t fail(ncclResult_t result, const char *format, ...) MRPC_PRINTF(2, 3);

/* What a function returns for the status of an operation, and for an errno of libmrpc. */
ncclResult_t result_of_status(int status);
ncclResult_t result_of_errno(int err);

#endif /* MRPC_NCCL_ERROR_H */
