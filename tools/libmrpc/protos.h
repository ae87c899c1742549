/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looking into the descriptions of .proto files that generated code has: mrpc_service_desc.protos. */
#ifndef LIBMRPC_PROTOS_H
#define LIBMRPC_PROTOS_H

#include "internal.h"

/* Bytes in protobuf's format */
struct bytes {
	const u8 *data;
	size_t len;
};

/* Takes the next file off a set. Return: false if there is none. */
bool protos_next(struct bytes *set, struct bytes *file);

/* Is this the name of the file, or of an import of the file? */
bool protos_is_named(struct bytes file, const char *name);
bool protos_imports(struct bytes file, struct bytes import);

/* Does the file declare it? The name has the package. */
bool protos_declares(struct bytes file, const char *symbol);

#endif /* LIBMRPC_PROTOS_H */
