// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reflection with the module and its stubs: which files an answer has, and in which order. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../protos.h"
#include "grpc/reflection/v1/reflection.mrpc.h"
#include "guest_ends.h"

#define OPTIONS		"mrpc/options.proto"
#define DESCRIPTOR	"google/protobuf/descriptor.proto"
#define EMPTY		"google/protobuf/empty.proto"

typedef struct grpc_reflection_v1_ServerReflectionRequest request_t;
typedef void (*set_fn)(struct mrpc_msg *msg, request_t *req, const char *text);

static struct mrpc_stream *st;

static void up(void)
{
	static const struct guest_Echo_ops echo = { 0 };
	static const struct guest_Other_ops other = { 0 };

	open_server();
	CHECK_EQ(mrpc_server_add_reflection(server), 0);
	CHECK_EQ(guest_Echo_add(server, &echo, NULL), 0);
	CHECK_EQ(guest_Other_add(server, &other, NULL), 0);
	start_ends("loop:reflection", 1, &grpc_reflection_v1_ServerReflection_service);
	st = grpc_reflection_v1_ServerReflection_ServerReflectionInfo_open(conn, NULL);
	CHECK_MSG(st, "%s", mrpc_last_error());
}

static void down(void)
{
	CHECK_EQ(mrpc_stream_finish(st, NULL), MRPC_OK);
	end_ends();
}

static void by_name(struct mrpc_msg *msg, request_t *req, const char *text)
{
	grpc_reflection_v1_ServerReflectionRequest_set_file_by_filename(msg, req, text);
}

static void by_symbol(struct mrpc_msg *msg, request_t *req, const char *text)
{
	grpc_reflection_v1_ServerReflectionRequest_set_file_containing_symbol(msg, req, text);
}

/* Asks, and checks the names of the files that come; a NULL ends them. */
static void files_are(set_fn set, const char *text, ...)
{
	const struct grpc_reflection_v1_ServerReflectionResponse *reply;
	const struct grpc_reflection_v1_FileDescriptorResponse *files;
	struct mrpc_msg msg;
	struct bytes file;
	const char *name;
	va_list names;
	size_t i = 0;

	set(&msg, grpc_reflection_v1_ServerReflectionRequest_new(&msg, session), text);
	CHECK_EQ(mrpc_stream_send(st, &msg, 0), 0);
	reply = mrpc_stream_next(st, NULL);
	CHECK_MSG(reply, "no answer about %s", text);
	files = grpc_reflection_v1_ServerReflectionResponse_file_descriptor_response(reply, reply);
	CHECK_MSG(files, "no file has %s", text);
	va_start(names, text);
	while ((name = va_arg(names, const char *))) {
		file.data = grpc_reflection_v1_FileDescriptorResponse_file_descriptor_proto(reply,
					files, i++, &file.len);
		CHECK_MSG(file.data && protos_is_named(file, name), "%s: %zu is not %s", text, i,
			  name);
	}
	va_end(names);
	CHECK_EQ(files->file_descriptor_proto.len, i);
}

/* The file itself, then each of its imports once, also those of others, and no other file. */
TEST(files)
{
	up();
	files_are(by_symbol, "guest.Echo", "guest.proto", OPTIONS, DESCRIPTOR, EMPTY, NULL);
	files_are(by_symbol, "guest.Other.Most", "guest.proto", OPTIONS, DESCRIPTOR, EMPTY, NULL);
	files_are(by_name, OPTIONS, OPTIONS, DESCRIPTOR, NULL);
	files_are(by_symbol, "mrpc.priority", OPTIONS, DESCRIPTOR, NULL);
	files_are(by_name, DESCRIPTOR, DESCRIPTOR, NULL);
	files_are(by_symbol, "google.protobuf.Empty", EMPTY, NULL);
	files_are(by_name, "grpc/reflection/v1alpha/reflection.proto",
		  "grpc/reflection/v1alpha/reflection.proto", NULL);
	down();
}
