// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/request.h"
#include "lib/grpc/encoding.h"
#include "lib/grpc/timeout.h"

/* -- the server ------------------------------------------------------------ */

void mrpc_grpc_request_begin(struct mrpc_grpc_request *r, struct mrpc_grpc_meta *meta)
{
	/* Not the path's text: most of it stays unused. */
	r->block = (struct mrpc_grpc_block){ 0 };
	r->verdict = (struct mrpc_grpc_verdict){ 0 };
	r->meta = meta;
	r->timeout_us = 0;
	r->content_length = -1;
	r->encoding = MRPC_GRPC_IDENTITY;
	r->accept = MRPC_GRPC_ACCEPT_IDENTITY;
	r->connect = false;
	r->has_schema = false;
	r->path = (struct mrpc_grpc_path){ 0 };
}

static void request_malformed(struct mrpc_grpc_request *r, const char *why)
{
	mrpc_grpc_judge(&r->verdict, MRPC_GRPC_MALFORMED, 0, why);
}

static void request_status(struct mrpc_grpc_request *r, u16 status, const char *why)
{
	mrpc_grpc_judge(&r->verdict, MRPC_GRPC_STATUS, status, why);
}

static void request_path(struct mrpc_grpc_request *r, const u8 *value, u32 vlen)
{
	if (!vlen) {
		request_malformed(r, ":path is empty");
		return;
	}
	if (vlen <= sizeof(r->path_text)) {
		memcpy(r->path_text, value, vlen);
		if (!mrpc_grpc_path_split(r->path_text, vlen, &r->path))
			return;
	}
	request_status(r, MRPC_UNIMPLEMENTED, ":path does not name a method");
}

static void request_timeout(struct mrpc_grpc_request *r, const u8 *value, u32 vlen)
{
	int err = -EINVAL;

	if (!r->block.again)
		err = mrpc_grpc_timeout_parse(value, vlen, &r->timeout_us);
	if (err == -ETIME)
		request_status(r, MRPC_DEADLINE_EXCEEDED, "the deadline has passed");
	else if (err)
		request_status(r, MRPC_INTERNAL, "bad grpc-timeout");
}

static void request_length(struct mrpc_grpc_request *r, const u8 *value, u32 vlen)
{
	s64 len = mrpc_grpc_number(value, vlen, S64_MAX / 32);

	if (len < 0 || (r->block.again && len != r->content_length))
		request_malformed(r, "content-length is not one number");
	else
		r->content_length = len;
}

static int hex_digit(u8 ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

static void request_schema(struct mrpc_grpc_request *r, const u8 *value, u32 vlen)
{
	u32 i;

	r->has_schema = false;
	if (vlen != 2 * MRPC_GRPC_SCHEMA_ID || r->block.again) {
		mrpc_grpc_meta_drop(r->meta);
		return;
	}
	for (i = 0; i < MRPC_GRPC_SCHEMA_ID; i++) {
		int high = hex_digit(value[2 * i]), low = hex_digit(value[2 * i + 1]);

		if (high < 0 || low < 0) {
			mrpc_grpc_meta_drop(r->meta);
			return;
		}
		r->schema[i] = high << 4 | low;
	}
	r->has_schema = true;
}

static void request_authority(struct mrpc_grpc_request *r, const u8 *value, u32 vlen)
{
	if (vlen)
		mrpc_grpc_meta_hear(r->meta, (const u8 *)"authority", 9, value, vlen);
}

static void request_pseudo(struct mrpc_grpc_request *r, enum mrpc_grpc_name id, const u8 *value,
			   u32 vlen)
{
	switch (id) {
	case MRPC_GRPC_NAME_METHOD:
		r->connect = vlen == 7 && !memcmp(value, "CONNECT", 7);
		if (vlen != 4 || memcmp(value, "POST", 4))
			mrpc_grpc_judge(&r->verdict, MRPC_GRPC_HTTP, 405, ":method is not POST");
		break;
	case MRPC_GRPC_NAME_SCHEME:
		break;
	case MRPC_GRPC_NAME_PATH:
		request_path(r, value, vlen);
		break;
	case MRPC_GRPC_NAME_AUTHORITY:
		request_authority(r, value, vlen);
		break;
	default:
		request_malformed(r, "a pseudo-header field is not one of requests");
	}
}

/* The fields that have a meaning of their own; false: it is metadata. */
static bool request_known(struct mrpc_grpc_request *r, enum mrpc_grpc_name id, const u8 *value,
			  u32 vlen)
{
	switch (id) {
	case MRPC_GRPC_NAME_HOST:
		if (r->block.again)
			request_malformed(r, "host comes twice");
		else if (!(r->block.seen & BIT(MRPC_GRPC_NAME_AUTHORITY)))
			request_authority(r, value, vlen);
		return true;
	case MRPC_GRPC_NAME_CONTENT_TYPE:
		if (!mrpc_grpc_content_type(value, vlen))
			mrpc_grpc_judge(&r->verdict, MRPC_GRPC_HTTP, 415,
					"content-type is not application/grpc");
		return true;
	case MRPC_GRPC_NAME_CONTENT_LENGTH:
		request_length(r, value, vlen);
		return true;
	case MRPC_GRPC_NAME_TIMEOUT:
		request_timeout(r, value, vlen);
		return true;
	case MRPC_GRPC_NAME_ENCODING:
		r->encoding = mrpc_grpc_encoding_parse(value, vlen);
		return true;
	case MRPC_GRPC_NAME_ACCEPT:
		r->accept |= mrpc_grpc_accept_parse(value, vlen);
		return true;
	case MRPC_GRPC_NAME_SCHEMA:
		request_schema(r, value, vlen);
		return true;
	case MRPC_GRPC_NAME_PLAIN_AUTHORITY:
	case MRPC_GRPC_NAME_MRPC:
		mrpc_grpc_meta_drop(r->meta);
		return true;
	case MRPC_GRPC_NAME_USER_AGENT:
	case MRPC_GRPC_NAME_ATTEMPTS:
	case MRPC_GRPC_NAME_OTHER:
		return false;
	default:
		return true;	/* te is checked; other fields of gRPC's are ignored */
	}
}

void mrpc_grpc_request_field(struct mrpc_grpc_request *r, const u8 *name, u32 nlen,
			     const u8 *value, u32 vlen)
{
	enum mrpc_grpc_name id;
	const char *fault;

	if (r->verdict.kind == MRPC_GRPC_MALFORMED)
		return;
	fault = mrpc_grpc_block_field(&r->block, name, nlen, value, vlen, &id);
	if (fault)
		request_malformed(r, fault);
	else if (id <= MRPC_GRPC_NAME_PSEUDO)
		request_pseudo(r, id, value, vlen);
	else if (!request_known(r, id, value, vlen))
		mrpc_grpc_meta_hear(r->meta, name, nlen, value, vlen);
}

const struct mrpc_grpc_verdict *mrpc_grpc_request_end(struct mrpc_grpc_request *r, bool too_large)
{
	u32 need = BIT(MRPC_GRPC_NAME_METHOD);

	if (!r->connect)
		need |= BIT(MRPC_GRPC_NAME_SCHEME) | BIT(MRPC_GRPC_NAME_PATH);
	if (!too_large && need & ~r->block.seen)
		request_malformed(r, "a pseudo-header field of requests is missing");
	if (!too_large && !(r->block.seen & BIT(MRPC_GRPC_NAME_CONTENT_TYPE)))
		mrpc_grpc_judge(&r->verdict, MRPC_GRPC_HTTP, 415, "content-type is missing");
	if (too_large || r->meta->full)
		request_status(r, MRPC_RESOURCE_EXHAUSTED, "the header fields are too large");
	return &r->verdict;
}

/* -- the client ------------------------------------------------------------ */

bool mrpc_grpc_authority_valid(const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '/' || text[i] == '?' ||
		    text[i] == '#' || text[i] == '@')
			return false;
	return len && len <= 255;
}

