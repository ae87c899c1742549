// SPDX-License-Identifier: GPL-2.0
/* Calls that do not stream: the cases of gRPC's interoperability tests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

#define LARGE_REQUEST	271828
#define LARGE_REPLY	314159
#define CONCURRENT	16

static struct mrpc_call_opts patient = { .timeout_us = TIMEOUT_US };

static void request(struct mrpc_msg *msg, uint32_t there, uint32_t back, int status,
		    const char *detail)
{
	struct grpc_testing_SimpleRequest *req = grpc_testing_SimpleRequest_new(msg, session);
	struct grpc_testing_EchoStatus *echo;

	req->response_size = back;
	if (there)
		zeroes(msg, grpc_testing_SimpleRequest_alloc_payload(msg, req), there);
	if (!status)
		return;
	echo = grpc_testing_SimpleRequest_alloc_response_status(msg, req);
	echo->code = status;
	grpc_testing_EchoStatus_set_message(msg, echo, detail);
}

static void is_large_reply(const struct mrpc_result *res)
{
	const struct grpc_testing_SimpleResponse *reply = grpc_testing_TestService_UnaryCall_reply(res);

	must(res->status == MRPC_OK, "status %d: %s", res->status, res->detail);
	must(count_zeroes(reply, grpc_testing_SimpleResponse_payload(reply, reply)) == LARGE_REPLY);
}

static void empty_unary(struct mrpc_conn *conn)
{
	struct mrpc_result res;
	struct mrpc_msg msg;

	grpc_testing_Empty_new(&msg, session);
	grpc_testing_TestService_EmptyCall(conn, &msg, &patient, &res);
	must(res.status == MRPC_OK, "status %d: %s", res.status, res.detail);
	must(grpc_testing_TestService_EmptyCall_reply(&res) != NULL);
	mrpc_result_release(&res);
}

static void large_unary(struct mrpc_conn *conn)
{
	struct mrpc_result res;
	struct mrpc_msg msg;

	request(&msg, LARGE_REQUEST, LARGE_REPLY, 0, NULL);
	grpc_testing_TestService_UnaryCall(conn, &msg, &patient, &res);
	is_large_reply(&res);
	mrpc_result_release(&res);
}

static void comes_back(const struct mrpc_result *res, const char *key, const void *value, size_t len)
{
	uint32_t n = 0;
	const void *got = mrpc_meta_find(res->meta, res->meta_len, key, &n);

	must(got && n == len && !memcmp(got, value, len), "%s: %u bytes", key, n);
}

static void custom_metadata(struct mrpc_conn *conn)
{
	static const uint8_t binary[] = { 0xab, 0xab, 0xab, 0, 0xff, ',', '=' };
	struct mrpc_call_opts opts = patient;
	struct mrpc_meta meta = { 0 };
	struct mrpc_result res;
	struct mrpc_msg msg;

	must(!mrpc_meta_add_str(&meta, ECHO_INITIAL, "test_initial_metadata_value"));
	must(!mrpc_meta_add(&meta, ECHO_TRAILING, binary, sizeof(binary)));
	opts.meta = &meta;
	request(&msg, LARGE_REQUEST, LARGE_REPLY, 0, NULL);
	grpc_testing_TestService_UnaryCall(conn, &msg, &opts, &res);
	is_large_reply(&res);
	comes_back(&res, ECHO_INITIAL, "test_initial_metadata_value", 27);
	comes_back(&res, ECHO_TRAILING, binary, sizeof(binary));
	mrpc_result_release(&res);
	mrpc_meta_free(&meta);
}

static void fails_with(struct mrpc_conn *conn, const char *detail)
{
	struct mrpc_result res;
	struct mrpc_msg msg;

	request(&msg, 0, 0, MRPC_UNKNOWN, detail);
	grpc_testing_TestService_UnaryCall(conn, &msg, &patient, &res);
	must(res.status == MRPC_UNKNOWN, "status %d: %s", res.status, res.detail);
	must(!strcmp(res.detail, detail), "'%s'", res.detail);
	must(!res.local);
	mrpc_result_release(&res);
}

static void status_code_and_message(struct mrpc_conn *conn)
{
	fails_with(conn, "test status message");
}

static void special_status_message(struct mrpc_conn *conn)
{
	fails_with(conn, SPECIAL);
}

static void unimplemented_method(struct mrpc_conn *conn)
{
	struct mrpc_result res;
	struct mrpc_msg msg;

	grpc_testing_Empty_new(&msg, session);
	grpc_testing_TestService_UnimplementedCall(conn, &msg, &patient, &res);
	must(res.status == MRPC_UNIMPLEMENTED, "status %d: %s", res.status, res.detail);
	mrpc_result_release(&res);
}

static void unimplemented_long_path(struct mrpc_conn *conn)
{
	struct mrpc_result res;
	struct mrpc_msg msg;

	grpc_testing_Empty_new(&msg, session);
	mrpc_call_sync(conn, &grpc_testing_TestService_service,
		       grpc_testing_TestService_METHOD_UnimplementedCallThatHasAPathOfMoreThanAHundredBytesTogetherWithItsService,
		       &msg, &patient, &res);
	must(res.status == MRPC_UNIMPLEMENTED, "status %d: %s", res.status, res.detail);
	mrpc_result_release(&res);
}

static void unimplemented_service(struct mrpc_conn *conn)
{
	struct mrpc_result res;
	struct mrpc_msg msg;

	grpc_testing_Empty_new(&msg, session);
	grpc_testing_UnimplementedService_UnimplementedCall(conn, &msg, &patient, &res);
	must(res.status == MRPC_UNIMPLEMENTED, "status %d: %s", res.status, res.detail);
	mrpc_result_release(&res);
}

/* Options of a call that the server takes its time for. */
static struct mrpc_call_opts slow(struct mrpc_meta *meta, const char *ms, uint64_t timeout_us)
{
	struct mrpc_call_opts opts = { .timeout_us = timeout_us, .meta = meta };

