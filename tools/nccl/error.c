// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Errors: a result, and a sentence for each thread.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

static __thread char last[ERROR_TEXT];

ncclResult_t fail(ncclResult_t result, const char *format, ...)
{
	char text[ERROR_TEXT];
	va_list args;

	/* An argument may be what was said before. */
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(last, sizeof(last), "%s", text);
	return result;
}

ncclResult_t result_of_status(int status)
{
	switch (status) {
	case MRPC_OK:
		return ncclSuccess;
	case MRPC_INVALID_ARGUMENT:
		return ncclInvalidArgument;
	case MRPC_FAILED_PRECONDITION:
	case MRPC_UNIMPLEMENTED:
		return ncclInvalidUsage;
	case MRPC_CANCELLED:
	case MRPC_DEADLINE_EXCEEDED:
	case MRPC_UNAVAILABLE:
		return ncclRemoteError;
	case MRPC_RESOURCE_EXHAUSTED:
	case MRPC_PERMISSION_DENIED:
		return ncclSystemError;
	default:
		return ncclInternalError;
	}
}

ncclResult_t result_of_errno(int err)
{
	switch (err) {
	case EINVAL:
		return ncclInvalidArgument;
	case EACCES:
	case EEXIST:
		return ncclInvalidUsage;
	case ECANCELED:
	case ECONNABORTED:
	case ECONNREFUSED:
	case ECONNRESET:
	case ENOTCONN:
	case ETIMEDOUT:
		return ncclRemoteError;
	default:
		return ncclSystemError;
	}
}

ncclResult_t ncclGetVersion(int *version)
{
	if (!version)
		return fail(ncclInvalidArgument, "ncclGetVersion: the pointer is NULL");
	*version = NCCL_VERSION_CODE;
	return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
	static const char *const text[ncclNumResults] = {
		[ncclSuccess] = "no error",
		[ncclUnhandledCudaError] = "an error of CUDA",
		[ncclSystemError] = "the system has refused something",
		[ncclInternalError] = "an error inside of the library",
		[ncclInvalidArgument] = "an argument is invalid",
		[ncclInvalidUsage] = "the function is used in a wrong way, or ranks disagree",
		[ncclRemoteError] = "another rank is lost or does not answer",
		[ncclInProgress] = "the operation is not complete",
	};

	return (unsigned int)result < ncclNumResults ? text[result] : "no result has this number";
}

const char *ncclGetLastError(ncclComm_t comm)
{
	(void)comm;
	return last;
}
