/* SPDX-License-Identifier: GPL-2.0 */
/* Messages on their way out as gRPC has them: a prefix and protobuf. */
#ifndef MRPC_TRANSPORTS_GRPC_PAYLOAD_H
#define MRPC_TRANSPORTS_GRPC_PAYLOAD_H

#include <linux/types.h>

#include "lib/message/segs.h"
#include "lib/protobuf/encode.h"

struct kvec;
struct mrpc_rpc;

/**
 * struct grpc_encoder - a message that is being encoded
 * @rpc: the message
 * @in: it, as the encoder sees it
 * @size: what it will need, once it is measured
 * @index: of @in, if its blocks are in a heap
 * @src: as @index
 * @levels: memory of the encoder
 */
struct grpc_encoder {
	struct mrpc_rpc *rpc;
	struct mrpc_pb_input in;
	struct mrpc_pb_size size;
	struct mrpc_seg_index index;
	struct mrpc_msg_src src;
	struct mrpc_pb_levels levels;
};

/**
 * struct grpc_payload - a message, encoded
 *
 * Large byte blocks stay where they are. They lie between the bytes of the buffer.
 *
 * @buf: prefix and protobuf without these blocks, or NULL
 * @cuts: where the blocks belong; positions are those behind the prefix
 * @nr_cuts: how many
 * @buf_len: bytes at @buf
 * @total: bytes of all
 * @rpc: the message, which has these blocks; NULL: nothing was encoded yet
 * @done: bytes that are sent
 * @at: of these, bytes of @buf
 * @cut: the next block
 * @cut_done: bytes of it that are sent
 */
struct grpc_payload {
	u8 *buf;
	struct mrpc_pb_cut *cuts;
	u32 nr_cuts;
	u32 buf_len;
	u32 total;
	const struct mrpc_rpc *rpc;
	u32 done;
	u32 at;
	u32 cut;
	u32 cut_done;
};

int grpc_encoder_begin(struct grpc_encoder *e, struct mrpc_rpc *rpc,
		       const struct mrpc_schema_plan *plan, u32 type);
int grpc_encoder_measure(struct grpc_encoder *e);
int grpc_encoder_write(struct grpc_encoder *e, u8 *to, u32 room);
void grpc_encoder_end(struct grpc_encoder *e);
int grpc_payload_make(struct grpc_payload *p, struct grpc_encoder *e);
void grpc_payload_free(struct grpc_payload *p);
u32 grpc_payload_vector(const struct grpc_payload *p, u32 most, struct kvec *kv, u32 room,
			u32 *bytes);
void grpc_payload_advance(struct grpc_payload *p, u32 n);

static inline u32 grpc_payload_left(const struct grpc_payload *p)
{
	return p->total - p->done;
}

#endif /* MRPC_TRANSPORTS_GRPC_PAYLOAD_H */
