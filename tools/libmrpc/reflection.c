// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The services grpc.reflection.v1.ServerReflection and grpc.reflection.v1alpha.ServerReflection.
 *
 * Both have the same messages, so the structures of one do for both. A call is deferred: the worker
 * is called back for each request.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* First: what <mrpc.h> declares is visible outside the library. */
#include "protos.h"
#include "request.h"
#include "stream.h"

#include "grpc/reflection/v1/reflection.mrpc.h"
#include "grpc/reflection/v1alpha/reflection.mrpc.h"

#define REFLECTION_CALLS_MAX	64	/* calls that are open */
#define REFLECTION_REQUEST_MAX	4096	/* bytes of a request */

_Static_assert(sizeof(struct grpc_reflection_v1_ServerReflectionRequest) ==
	       sizeof(struct grpc_reflection_v1alpha_ServerReflectionRequest) &&
	       sizeof(struct grpc_reflection_v1_ServerReflectionResponse) ==
	       sizeof(struct grpc_reflection_v1alpha_ServerReflectionResponse),
	       "the versions have the same messages");

#define REQUEST(name)	grpc_reflection_v1_ServerReflectionRequest_ ## name
#define RESPONSE(name)	grpc_reflection_v1_ServerReflectionResponse_ ## name

typedef struct grpc_reflection_v1_ServerReflectionRequest request_t;
typedef struct grpc_reflection_v1_ServerReflectionResponse response_t;

/**
 * struct reflection - both services of a server
 * @part: of the server
 * @server: the server
 * @nr_calls: that are open; atomic
 */
struct reflection {
	struct server_part part;
	struct mrpc_server *server;
	u32 nr_calls;
};

/* -- files ----------------------------------------------------------------------------------- */

typedef bool (*match_fn)(struct bytes file, const char *text);

/* The set of a service; empty if another service before has the same. */
static struct bytes set_of(const struct mrpc_server *server, u32 service)
{
	const struct mrpc_service_desc *desc = server->services[service].desc;
	u32 i;

	for (i = 0; i < service; i++)
		if (server->services[i].desc->protos == desc->protos)
			return (struct bytes){ 0 };
	return (struct bytes){ desc->protos, desc->protos_len };
}

static u32 nr_files(struct bytes set)
{
	struct bytes file;
	u32 nr = 0;

	while (protos_next(&set, &file))
		nr++;
	return nr;
}

/* Copies the files up to the one that matches to @files. Return: how many, 0: none matches. */
static u32 files_up_to(struct bytes set, match_fn match, const char *text, struct bytes *files)
{
	u32 nr = 0;

	while (protos_next(&set, &files[nr]))
		if (match(files[nr++], text))
			return nr;
	return 0;
}

/* Adds the last file, and what it imports: that stands before it. Spoils @files. */
static void add_files(struct mrpc_msg *msg, response_t *reply, struct bytes *files, u32 nr)
{
	struct grpc_reflection_v1_FileDescriptorResponse *all;
	u32 i, j;

	all = RESPONSE(alloc_file_descriptor_response)(msg, reply);
	for (i = nr; i-- > 0; ) {
		for (j = i + 1; j < nr; j++)
			if (protos_imports(files[j], files[i]))
				break;
		if (i + 1 < nr && j == nr)
			files[i].len = 0;	/* so it imports nothing, either */
		else
			grpc_reflection_v1_FileDescriptorResponse_add_file_descriptor_proto(msg, all,
				files[i].data, files[i].len);
	}
}

/* Return: MRPC_OK, NOT_FOUND or RESOURCE_EXHAUSTED. */
static int find_file(const struct mrpc_server *server, struct mrpc_msg *msg, response_t *reply,
		     match_fn match, const char *text)
{
	struct bytes set, *files;
	u32 i, nr = 0;

	for (i = 0; i < server->nr_services && !nr; i++) {
		set = set_of(server, i);
		files = calloc(nr_files(set) + 1, sizeof(*files));
		if (!files)
			return MRPC_RESOURCE_EXHAUSTED;
		nr = files_up_to(set, match, text, files);
		if (nr)
			add_files(msg, reply, files, nr);
		free(files);
	}
	return nr ? MRPC_OK : MRPC_NOT_FOUND;
}

/* -- answers ---------------------------------------------------------------------------------- */

static void list_services(const struct mrpc_server *server, struct mrpc_msg *msg, response_t *reply)
{
	struct grpc_reflection_v1_ListServiceResponse *list;
	struct grpc_reflection_v1_ServiceResponse *names;
	u32 i;

	list = RESPONSE(alloc_list_services_response)(msg, reply);
	names = grpc_reflection_v1_ListServiceResponse_alloc_service(msg, list, server->nr_services);
	for (i = 0; i < server->nr_services; i++)
		grpc_reflection_v1_ServiceResponse_set_name(msg, &names[i],
							    server->services[i].desc->name);
}

