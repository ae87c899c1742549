// SPDX-License-Identifier: GPL-2.0
/* From protoc's descriptors to the model: names resolved, fields sorted. */
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "names.h"
#include "options.h"

/* -- finding types by name ----------------------------------------------------- */

struct named {
	const char *full_name;
	struct message *message;
	struct enumeration *enumeration;
};

struct index {
	struct named *names;
	size_t nr;
};

static void index_add(struct index *index, struct named named)
{
	if (!(index->nr & (index->nr + 1)))
		index->names = xrealloc(index->names, 2 * (index->nr + 1), sizeof(named));
	index->names[index->nr++] = named;
}

static int compare_named(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->full_name, ((const struct named *)b)->full_name);
}

static void index_sort(struct index *index)
{
	if (index->nr)
		qsort(index->names, index->nr, sizeof(*index->names), compare_named);
}

/* protoc writes names of types absolute, with a dot before them. */
static struct named *index_find(const struct index *index, const char *name)
{
	struct named key = { .full_name = name + (*name == '.') };

	if (!index->nr)
		return NULL;
	return bsearch(&key, index->names, index->nr, sizeof(key), compare_named);
}

/* -- first pass: which types there are ------------------------------------------ */

static char *full_name_in(const char *scope, const char *name)
{
	return *scope ? xasprintf("%s.%s", scope, name) : xasprintf("%s", name);
}

static void declare_enum(struct file *file, const char *scope, const EnumProto *proto,
			 struct path path, struct index *index)
{
	struct enumeration *enumeration = xalloc(1, sizeof(*enumeration));

	enumeration->file = file;
	enumeration->proto = proto;
	enumeration->full_name = full_name_in(scope, proto->name);
	enumeration->scope = scope;
	enumeration->cname = options_cname(file, proto->options ? &proto->options->base : NULL,
					   path_add(path, PB_ENUM_OPTIONS, -1), "enum",
					   enumeration->full_name);
	enumeration->path = path;

	file->enums = xrealloc(file->enums, file->nr_enums + 1, sizeof(*file->enums));
	file->enums[file->nr_enums++] = enumeration;
	index_add(index, (struct named){ enumeration->full_name, NULL, enumeration });
}

static void declare_message(struct file *file, const char *scope, const MessageProto *proto,
			    struct path path, struct index *index)
{
	struct message *message = xalloc(1, sizeof(*message));
	size_t i;

	message->file = file;
	message->proto = proto;
	message->full_name = full_name_in(scope, proto->name);
	message->cname = options_cname(file, proto->options ? &proto->options->base : NULL,
				       path_add(path, PB_MESSAGE_OPTIONS, -1), "message",
				       message->full_name);
	message->path = path;
	message->map_entry = proto->options && proto->options->map_entry;

	file->messages = xrealloc(file->messages, file->nr_messages + 1, sizeof(*file->messages));
	file->messages[file->nr_messages++] = message;
	index_add(index, (struct named){ message->full_name, message, NULL });

	for (i = 0; i < proto->n_enum_type; i++)
		declare_enum(file, message->full_name, proto->enum_type[i],
			     path_add(path, PB_MESSAGE_ENUM, i), index);
	for (i = 0; i < proto->n_nested_type; i++)
		declare_message(file, message->full_name, proto->nested_type[i],
				path_add(path, PB_MESSAGE_NESTED, i), index);
}

static void declare_file(struct file *file, struct index *index)
{
	const FileProto *proto = file->proto;
	const char *package = proto->package ? proto->package : "";
	const struct path top = { NULL, 0 };
	size_t i;

	for (i = 0; i < proto->n_enum_type; i++)
		declare_enum(file, package, proto->enum_type[i],
			     path_add(top, PB_FILE_ENUM, i), index);
	for (i = 0; i < proto->n_message_type; i++)
		declare_message(file, package, proto->message_type[i],
				path_add(top, PB_FILE_MESSAGE, i), index);
}

/* -- second pass: what is in them ------------------------------------------------ */

