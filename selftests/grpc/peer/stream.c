// SPDX-License-Identifier: GPL-2.0
/* Calls that stream: handlers, and the cases of gRPC's interoperability tests. */
#include <stdio.h>
#include <unistd.h>

#include "peer.h"

static const uint32_t sizes[] = { 31415, 9, 2653, 58979 };
static const uint32_t input_sizes[] = { 27182, 8, 1828, 45904 };
#define SIZES		4
#define INPUT_SUM	74922

static struct mrpc_call_opts patient = { .timeout_us = TIMEOUT_US };

/* -- the server ------------------------------------------------------------------------ */

/* Sends the messages that a request asks for. */
static int put_asked(struct mrpc_call *call, const void *root,
		     const struct grpc_testing_StreamingOutputCallRequest *req)
{
	const struct grpc_testing_ResponseParameters *asked;
	struct grpc_testing_StreamingOutputCallResponse *reply;
	const struct grpc_testing_BoolValue *compress;
	struct mrpc_msg msg;
	size_t i;
	int err;

	for (i = 0; i < req->response_parameters.len; i++) {
		asked = grpc_testing_StreamingOutputCallRequest_response_parameters(root, req, i);
		if (asked->interval_us)
			usleep(asked->interval_us);
		reply = grpc_testing_StreamingOutputCallResponse_new(&msg, mrpc_call_session(call));
		zeroes(&msg, grpc_testing_StreamingOutputCallResponse_alloc_payload(&msg, reply),
		       asked->size);
		compress = grpc_testing_ResponseParameters_compressed(root, asked);
		err = grpc_testing_TestService_StreamingOutputCall_put(call, &msg,
				compress && compress->value ? MRPC_STREAM_COMPRESS : 0);
		if (err)
			return err;
	}
	return 0;
}

static int asked_status(struct mrpc_call *call, const void *root,
			const struct grpc_testing_EchoStatus *status)
{
	if (!status || !status->code)
		return MRPC_OK;
	mrpc_call_set_detail(call, "%s", grpc_testing_EchoStatus_message(root, status));
	return status->code;
}

int output_call(struct mrpc_call *call, const struct grpc_testing_StreamingOutputCallRequest *req)
{
	if (put_asked(call, req, req))
		return MRPC_ABORTED;
	return asked_status(call, req,
			    grpc_testing_StreamingOutputCallRequest_response_status(req, req));
}

int input_call(struct mrpc_call *call, struct grpc_testing_StreamingInputCallResponse *reply)
{
	const struct grpc_testing_StreamingInputCallRequest *req;

	while ((req = grpc_testing_TestService_StreamingInputCall_get(call))) {
		if (is_unexpected(grpc_testing_StreamingInputCallRequest_expect_compressed(req, req),
				  mrpc_stream_compressed(mrpc_call_stream(call))))
			return MRPC_INVALID_ARGUMENT;
		reply->aggregated_payload_size +=
			count_zeroes(req, grpc_testing_StreamingInputCallRequest_payload(req, req));
	}
	return mrpc_stream_status(mrpc_call_stream(call)) ? MRPC_ABORTED : MRPC_OK;
}

int duplex_call(struct mrpc_call *call)
{
	const struct grpc_testing_StreamingOutputCallRequest *req;
	int status;

	while ((req = grpc_testing_TestService_FullDuplexCall_get(call))) {
		if (put_asked(call, req, req))
			return MRPC_ABORTED;
		status = asked_status(call, req,
			grpc_testing_StreamingOutputCallRequest_response_status(req, req));
		if (status)
			return status;
	}
	return MRPC_OK;
}

/* -- the client ------------------------------------------------------------------------ */

static void finishes(struct mrpc_stream *st, int status)
{
	struct mrpc_result res;

	mrpc_stream_finish(st, &res);
	must(res.status == status, "status %d: %s", res.status, res.detail);
	mrpc_result_release(&res);
}