static int answer_request(const struct mrpc_server *server, const request_t *req,
			  struct mrpc_msg *msg, response_t *reply)
{
	switch (req->message_request_case) {
	case REQUEST(CASE_file_by_filename):
		return find_file(server, msg, reply, protos_is_named,
				 REQUEST(file_by_filename)(req, req));
	case REQUEST(CASE_file_containing_symbol):
		return find_file(server, msg, reply, protos_declares,
				 REQUEST(file_containing_symbol)(req, req));
	case REQUEST(CASE_file_containing_extension):
		return MRPC_NOT_FOUND;
	case REQUEST(CASE_all_extension_numbers_of_type):
		return MRPC_UNIMPLEMENTED;
	case REQUEST(CASE_list_services):
		list_services(server, msg, reply);
		return MRPC_OK;
	default:
		return MRPC_INVALID_ARGUMENT;
	}
}

static const char *reason_of(int status)
{
	switch (status) {
	case MRPC_NOT_FOUND:
		return "the server's files do not have it";
	case MRPC_UNIMPLEMENTED:
		return "the server does not list extensions";
	case MRPC_INVALID_ARGUMENT:
		return "the request asks for nothing that the server knows";
	default:
		return "out of memory";
	}
}

/* Return: 0 or -errno. */
static int send_answer(struct mrpc_call *call, const request_t *req)
{
	const struct reflection *r = mrpc_call_ctx(call);
	struct grpc_reflection_v1_ErrorResponse *error;
	struct mrpc_msg msg;
	response_t *reply;
	int status, err;

	reply = RESPONSE(new)(&msg, r->server->session);
	if (!reply)
		return -ENOMEM;
	RESPONSE(set_valid_host)(&msg, reply, REQUEST(host)(req, req));
	mrpc_msg_copy(&msg, RESPONSE(alloc_original_request)(&msg, reply), &REQUEST(_desc), req, req);
	status = answer_request(r->server, req, &msg, reply);
	if (status) {
		error = RESPONSE(alloc_error_response)(&msg, reply);
		error->error_code = status;
		grpc_reflection_v1_ErrorResponse_set_error_message(&msg, error, reason_of(status));
	}
	err = mrpc_stream_send(mrpc_call_stream(call), &msg, MRPC_STREAM_NOWAIT);
	mrpc_msg_free(&msg);
	return err;
}

/* -- the call ------------------------------------------------------------------------------------ */

/* If it fails, the end of the connection tries again. */
static void end_call(struct mrpc_call *call, int status)
{
	struct reflection *r = mrpc_call_ctx(call);

	if (!mrpc_call_reply(call, status))
		__atomic_sub_fetch(&r->nr_calls, 1, __ATOMIC_RELAXED);
}

/* One answer is under way at a time: a client that does not read gets no more. */
static void answer_all(struct mrpc_call *call)
{
	struct mrpc_stream *st = mrpc_call_stream(call);
	const request_t *req;
	u32 len;

	while (mrpc_stream_ready(st) & MRPC_STREAM_READABLE && !st->unsent) {
		req = mrpc_stream_next(st, &len);
		if (!req) {
			end_call(call, MRPC_OK);
			return;
		}
		if (len > REFLECTION_REQUEST_MAX) {
			mrpc_call_set_detail(call, "the request has more than %u bytes",
					     REFLECTION_REQUEST_MAX);
			end_call(call, MRPC_INVALID_ARGUMENT);
			return;
		}
		if (send_answer(call, req)) {
			mrpc_call_set_detail(call, "no answer: %s", mrpc_last_error());
			end_call(call, MRPC_RESOURCE_EXHAUSTED);
			return;
		}
	}
}

static int info(struct mrpc_call *call)
{
	struct reflection *r = mrpc_call_ctx(call);

	if (__atomic_add_fetch(&r->nr_calls, 1, __ATOMIC_RELAXED) > REFLECTION_CALLS_MAX) {
		__atomic_sub_fetch(&r->nr_calls, 1, __ATOMIC_RELAXED);
		mrpc_call_set_detail(call, "%u calls are open, the most there may be",
				     REFLECTION_CALLS_MAX);
		return MRPC_RESOURCE_EXHAUSTED;
	}
	request_release(call);
	mrpc_call_on_event(call, answer_all);
	return MRPC_DEFER;
}

static void reflection_free(struct server_part *part)
{
	free(part);
}

int mrpc_server_add_reflection(struct mrpc_server *server)
{
	static const struct grpc_reflection_v1_ServerReflection_ops v1 = {
		.ServerReflectionInfo = info,
	};
	static const struct grpc_reflection_v1alpha_ServerReflection_ops v1alpha = {
		.ServerReflectionInfo = info,
	};
	struct reflection *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return fail(ENOMEM, "out of memory");
	r->server = server;
	r->part.free = reflection_free;
	err = grpc_reflection_v1_ServerReflection_add(server, &v1, r);
	if (err) {
		free(r);
		return err;
	}
	server_add_part(server, &r->part);
	return grpc_reflection_v1alpha_ServerReflection_add(server, &v1alpha, r);
}
