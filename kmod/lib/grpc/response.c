// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/response.h"
#include "lib/grpc/encoding.h"

#ifdef __KERNEL__
#include <linux/sprintf.h>
#else
#include <stdio.h>
#endif

/* -- the client ------------------------------------------------------------ */

void mrpc_grpc_answer_begin(struct mrpc_grpc_answer_block *b, struct mrpc_grpc_response *r,
			    struct mrpc_grpc_meta *meta)
{
	/* Not the detail: it has a length. */
	b->block = (struct mrpc_grpc_block){ .trailers = r->http };
	b->r = r;
	b->meta = meta;
	b->fault = NULL;
	b->meta_start = meta->len;
	b->http = 0;
	b->has_status = false;
	b->is_grpc = false;
	b->encoding = MRPC_GRPC_IDENTITY;
	b->status = MRPC_OK;
	b->detail_len = 0;
}

static void answer_http(struct mrpc_grpc_answer_block *b, const u8 *value, u32 vlen)
{
	s64 http = vlen == 3 ? mrpc_grpc_number(value, vlen, 999) : -EINVAL;

	if (http < 100)
		b->fault = ":status is not a number of three digits";
	else
		b->http = http;
}

static void answer_status(struct mrpc_grpc_answer_block *b, const u8 *value, u32 vlen)
{
	s64 status = mrpc_grpc_number(value, vlen, MRPC_STATUS_MAX);

	b->status = status < 0 ? MRPC_UNKNOWN : status;
	b->has_status = true;
}

/* The fields that have a meaning of their own; false: it is metadata. */
static bool answer_known(struct mrpc_grpc_answer_block *b, enum mrpc_grpc_name id,
			 const u8 *value, u32 vlen)
{
	switch (id) {
	case MRPC_GRPC_NAME_HTTP_STATUS:
		answer_http(b, value, vlen);
		return true;
	case MRPC_GRPC_NAME_CONTENT_TYPE:
		b->is_grpc = mrpc_grpc_content_type(value, vlen);
		return true;
	case MRPC_GRPC_NAME_ENCODING:
		b->encoding = mrpc_grpc_encoding_parse(value, vlen);
		return true;
	case MRPC_GRPC_NAME_STATUS:
		answer_status(b, value, vlen);
		return true;
	case MRPC_GRPC_NAME_MESSAGE:
		b->detail_len = mrpc_grpc_percent_decode(value, vlen, b->detail,
							 sizeof(b->detail));
		return true;
	case MRPC_GRPC_NAME_SCHEMA:
	case MRPC_GRPC_NAME_MRPC:
		mrpc_grpc_meta_drop(b->meta);
		return true;
	case MRPC_GRPC_NAME_HOST:
	case MRPC_GRPC_NAME_USER_AGENT:
	case MRPC_GRPC_NAME_PLAIN_AUTHORITY:
	case MRPC_GRPC_NAME_DETAILS:
	case MRPC_GRPC_NAME_PUSHBACK:
	case MRPC_GRPC_NAME_OTHER:
		return false;
	default:
		if (id < MRPC_GRPC_NAME_PSEUDO)
			b->fault = "a pseudo-header field is not one of responses";
		return true;	/* other fields of gRPC's and HTTP's are ignored */
	}
}

void mrpc_grpc_answer_field(struct mrpc_grpc_answer_block *b, const u8 *name, u32 nlen,
			    const u8 *value, u32 vlen)
{
	enum mrpc_grpc_name id;

	if (b->fault)
		return;
	b->fault = mrpc_grpc_block_field(&b->block, name, nlen, value, vlen, &id);
	if (!b->fault && !answer_known(b, id, value, vlen))
		mrpc_grpc_meta_hear(b->meta, name, nlen, value, vlen);
}

static enum mrpc_grpc_answer answer_fail(struct mrpc_grpc_answer_block *b,
					 enum mrpc_grpc_answer what, u16 status, const char *why)
{
	b->status = status;
	b->detail_len = min_t(u32, strlen(why), sizeof(b->detail));
	memcpy(b->detail, why, b->detail_len);
	return what;
}

/* There is no grpc-status, and none can come. */
static enum mrpc_grpc_answer answer_by_http(struct mrpc_grpc_answer_block *b,
					    enum mrpc_grpc_answer what)
{
	struct mrpc_grpc_end end = mrpc_grpc_http_end(b->r->http);
	char text[80];

	snprintf(text, sizeof(text), "HTTP status %u: %s", b->r->http, end.why);
	return answer_fail(b, what, end.status, text);
}

