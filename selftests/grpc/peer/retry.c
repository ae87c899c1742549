// SPDX-License-Identifier: GPL-2.0
/* Calls that gRPC's own server fails at first, over a channel with a service config. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "peer.h"

#define CONFIG	"{\"methodConfig\":[{\"name\":[{\"service\":\"grpc.testing.TestService\"}]," \
		"\"retryPolicy\":{\"maxAttempts\":4,\"initialBackoff\":\"0.01s\"," \
		"\"maxBackoff\":\"0.1s\",\"backoffMultiplier\":2," \
		"\"retryableStatusCodes\":[\"UNAVAILABLE\"]}}]}"

/* Says "attempts pushback". Return: the status; @ms: how long it took. */
static int call(struct mrpc_conn *channel, const char *asks, double *ms)
{
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = { .timeout_us = TIMEOUT_US, .meta = &meta };
	struct timespec from, to;
	struct mrpc_result res;
	struct mrpc_msg msg;

	must(!mrpc_meta_add_str(&meta, FAIL_FIRST, asks));
	grpc_testing_Empty_new(&msg, session);
	clock_gettime(CLOCK_MONOTONIC, &from);
	grpc_testing_TestService_EmptyCall(channel, &msg, &opts, &res);
	clock_gettime(CLOCK_MONOTONIC, &to);
	*ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
	printf("# %s: %s after %.0f ms\n", asks, mrpc_status_name(res.status), *ms);
	mrpc_meta_free(&meta);
	mrpc_result_release(&res);
	return res.status;
}

/* What the client streams must come whole. */
static int input(struct mrpc_conn *channel, const struct mrpc_call_opts *opts,
		 struct mrpc_result *res)
{
	struct mrpc_stream *st = grpc_testing_TestService_StreamingInputCall_open(channel, opts);
	const struct grpc_testing_StreamingInputCallResponse *reply;
	struct grpc_testing_StreamingInputCallRequest *req;
	struct mrpc_msg msg;
	unsigned int i;

	must(st != NULL, "%s", mrpc_last_error());
	for (i = 0; i < 10; i++) {
		req = grpc_testing_StreamingInputCallRequest_new(&msg, session);
		zeroes(&msg, grpc_testing_StreamingInputCallRequest_alloc_payload(&msg, req),
		       1000 << i % 5);
		if (grpc_testing_TestService_StreamingInputCall_send(st, &msg, 0))
			break;
	}
	if (mrpc_stream_finish(st, res))
		return res->status;
	reply = grpc_testing_TestService_StreamingInputCall_reply(res);
	must(reply->aggregated_payload_size == 62000, "%d", reply->aggregated_payload_size);
	return MRPC_OK;
}

static int output(struct mrpc_conn *channel, const struct mrpc_call_opts *opts,
		  struct mrpc_result *res)
{
	const struct grpc_testing_StreamingOutputCallResponse *reply;
	struct grpc_testing_StreamingOutputCallRequest *req;
	struct grpc_testing_ResponseParameters *asks;
	struct mrpc_stream *st;
	struct mrpc_msg msg;

	req = grpc_testing_StreamingOutputCallRequest_new(&msg, session);
	asks = grpc_testing_StreamingOutputCallRequest_alloc_response_parameters(&msg, req, 1);
	asks->size = 5000;
	st = grpc_testing_TestService_StreamingOutputCall_open(channel, &msg, opts);
	must(st != NULL, "%s", mrpc_last_error());
	reply = grpc_testing_TestService_StreamingOutputCall_next(st);
	if (mrpc_stream_finish(st, res) == MRPC_OK)
		must(reply != NULL);
	return res->status;
}

/* As call(), for both of them. */
static int streams(struct mrpc_conn *channel, const char *asks)
{
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = { .timeout_us = TIMEOUT_US, .meta = &meta };
	struct mrpc_result res;
	int status;

	must(!mrpc_meta_add_str(&meta, FAIL_FIRST, asks));
	status = output(channel, &opts, &res);
	mrpc_result_release(&res);
	printf("# %s: %s\n", asks, mrpc_status_name(status));
	must(input(channel, &opts, &res) == status, "%s", res.detail);
	mrpc_result_release(&res);
	mrpc_meta_free(&meta);
	return status;
}

int retry(const char *address)
{
	static const struct mrpc_service_desc *const services[] = {
		&grpc_testing_TestService_service,
	};
	const struct mrpc_channel_opts opts = { .service_config = CONFIG };
	struct mrpc_conn *channel = mrpc_channel_open(session, address, services, 1, &opts);
	double ms;

	must(channel != NULL, "%s", mrpc_last_error());
	must(call(channel, "0", &ms) == MRPC_OK);
	must(call(channel, "3", &ms) == MRPC_OK);
	must(call(channel, "4", &ms) == MRPC_UNAVAILABLE);
	must(call(channel, "2 300", &ms) == MRPC_OK);
	must(ms >= 600);
	must(call(channel, "1 -1", &ms) == MRPC_UNAVAILABLE);
	must(streams(channel, "0") == MRPC_OK);
	must(streams(channel, "3") == MRPC_OK);
	must(streams(channel, "4") == MRPC_UNAVAILABLE);
	must(streams(channel, "2 300") == MRPC_OK);
	must(streams(channel, "1 -1") == MRPC_UNAVAILABLE);
	must(!mrpc_conn_close(channel, 0));
	mrpc_session_close(session);
	return 0;
}
