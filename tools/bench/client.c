// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <mrpc_tls.h>

#include "client.h"
#include "place.h"

char content[CONTENT];

struct mrpc_session *session;

struct mrpc_session *open_session(size_t send, size_t recv)
{
	const struct mrpc_session_opts opts = {
		.send_initial = send,
		.recv_initial = recv,
	};
	struct mrpc_session *opened = mrpc_session_open(&opts);

	if (!opened)
		errx(1, "%s", mrpc_last_error());
	return opened;
}

void open_client_session(const struct options *o)
{
	size_t send = 2 * o->threads * o->in_flight * o->request + (1 << 20);

	session = open_session(send & -(1 << 16), 1 << 20);
}

struct mrpc_tls *tls_of(const struct options *o, bool server)
{
	char ca[256], cert[256], key[256];
	struct mrpc_tls_opts to = { .ca_file = server ? NULL : ca };
	struct mrpc_tls *tls;

	if (!o->certs)
		return NULL;
	snprintf(ca, sizeof(ca), "%s/ca.pem", o->certs);
	snprintf(cert, sizeof(cert), "%s/server.pem", o->certs);
	snprintf(key, sizeof(key), "%s/server.key", o->certs);
	if (server) {
		to.cert_file = cert;
		to.key_file = key;
	}
	tls = server ? mrpc_tls_server(&to) : mrpc_tls_client(&to);
	if (!tls)
		errx(1, "%s", mrpc_last_error());
	return tls;
}

struct mrpc_conn *connect_one(const struct options *o)
{
	static const struct mrpc_service_desc *const services[] = { &bench_Bench_service };
	const struct mrpc_conn_opts opts = { .tls = tls_of(o, false) };
	struct mrpc_conn *conn = mrpc_connect(session, o->address, services, 1, &opts);

	if (!conn)
		errx(1, "%s", mrpc_last_error());
	mrpc_tls_free(opts.tls);
	return conn;
}

struct mrpc_conn **connect_all(const struct options *o)
{
	struct mrpc_conn **conns = calloc(o->conns, sizeof(*conns));
	unsigned int i;

	if (!conns)
		err(1, "connections");
	for (i = 0; i < o->conns; i++)
		conns[i] = connect_one(o);
	return conns;
}

void make_request(const struct options *o, size_t len, struct mrpc_msg *msg)
{
	struct bench_Request *req = bench_Request_new(msg, session);

	if (len <= CONTENT)
		bench_Request_set_payload(msg, req, content, len);
	else
		bench_Request_alloc_payload(msg, req, len);
	if (o->engine)
		bench_Request_set_key(msg, req, PLACE_KEY);
}

void check(struct mrpc_result *res)
{
	const struct bench_Reply *reply = bench_Bench_Call_reply(res);
	size_t len;

	if (res->status != MRPC_OK)
		errx(1, "%s: %s", mrpc_status_name(res->status), res->detail);
	bench_Reply_payload(res->reply, reply, &len);
	if (!len)
		errx(1, "the reply is empty");
}
