/* SPDX-License-Identifier: GPL-2.0 */
/* Messages that have come over a link of gRPC, on their way to the sink. */
#ifndef MRPC_TRANSPORTS_GRPC_DELIVER_H
#define MRPC_TRANSPORTS_GRPC_DELIVER_H

#include <linux/types.h>

#include "lib/message/message.h"
#include "lib/message/wire.h"
#include "lib/protobuf/decode.h"

struct grpc_link;
struct grpc_stream;

/**
 * struct grpc_delivery - a frame for the sink, and what belongs to it
 *
 * Of the owner of the receive claim. It stays until the sink has room for it.
 *
 * @active: there is one
 * @frame: the frame
 * @base: header bytes that nothing uses, metadata, detail, and the head of the message; or NULL
 * @cap: bytes at @base
 * @head: position of the message's head in @base
 * @pb: the message, decoded: its input is that of @stream, its arena belongs to this
 * @buf: where the snapshot of it went
 * @stream: the stream of the message, a reference; or NULL
 */
struct grpc_delivery {
	bool active;
	struct mrpc_frame frame;
	u8 *base;
	u32 cap;
	u32 head;
	struct mrpc_pb_message pb;
	struct mrpc_msg_buf buf;
	struct grpc_stream *stream;
};

int grpc_delivery_begin(struct grpc_link *gl, const struct mrpc_frame *frame,
			struct grpc_stream *s, const u8 *meta, const u8 *detail);
int grpc_delivery_decode(struct grpc_link *gl, const struct mrpc_schema_plan *plan, u32 type,
			 char *why, size_t size);
int grpc_deliver(struct grpc_link *gl);
void grpc_delivery_end(struct grpc_delivery *d);

#endif /* MRPC_TRANSPORTS_GRPC_DELIVER_H */
