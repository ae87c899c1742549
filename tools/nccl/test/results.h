/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of what functions return and say. */
#ifndef TEST_NCCL_RESULTS_H
#define TEST_NCCL_RESULTS_H

#include "nccl.h"
#include "tap.h"

#define CHECK_OK(call)							\
	do {								\
		ncclResult_t check_result = (call);			\
									\
		CHECK_MSG(check_result == ncclSuccess, "%s: %s", #call,	\
			  ncclGetLastError(NULL));			\
	} while (0)

/* It fails with @result, and says @text among other words. */
#define CHECK_ERROR(call, result, text)					\
	do {								\
		CHECK_EQ(call, result);					\
		CHECK_MSG(strstr(ncclGetLastError(NULL), text), "%s",	\
			  ncclGetLastError(NULL));			\
	} while (0)

#endif /* TEST_NCCL_RESULTS_H */
