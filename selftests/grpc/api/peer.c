// SPDX-License-Identifier: GPL-2.0
/*
 * peer call LIBRARY ADDRESS: a client of any service
 * peer serve LIBRARY ADDRESS: a server of it
 *
 * LIBRARY has the stubs, and describes the service (prepare). Messages come and go over standard
 * input and output, as texts: a line "FORMAT LEN", FORMAT being "json" or "text", and LEN bytes. The
 * format "none" says that a message has no form in JSON. Each message is written twice, as text and
 * as JSON.
 *
 * The client reads a line "call METHOD NUMBER" and so many requests. It writes the replies, and a
 * line "end STATUS 0". If the call has failed, the detail follows as a text.
 * The server writes the line "call METHOD 0", the requests, and a line "end 0 0". It reads a line
 * "reply NUMBER", and so many replies.
 */
#include <dlfcn.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mrpc_message.h>

#define TIMEOUT_US	60000000	/* of a call that should end well: for busy machines */

struct method_types {
	const struct mrpc_message_desc *request, *reply;
};

static const struct mrpc_service_desc *service;
static const struct method_types *types;	/* of each method of the service */
static struct mrpc_session *session;

/* -- messages as texts ----------------------------------------------------------------------- */

static void put_text(const char *format, const char *text)
{
	printf("%s %zu\n%s", text ? format : "none", text ? strlen(text) : 0, text ? text : "");
}

static void put_message(const struct mrpc_message_desc *desc, const void *root)
{
	char *text = mrpc_to_text(desc, root, root), *json = mrpc_to_json(desc, root, root);

	put_text("text", text);
	put_text("json", json);
	free(text);
	free(json);
}

/* Builds a message of what standard input has. */
static void get_message(struct mrpc_msg *msg, const struct mrpc_message_desc *desc, void *root)
{
	char format[8], *text;
	size_t len;

	if (scanf("%7s %zu", format, &len) != 2 || getchar() != '\n')
		errx(1, "the input is not a message");
	text = malloc(len + 1);
	if (!text || fread(text, 1, len, stdin) != len)
		errx(1, "the input ends in a message");
	if (strcmp(format, "json") ? mrpc_from_text(msg, root, desc, text, len) :
				     mrpc_from_json(msg, root, desc, text, len, 0))
		errx(1, "%s of %s is refused: %s", format, desc->name, mrpc_last_error());
	free(text);
}

static void *new_message(struct mrpc_msg *msg, const struct mrpc_message_desc *desc)
{
	return mrpc_msg_new(msg, session, desc->size, 0);
}

static void read_new(struct mrpc_msg *msg, const struct mrpc_message_desc *desc)
{
	get_message(msg, desc, new_message(msg, desc));
}

/* -- the client ------------------------------------------------------------------------------ */

static void end_call(struct mrpc_result *res)
{
	printf("end %d 0\n", res->status);
	if (res->status != MRPC_OK)
		put_text("text", res->detail);
	mrpc_result_release(res);
}

static void call_unary(struct mrpc_conn *conn, unsigned int method)
{
	const struct mrpc_call_opts opts = { .timeout_us = TIMEOUT_US };
	struct mrpc_result res;
	struct mrpc_msg msg;

	read_new(&msg, types[method].request);
	if (mrpc_call_sync(conn, service, method, &msg, &opts, &res) == MRPC_OK)
		put_message(types[method].reply, res.reply);
	end_call(&res);
}

