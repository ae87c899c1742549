// SPDX-License-Identifier: GPL-2.0
/*
 * peer serve ADDRESS [RELAY]: a server for interop.proto and test.proto's Types
 * peer call ADDRESS [CASE...]: calls that do not stream
 * peer stream ADDRESS [CASE...]: calls that stream
 * peer compress ADDRESS [CASE...]: calls whose messages are compressed
 * peer probe ADDRESS [CASE...]: calls that show if the server knows what came compressed
 * peer retry ADDRESS: calls that fail at first
 * peer hold ADDRESS: a connection, until standard input ends
 * peer dial: one call to each address that comes on standard input
 *
 * With TLS if PEER_CA (the peer's authority) or PEER_CERT and PEER_KEY (of this end) are files.
 */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

struct mrpc_session *session;

void must_at(const char *file, int line, int cond, const char *text, const char *fmt, ...)
{
	va_list ap;

	if (cond)
		return;
	printf("# %s:%d: %s:", file, line, text);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(1);
}

void zeroes(struct mrpc_msg *msg, struct grpc_testing_Payload *payload, uint32_t len)
{
	void *body = grpc_testing_Payload_alloc_body(msg, payload, len);

	if (body)
		memset(body, 0, len);
}

uint32_t count_zeroes(const void *root, const struct grpc_testing_Payload *payload)
{
	const uint8_t *body;
	size_t len, i;

	if (!payload)
		return 0;
	body = grpc_testing_Payload_body(root, payload, &len);
	for (i = 0; i < len; i++)
		must(!body[i], "byte %zu of %zu is %u", i, len, body[i]);
	return len;
}

bool is_unexpected(const struct grpc_testing_BoolValue *expected, bool compressed)
{
	return expected && expected->value && !compressed;
}

static int asked_for(const char *name, char *const *names)
{
	if (!*names)
		return 1;
	for (; *names; names++)
		if (!strcmp(*names, name))
			return 1;
	return 0;
}

struct mrpc_tls *tls_of(bool server)
{
	struct mrpc_tls_opts opts = {
		.ca_file = getenv("PEER_CA"), .cert_file = getenv("PEER_CERT"),
		.key_file = getenv("PEER_KEY"),
	};
	struct mrpc_tls *tls;

	if (!opts.ca_file && !opts.cert_file)
		return NULL;
	opts.require_client = server && opts.ca_file;
	tls = server ? mrpc_tls_server(&opts) : mrpc_tls_client(&opts);
	if (!tls)
		errx(1, "%s", mrpc_last_error());
	return tls;
}

static struct mrpc_conn *connect_to(const char *address)
{
	static const struct mrpc_service_desc *const services[] = {
		&grpc_testing_TestService_service, &grpc_testing_UnimplementedService_service,
	};
	struct mrpc_conn_opts opts = { .tls = tls_of(false) };
	struct mrpc_conn *conn = mrpc_connect(session, address, services,
					      strncmp(address, "grpc", 4) ? 1 : 2, &opts);

	must(conn != NULL, "%s", mrpc_last_error());
	mrpc_tls_free(opts.tls);
	return conn;
}

static int hold(const char *address)
{
	connect_to(address);
	while (getchar() != EOF)
		;
	mrpc_session_close(session);
	return 0;
}

static const struct test_case compress_cases[] = {
	{ "client_compressed_unary", client_compressed_unary },
	{ "server_compressed_unary", server_compressed_unary },
	{ "client_compressed_streaming", client_compressed_streaming },
	{ "server_compressed_streaming", server_compressed_streaming },
	{ 0 }
};

static const struct test_case probe_cases[] = {
	{ "client_compressed_unary_probe", client_compressed_unary_probe },
	{ "client_compressed_streaming_probe", client_compressed_streaming_probe },
	{ 0 }
};

static int run_cases(const struct test_case *cases, const char *address, char *const *names)
{
	struct mrpc_conn *conn = connect_to(address);

	for (; cases->name; cases++) {
		if (!asked_for(cases->name, names))
			continue;
		printf("# %s\n", cases->name);
		cases->run(conn);
	}
	printf("# all done\n");
	mrpc_session_close(session);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	session = mrpc_session_open(NULL);
	if (!session)
		errx(1, "%s", mrpc_last_error());
	if (!strcmp(mode, "serve") && argc > 2)
		return serve(argv[2], argv[3]);
	if (!strcmp(mode, "call") && argc > 2)
		return run_cases(unary_cases, argv[2], argv + 3);
	if (!strcmp(mode, "stream") && argc > 2)
		return run_cases(stream_cases, argv[2], argv + 3);
	if (!strcmp(mode, "compress") && argc > 2)
		return run_cases(compress_cases, argv[2], argv + 3);
	if (!strcmp(mode, "probe") && argc > 2)
		return run_cases(probe_cases, argv[2], argv + 3);
	if (!strcmp(mode, "retry") && argc > 2)
		return retry(argv[2]);
	if (!strcmp(mode, "hold") && argc > 2)
		return hold(argv[2]);
	if (!strcmp(mode, "dial"))
		return dial();
	errx(2, "Usage: peer serve ADDRESS [RELAY] | call ADDRESS | stream ADDRESS | "
	     "compress ADDRESS | probe ADDRESS | retry ADDRESS | hold ADDRESS | dial");
}
