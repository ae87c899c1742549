/* SPDX-License-Identifier: GPL-2.0 */
/* What comes over a link of gRPC. All of it is for the owner of the receive claim. */
#ifndef MRPC_TRANSPORTS_GRPC_RECEIVE_H
#define MRPC_TRANSPORTS_GRPC_RECEIVE_H

#include <linux/types.h>

#include "lib/grpc/request.h"
#include "lib/grpc/response.h"
#include "lib/http2/hear.h"
#include "lib/http2/hpack.h"
#include "lib/protobuf/decode.h"

struct grpc_link;
struct grpc_stream;
struct mrpc_link;

#define GRPC_READ	16384	/* bytes that are read at once */

/**
 * struct grpc_work - memory that a link needs while something comes, some 45 KiB
 * @sink: takes the fields of a header block
 * @ignore: the fields are for no stream
 * @request: a request's header block
 * @answer: a response's header block
 * @meta: metadata of that block's stream, in @meta_buf
 * @scratch: of the decoder of messages
 * @why: a sentence
 * @meta_buf: see @meta
 * @strings: what HPACK has decoded
 * @buf: what was read
 */
struct grpc_work {
	struct mrpc_hpack_sink sink;
	bool ignore;
	union {
		struct mrpc_grpc_request request;
		struct mrpc_grpc_answer_block answer;
	};
	struct mrpc_grpc_meta meta;
	struct mrpc_pb_scratch scratch;
	char why[MRPC_MAX_DETAIL + 1];
	u8 meta_buf[MRPC_MAX_META];
	u8 strings[MRPC_HPACK_MAX_LIST];
	u8 buf[GRPC_READ];
};

int grpc_recv(struct mrpc_link *link, int budget);
void grpc_in_free(struct grpc_link *gl);

/* receive.c */
void grpc_wake(struct grpc_link *gl);
void grpc_failed(struct grpc_link *gl);
int grpc_decode_block(struct grpc_link *gl, const struct mrpc_h2_frame *f);
void grpc_keep_meta(struct grpc_link *gl, struct grpc_stream *s);

/* content.c */
int grpc_take_piece(struct grpc_link *gl);
int grpc_hear_end(struct grpc_link *gl, struct grpc_stream *s);
int grpc_advance(struct grpc_link *gl, struct grpc_stream *s);
void grpc_drop(struct grpc_link *gl, struct grpc_stream *s);
void grpc_made(struct grpc_link *gl, struct grpc_stream *s);
void grpc_stall(struct grpc_link *gl, bool stalls);
void grpc_assembly_end(struct grpc_link *gl, struct grpc_stream *s);
bool grpc_stream_waits(const struct grpc_stream *s);
bool grpc_stream_stuck(struct grpc_link *gl, struct grpc_stream *s);

/* request.c: a server's streams. */
int grpc_hear_request(struct grpc_link *gl, const struct mrpc_h2_frame *f, u32 id, bool end);
int grpc_hear_request_end(struct grpc_link *gl, struct grpc_stream *s);
int grpc_cancel_call(struct grpc_link *gl, struct grpc_stream *s);
void grpc_answer(struct grpc_link *gl, struct grpc_stream *s, u8 how, u16 status, const char *text);

/* response.c: a client's streams. */
int grpc_hear_response(struct grpc_link *gl, struct grpc_stream *s, const struct mrpc_h2_frame *f,
		       bool end);
int grpc_hear_response_end(struct grpc_link *gl, struct grpc_stream *s);
void grpc_end_call(struct grpc_link *gl, struct grpc_stream *s, u16 status, const char *text,
		   bool unsent);

#endif /* MRPC_TRANSPORTS_GRPC_RECEIVE_H */
