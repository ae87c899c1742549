/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ends a call besides grpc-status: verdicts about what the peer has sent, codes of
 * RST_STREAM, and HTTP's own status.
 */
#ifndef MRPC_LIB_GRPC_STATUS_H
#define MRPC_LIB_GRPC_STATUS_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"

/* What a verdict asks of the transport, in order of weight: the heaviest fault counts. */
enum mrpc_grpc_kind {
	MRPC_GRPC_FINE,		/* go on */
	MRPC_GRPC_STATUS,	/* the call ends with a status of gRPC */
	MRPC_GRPC_HTTP,		/* a request gets a status of HTTP, and nothing of gRPC */
	MRPC_GRPC_MALFORMED,	/* the stream is reset with PROTOCOL_ERROR */
};

/**
 * struct mrpc_grpc_verdict - about a request or a message
 * @kind: enum mrpc_grpc_kind
 * @code: STATUS: enum mrpc_status; HTTP: its number
 * @why: a sentence for people, static; NULL with FINE
 */
struct mrpc_grpc_verdict {
	u8 kind;
	u16 code;
	const char *why;
};

/* mrpc_grpc_judge() - add a fault to a verdict; of two of one weight the first stays */
static inline void mrpc_grpc_judge(struct mrpc_grpc_verdict *v, enum mrpc_grpc_kind kind, u16 code,
				   const char *why)
{
	if (kind > v->kind)
		*v = (struct mrpc_grpc_verdict){ .kind = kind, .code = code, .why = why };
}

/**
 * struct mrpc_grpc_end - how a client's call ends without trailers
 * @status: enum mrpc_status
 * @not_run: the peer says that it has not run the call
 * @why: a sentence for people, static
 */
struct mrpc_grpc_end {
	u16 status;
	bool not_run;
	const char *why;
};

/**
 * mrpc_grpc_reset_end() - what a RST_STREAM from the server means for a call
 * @code: HTTP/2's error code
 * @late: the call's deadline has passed here
 */
struct mrpc_grpc_end mrpc_grpc_reset_end(u32 code, bool late);

/* mrpc_grpc_goaway_end() - what a GOAWAY means for a call on a stream above its last id */
struct mrpc_grpc_end mrpc_grpc_goaway_end(void);

/**
 * mrpc_grpc_http_end() - what a response without grpc-status means for a call
 * @http: HTTP's status, 200 to 999
 */
struct mrpc_grpc_end mrpc_grpc_http_end(u32 http);

#endif /* MRPC_LIB_GRPC_STATUS_H */
