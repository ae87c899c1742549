/* SPDX-License-Identifier: GPL-2.0 */
/* The header fields of a response and its trailers: read by the client, put by the server. */
#ifndef MRPC_LIB_GRPC_RESPONSE_H
#define MRPC_LIB_GRPC_RESPONSE_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"
#include "lib/grpc/field.h"
#include "lib/grpc/metadata.h"
#include "lib/grpc/out.h"
#include "lib/grpc/status.h"

/**
 * struct mrpc_grpc_response - what a client's stream keeps from block to block
 * @http: HTTP's status; 0: no headers have come but informational ones
 * @encoding: enum mrpc_grpc_encoding of the messages to come
 * @head_meta_len: bytes of metadata that came before the first message
 *
 * All zeroes when the stream begins.
 */
struct mrpc_grpc_response {
	u16 http;
	u16 head_meta_len;
	u8 encoding;
};

/* What a header block of a response is. */
enum mrpc_grpc_answer {
	MRPC_GRPC_SKIP,		/* an informational one (1xx): nothing follows from it */
	MRPC_GRPC_HEADERS,	/* messages may follow */
	MRPC_GRPC_END,		/* the call ends with @status and @detail */
	/* The call ends so, too. The client resets the stream ... */
	MRPC_GRPC_REFUSED,	/* ... with CANCEL, unless the block has ended it */
	MRPC_GRPC_BROKEN,	/* ... with PROTOCOL_ERROR */
};

/**
 * struct mrpc_grpc_answer_block - one header block of a response, as its fields come
 * @block: for the rules of all messages
 * @r: the stream's
 * @meta: its metadata: initial, then trailing
 * @fault: why the block is malformed, or NULL
 * @meta_start: bytes of metadata before this block
 * @http: the block's :status, or 0
 * @has_status: grpc-status was sent
 * @is_grpc: content-type says so
 * @encoding: enum mrpc_grpc_encoding
 * @status: enum mrpc_status, valid with END, REFUSED and BROKEN; so are the next two
 * @detail_len: bytes of @detail
 * @detail: UTF-8
 *
 * About 600 bytes: it belongs to the connection, not to the stack.
 */
struct mrpc_grpc_answer_block {
	struct mrpc_grpc_block block;
	struct mrpc_grpc_response *r;
	struct mrpc_grpc_meta *meta;
	const char *fault;
	u32 meta_start;
	u16 http;
	bool has_status;
	bool is_grpc;
	u8 encoding;
	u16 status;
	u16 detail_len;
	u8 detail[MRPC_MAX_DETAIL];
};

/**
 * mrpc_grpc_answer_begin() - a header block comes on a client's stream
 * @b: the block
 * @r: the stream's
 * @meta: the stream's, with what earlier blocks brought
 */
void mrpc_grpc_answer_begin(struct mrpc_grpc_answer_block *b, struct mrpc_grpc_response *r,
			    struct mrpc_grpc_meta *meta);

/* mrpc_grpc_answer_field() - one field of the block, in order; @name and @value are copied */
void mrpc_grpc_answer_field(struct mrpc_grpc_answer_block *b, const u8 *name, u32 nlen,
			    const u8 *value, u32 vlen);

/**
 * mrpc_grpc_answer_end() - all fields of the block have come
 * @b: the block
 * @end_stream: it ends the stream
 * @too_large: the HPACK decoder has thrown fields away, as they were too many or too long
 *
 * Return: what it is.
 */
enum mrpc_grpc_answer mrpc_grpc_answer_end(struct mrpc_grpc_answer_block *b, bool end_stream,
					   bool too_large);

/**
 * struct mrpc_grpc_reply - what a server says at the end of a call
 * @status: enum mrpc_status
 * @detail: its detail
 * @detail_len: bytes, at most MRPC_MAX_DETAIL
 * @meta: what mrpc_grpc_admit() accepts
 * @meta_len: its bytes
 * @encoding: enum mrpc_grpc_encoding that its messages may have. Only of headers
 * @accept: set of encodings to tell the client, or 0. Only of trailers-only
 */
struct mrpc_grpc_reply {
	u16 status;
	const u8 *detail;
	u32 detail_len;
	const u8 *meta;
	u32 meta_len;
	u8 encoding;
	u8 accept;
};

/* mrpc_grpc_put_headers() - put a response's headers, with initial metadata. Return: 0 or error */
int mrpc_grpc_put_headers(struct mrpc_grpc_out *out, const struct mrpc_grpc_reply *reply);

/* mrpc_grpc_put_trailers() - put trailers, after headers. Return: 0 or the error in @out */
int mrpc_grpc_put_trailers(struct mrpc_grpc_out *out, const struct mrpc_grpc_reply *reply);

/* mrpc_grpc_put_trailers_only() - put the only block of a response. Return: 0 or error */
int mrpc_grpc_put_trailers_only(struct mrpc_grpc_out *out, const struct mrpc_grpc_reply *reply);

/* mrpc_grpc_put_http() - put the only block for a verdict of kind HTTP. Return: 0 or error */
int mrpc_grpc_put_http(struct mrpc_grpc_out *out, u16 http);

#endif /* MRPC_LIB_GRPC_RESPONSE_H */
