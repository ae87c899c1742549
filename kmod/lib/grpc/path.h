/* SPDX-License-Identifier: GPL-2.0 */
/* The path of a request: "/package.Service/Method". */
#ifndef MRPC_LIB_GRPC_PATH_H
#define MRPC_LIB_GRPC_PATH_H

#include "lib/ds/types.h"
#include "lib/message/schema.h"

/* Bytes of the longest path that can name a method. */
#define MRPC_GRPC_MAX_PATH	(2 + 2 * MRPC_SCHEMA_MAX_NAME)

/**
 * struct mrpc_grpc_path - a path, taken apart
 * @service: with its package, not NUL-terminated
 * @service_len: its bytes, not 0
 * @method: not NUL-terminated
 * @method_len: its bytes, not 0
 */
struct mrpc_grpc_path {
	const char *service;
	const char *method;
	u16 service_len;
	u16 method_len;
};

/**
 * mrpc_grpc_path_split() - take a path apart
 * @text: the path
 * @len: its bytes
 * @path: gets pointers into @text
 *
 * The last slash stands before the method. Return: 0; -EINVAL: a part is missing, empty or too
 * long for a name.
 */
int mrpc_grpc_path_split(const char *text, u32 len, struct mrpc_grpc_path *path);

/**
 * mrpc_grpc_path_unknown() - say that a service or method does not exist
 * @path: the request's
 * @method: the service exists, but not the method
 * @buf: gets the sentence with NUL; what does not print is a question mark
 * @size: its bytes, not 0
 *
 * Return: bytes written, without NUL.
 */
u32 mrpc_grpc_path_unknown(const struct mrpc_grpc_path *path, bool method, char *buf, u32 size);

#endif /* MRPC_LIB_GRPC_PATH_H */
