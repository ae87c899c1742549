/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc's peer in tests of interoperability: a server, and clients, with stubs. */
#ifndef GRPC_PEER_H
#define GRPC_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "interop.mrpc.h"
#include "mrpc_tls.h"

/* Metadata that gRPC's interoperability tests have servers send back. */
#define ECHO_INITIAL	"x-grpc-test-echo-initial"
#define ECHO_TRAILING	"x-grpc-test-echo-trailing-bin"
/* Milliseconds that the server waits before it answers. */
#define SLEEP_MS	"x-test-sleep-ms"
/* "NUMBER [PUSHBACK]": so many attempts of the call fail, with this in grpc-retry-pushback-ms. */
#define FAIL_FIRST	"x-test-fail-first"
/* "SERVICE STATUS": what the server says of its health from now on. */
#define HEALTH		"x-test-health"

#define SPECIAL		"\t\ntest with whitespace\r\nand Unicode BMP \xe2\x98\xba and non-BMP " \
			"\xf0\x9f\x98\x88\t\n"

#define TIMEOUT_US	60000000	/* of a call that should end well: for busy machines */

/* A test of interoperability. @run ends the program if it fails. */
struct test_case {
	const char *name;
	void (*run)(struct mrpc_conn *conn);
};

extern const struct test_case unary_cases[], stream_cases[];

/* Only grpc compresses. */
void client_compressed_unary(struct mrpc_conn *conn);
void server_compressed_unary(struct mrpc_conn *conn);
void client_compressed_streaming(struct mrpc_conn *conn);
void server_compressed_streaming(struct mrpc_conn *conn);
/* Does the server see if a message came compressed? Python's does not. */
void client_compressed_unary_probe(struct mrpc_conn *conn);
void client_compressed_streaming_probe(struct mrpc_conn *conn);

extern struct mrpc_session *session;

/* Unless @cond holds, the program ends with a line that says what @case found. */
#define must(cond, ...)		must_at(__FILE__, __LINE__, cond, #cond, " " __VA_ARGS__)
__attribute__((__format__(__printf__, 5, 6)))
void must_at(const char *file, int line, int cond, const char *text, const char *fmt, ...);

/* What the environment says of TLS, or NULL. */
struct mrpc_tls *tls_of(bool server);

/* Gives @payload a body of @len zeroes. */
void zeroes(struct mrpc_msg *msg, struct grpc_testing_Payload *payload, uint32_t len);
/* Number of zeroes in a payload of the message at @root; ends the program if there is anything else. */
uint32_t count_zeroes(const void *root, const struct grpc_testing_Payload *payload);

/*
 * Must a message that came as @compressed says be refused, by what its client says with @expected? A
 * server answers INVALID_ARGUMENT then.
 */
bool is_unexpected(const struct grpc_testing_BoolValue *expected, bool compressed);

/* The methods that stream. */
int output_call(struct mrpc_call *call, const struct grpc_testing_StreamingOutputCallRequest *req);
int input_call(struct mrpc_call *call, struct grpc_testing_StreamingInputCallResponse *reply);
int duplex_call(struct mrpc_call *call);

/* Serves until SIGTERM. @relay: where to send calls of test.Types, or NULL. */
int serve(const char *address, const char *relay);
/* Calls that the stock server at @address fails at first. */
int retry(const char *address);
/* Calls the addresses that come on standard input, once each, and prints what came of it. */
int dial(void);

#endif /* GRPC_PEER_H */
