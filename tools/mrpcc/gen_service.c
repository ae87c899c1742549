// SPDX-License-Identifier: GPL-2.0
/* A service: its client's functions, its server's operations, its description. */
#include "comment.h"
#include "gen_field.h"
#include "gen_protos.h"
#include "gen_service.h"
#include "names.h"
#include "sha256.h"

static void function(struct buf *out, const struct service *service,
		     const struct method *method, const char *ret, const char *suffix,
		     const char **params)
{
	const char *name = xasprintf("%s_%s%s", service->cname, method->cname, suffix);

	name_take(name, file_where(service->file, method->path),
		  xasprintf("method %s.%s", service->full_name, method->name));
	gen_prototype(out, xasprintf("static inline %s", ret), name, params);
	buf_printf(out, "\n{\n");
}

static void gen_sync(struct buf *out, const struct service *service,
		     const struct method *method)
{
	const char *params[] = {
		"struct mrpc_conn *conn", "struct mrpc_msg *msg",
		"const struct mrpc_call_opts *opts", "struct mrpc_result *res", NULL
	};

	gen_comment(out, "", service->file, method->path);
	function(out, service, method, "int ", "", params);
	buf_printf(out, "\treturn mrpc_call_sync(conn, &%s_service, %s_METHOD_%s,\n"
			"\t\t\tmsg, opts, res);\n}\n\n",
		   service->cname, service->cname, method->cname);
}

static void gen_async(struct buf *out, const struct service *service,
		      const struct method *method)
{
	const char *params[] = {
		"struct mrpc_conn *conn", "struct mrpc_msg *msg",
		"const struct mrpc_call_opts *opts", "mrpc_done_fn done", "void *user",
		"mrpc_call_id *id", NULL
	};

	function(out, service, method, "int ", "_async", params);
	buf_printf(out, "\treturn mrpc_call_async(conn, &%s_service, %s_METHOD_%s,\n"
			"\t\t\tmsg, opts, done, user, id);\n}\n\n",
		   service->cname, service->cname, method->cname);
}

/* -- methods that stream -- */

static bool client_streams(const struct method *method)
{
	return method->streams & MRPC_METHOD_CLIENT_STREAM;
}

static bool server_streams(const struct method *method)
{
	return method->streams & MRPC_METHOD_SERVER_STREAM;
}

static void gen_open(struct buf *out, const struct service *service, const struct method *method)
{
	static const char *const without[] = {
		"struct mrpc_conn *conn", "const struct mrpc_call_opts *opts", NULL
	};
	static const char *const with[] = {
		"struct mrpc_conn *conn", "struct mrpc_msg *msg",
		"const struct mrpc_call_opts *opts", NULL
	};

	gen_comment(out, "", service->file, method->path);
	function(out, service, method, "struct mrpc_stream *", "_open",
		 (const char **)(client_streams(method) ? without : with));
	buf_printf(out, "\treturn mrpc_stream_open(conn, &%s_service, %s_METHOD_%s,\n"
			"\t\t\t%s, opts);\n}\n\n",
		   service->cname, service->cname, method->cname,
		   client_streams(method) ? "MRPC_NULL" : "msg");
}

/* Sends a message of a stream, which is @stream, an expression with the first parameter @param. */
static void gen_send(struct buf *out, const struct service *service, const struct method *method,
		     const char *suffix, const char *param, const char *stream)
{
	const char *params[] = { param, "struct mrpc_msg *msg", "unsigned int flags", NULL };

	function(out, service, method, "int ", suffix, params);
	buf_printf(out, "\treturn mrpc_stream_send(%s, msg, flags);\n}\n\n", stream);
}

/* The next message, of type @message, of such a stream. */
static void gen_next(struct buf *out, const struct service *service, const struct method *method,
		     const struct message *message, const char *suffix, const char *param,
		     const char *stream)
{
	const char *type = xasprintf("const struct %s *", message->cname);
	const char *params[] = { param, NULL };

	function(out, service, method, type, suffix, params);
	buf_printf(out, "\treturn MRPC_CAST(%s, mrpc_stream_next(%s, MRPC_NULL));\n}\n\n", type,
		   stream);
}

