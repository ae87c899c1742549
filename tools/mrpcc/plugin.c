// SPDX-License-Identifier: GPL-2.0
/*
 * The plugin of protoc (plugin.proto): what is wrong with the .proto files is part
 * of the response; only a broken conversation with protoc makes the exit
 * status bad.
 */
#include <stdio.h>
#include <string.h>

#include "google/protobuf/compiler/plugin.pb-c.h"

#include "compile.h"
#include "plugin.h"
#include "slurp.h"

typedef Google__Protobuf__Compiler__CodeGeneratorRequest Request;
typedef Google__Protobuf__Compiler__CodeGeneratorResponse Response;
typedef Google__Protobuf__Compiler__CodeGeneratorResponse__File ResponseFile;

#define PROTO3_OPTIONAL \
	GOOGLE__PROTOBUF__COMPILER__CODE_GENERATOR_RESPONSE__FEATURE__FEATURE_PROTO3_OPTIONAL

static int send_response(const Response *response)
{
	size_t len = google__protobuf__compiler__code_generator_response__get_packed_size(response);
	uint8_t *bytes = xalloc(len, 1);

	google__protobuf__compiler__code_generator_response__pack(response, bytes);
	if (fwrite(bytes, 1, len, stdout) == len && !fflush(stdout))
		return 0;
	perror("mrpcc: stdout");
	return 1;
}

static void add_files(Response *response, const struct outputs *outputs)
{
	static const ResponseFile init =
		GOOGLE__PROTOBUF__COMPILER__CODE_GENERATOR_RESPONSE__FILE__INIT;
	size_t i;

	response->file = xalloc(outputs->nr, sizeof(*response->file));
	response->n_file = outputs->nr;
	for (i = 0; i < outputs->nr; i++) {
		response->file[i] = xalloc(1, sizeof(ResponseFile));
		*response->file[i] = init;
		response->file[i]->name = outputs->files[i].name;
		response->file[i]->content = outputs->files[i].text.data;
	}
}

/* protoc puts "--mrpc_out: " before the text and a newline after it. */
static char *error_text(void)
{
	const char *text = complaints();
	int len = strlen(text) - 1;

	return xasprintf("%s%.*s", memchr(text, '\n', len) ? "several errors\n" : "", len, text);
}

/* What stands before the colon of --mrpc_out; protoc may leave it out. */
struct parameters {
	bool bpf;
	bool unary;
};

/* Return: NULL, or the word that is none of them. */
static const char *parse_parameters(const char *text, struct parameters *parameters)
{
	char *words = xasprintf("%s", text ? text : ""), *word;

	for (word = strtok(words, ","); word; word = strtok(NULL, ",")) {
		if (!strcmp(word, "bpf"))
			parameters->bpf = true;
		else if (!strcmp(word, "unary"))
			parameters->unary = true;
		else
			return word;
	}
	return NULL;
}

int plugin_main(void)
{
	Response response = GOOGLE__PROTOBUF__COMPILER__CODE_GENERATOR_RESPONSE__INIT;
	struct parameters parameters = { 0 };
	struct outputs outputs = { 0 };
	const char *unknown;
	struct buf in = { 0 };
	struct model *model;
	Request *request;

	if (!slurp(stdin, &in)) {
		perror("mrpcc: stdin");
		return 1;
	}
	request = google__protobuf__compiler__code_generator_request__unpack(NULL, in.len,
					(const uint8_t *)buf_text(&in));
	if (!request) {
		fputs("mrpcc: stdin holds no request of protoc\n", stderr);
		return 1;
	}
	response.has_supported_features = 1;
	response.supported_features = PROTO3_OPTIONAL;
	unknown = parse_parameters(request->parameter, &parameters);
	if (unknown) {
		response.error = xasprintf("there is no option '%s': --mrpc_opt takes bpf and unary",
					   unknown);
		return send_response(&response);
	}
	model = compile_model(request->proto_file, request->n_proto_file,
			      request->file_to_generate, request->n_file_to_generate,
			      parameters.unary);
	if (model && compile_code(model, parameters.bpf, &outputs))
		add_files(&response, &outputs);
	else
		response.error = error_text();
	return send_response(&response);
}
