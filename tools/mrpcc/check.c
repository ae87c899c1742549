// SPDX-License-Identifier: GPL-2.0
/*
 * Refusing what mrpc does not support: everything of proto2 that proto3 does not have. A complaint
 * says what to do instead.
 */
#include <string.h>

#include "check.h"

static void check_extensions(struct file *file, FieldProto **protos, size_t nr,
			     struct path path, int32_t step)
{
	size_t i;

	for (i = 0; i < nr; i++)
		complain(file_where(file, path_add(path, step, i)),
			 "extensions are not supported: make %s a field of %s",
			 protos[i]->name, protos[i]->extendee + (*protos[i]->extendee == '.'));
}

static void check_proto2_field(struct file *file, const FieldProto *proto, struct path path)
{
	if (proto->type == PB_TYPE(GROUP))
		complain(file_where(file, path),
			 "groups are not supported: make a message and a field of that type");
	if (proto->label == PB_LABEL(REQUIRED))
		complain(file_where(file, path_add(path, PB_FIELD_LABEL, -1)),
			 "required fields are not supported: remove 'required' from %s and check for it in the program",
			 proto->name);
	if (proto->default_value)
		complain(file_where(file, path_add(path, PB_FIELD_DEFAULT, -1)),
			 "default values are not supported: remove the default of %s, or write 'optional' and supply it in the program",
			 proto->name);
}

static void check_proto2_message(struct file *file, const MessageProto *proto, struct path path)
{
	size_t i;

	for (i = 0; i < proto->n_field; i++)
		check_proto2_field(file, proto->field[i], path_add(path, PB_MESSAGE_FIELD, i));
	for (i = 0; i < proto->n_extension_range; i++)
		complain(file_where(file, path_add(path, PB_MESSAGE_EXTENSION_RANGE, i)),
			 "extensions are not supported: remove the range, or use a map or a oneof");
	check_extensions(file, proto->extension, proto->n_extension, path, PB_MESSAGE_EXTENSION);
	for (i = 0; i < proto->n_nested_type; i++)
		check_proto2_message(file, proto->nested_type[i],
				     path_add(path, PB_MESSAGE_NESTED, i));
}

static void check_not_proto3(struct file *file)
{
	const FileProto *proto = file->proto;
	const struct path top = { NULL, 0 };
	struct where where = file_where(file, path_add(top, PB_FILE_SYNTAX, -1));
	size_t i;

	if (!where.line)	/* nothing says what it is */
		where.line = where.column = 1;
	complain(where, "%s is not supported: write syntax = \"proto3\"; as the first statement",
		 proto->syntax && *proto->syntax ? proto->syntax : "proto2");
	for (i = 0; i < proto->n_message_type; i++)
		check_proto2_message(file, proto->message_type[i],
				     path_add(top, PB_FILE_MESSAGE, i));
	check_extensions(file, proto->extension, proto->n_extension, top, PB_FILE_EXTENSION);
}

static void check_argument(struct service *service, struct method *method,
			   struct message *type, int32_t step)
{
	struct where where = file_where(service->file, path_add(method->path, step, -1));

	if (!type)
		complain(where, "the type of method %s is not known: run protoc again",
			 method->name);
	else if (!type->file->proto3)
		complain(where, "%s is a proto2 message (%s): mrpc needs proto3 messages",
			 type->full_name, type->file->proto->name);
}

static void check_method(struct service *service, struct method *method)
{
	check_argument(service, method, method->request, PB_METHOD_REQUEST);
	check_argument(service, method, method->reply, PB_METHOD_REPLY);
}

bool check_field_type(struct field *field)
{
	struct file *file = field->in->file;
	struct where where = file_where(file, path_add(field->path, PB_FIELD_TYPE_NAME, -1));

	if (field->refused)
		return false;
	field->refused = true;
	if (!field->kind || (field->kind == MRPC_KIND_MESSAGE && !field->type))
		complain(where, "the type of field %s is not known to this version of mrpcc",
			 field->name);
	else if (field->type && !field->type->file->proto3)
		complain(where, "%s is a proto2 message (%s): mrpc needs proto3 messages",
			 field->type->full_name, field->type->file->proto->name);
	else
		field->refused = false;
	return !field->refused;
}

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

void check_file(struct file *file)
{
	size_t s, m;

	check_name(file);
	if (!file->proto3) {
		check_not_proto3(file);
		return;
	}
	/*
	 * All that proto3 can extend are options, which mean nothing here: they
	 * are ignored, as all options that mrpc does not know.
	 */
	for (s = 0; s < file->nr_services; s++) {
		struct service *service = &file->services[s];

		if (!service->nr_methods)
			complain(file_where(file, service->path),
				 "service %s has no method: add one or remove the service",
				 service->full_name);
		for (m = 0; m < service->nr_methods; m++)
			check_method(service, &service->methods[m]);
	}
}