static u8 kind_of(int type)
{
	static const u8 kinds[] = {
		[PB_TYPE(DOUBLE)] = MRPC_KIND_DOUBLE,
		[PB_TYPE(FLOAT)] = MRPC_KIND_FLOAT,
		[PB_TYPE(INT64)] = MRPC_KIND_INT64,
		[PB_TYPE(UINT64)] = MRPC_KIND_UINT64,
		[PB_TYPE(INT32)] = MRPC_KIND_INT32,
		[PB_TYPE(FIXED64)] = MRPC_KIND_FIXED64,
		[PB_TYPE(FIXED32)] = MRPC_KIND_FIXED32,
		[PB_TYPE(BOOL)] = MRPC_KIND_BOOL,
		[PB_TYPE(STRING)] = MRPC_KIND_STRING,
		[PB_TYPE(MESSAGE)] = MRPC_KIND_MESSAGE,
		[PB_TYPE(BYTES)] = MRPC_KIND_BYTES,
		[PB_TYPE(UINT32)] = MRPC_KIND_UINT32,
		[PB_TYPE(ENUM)] = MRPC_KIND_ENUM,
		[PB_TYPE(SFIXED32)] = MRPC_KIND_SFIXED32,
		[PB_TYPE(SFIXED64)] = MRPC_KIND_SFIXED64,
		[PB_TYPE(SINT32)] = MRPC_KIND_SINT32,
		[PB_TYPE(SINT64)] = MRPC_KIND_SINT64,
	};

	return type > 0 && type < (int)ARRAY_SIZE(kinds) ? kinds[type] : 0;
}

static u8 flags_of(const FieldProto *proto, u8 kind, bool proto3)
{
	bool scalar = kind != MRPC_KIND_STRING && kind != MRPC_KIND_BYTES &&
		      kind != MRPC_KIND_MESSAGE;
	u8 flags = 0;

	if (proto->label == PB_LABEL(REPEATED)) {
		flags |= MRPC_FIELD_REPEATED;
		/* Unless told otherwise, proto3 packs, and proto2 does not. */
		if (scalar && (proto->options && proto->options->has_packed ?
			       proto->options->packed : proto3))
			flags |= MRPC_FIELD_PACKED;
	} else if (kind != MRPC_KIND_MESSAGE &&
		   (proto3 ? proto->proto3_optional : !proto->has_oneof_index)) {
		flags |= MRPC_FIELD_OPTIONAL;
	}
	return flags;
}

static void fill_field(struct field *field, struct message *message, size_t i,
		       const struct index *index)
{
	const FieldProto *proto = message->proto->field[i];
	struct named *named;

	field->in = message;
	field->proto = proto;
	field->name = proto->name;
	field->number = proto->number;
	field->kind = kind_of(proto->type);
	field->flags = flags_of(proto, field->kind,
				/* The fields of a map's entry are always there. */
				message->file->proto3 || message->map_entry);
	field->oneof = MRPC_SCHEMA_NO_ONEOF;
	field->path = path_add(message->path, PB_MESSAGE_FIELD, i);
	if (!proto->type_name)
		return;
	named = index_find(index, proto->type_name);
	if (named) {
		field->type = named->message;
		field->enumeration = named->enumeration;
	}
}

static int compare_numbers(const void *a, const void *b)
{
	const struct field *fa = a, *fb = b;

	return (fa->number > fb->number) - (fa->number < fb->number);
}

/* Fields are sorted: oneofs come up in the order of their lowest numbers. */
static void fill_oneofs(struct message *message)
{
	size_t i, o;

	message->oneofs = xalloc(message->proto->n_oneof_decl, sizeof(*message->oneofs));
	for (i = 0; i < message->nr_fields; i++) {
		struct field *field = &message->fields[i];

		if (!field->proto->has_oneof_index || field->proto->proto3_optional)
			continue;
		for (o = 0; o < message->nr_oneofs; o++)
			if (message->oneofs[o].index == field->proto->oneof_index)
				break;
		if (o == message->nr_oneofs)
			message->oneofs[message->nr_oneofs++] = (struct oneof){
				.proto = message->proto->oneof_decl[field->proto->oneof_index],
				.index = field->proto->oneof_index,
				.first = i,
				.path = path_add(message->path, PB_MESSAGE_ONEOF,
						 field->proto->oneof_index),
			};
		field->oneof = o;
	}
}

static void fill_message(struct message *message, const struct index *index)
{
	size_t i;

	message->nr_fields = message->proto->n_field;
	message->fields = xalloc(message->nr_fields, sizeof(*message->fields));
	for (i = 0; i < message->nr_fields; i++)
		fill_field(&message->fields[i], message, i, index);
	if (message->nr_fields)
		qsort(message->fields, message->nr_fields, sizeof(*message->fields),
		      compare_numbers);
	/* What is said about a map's entry is said about the map. */
	for (i = 0; i < message->nr_fields; i++)
		if (field_map(&message->fields[i]))
			message->fields[i].type->path = message->fields[i].path;
	fill_oneofs(message);
	names_of_message(message);
}

static int compare_methods(const void *a, const void *b)
{
	return strcmp(((const struct method *)a)->name, ((const struct method *)b)->name);
}

