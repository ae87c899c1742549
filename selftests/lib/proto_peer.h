/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second opinion about protobuf: libprotobuf, with messages that it makes from a description at
 * run time.
 */
#ifndef PROTO_PEER_H
#define PROTO_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

#include <stdbool.h>
#include <stddef.h>

struct mrpc_schema_plan;
struct model_msg;
struct proto_peer;

/* NULL: it refuses the schema, as it does for field numbers that it keeps for itself. */
struct proto_peer *proto_peer_new(const struct mrpc_schema_plan *plan);
void proto_peer_free(struct proto_peer *peer);

/* The encoding of a message that is set field by field; to be freed. */
void *proto_peer_encode(struct proto_peer *peer, const struct model_msg *msg, size_t *len);

/* Decodes, drops unknown fields and encodes again; to be freed. NULL: it refuses the bytes. */
void *proto_peer_again(struct proto_peer *peer, unsigned int type, const void *in, size_t in_len,
		       size_t *len);

#ifdef __cplusplus
}
#endif

#endif /* PROTO_PEER_H */
