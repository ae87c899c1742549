// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Errors in words, and the names of statuses.
 */
#include <errno.h>
#include <stdio.h>

#include "error.h"
#include "thread.h"

const char *mrpc_lib_version(void)
{
	return LIBMRPC_VERSION;
}

const char *mrpc_status_name(int status)
{
	static const char *const names[] = {
		[MRPC_OK] = "OK",
		[MRPC_CANCELLED] = "CANCELLED",
		[MRPC_UNKNOWN] = "UNKNOWN",
		[MRPC_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
		[MRPC_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
		[MRPC_NOT_FOUND] = "NOT_FOUND",
		[MRPC_ALREADY_EXISTS] = "ALREADY_EXISTS",
		[MRPC_PERMISSION_DENIED] = "PERMISSION_DENIED",
		[MRPC_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
		[MRPC_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
		[MRPC_ABORTED] = "ABORTED",
		[MRPC_OUT_OF_RANGE] = "OUT_OF_RANGE",
		[MRPC_UNIMPLEMENTED] = "UNIMPLEMENTED",
		[MRPC_INTERNAL] = "INTERNAL",
		[MRPC_UNAVAILABLE] = "UNAVAILABLE",
		[MRPC_DATA_LOSS] = "DATA_LOSS",
		[MRPC_UNAUTHENTICATED] = "UNAUTHENTICATED",
	};
	char *buf;
	size_t size;

	if (status >= 0 && status < (int)ARRAY_SIZE(names))
		return names[status];
	buf = error_buffer(&size);
	if (!buf)
		return "STATUS_UNKNOWN";
	snprintf(buf, size, "STATUS_%d", status);
	return buf;
}

static void set_error_va(const char *fmt, va_list args)
{
	size_t size;
	char *buf = error_buffer(&size);

	if (buf)
		vsnprintf(buf, size, fmt, args);
}

void set_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_error_va(fmt, args);
	va_end(args);
}

int fail(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_error_va(fmt, args);
	va_end(args);
	errno = err;
	return -err;
}

const char *mrpc_last_error(void)
{
	char *buf = error_buffer(NULL);

	return buf ? buf : "out of memory";
}

/* The errno of a call, or a message, that the kernel has refused. */
int errno_of_status(int status)
{
	switch (status) {
	case MRPC_INVALID_ARGUMENT:
		return EINVAL;
	case MRPC_RESOURCE_EXHAUSTED:
		return ENOBUFS;
	case MRPC_DEADLINE_EXCEEDED:
		return ETIMEDOUT;
	case MRPC_UNIMPLEMENTED:
		return EOPNOTSUPP;
	case MRPC_FAILED_PRECONDITION:
		return EPERM;
	case MRPC_UNAVAILABLE:
		return ENOTCONN;
	case MRPC_ALREADY_EXISTS:
		return EEXIST;
	case MRPC_PERMISSION_DENIED:
		return EACCES;
	case MRPC_ABORTED:
		return ECONNABORTED;
	default:
		return EIO;
	}
}

/* What a failed ioctl means for a call. */
int status_of_errno(int err)
{
	switch (err) {
	case 0:
		return MRPC_OK;
	case EINTR:
		return MRPC_CANCELLED;
	case ETIME:
	case ETIMEDOUT:
		return MRPC_DEADLINE_EXCEEDED;
	case ENOMEM:
	case ENOBUFS:
	case ENOSPC:
	case EDQUOT:
	case EBUSY:
	case EAGAIN:
		return MRPC_RESOURCE_EXHAUSTED;
	case EINVAL:
	case EMSGSIZE:
	case EILSEQ:
		return MRPC_INVALID_ARGUMENT;
	case EPERM:
	case EACCES:
		return MRPC_PERMISSION_DENIED;
	case ENOENT:
	case ENOTCONN:
	case ECONNRESET:
	case ECONNREFUSED:
	case ESHUTDOWN:
	case EPIPE:
	case ENODEV:
		return MRPC_UNAVAILABLE;
	default:
		return MRPC_INTERNAL;
	}
}