static void call_stream(struct mrpc_conn *conn, unsigned int method, unsigned int number)
{
	const struct mrpc_call_opts opts = { .timeout_us = TIMEOUT_US };
	unsigned int streams = service->methods[method].streams;
	struct mrpc_stream *stream;
	struct mrpc_result res;
	const void *reply;
	struct mrpc_msg msg;

	if (!(streams & MRPC_STREAMS_CLIENT))
		read_new(&msg, types[method].request);
	stream = mrpc_stream_open(conn, service, method, streams & MRPC_STREAMS_CLIENT ? NULL : &msg,
				  &opts);
	if (!stream)
		errx(1, "%s", mrpc_last_error());
	while (streams & MRPC_STREAMS_CLIENT && number--) {
		read_new(&msg, types[method].request);
		if (mrpc_stream_send(stream, &msg, 0))
			errx(1, "%s", mrpc_last_error());
	}
	mrpc_stream_end(stream);
	while (streams & MRPC_STREAMS_SERVER && (reply = mrpc_stream_next(stream, NULL)))
		put_message(types[method].reply, reply);
	if (mrpc_stream_finish(stream, &res) == MRPC_OK && !(streams & MRPC_STREAMS_SERVER))
		put_message(types[method].reply, res.reply);
	end_call(&res);
}

static int call(const char *address)
{
	struct mrpc_conn *conn = mrpc_connect(session, address, &service, 1, NULL);
	unsigned int method, number;

	if (!conn)
		errx(1, "%s", mrpc_last_error());
	while (scanf(" call %u %u", &method, &number) == 2) {
		if (service->methods[method].streams)
			call_stream(conn, method, number);
		else
			call_unary(conn, method);
		fflush(stdout);
	}
	mrpc_session_close(session);
	return 0;
}

/* -- the server ------------------------------------------------------------------------------ */

static void put_requests(struct mrpc_call *call, const struct mrpc_message_desc *desc,
			 unsigned int streams, const void *req)
{
	const void *root;

	if (!(streams & MRPC_STREAMS_CLIENT)) {
		put_message(desc, req);
		return;
	}
	while ((root = mrpc_stream_next(mrpc_call_stream(call), NULL)))
		put_message(desc, root);
}

/* Any method of the service. */
static int serve_call(const void *ops, struct mrpc_call *call, const void *req, void *reply)
{
	const struct mrpc_method_desc *desc = mrpc_call_method(call);
	const char *name = desc->name;
	unsigned int method = 0, number;
	struct mrpc_msg msg;

	(void)ops;
	while (strcmp(service->methods[method].name, name))
		method++;
	printf("call %u 0\n", method);
	put_requests(call, types[method].request, desc->streams, req);
	printf("end 0 0\n");
	fflush(stdout);
	if (scanf(" reply %u", &number) != 1)
		errx(1, "there is no reply");
	if (!(desc->streams & MRPC_STREAMS_SERVER)) {
		get_message(mrpc_call_msg(call), types[method].reply, reply);
		return MRPC_OK;
	}
	while (number--) {
		read_new(&msg, types[method].reply);
		if (mrpc_stream_send(mrpc_call_stream(call), &msg, 0))
			return MRPC_ABORTED;
	}
	return MRPC_OK;
}

static int serve(const char *address)
{
	struct mrpc_server *server = mrpc_server_new(session);
	struct mrpc_method_desc *methods;
	struct mrpc_service_desc mine = *service;
	unsigned int i;

	methods = calloc(service->nr_methods, sizeof(*methods));
	if (!methods)
		errx(1, "no memory");
	for (i = 0; i < service->nr_methods; i++) {
		methods[i] = service->methods[i];
		methods[i].invoke = serve_call;
	}
	mine.methods = methods;
	if (!server || mrpc_server_add(server, &mine, methods, NULL) ||
	    mrpc_server_listen(server, address, NULL))
		errx(1, "%s", mrpc_last_error());
	printf("listening\n");
	fflush(stdout);
	return mrpc_server_run(server, 1);
}

int main(int argc, char **argv)
{
	void *library = argc == 4 ? dlopen(argv[2], RTLD_NOW) : NULL;

	if (!library)
		errx(1, "%s", argc == 4 ? dlerror() : "usage: peer call|serve LIBRARY ADDRESS");
	service = *(const struct mrpc_service_desc **)dlsym(library, "the_service");
	types = dlsym(library, "the_types");
	session = mrpc_session_open(NULL);
	if (!session)
		errx(1, "%s", mrpc_last_error());
	return strcmp(argv[1], "call") ? serve(argv[3]) : call(argv[3]);
}
