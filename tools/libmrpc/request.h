/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_REQUEST_H
#define LIBMRPC_REQUEST_H

#include "op.h"
#include "qp.h"
#include "session.h"

#define SERVER_LISTENERS_MAX	16

struct health;

/**
 * struct served - one service of a server
 * @desc: its description
 * @ops: the generated operations structure
 * @ctx: for mrpc_call_ctx()
 */
struct served {
	const struct mrpc_service_desc *desc;
	const void *ops;
	void *ctx;
};

/**
 * struct server_part - a service of the library, in a server
 * @next: in mrpc_server.parts
 * @run: the server begins to serve, or will refuse calls at once; NULL: that makes no difference
 * @free: frees what this is a member of
 */
struct server_part {
	struct server_part *next;
	void (*run)(struct server_part *part, bool begins);
	void (*free)(struct server_part *part);
};

/**
 * struct mrpc_server - the server of a session
 * @session: whose
 * @end: with the session
 * @services: in the order of the listeners' numbering
 * @nr_services: how many
 * @parts: services of the library
 * @health: one of them, or NULL
 * @listeners: the kernel's numbers
 * @acceptors: for each listener: NULL, or what accepts its connections, in this process
 * @nr_listeners: how many
 * @transport: of the last listener
 * @address: what that got
 * @drain_us: how long calls that have arrived may take at the end
 * @stop_fd: eventfd that mrpc_server_stop() writes to
 * @stopping: workers are to end
 * @expired: requests that were not served because their deadline had passed; atomic
 */
struct mrpc_server {
	struct mrpc_session *session;
	struct session_end end;
	struct served services[MRPC_MAX_SERVICES];
	u32 nr_services;
	struct server_part *parts;
	struct health *health;
	u32 listeners[SERVER_LISTENERS_MAX];
	struct acceptor *acceptors[SERVER_LISTENERS_MAX];
	u32 nr_listeners;
	char transport[MRPC_TRANSPORT_LEN];
	u8 address[MRPC_ADDR_LEN];
	u64 drain_us;
	int stop_fd;
	bool stopping;
	u64 expired;
};

static inline void server_add_part(struct mrpc_server *server, struct server_part *part)
{
	part->next = server->parts;
	server->parts = part;
}

/**
 * struct mrpc_call - a request that is being served
 * @session: of the server
 * @next: in mrpc_qp.requests
 * @cqe: the request's completion
 * @service: which service
 * @method: which method
 * @request: root of the request, in the receive heap
 * @reply: root of the reply under construction
 * @msg: the reply under construction; also holds metadata and detail
 * @meta: metadata of the reply
 * @detail: in @msg, or NULL
 * @detail_len: its bytes
 * @instead: status of a reply that could not be built
 * @compress: the reply may be compressed
 * @stream: its messages besides request and reply, or NULL
 */
struct mrpc_call {
	struct mrpc_session *session;
	struct mrpc_call *next;
	struct mrpc_cqe cqe;
	const struct served *service;
	const struct mrpc_method_desc *method;
	const void *request;
	void *reply;
	struct mrpc_msg msg;
	struct mrpc_meta meta;
	char *detail;
	u32 detail_len;
	int instead;
	bool compress;
	struct mrpc_stream *stream;
};

/* For the queue pairs of workers. */
extern const struct qp_serves request_serves;

/* Gives the request's block back, for a call that lasts and does without. */
void request_release(struct mrpc_call *call);

void request_serve(struct mrpc_server *server, struct mrpc_qp *qp, const struct mrpc_cqe *cqe);
/* The first that is queued; false if there is none. */
bool request_serve_queued(struct mrpc_server *server, struct mrpc_qp *qp);

#endif /* LIBMRPC_REQUEST_H */