	must(!mrpc_meta_add_str(meta, SLEEP_MS, ms));
	return opts;
}

static void timeout_on_sleeping_server(struct mrpc_conn *conn)
{
	static const uint64_t timeouts[] = { 1000, 300000 };
	struct mrpc_call_opts opts;
	struct mrpc_result res;
	struct mrpc_msg msg;
	int i;

	for (i = 0; i < 2; i++) {
		struct mrpc_meta meta = { 0 };

		opts = slow(&meta, "3000", timeouts[i]);
		request(&msg, 0, 0, 0, NULL);
		grpc_testing_TestService_UnaryCall(conn, &msg, &opts, &res);
		must(res.status == MRPC_DEADLINE_EXCEEDED, "status %d: %s", res.status,
		     res.detail);
		mrpc_result_release(&res);
		mrpc_meta_free(&meta);
	}
}

static unsigned int ended;
static int how;
static char why[MRPC_MAX_DETAIL + 1];

static void note_end(void *user, struct mrpc_result *res)
{
	(void)user;
	ended++;
	how = res->status;
	snprintf(why, sizeof(why), "%s", res->detail);
}

static void cancel_after_begin(struct mrpc_conn *conn)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct mrpc_meta meta = { 0 };
	struct mrpc_call_opts opts = slow(&meta, "3000", 0);
	struct mrpc_msg msg;
	mrpc_call_id id;

	must(qp != NULL);
	ended = 0;
	request(&msg, 0, 0, 0, NULL);
	must(!grpc_testing_TestService_UnaryCall_async(conn, &msg, &opts, note_end, NULL, &id));
	must(!mrpc_submit(qp));
	usleep(300000);
	mrpc_cancel(qp, id);	/* how the call ends says if this comes too late */
	must(!mrpc_run_all(qp, TIMEOUT_US));
	must(ended == 1 && how == MRPC_CANCELLED, "%u ends, status %d: %s", ended, how, why);
	mrpc_meta_free(&meta);
}

static void note_large(void *user, struct mrpc_result *res)
{
	(void)user;
	is_large_reply(res);
	ended++;
}

static void concurrent_large_unary(struct mrpc_conn *conn)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct mrpc_msg msg;
	int i;

	must(qp != NULL);
	ended = 0;
	for (i = 0; i < CONCURRENT; i++) {
		request(&msg, LARGE_REQUEST, LARGE_REPLY, 0, NULL);
		must(!grpc_testing_TestService_UnaryCall_async(conn, &msg, &patient, note_large, NULL,
							       NULL));
	}
	must(!mrpc_run_all(qp, TIMEOUT_US));
	must(ended == CONCURRENT, "%u", ended);
}

static void note_empty(void *user, struct mrpc_result *res)
{
	(void)user;
	must(res->status == MRPC_OK, "status %d: %s", res->status, res->detail);
	ended++;
}