static const char *answer_fault(const struct mrpc_grpc_answer_block *b, bool end_stream)
{
	if (b->fault)
		return b->fault;
	if (b->block.trailers)
		return end_stream ? NULL : "trailers do not end the stream";
	if (!b->http)
		return ":status is missing";
	if (b->http == 101 || (b->http < 200 && end_stream))
		return "an informational response ends the stream or changes the protocol";
	return NULL;
}

enum mrpc_grpc_answer mrpc_grpc_answer_end(struct mrpc_grpc_answer_block *b, bool end_stream,
					   bool too_large)
{
	const char *fault = answer_fault(b, end_stream);

	if (fault)
		return answer_fail(b, MRPC_GRPC_BROKEN, MRPC_INTERNAL, fault);
	if (!b->block.trailers && b->http < 200) {
		b->meta->len = b->meta_start;
		b->meta->full = false;
		return MRPC_GRPC_SKIP;
	}
	if (!b->block.trailers)
		b->r->http = b->http;
	if (too_large || b->meta->full)
		return answer_fail(b, MRPC_GRPC_REFUSED, MRPC_RESOURCE_EXHAUSTED,
				   "the header fields of the response are too large");
	if (end_stream)
		return b->has_status ? MRPC_GRPC_END : answer_by_http(b, MRPC_GRPC_END);
	if (!b->is_grpc && b->http == 200)
		return answer_fail(b, MRPC_GRPC_REFUSED, MRPC_UNKNOWN,
				   "the response's content-type is not application/grpc");
	if (!b->is_grpc)
		return answer_by_http(b, MRPC_GRPC_REFUSED);
	b->r->encoding = b->encoding;
	b->r->head_meta_len = b->meta->len;
	return MRPC_GRPC_HEADERS;
}

/* -- the server ------------------------------------------------------------ */

/* A number without leading zeroes, below 1000. */
static void put_number(struct mrpc_grpc_out *out, const char *name, u16 number)
{
	u32 len = number < 10 ? 1 : number < 100 ? 2 : 3, i;
	u8 *text = mrpc_grpc_scratch(out, len);

	if (!text)
		return;
	for (i = len; i; number /= 10)
		text[--i] = '0' + number % 10;
	mrpc_grpc_put(out, name, strlen(name), text, len, MRPC_GRPC_INDEX);
}

static void put_ok(struct mrpc_grpc_out *out)
{
	mrpc_grpc_put_text(out, ":status", "200", MRPC_GRPC_INDEX);
	mrpc_grpc_put_text(out, "content-type", "application/grpc", MRPC_GRPC_INDEX);
}

static void put_status(struct mrpc_grpc_out *out, const struct mrpc_grpc_reply *reply)
{
	u32 len = min_t(u32, reply->detail_len, MRPC_MAX_DETAIL);
	u8 *text;

	put_number(out, "grpc-status", reply->status);
	if (!len)
		return;
	text = mrpc_grpc_scratch(out, MRPC_GRPC_PERCENT_LEN(len));
	if (text)
		mrpc_grpc_put(out, "grpc-message", 12, text,
			      mrpc_grpc_percent_encode(reply->detail, len, text),
			      MRPC_GRPC_WITHOUT);
}

int mrpc_grpc_put_headers(struct mrpc_grpc_out *out, const struct mrpc_grpc_reply *reply)
{
	put_ok(out);
	if (reply->encoding)
		mrpc_grpc_put_encoding(out, reply->encoding);
	mrpc_grpc_put_meta(out, reply->meta, reply->meta_len);
	return out->err;
}

int mrpc_grpc_put_trailers(struct mrpc_grpc_out *out, const struct mrpc_grpc_reply *reply)
{
	put_status(out, reply);
	mrpc_grpc_put_meta(out, reply->meta, reply->meta_len);
	return out->err;
}

int mrpc_grpc_put_trailers_only(struct mrpc_grpc_out *out, const struct mrpc_grpc_reply *reply)
{
	put_ok(out);
	put_status(out, reply);
	if (reply->accept)
		mrpc_grpc_put_accept(out, reply->accept);
	mrpc_grpc_put_meta(out, reply->meta, reply->meta_len);
	return out->err;
}

int mrpc_grpc_put_http(struct mrpc_grpc_out *out, u16 http)
{
	put_number(out, ":status", http);
	if (http == 405)
		mrpc_grpc_put_text(out, "allow", "POST", MRPC_GRPC_INDEX);
	return out->err;
}
