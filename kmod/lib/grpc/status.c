// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/status.h"

/* By HTTP/2's error code (RFC 9113, section 7). */
static const struct mrpc_grpc_end reset_ends[] = {
	{ MRPC_INTERNAL, false, "the server reset the stream without an error" },
	{ MRPC_INTERNAL, false, "the server reset the stream: PROTOCOL_ERROR" },
	{ MRPC_INTERNAL, false, "the server reset the stream: INTERNAL_ERROR" },
	{ MRPC_INTERNAL, false, "the server reset the stream: FLOW_CONTROL_ERROR" },
	{ MRPC_INTERNAL, false, "the server reset the stream: SETTINGS_TIMEOUT" },
	{ MRPC_INTERNAL, false, "the server reset the stream: STREAM_CLOSED" },
	{ MRPC_INTERNAL, false, "the server reset the stream: FRAME_SIZE_ERROR" },
	{ MRPC_UNAVAILABLE, true, "the server refused the stream and did not run the call" },
	{ MRPC_CANCELLED, false, "the server cancelled the stream" },
	{ MRPC_INTERNAL, false, "the server reset the stream: COMPRESSION_ERROR" },
	{ MRPC_INTERNAL, false, "the server reset the stream: CONNECT_ERROR" },
	{ MRPC_RESOURCE_EXHAUSTED, false, "the server reset the stream: ENHANCE_YOUR_CALM" },
	{ MRPC_PERMISSION_DENIED, false, "the server reset the stream: INADEQUATE_SECURITY" },
	{ MRPC_INTERNAL, false, "the server reset the stream: HTTP_1_1_REQUIRED" },
};

#define RESET_CANCEL	8

struct mrpc_grpc_end mrpc_grpc_reset_end(u32 code, bool late)
{
	if (code == RESET_CANCEL && late)
		return (struct mrpc_grpc_end){ MRPC_DEADLINE_EXCEEDED, false,
			"the deadline passed, and the server cancelled the stream" };
	if (code < ARRAY_SIZE(reset_ends))
		return reset_ends[code];
	return (struct mrpc_grpc_end){ MRPC_INTERNAL, false,
		"the server reset the stream: unknown error" };
}

struct mrpc_grpc_end mrpc_grpc_goaway_end(void)
{
	return (struct mrpc_grpc_end){ MRPC_UNAVAILABLE, true,
		"the server ended the connection and did not run the call" };
}

struct mrpc_grpc_end mrpc_grpc_http_end(u32 http)
{
	switch (http) {
	case 400:
		return (struct mrpc_grpc_end){ MRPC_INTERNAL, false, "bad request" };
	case 431:
		return (struct mrpc_grpc_end){ MRPC_INTERNAL, false, "header fields too large" };
	case 401:
		return (struct mrpc_grpc_end){ MRPC_UNAUTHENTICATED, false, "unauthorized" };
	case 403:
		return (struct mrpc_grpc_end){ MRPC_PERMISSION_DENIED, false, "forbidden" };
	case 404:
		return (struct mrpc_grpc_end){ MRPC_UNIMPLEMENTED, false, "not found" };
	case 429:
		return (struct mrpc_grpc_end){ MRPC_UNAVAILABLE, false, "too many requests" };
	case 502:
		return (struct mrpc_grpc_end){ MRPC_UNAVAILABLE, false, "bad gateway" };
	case 503:
		return (struct mrpc_grpc_end){ MRPC_UNAVAILABLE, false, "service unavailable" };
	case 504:
		return (struct mrpc_grpc_end){ MRPC_UNAVAILABLE, false, "gateway timeout" };
	default:
		return (struct mrpc_grpc_end){ MRPC_UNKNOWN, false,
			"the response has no grpc-status" };
	}
}