/* So small that no window opens: the end of one call is all that another one can wait for. */
static void concurrent_empty_unary(struct mrpc_conn *conn)
{
	struct mrpc_qp *qp = mrpc_qp_self(session);
	struct mrpc_msg msg;
	int i;

	must(qp != NULL);
	ended = 0;
	for (i = 0; i < CONCURRENT; i++) {
		grpc_testing_Empty_new(&msg, session);
		must(!grpc_testing_TestService_EmptyCall_async(conn, &msg, &patient, note_empty, NULL,
							       NULL));
	}
	must(!mrpc_run_all(qp, TIMEOUT_US));
	must(ended == CONCURRENT, "%u", ended);
}

/* A large call that says how its request and reply are to be. Return: its status. */
static int large_compressed(struct mrpc_conn *conn, bool compress, bool expected, bool wanted)
{
	struct mrpc_call_opts opts = patient;
	struct grpc_testing_SimpleRequest *req;
	struct mrpc_result res;
	struct mrpc_msg msg;

	if (compress)
		opts.flags |= MRPC_CALL_COMPRESS;
	request(&msg, LARGE_REQUEST, LARGE_REPLY, 0, NULL);
	req = msg.root;
	grpc_testing_SimpleRequest_alloc_expect_compressed(&msg, req)->value = expected;
	grpc_testing_SimpleRequest_alloc_response_compressed(&msg, req)->value = wanted;
	grpc_testing_TestService_UnaryCall(conn, &msg, &opts, &res);
	if (res.status == MRPC_OK) {
		is_large_reply(&res);
		must(res.compressed == wanted);
	}
	mrpc_result_release(&res);
	return res.status;
}

/* A request that is not compressed, though the client says so, is refused. */
void client_compressed_unary_probe(struct mrpc_conn *conn)
{
	must(large_compressed(conn, false, true, false) == MRPC_INVALID_ARGUMENT);
}

void client_compressed_unary(struct mrpc_conn *conn)
{
	must(large_compressed(conn, true, true, false) == MRPC_OK);
	must(large_compressed(conn, false, false, false) == MRPC_OK);
}

void server_compressed_unary(struct mrpc_conn *conn)
{
	must(large_compressed(conn, false, false, true) == MRPC_OK);
	must(large_compressed(conn, false, false, false) == MRPC_OK);
}

const struct test_case unary_cases[] = {
	{ "empty_unary", empty_unary },
	{ "large_unary", large_unary },
	{ "custom_metadata", custom_metadata },
	{ "status_code_and_message", status_code_and_message },
	{ "special_status_message", special_status_message },
	{ "unimplemented_method", unimplemented_method },
	{ "unimplemented_long_path", unimplemented_long_path },
	{ "unimplemented_service", unimplemented_service },
	{ "timeout_on_sleeping_server", timeout_on_sleeping_server },
	{ "cancel_after_begin", cancel_after_begin },
	{ "concurrent_large_unary", concurrent_large_unary },
	{ "concurrent_empty_unary", concurrent_empty_unary },
	{ "empty_unary", empty_unary },		/* the connection is still good */
	{ 0 }
};

/* -- one call to each address ---------------------------------------------------------- */

/* Prints "ADDRESS STATUS DETAIL", or "ADDRESS none WHY" if there is no connection. */
static void dial_one(char *address)
{
	static const struct mrpc_service_desc *const services[] = { &grpc_testing_TestService_service };
	static const struct mrpc_conn_opts opts = { .timeout_us = 2000000 };
	struct mrpc_call_opts call_opts = { .timeout_us = 3000000 };
	struct mrpc_conn *conn = mrpc_connect(session, address, services, 1, &opts);
	struct mrpc_result res;
	struct mrpc_msg msg;

	if (!conn) {
		printf("%s none %s\n", address, mrpc_last_error());
		return;
	}
	request(&msg, 100000, 10, 0, NULL);
	grpc_testing_TestService_UnaryCall(conn, &msg, &call_opts, &res);
	printf("%s %d%s %s\n", address, res.status, res.unsent ? "u" : "", res.detail);
	if (res.status == MRPC_OK)
		must(res.reply != NULL, "a reply without a message");
	mrpc_result_release(&res);
	mrpc_conn_close(conn, 0);
}

int dial(void)
{
	char line[128];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		dial_one(line);
	}
	mrpc_session_close(session);
	return 0;
}
