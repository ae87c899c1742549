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
#define GRPC_ARENA	1024	/* bytes of the decoder's arena ... */
#define GRPC_HEAD	5120	/* ... and of a frame with its head, which need no memory of their own */
#define GRPC_SMALL	4096	/* bytes of a message that need no memory of their own, for one stream */
#define GRPC_KNOWN	60	/* bytes of the longest header block that is known again */

/**
 * struct grpc_known - a header block that has come, and may come again
 * @generation: of HPACK's table before and after it
 * @len: its bytes; 0: there is none
 * @bytes: the block
 */
struct grpc_known {
	u64 generation;
	u8 len;
	u8 bytes[GRPC_KNOWN];
};

/**
 * struct grpc_known_answer - a header block of a response without metadata and detail
 * @block: the block
 * @end: it ends the stream
 * @what: enum mrpc_grpc_answer
 * @status: enum mrpc_status
 * @response: what it says of its stream
 */
struct grpc_known_answer {
	struct grpc_known block;
	bool end;
	u8 what;
	u16 status;
	struct mrpc_grpc_response response;
};

/**
 * struct grpc_work - memory that a link needs while something comes, some 57 KiB
 * @sink: takes the fields of a header block
 * @ignore: the fields are for no stream
 * @request: a request's header block
 * @answer: a response's header block
 * @known: server: the block that @request and @meta are of
 * @known_method: the method of @request, as grpc_stream.method; U32_MAX: not looked for yet
 * @known_kinds: as grpc_stream.kinds
 * @known_answers: client: the latest that was not trailers, and the latest that was
 * @meta: metadata of that block's stream, in @meta_buf
 * @scratch: of the decoder of messages
 * @why: a sentence
 * @meta_buf: see @meta
 * @strings: what HPACK has decoded
 * @arena: of grpc_delivery.pb, unless it needs more
 * @head: of grpc_delivery.base, unless it needs more
 * @small: grpc_stream.msg of one stream
 * @buf: what was read
 */
struct grpc_work {
	struct mrpc_hpack_sink sink;
	bool ignore;
	union {
		struct mrpc_grpc_request request;
		struct mrpc_grpc_answer_block answer;
	};
	struct grpc_known known;
	u32 known_method;
	u8 known_kinds;
	struct grpc_known_answer known_answers[2];
	struct mrpc_grpc_meta meta;
	struct mrpc_pb_scratch scratch;
	char why[MRPC_MAX_DETAIL + 1];
	u8 meta_buf[MRPC_MAX_META];
	u8 strings[MRPC_HPACK_MAX_LIST];
	u8 arena[GRPC_ARENA] __aligned(8);
	u8 head[GRPC_HEAD] __aligned(8);
	u8 small[GRPC_SMALL] __aligned(8);
	u8 buf[GRPC_READ];
};

int grpc_recv(struct mrpc_link *link, int budget);
void grpc_in_free(struct grpc_link *gl);

/* receive.c */
void grpc_wake(struct grpc_link *gl);
void grpc_failed(struct grpc_link *gl);
bool grpc_block_known(struct grpc_link *gl, struct grpc_known *k, const struct mrpc_h2_frame *f);
int grpc_decode_block(struct grpc_link *gl, const struct mrpc_h2_frame *f, struct grpc_known *k);
void grpc_keep_meta(struct grpc_link *gl, struct grpc_stream *s);

/* content.c */
int grpc_take_piece(struct grpc_link *gl);
int grpc_hear_end(struct grpc_link *gl, struct grpc_stream *s);
int grpc_advance(struct grpc_link *gl, struct grpc_stream *s);
void grpc_drop(struct grpc_link *gl, struct grpc_stream *s);
void grpc_made(struct grpc_link *gl, struct grpc_stream *s);
void grpc_stall(struct grpc_link *gl, bool stalls);
void grpc_msg_free(struct grpc_link *gl, struct grpc_stream *s);
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