static uint16_t streams(const MethodProto *proto)
{
	return (proto->client_streaming ? MRPC_METHOD_CLIENT_STREAM : 0) |
	       (proto->server_streaming ? MRPC_METHOD_SERVER_STREAM : 0);
}

/* Adds service number @s of the .proto, without its streams if so told. */
static void fill_service(struct file *file, size_t s, const struct index *index, bool unary)
{
	struct service *service = &file->services[file->nr_services];
	const ServiceProto *proto = file->proto->service[s];
	size_t i;

	service->file = file;
	service->proto = proto;
	service->full_name = full_name_in(file->proto->package ? file->proto->package : "",
					  proto->name);
	service->path = path_add((struct path){ NULL, 0 }, PB_FILE_SERVICE, s);
	service->cname = options_cname(file, proto->options ? &proto->options->base : NULL,
				       path_add(service->path, PB_SERVICE_OPTIONS, -1), "service",
				       service->full_name);
	service->methods = xalloc(proto->n_method, sizeof(*service->methods));
	for (i = 0; i < proto->n_method; i++) {
		struct named *request = index_find(index, proto->method[i]->input_type);
		struct named *reply = index_find(index, proto->method[i]->output_type);

		if (unary && streams(proto->method[i]))
			continue;
		service->methods[service->nr_methods++] = (struct method){
			.proto = proto->method[i],
			.name = proto->method[i]->name,
			.streams = streams(proto->method[i]),
			.request = request ? request->message : NULL,
			.reply = reply ? reply->message : NULL,
			.path = path_add(service->path, PB_SERVICE_METHOD, i),
		};
	}
	if (!service->nr_methods)
		return;
	file->nr_services++;
	qsort(service->methods, service->nr_methods, sizeof(*service->methods), compare_methods);
	options_of_service(service);
	names_of_service(service);
}

static void fill_file(struct file *file, const struct index *index, bool unary)
{
	size_t i;

	for (i = 0; i < file->nr_messages; i++)
		fill_message(file->messages[i], index);
	if (!file->generate)
		return;
	file->services = xalloc(file->proto->n_service, sizeof(*file->services));
	for (i = 0; i < file->proto->n_service; i++)
		fill_service(file, i, index, unary);
}

struct file *model_find_file(struct model *model, const char *name)
{
	size_t i;

	for (i = 0; i < model->nr_files; i++)
		if (!strcmp(model->files[i].proto->name, name))
			return &model->files[i];
	return NULL;
}

/* -- which other files a file needs ------------------------------------------------ */

static void need_types(struct file *file)
{
	size_t i, f;

	for (i = 0; i < file->nr_messages; i++)
		for (f = 0; f < file->messages[i]->nr_fields; f++) {
			const struct field *field = &file->messages[i]->fields[f];

			if (field->type)
				field->type->file->needed = true;
			if (field->enumeration)
				field->enumeration->file->needed = true;
		}
	for (i = 0; i < file->nr_services; i++)
		for (f = 0; f < file->services[i].nr_methods; f++) {
			file->services[i].methods[f].request->file->needed = true;
			file->services[i].methods[f].reply->file->needed = true;
		}
}

void model_need(struct model *model, struct file *file)
{
	size_t i;

	for (i = 0; i < model->nr_files; i++)
		model->files[i].needed = false;
	need_types(file);
	for (i = 0; i < file->proto->n_public_dependency; i++) {
		int32_t number = file->proto->public_dependency[i];
		struct file *dep = model_find_file(model, file->proto->dependency[number]);

		if (dep)
			dep->needed = true;
	}
	file->needed = false;
}

/* -- all of it --------------------------------------------------------------------- */

static bool is_wanted(const char *name, char **wanted, size_t nr)
{
	while (nr--)
		if (!strcmp(name, wanted[nr]))
			return true;
	return false;
}

struct model *model_build(FileProto **protos, size_t nr, char **wanted, size_t nr_wanted,
			  bool unary)
{
	struct model *model = xalloc(1, sizeof(*model));
	struct index index = { NULL, 0 };
	size_t i;

	model->nr_files = nr;
	model->files = xalloc(nr, sizeof(*model->files));
	for (i = 0; i < nr; i++) {
		struct file *file = &model->files[i];

		file->proto = protos[i];
		file->proto3 = protos[i]->syntax && !strcmp(protos[i]->syntax, "proto3");
		file->generate = is_wanted(protos[i]->name, wanted, nr_wanted);
		places_init(&file->places, protos[i]);
		declare_file(file, &index);
	}
	index_sort(&index);
	for (i = 0; i < nr; i++)
		fill_file(&model->files[i], &index, unary);
	return model;
}
