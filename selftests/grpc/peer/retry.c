// SPDX-License-Identifier: GPL-2.0
/* A call that gRPC's own server fails at first, over a channel with a service config. */
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
	must(!mrpc_conn_close(channel, 0));
	mrpc_session_close(session);
	return 0;
}
