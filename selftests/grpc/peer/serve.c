// SPDX-License-Identifier: GPL-2.0
/* The server of interop.proto. Calls of test.Types come back as they are, or go to another server. */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"
#include "test.mrpc.h"

#define WORKERS	24	/* more than calls sleep at the same time */

static struct mrpc_server *server;
static struct mrpc_conn *next;

static struct mrpc_tls *tls;

static void on_signal(int sig)
{
	(void)sig;
	mrpc_server_stop(server);
}

/* Reads certificates again at each SIGHUP, which no other thread gets. */
static void *reload(void *hangup)
{
	int sig;

	while (!sigwait(hangup, &sig))
		printf("read again: %s\n", mrpc_tls_reload(tls) ? mrpc_last_error() : "fine");
	return NULL;
}

static void start_reload(void)
{
	static sigset_t hangup;
	pthread_t thread;

	sigemptyset(&hangup);
	sigaddset(&hangup, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &hangup, NULL);
	if (pthread_create(&thread, NULL, reload, &hangup) || pthread_detach(thread))
		errx(1, "no thread for SIGHUP");
}

/* Does what the request's metadata asks for. */
static void obey_metadata(struct mrpc_call *call)
{
	static const char *const echoed[] = { ECHO_INITIAL, ECHO_TRAILING };
	const void *value;
	char text[16];
	uint32_t len;
	int i;

	for (i = 0; i < 2; i++) {
		value = mrpc_call_meta_find(call, echoed[i], &len);
		if (value)
			mrpc_call_add_meta(call, echoed[i], value, len);
	}
	value = mrpc_call_meta_find(call, SLEEP_MS, &len);
	if (value) {
		snprintf(text, sizeof(text), "%.*s", (int)len, (const char *)value);
		usleep(1000 * atoi(text));
	}
}

static void obey_health(struct mrpc_call *call)
{
	char text[64], service[64] = "";
	const void *value;
	uint32_t len;
	int status;

	value = mrpc_call_meta_find(call, HEALTH, &len);
	if (!value)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)len, (const char *)value);
	must(sscanf(text, "%63s %d", service, &status) == 2, "'%s'", text);
	must(!mrpc_health_set(server, service, (enum mrpc_health)status), "%s", mrpc_last_error());
}

static int empty_call(struct mrpc_call *call, const struct grpc_testing_Empty *req,
		      struct grpc_testing_Empty *reply)
{
	(void)req;
	(void)reply;
	obey_metadata(call);
	obey_health(call);
	return MRPC_OK;
}

static int unary_call(struct mrpc_call *call, const struct grpc_testing_SimpleRequest *req,
		      struct grpc_testing_SimpleResponse *reply)
{
	const struct grpc_testing_EchoStatus *status;
	const struct grpc_testing_BoolValue *compress;
	struct mrpc_msg *msg = mrpc_call_msg(call);

	obey_metadata(call);
	if (is_unexpected(grpc_testing_SimpleRequest_expect_compressed(req, req),
			  mrpc_call_compressed(call)))
		return MRPC_INVALID_ARGUMENT;
	compress = grpc_testing_SimpleRequest_response_compressed(req, req);
	if (compress && compress->value)
		mrpc_call_compress(call);
	count_zeroes(req, grpc_testing_SimpleRequest_payload(req, req));
	status = grpc_testing_SimpleRequest_response_status(req, req);
	if (status && status->code) {
		mrpc_call_set_detail(call, "%s", grpc_testing_EchoStatus_message(req, status));
		return status->code;
	}
	zeroes(msg, grpc_testing_SimpleResponse_alloc_payload(msg, reply), req->response_size);
	return MRPC_OK;
}

static int echo_all(struct mrpc_call *call, const struct test_All *req, struct test_All *reply)
{
	struct mrpc_result res;
	const void *from = req;
	struct mrpc_msg msg;
	int status = MRPC_OK;

	if (next) {
		mrpc_msg_copy(&msg, test_All_new(&msg, mrpc_call_session(call)), &test_All__desc, req,
			      req);
		status = test_Types_Echo(next, &msg, NULL, &res);
		from = res.reply;
		if (status)
			mrpc_call_set_detail(call, "relayed: %s", res.detail);
	}
	if (!status)
		mrpc_msg_copy(mrpc_call_msg(call), reply, &test_All__desc, from, from);
	if (next)
		mrpc_result_release(&res);
	return status;
}

static void connect_next(const char *relay)
{
	static const struct mrpc_service_desc *const services[] = { &test_Types_service };

	next = mrpc_connect(session, relay, services, 1, NULL);
	if (!next)
		errx(1, "%s", mrpc_last_error());
}

int serve(const char *address, const char *relay)
{
	static const struct grpc_testing_TestService_ops ops = {
		.EmptyCall = empty_call, .UnaryCall = unary_call,
		.StreamingOutputCall = output_call, .StreamingInputCall = input_call,
		.FullDuplexCall = duplex_call,
	};
	static const struct test_Types_ops types = { .Echo = echo_all };
	struct mrpc_conn_opts opts = { .tls = tls_of(true) };
	char text[MRPC_ADDR_TEXT];

	if (relay)
		connect_next(relay);
	server = mrpc_server_new(session);
	if (!server || grpc_testing_TestService_add(server, &ops, NULL) ||
	    test_Types_add(server, &types, NULL) || mrpc_server_add_health(server) ||
	    mrpc_server_add_reflection(server) || mrpc_server_listen(server, address, &opts))
		errx(1, "%s", mrpc_last_error());
	signal(SIGTERM, on_signal);
	tls = opts.tls;
	if (tls)
		start_reload();
	printf("listening at %s\n", mrpc_server_address(server, text, sizeof(text)));
	if (mrpc_server_run(server, WORKERS))
		errx(1, "%s", mrpc_last_error());
	if (tls) {
		printf("refused %llu", (unsigned long long)mrpc_tls_refusals(tls, text, sizeof(text)));
		printf(" peers, the last: %s\n", text);
	}
	mrpc_session_close(session);
	return 0;
}