static void client_streaming(struct mrpc_conn *conn)
{
	struct mrpc_stream *st = grpc_testing_TestService_StreamingInputCall_open(conn, &patient);
	struct grpc_testing_StreamingInputCallRequest *req;
	struct mrpc_result res;
	struct mrpc_msg msg;
	int i;

	must(st != NULL, "%s", mrpc_last_error());
	for (i = 0; i < SIZES; i++) {
		req = grpc_testing_StreamingInputCallRequest_new(&msg, session);
		zeroes(&msg, grpc_testing_StreamingInputCallRequest_alloc_payload(&msg, req),
		       input_sizes[i]);
		must(!grpc_testing_TestService_StreamingInputCall_send(st, &msg, 0));
	}
	mrpc_stream_finish(st, &res);
	must(res.status == MRPC_OK, "status %d: %s", res.status, res.detail);
	must(grpc_testing_TestService_StreamingInputCall_reply(&res)->aggregated_payload_size ==
	     INPUT_SUM);
	mrpc_result_release(&res);
}

static void ask(struct mrpc_msg *msg, struct grpc_testing_StreamingOutputCallRequest *req,
		uint32_t size)
{
	grpc_testing_StreamingOutputCallRequest_add_response_parameters(msg, req)->size = size;
}

static void next_is(struct mrpc_stream *st, uint32_t size)
{
	const struct grpc_testing_StreamingOutputCallResponse *reply = mrpc_stream_next(st, NULL);
	uint32_t n;

	must(reply != NULL, "the stream has ended");
	n = count_zeroes(reply, grpc_testing_StreamingOutputCallResponse_payload(reply, reply));
	must(n == size, "%u bytes, not %u", n, size);
}

static void server_streaming(struct mrpc_conn *conn)
{
	struct grpc_testing_StreamingOutputCallRequest *req;
	struct mrpc_stream *st;
	struct mrpc_msg msg;
	int i;

	req = grpc_testing_StreamingOutputCallRequest_new(&msg, session);
	for (i = 0; i < SIZES; i++)
		ask(&msg, req, sizes[i]);
	st = grpc_testing_TestService_StreamingOutputCall_open(conn, &msg, &patient);
	must(st != NULL, "%s", mrpc_last_error());
	for (i = 0; i < SIZES; i++)
		next_is(st, sizes[i]);
	must(!mrpc_stream_next(st, NULL));
	finishes(st, MRPC_OK);
}

static void ping(struct mrpc_stream *st, uint32_t there, uint32_t back)
{
	struct grpc_testing_StreamingOutputCallRequest *req;
	struct mrpc_msg msg;

	req = grpc_testing_StreamingOutputCallRequest_new(&msg, session);
	ask(&msg, req, back);
	zeroes(&msg, grpc_testing_StreamingOutputCallRequest_alloc_payload(&msg, req), there);
	must(!grpc_testing_TestService_FullDuplexCall_send(st, &msg, 0));
	next_is(st, back);
}

static struct mrpc_stream *open_duplex(struct mrpc_conn *conn)
{
	struct mrpc_stream *st = grpc_testing_TestService_FullDuplexCall_open(conn, &patient);

	must(st != NULL, "%s", mrpc_last_error());
	return st;
}

static void ping_pong(struct mrpc_conn *conn)
{
	struct mrpc_stream *st = open_duplex(conn);
	int i;

	for (i = 0; i < SIZES; i++)
		ping(st, input_sizes[i], sizes[i]);
	must(!mrpc_stream_end(st));
	must(!mrpc_stream_next(st, NULL));
	finishes(st, MRPC_OK);
}

static void empty_stream(struct mrpc_conn *conn)
{
	struct mrpc_stream *st = open_duplex(conn);

	must(!mrpc_stream_end(st));
	must(!mrpc_stream_next(st, NULL));
	finishes(st, MRPC_OK);
}

static void cancel_after_begin(struct mrpc_conn *conn)
{
	struct mrpc_stream *st = grpc_testing_TestService_StreamingInputCall_open(conn, &patient);

	must(st != NULL, "%s", mrpc_last_error());
	mrpc_stream_cancel(st);
	finishes(st, MRPC_CANCELLED);
}

static void cancel_after_first_response(struct mrpc_conn *conn)
{
	struct mrpc_stream *st = open_duplex(conn);

	ping(st, input_sizes[0], sizes[0]);
	mrpc_stream_cancel(st);
	finishes(st, MRPC_CANCELLED);
}

static void timeout_on_sleeping_server(struct mrpc_conn *conn)
{
	struct mrpc_call_opts hasty = { .timeout_us = 300000 };
	struct mrpc_stream *st = grpc_testing_TestService_FullDuplexCall_open(conn, &hasty);

	must(st != NULL, "%s", mrpc_last_error());
	must(!mrpc_stream_next(st, NULL));
	finishes(st, MRPC_DEADLINE_EXCEEDED);
}

