/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protobuf in tests: messages there and back, and other encodings of the same message.
 */
#ifndef PROTO_H
#define PROTO_H

#include "gen.h"
#include "lib/protobuf/decode.h"
#include "lib/protobuf/encode.h"

/* Bytes to be freed. */
struct proto_bytes {
	u8 *p;
	size_t len;
};

void proto_append(struct proto_bytes *b, const void *p, size_t len);
void proto_append_varint(struct proto_bytes *b, u64 v);

/**
 * struct proto_decoded - a message that was decoded
 * @ret: 0, or what the decoder or the snapshot returned
 * @by_snapshot: the snapshot refused it
 * @err: why
 * @wire: the canonical message; NULL if @ret is not 0
 * @len: lengths of its sections
 * @arena: bytes of the arena
 * @unknown: fields that were dropped
 */
struct proto_decoded {
	int ret;
	bool by_snapshot;
	struct mrpc_msg_error err;
	u8 *wire;
	struct mrpc_msg_len len;
	u32 arena;
	u32 unknown;
};

/*
 * Decodes @len bytes, takes the snapshot and verifies it. The input is in a block of its exact
 * size; the arena has the size that was asked for, and moves each time it grows.
 */
struct proto_decoded proto_decode(const struct mrpc_schema_plan *plan, u32 type, const u8 *in,
				  size_t len, u32 arena_max);

/*
 * Encodes a canonical message: its blocks in one piece, or as segments in a heap that is like a
 * canonical message (@in->segs), or as @in says. What stays by reference is put in its place.
 */
struct proto_bytes proto_encode(const struct mrpc_pb_input *in);

/* The same, of a whole message. */
struct proto_bytes proto_encode_wire(const struct mrpc_schema_plan *plan, u32 type, const u8 *wire,
				     const struct mrpc_msg_len *len);

/*
 * Makes a random message of gen.c more like real ones: with zeros, small and extreme numbers. Map
 * entries get the value messages that the decoder would give them. False: it is nested too
 * deeply for these.
 */
bool proto_season(struct gen *g, struct model_pool *pool, const struct mrpc_schema_plan *plan,
		  struct model_msg *msg);

/**
 * struct proto_vary - how to change an encoding
 * @g: choices
 * @plan: the schema
 * @merges: how many messages may still be split in two
 * @unknown: out: unknown fields that were added
 */
struct proto_vary {
	struct gen *g;
	const struct mrpc_schema_plan *plan;
	u32 merges;
	u32 unknown;
};

/*
 * Another encoding of the same message: fields in another order, packed and unpacked in turn,
 * split messages, values before the last, long tags and lengths, unknown fields.
 */
struct proto_bytes proto_vary(struct proto_vary *v, u32 type, const u8 *in, size_t len);

#endif /* PROTO_H */
