/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Protobuf's encoding: what its reader and its writer share. */
#ifndef LIBMRPC_PROTOBUF_H
#define LIBMRPC_PROTOBUF_H

#include "desc.h"

enum wire {
	WIRE_VARINT,
	WIRE_64,
	WIRE_LEN,
	WIRE_GROUP,
	WIRE_GROUP_END,
	WIRE_32,
};

/* How one value of the field is encoded. */
static inline enum wire wire_of(const struct mrpc_field_desc *f)
{
	switch (f->kind) {
	case MRPC_DESC_FIXED32:
	case MRPC_DESC_SFIXED32:
	case MRPC_DESC_FLOAT:
		return WIRE_32;
	case MRPC_DESC_FIXED64:
	case MRPC_DESC_SFIXED64:
	case MRPC_DESC_DOUBLE:
		return WIRE_64;
	case MRPC_DESC_STRING:
	case MRPC_DESC_BYTES:
	case MRPC_DESC_MESSAGE:
		return WIRE_LEN;
	default:
		return WIRE_VARINT;
	}
}

#endif /* LIBMRPC_PROTOBUF_H */