static void put_path(struct mrpc_grpc_out *out, const struct mrpc_grpc_path *path)
{
	u32 len = 2 + path->service_len + path->method_len;
	u8 *text = mrpc_grpc_scratch(out, len);

	if (!text)
		return;
	text[0] = '/';
	memcpy(text + 1, path->service, path->service_len);
	text[1 + path->service_len] = '/';
	memcpy(text + 2 + path->service_len, path->method, path->method_len);
	mrpc_grpc_put(out, ":path", 5, text, len, MRPC_GRPC_INDEX);
}

static void put_timeout(struct mrpc_grpc_out *out, u64 us)
{
	u8 *text = mrpc_grpc_scratch(out, MRPC_GRPC_TIMEOUT_LEN);

	if (text)
		mrpc_grpc_put(out, "grpc-timeout", 12, text, mrpc_grpc_timeout_format(us, text),
			      MRPC_GRPC_WITHOUT);
}

static void put_schema(struct mrpc_grpc_out *out, const u8 *schema)
{
	u8 *text = mrpc_grpc_scratch(out, 2 * MRPC_GRPC_SCHEMA_ID);
	u32 i;

	if (!text)
		return;
	for (i = 0; i < MRPC_GRPC_SCHEMA_ID; i++) {
		text[2 * i] = "0123456789abcdef"[schema[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[schema[i] & 15];
	}
	mrpc_grpc_put(out, "mrpc-schema", 11, text, 2 * MRPC_GRPC_SCHEMA_ID, MRPC_GRPC_WITHOUT);
}

int mrpc_grpc_put_target(struct mrpc_grpc_out *out, const struct mrpc_grpc_call *call)
{
	mrpc_grpc_put_text(out, ":method", "POST", MRPC_GRPC_INDEX);
	if (call->https)
		mrpc_grpc_put_text(out, ":scheme", "https", MRPC_GRPC_INDEX);
	else
		mrpc_grpc_put_text(out, ":scheme", "http", MRPC_GRPC_INDEX);
	put_path(out, &call->path);
	mrpc_grpc_put(out, ":authority", 10, call->authority, call->authority_len,
		      MRPC_GRPC_INDEX);
	mrpc_grpc_put_text(out, "te", "trailers", MRPC_GRPC_INDEX);
	mrpc_grpc_put_text(out, "content-type", "application/grpc", MRPC_GRPC_INDEX);
	mrpc_grpc_put_text(out, "user-agent", MRPC_GRPC_USER_AGENT, MRPC_GRPC_INDEX);
	mrpc_grpc_put_accept(out, call->accept);
	return out->err;
}

int mrpc_grpc_put_call(struct mrpc_grpc_out *out, const struct mrpc_grpc_call *call)
{
	if (call->timeout_us)
		put_timeout(out, call->timeout_us);
	if (call->encoding)
		mrpc_grpc_put_encoding(out, call->encoding);
	if (call->schema)
		put_schema(out, call->schema);
	mrpc_grpc_put_meta(out, call->meta, call->meta_len);
	return out->err;
}
