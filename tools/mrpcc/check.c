// SPDX-License-Identifier: GPL-2.0
/*
 * Refusing what mrpc cannot represent: of proto2 what proto3 does not have. A complaint says what to
 * do instead.
 */
#include <string.h>

#include "check.h"

/*
 * Extensions of options mean nothing here: they are ignored, as all options that mrpc does not
 * know. So are ranges for extensions: what uses them are unknown fields.
 */
static void check_extensions(struct file *file, FieldProto **protos, size_t nr,
			     struct path path, int32_t step)
{
	static const char own[] = ".google.protobuf.";
	size_t i;

	for (i = 0; i < nr; i++) {
		const char *extendee = protos[i]->extendee;
		size_t len = strlen(extendee);

		if (!strncmp(extendee, own, sizeof(own) - 1) && len > 7 &&
		    !strcmp(extendee + len - 7, "Options"))
			continue;
		complain(file_where(file, path_add(path, step, i)),
			 "extensions are not supported: make %s a field of %s",
			 protos[i]->name, extendee + (*extendee == '.'));
	}
}

static void check_message_extensions(struct file *file, const MessageProto *proto,
				     struct path path)
{
	size_t i;

	check_extensions(file, proto->extension, proto->n_extension, path, PB_MESSAGE_EXTENSION);
	for (i = 0; i < proto->n_nested_type; i++)
		check_message_extensions(file, proto->nested_type[i],
					 path_add(path, PB_MESSAGE_NESTED, i));
}

static void check_all_extensions(struct file *file)
{
	const FileProto *proto = file->proto;
	const struct path top = { NULL, 0 };
	size_t i;

	check_extensions(file, proto->extension, proto->n_extension, top, PB_FILE_EXTENSION);
	for (i = 0; i < proto->n_message_type; i++)
		check_message_extensions(file, proto->message_type[i],
					 path_add(top, PB_FILE_MESSAGE, i));
}

static void check_argument(struct service *service, struct method *method,
			   struct message *type, int32_t step)
{
	if (!type)
		complain(file_where(service->file, path_add(method->path, step, -1)),
			 "the type of method %s is not known: run protoc again", method->name);
}

static void check_method(struct service *service, struct method *method)
{
	check_argument(service, method, method->request, PB_METHOD_REQUEST);
	check_argument(service, method, method->reply, PB_METHOD_REPLY);
}

/* -- fields of proto2 ----------------------------------------------------------- */

/* Is the value that an absent field has the one of a struct of zeros? */
static bool default_is_zero(const struct field *field)
{
	const char *text = field->proto->default_value;

	if (field->kind == MRPC_KIND_ENUM && field->enumeration) {
		const EnumProto *proto = field->enumeration->proto;
		size_t i;

		for (i = 0; text && i < proto->n_value; i++)
			if (!strcmp(proto->value[i]->name, text))
				return !proto->value[i]->number;
		return !proto->value[0]->number;
	}
	if (!text)
		return true;
	if (field->kind == MRPC_KIND_STRING || field->kind == MRPC_KIND_BYTES)
		return !*text;
	return !strcmp(text, "0") || !strcmp(text, "false");
}

/* What protoc says of a group, without its path: the place of the field. */
static bool proto2_field_fits(struct field *field)
{
	const FieldProto *proto = field->proto;
	struct file *file = field->in->file;
	struct path path = field->path;

	if (proto->type == PB_TYPE(GROUP)) {
		complain(file_where(file, path),
			 "groups are not supported: make a message and a field of that type");
		return false;
	}
	if (proto->label == PB_LABEL(REQUIRED)) {
		complain(file_where(file, path_add(path, PB_FIELD_LABEL, -1)),
			 "required fields are not supported: remove 'required' from %s and check for it in the program",
			 shown_name(field->name));
		return false;
	}
	if (proto->label == PB_LABEL(REPEATED) || field->in->map_entry || default_is_zero(field))
		return true;
	if (proto->default_value)
		complain(file_where(file, path_add(path, PB_FIELD_DEFAULT, -1)),
			 "default values are not supported: remove the default of %s, and supply it in the program",
			 shown_name(field->name));
	else
		complain(file_where(file, path),
			 "the default of %s is the first value of %s, which is not 0: put a value of 0 there",
			 shown_name(field->name), shown_name(field->enumeration->full_name));
	return false;
}

bool check_field_type(struct field *field)
{
	struct file *file = field->in->file;

	if (field->refused)
		return false;
	field->refused = true;
	if (!file->proto3 && !proto2_field_fits(field))
		return false;
	if (!field->kind || (field->kind == MRPC_KIND_MESSAGE && !field->type)) {
		complain(file_where(file, path_add(field->path, PB_FIELD_TYPE_NAME, -1)),
			 "the type of field %s is not known to this version of mrpcc",
			 shown_name(field->name));
		return false;
	}
	field->refused = false;
	return true;
}

/* -- files ------------------------------------------------------------------------ */

/* Where the generated file for "a/b.proto" has "a/b.mrpc.h", this must work. */
static void check_name(struct file *file)
{
	const char *name = file->proto->name;
	const char *package = file->proto->package;
	size_t len = strlen(name);

	if (len < 7 || strcmp(name + len - 6, ".proto"))
		complain((struct where){ .file = name }, "the name does not end in .proto");
	if (package && !strcmp(package, "mrpc"))
		complain(file_where(file, path_add((struct path){ NULL, 0 },
						   PB_FILE_PACKAGE, -1)),
			 "the C names of package mrpc would be those of libmrpc: choose another");
}

/* What there is no code for is no mistake of the file's. */
static void remark_service(struct file *file, size_t s, bool unary)
{
	const ServiceProto *proto = file->proto->service[s];
	struct where where = file_where(file, path_add((struct path){ NULL, 0 },
						       PB_FILE_SERVICE, s));
	const char *package = file->proto->package ?: "";
	const char *name = xasprintf("%s%s%s", package, *package ? "." : "", proto->name);
	size_t i, streams = 0;

	for (i = 0; i < proto->n_method; i++)
		streams += proto->method[i]->client_streaming ||
			   proto->method[i]->server_streaming;
	if (!proto->n_method)
		remark(where, "service %s has no method: it is left out", name);
	else if (unary && streams)
		remark(where, "service %s: %zu of %zu methods have streams and are left out",
		       name, streams, proto->n_method);
}

void check_file(struct file *file, bool unary)
{
	const char *syntax = file->proto->syntax ?: "";
	size_t s, m;

	check_name(file);
	if (*syntax && strcmp(syntax, "proto2") && !file->proto3)
		complain(file_where(file, path_add((struct path){ NULL, 0 }, PB_FILE_SYNTAX, -1)),
			 "%s is not supported: write syntax = \"proto3\"; as the first statement",
			 syntax);
	check_all_extensions(file);
	for (s = 0; s < file->proto->n_service; s++)
		remark_service(file, s, unary);
	for (s = 0; s < file->nr_services; s++) {
		struct service *service = &file->services[s];

		for (m = 0; m < service->nr_methods; m++)
			check_method(service, &service->methods[m]);
	}
}