static void gen_stream(struct buf *out, const struct service *service,
		       const struct method *method)
{
	static const char client[] = "struct mrpc_stream *stream";
	static const char server[] = "struct mrpc_call *call";

	gen_open(out, service, method);
	if (client_streams(method)) {
		gen_send(out, service, method, "_send", client, "stream");
		buf_printf(out, "/* In a handler: the client's next message. */\n");
		gen_next(out, service, method, method->request, "_get", server,
			 "mrpc_call_stream(call)");
	}
	if (server_streams(method)) {
		gen_next(out, service, method, method->reply, "_next", client, "stream");
		buf_printf(out, "/* In a handler: sends a message to the client. */\n");
		gen_send(out, service, method, "_put", server, "mrpc_call_stream(call)");
	}
}

static void gen_reply(struct buf *out, const struct service *service,
		      const struct method *method)
{
	const char *type = xasprintf("const struct %s *", method->reply->cname);
	const char *params[] = { "const struct mrpc_result *res", NULL };

	buf_printf(out, "/* The reply, NULL if the call did not end with MRPC_OK. */\n");
	function(out, service, method, type, "_reply", params);
	buf_printf(out, "\treturn MRPC_CAST(%s, res->reply);\n}\n\n", type);
}

static void gen_ops(struct buf *out, const struct service *service)
{
	size_t i;

	gen_comment(out, "", service->file, service->path);
	buf_printf(out, "struct %s_ops {\n", service->cname);
	for (i = 0; i < service->nr_methods; i++) {
		const struct method *method = &service->methods[i];
		const char *params[4] = { "struct mrpc_call *call" };
		size_t nr = 1;

		if (!client_streams(method))
			params[nr++] = xasprintf("const struct %s *req", method->request->cname);
		if (!server_streams(method))
			params[nr++] = xasprintf("struct %s *reply", method->reply->cname);

		gen_comment(out, "\t", service->file, method->path);
		gen_prototype(out, "\tint ", xasprintf("(*%s)", method->cname), params);
		buf_printf(out, ";\n");
	}
	buf_printf(out, "};\n\n");
}

static void gen_add(struct buf *out, const struct service *service)
{
	const char *params[] = {
		"struct mrpc_server *server",
		xasprintf("const struct %s_ops *ops", service->cname), "void *ctx", NULL
	};

	buf_printf(out, "/* Methods whose operation is NULL answer MRPC_UNIMPLEMENTED. */\n");
	gen_prototype(out, "static inline int ", xasprintf("%s_add", service->cname), params);
	buf_printf(out, "\n{\n\treturn mrpc_server_add(server, &%s_service, ops, ctx);\n}\n\n",
		   service->cname);
}

static void take_names(const struct service *service)
{
	static const char *const suffixes[] = {
		"service", "methods", "ops", "add", "schema"
	};
	struct where where = file_where(service->file, service->path);
	const char *what = xasprintf("service %s", service->full_name);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++)
		name_take(xasprintf("%s_%s", service->cname, suffixes[i]), where, what);
}

void take_method_names(const struct service *service)
{
	struct where where = file_where(service->file, service->path);
	const char *what = xasprintf("service %s", service->full_name);
	size_t i;

	name_take(xasprintf("%s_method", service->cname), where, what);
	for (i = 0; i < service->nr_methods; i++)
		name_take(xasprintf("%s_METHOD_%s", service->cname, service->methods[i].cname),
			  where, what);
}

void gen_methods(struct buf *out, const struct service *service)
{
	size_t i;

	buf_printf(out, "/* Methods of service %s */\n", service->full_name);
	buf_printf(out, "enum %s_method {\n", service->cname);
	for (i = 0; i < service->nr_methods; i++)
		buf_printf(out, "\t%s_METHOD_%s = %zu,\n", service->cname,
			   service->methods[i].cname, i);
	buf_printf(out, "};\n\n");
}

void gen_service_header(struct buf *out, const struct service *service)
{
	size_t i;

	take_names(service);
	buf_printf(out, "/* -- service %s -- */\n\n", service->full_name);
	buf_printf(out, "extern const struct mrpc_service_desc %s_service;\n\n", service->cname);
	for (i = 0; i < service->nr_methods; i++) {
		const struct method *method = &service->methods[i];

		if (method->streams) {
			gen_stream(out, service, method);
		} else {
			gen_sync(out, service, method);
			gen_async(out, service, method);
		}
		if (!server_streams(method))
			gen_reply(out, service, method);
	}
	gen_ops(out, service);
	gen_add(out, service);
}