static void status_code_and_message(struct mrpc_conn *conn)
{
	struct grpc_testing_StreamingOutputCallRequest *req;
	struct grpc_testing_EchoStatus *echo;
	struct mrpc_stream *st = open_duplex(conn);
	struct mrpc_msg msg;

	req = grpc_testing_StreamingOutputCallRequest_new(&msg, session);
	echo = grpc_testing_StreamingOutputCallRequest_alloc_response_status(&msg, req);
	echo->code = MRPC_UNKNOWN;
	grpc_testing_EchoStatus_set_message(&msg, echo, "test status message");
	must(!grpc_testing_TestService_FullDuplexCall_send(st, &msg, MRPC_STREAM_LAST));
	must(!mrpc_stream_next(st, NULL));
	finishes(st, MRPC_UNKNOWN);
}

/* -- compression ----------------------------------------------------------------------- */

static struct mrpc_call_opts compressing = {
	.timeout_us = TIMEOUT_US, .flags = MRPC_CALL_COMPRESS,
};

static int put_expecting(struct mrpc_stream *st, uint32_t size, bool expected, unsigned int flags)
{
	struct grpc_testing_StreamingInputCallRequest *req;
	struct mrpc_msg msg;

	req = grpc_testing_StreamingInputCallRequest_new(&msg, session);
	grpc_testing_StreamingInputCallRequest_alloc_expect_compressed(&msg, req)->value = expected;
	zeroes(&msg, grpc_testing_StreamingInputCallRequest_alloc_payload(&msg, req), size);
	return grpc_testing_TestService_StreamingInputCall_send(st, &msg, flags);
}

/* A message that is not compressed, though the client says so, is refused. */
void client_compressed_streaming_probe(struct mrpc_conn *conn)
{
	struct mrpc_stream *st = grpc_testing_TestService_StreamingInputCall_open(conn, &compressing);

	must(st != NULL, "%s", mrpc_last_error());
	must(!put_expecting(st, 27182, true, MRPC_STREAM_LAST));
	finishes(st, MRPC_INVALID_ARGUMENT);
}

void client_compressed_streaming(struct mrpc_conn *conn)
{
	struct mrpc_stream *st = grpc_testing_TestService_StreamingInputCall_open(conn, &compressing);
	struct mrpc_result res;

	must(st != NULL, "%s", mrpc_last_error());
	must(!put_expecting(st, 27182, true, MRPC_STREAM_COMPRESS));
	must(!put_expecting(st, 45904, false, 0));
	mrpc_stream_finish(st, &res);
	must(res.status == MRPC_OK, "status %d: %s", res.status, res.detail);
	must(grpc_testing_TestService_StreamingInputCall_reply(&res)->aggregated_payload_size == 73086);
	mrpc_result_release(&res);
}

void server_compressed_streaming(struct mrpc_conn *conn)
{
	struct grpc_testing_StreamingOutputCallRequest *req;
	struct grpc_testing_ResponseParameters *asked;
	struct mrpc_stream *st;
	struct mrpc_msg msg;
	int i;

	req = grpc_testing_StreamingOutputCallRequest_new(&msg, session);
	for (i = 0; i < 2; i++) {
		asked = grpc_testing_StreamingOutputCallRequest_add_response_parameters(&msg, req);
		asked->size = i ? 92653 : 31415;
		grpc_testing_ResponseParameters_alloc_compressed(&msg, asked)->value = !i;
	}
	st = grpc_testing_TestService_StreamingOutputCall_open(conn, &msg, &patient);
	must(st != NULL, "%s", mrpc_last_error());
	next_is(st, 31415);
	must(mrpc_stream_compressed(st));
	next_is(st, 92653);
	must(!mrpc_stream_compressed(st));
	must(!mrpc_stream_next(st, NULL));
	finishes(st, MRPC_OK);
}

const struct test_case stream_cases[] = {
	{ "client_streaming", client_streaming },
	{ "server_streaming", server_streaming },
	{ "ping_pong", ping_pong },
	{ "empty_stream", empty_stream },
	{ "cancel_after_begin", cancel_after_begin },
	{ "cancel_after_first_response", cancel_after_first_response },
	{ "timeout_on_sleeping_server", timeout_on_sleeping_server },
	{ "status_code_and_message", status_code_and_message },
	{ "ping_pong", ping_pong },		/* the connection is still good */
	{ 0 }
};
