/* SPDX-License-Identifier: GPL-2.0 */
/* The header fields of a request: read by the server, put by the client. */
#ifndef MRPC_LIB_GRPC_REQUEST_H
#define MRPC_LIB_GRPC_REQUEST_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"
#include "lib/grpc/field.h"
#include "lib/grpc/metadata.h"
#include "lib/grpc/out.h"
#include "lib/grpc/path.h"
#include "lib/grpc/status.h"

#define MRPC_GRPC_SCHEMA_ID	8	/* bytes of a schema's hash in mrpc-schema */
#define MRPC_GRPC_USER_AGENT	"grpc-mrpc/1.0 (linux)"

/**
 * struct mrpc_grpc_request - a request's header block, as its fields come
 * @block: for the rules of all messages
 * @verdict: the heaviest fault so far
 * @meta: metadata, with :authority and user-agent as "authority" and "user-agent"
 * @timeout_us: time until the deadline in microseconds, 0: none
 * @content_length: bytes of all DATA, or -1: not said. Another sum is malformed
 * @encoding: enum mrpc_grpc_encoding of the messages to come
 * @accept: set of encodings that the client accepts
 * @connect: the method is CONNECT, which has neither scheme nor path
 * @has_schema: @schema was sent
 * @schema: first bytes of the hash of the client's schema
 * @path_text: the path, if it can name a method
 * @path: the path taken apart, into @path_text; valid with FINE only
 *
 * Nothing in it points to the decoder's memory. About 2.2 KiB: it belongs to the connection,
 * not to the stack.
 */
struct mrpc_grpc_request {
	struct mrpc_grpc_block block;
	struct mrpc_grpc_verdict verdict;
	struct mrpc_grpc_meta *meta;
	u64 timeout_us;
	s64 content_length;
	u8 encoding;
	u8 accept;
	bool connect;
	bool has_schema;
	u8 schema[MRPC_GRPC_SCHEMA_ID];
	char path_text[MRPC_GRPC_MAX_PATH];
	struct mrpc_grpc_path path;
};

/**
 * mrpc_grpc_request_begin() - a header block of a new stream comes
 * @r: the request
 * @meta: empty, with memory of the caller; a server needs MRPC_MAX_META bytes
 */
void mrpc_grpc_request_begin(struct mrpc_grpc_request *r, struct mrpc_grpc_meta *meta);

/* mrpc_grpc_request_field() - one field of the block, in order; @name and @value are copied */
void mrpc_grpc_request_field(struct mrpc_grpc_request *r, const u8 *name, u32 nlen,
			     const u8 *value, u32 vlen);

/**
 * mrpc_grpc_request_end() - all fields have come
 * @r: the request
 * @too_large: the HPACK decoder has thrown fields away, as they were too many or too long
 *
 * Return: the verdict, which stays in @r.
 */
const struct mrpc_grpc_verdict *mrpc_grpc_request_end(struct mrpc_grpc_request *r, bool too_large);

/**
 * struct mrpc_grpc_call - what a client says of a call
 * @https: the connection is encrypted
 * @path: service and method
 * @authority: the server's name, see mrpc_grpc_authority_valid()
 * @authority_len: its bytes
 * @timeout_us: time until the deadline in microseconds, 0: none
 * @encoding: enum mrpc_grpc_encoding that its messages may have
 * @accept: set of encodings that replies may have
 * @schema: MRPC_GRPC_SCHEMA_ID bytes, or NULL: not sent
 * @meta: what mrpc_grpc_admit() accepts
 * @meta_len: its bytes
 */
struct mrpc_grpc_call {
	bool https;
	struct mrpc_grpc_path path;
	const char *authority;
	u32 authority_len;
	u64 timeout_us;
	u8 encoding;
	u8 accept;
	const u8 *schema;
	const u8 *meta;
	u32 meta_len;
};

/**
 * mrpc_grpc_put_target() - put the fields that requests for a method have in common
 *
 * They come first. All calls of a method over a connection have the same ones.
 *
 * Return: 0, or the error in @out.
 */
int mrpc_grpc_put_target(struct mrpc_grpc_out *out, const struct mrpc_grpc_call *call);

/* mrpc_grpc_put_call() - put the other fields of a request. Return: 0, or the error in @out. */
int mrpc_grpc_put_call(struct mrpc_grpc_out *out, const struct mrpc_grpc_call *call);

/* mrpc_grpc_put_request() - put all fields of a request. Return: 0, or the error in @out. */
static inline int mrpc_grpc_put_request(struct mrpc_grpc_out *out,
					const struct mrpc_grpc_call *call)
{
	return mrpc_grpc_put_target(out, call) ?: mrpc_grpc_put_call(out, call);
}

/* mrpc_grpc_authority_valid() - is this 1 to 255 bytes of %x21-7E without / ? # @, for :authority? */
bool mrpc_grpc_authority_valid(const char *text, u32 len);

#endif /* MRPC_LIB_GRPC_REQUEST_H */