/* -- source ------------------------------------------------------------------------- */

static void gen_schema(struct buf *out, const struct service *service)
{
	const uint8_t *bytes = (const uint8_t *)service->schema.data;
	uint8_t hash[SHA256_LEN];
	size_t i;

	sha256(bytes, service->schema.len, hash);
	buf_printf(out, "/*\n * The schema of %s. SHA-256:\n * ", service->full_name);
	for (i = 0; i < sizeof(hash); i++)
		buf_printf(out, "%02x", hash[i]);
	buf_printf(out, "\n */\nstatic const uint8_t %s_schema[] = {", service->cname);
	buf_bytes(out, bytes, service->schema.len);
	buf_printf(out, "};\n\n");
}

static void gen_invoke(struct buf *out, const struct service *service,
		       const struct method *method)
{
	const char *params[] = {
		"const void *ops", "struct mrpc_call *call", "const void *req", "void *reply",
		NULL
	};

	gen_prototype(out, "static int ",
		      xasprintf("%s__invoke_%s", service->cname, method->cname), params);
	buf_printf(out, "\n{\n\tconst struct %s_ops *o = (const struct %s_ops *)ops;\n\n",
		   service->cname, service->cname);
	if (client_streams(method))
		buf_printf(out, "\t(void)req;\n");
	if (server_streams(method))
		buf_printf(out, "\t(void)reply;\n");
	buf_printf(out, "\tif (!o->%s)\n\t\treturn MRPC_UNIMPLEMENTED;\n", method->cname);
	buf_printf(out, "\treturn o->%s(call", method->cname);
	if (!client_streams(method))
		buf_printf(out, ", (const struct %s *)req", method->request->cname);
	if (!server_streams(method))
		buf_printf(out, ",\n\t\t\t(struct %s *)reply", method->reply->cname);
	buf_printf(out, ");\n}\n\n");
}

void gen_service_source(struct buf *out, const struct service *service)
{
	size_t i;

	gen_schema(out, service);
	for (i = 0; i < service->nr_methods; i++)
		gen_invoke(out, service, &service->methods[i]);

	buf_printf(out, "static const struct mrpc_method_desc %s_methods[] = {\n",
		   service->cname);
	for (i = 0; i < service->nr_methods; i++) {
		const struct method *method = &service->methods[i];

		buf_printf(out, "\t{\n\t\t.name = \"%s\",\n", method->name);
		buf_printf(out, "\t\t.request_size = sizeof(struct %s),\n",
			   method->request->cname);
		if (method->priority >= 0)
			buf_printf(out, "\t\t.priority = MRPC_METHOD_PRIORITY | %d,\n",
				   method->priority);
		buf_printf(out, "\t\t.reply_size = sizeof(struct %s),\n", method->reply->cname);
		if (method->streams)
			buf_printf(out, "\t\t.streams = %s%s%s,\n",
				   client_streams(method) ? "MRPC_STREAMS_CLIENT" : "",
				   client_streams(method) && server_streams(method) ? " | " : "",
				   server_streams(method) ? "MRPC_STREAMS_SERVER" : "");
		buf_printf(out, "\t\t.invoke = %s__invoke_%s,\n\t},\n", service->cname,
			   method->cname);
	}
	buf_printf(out, "};\n\n");

	buf_printf(out, "const struct mrpc_service_desc %s_service = {\n", service->cname);
	buf_printf(out, "\t.name = \"%s\",\n", service->full_name);
	buf_printf(out, "\t.schema = %s_schema,\n", service->cname);
	buf_printf(out, "\t.schema_len = sizeof(%s_schema),\n", service->cname);
	buf_printf(out, "\t.nr_methods = %zu,\n", service->nr_methods);
	buf_printf(out, "\t.methods = %s_methods,\n", service->cname);
	gen_protos_members(out, service);
	buf_printf(out, "};\n");
}
