// SPDX-License-Identifier: GPL-2.0
/* The canonical binary schema of a service. */
#include <string.h>

#include "canon.h"
#include "check.h"

/* -- which types ----------------------------------------------------------------- */

static void visit(struct canon *canon, struct message *message, unsigned int walk)
{
	if (message->visit == walk)
		return;
	message->visit = walk;
	message->index = canon->nr_types;
	/* One beyond the limit is enough to complain about. */
	if (canon->nr_types <= MRPC_SCHEMA_MAX_TYPES)
		canon->types[canon->nr_types++] = message;
	canon->nr_fields += message->nr_fields;
}

static bool too_many(const struct canon *canon, size_t nr, size_t max, const char *what)
{
	if (nr <= max)
		return false;
	complain(file_where(canon->file, canon->path), "%s has more than %zu %s: split it",
		 canon->what, max, what);
	return true;
}

static bool walk_types(struct canon *canon)
{
	static unsigned int walk;
	bool ok = true;
	size_t i, f;

	walk++;
	canon->types = xalloc(MRPC_SCHEMA_MAX_TYPES + 1, sizeof(*canon->types));
	for (i = 0; i < canon->nr_methods; i++) {
		const struct method *method = &canon->methods[i];

		/* check.c has complained about these. */
		if (!method->request || !method->reply)
			return false;
		visit(canon, method->request, walk);
		visit(canon, method->reply, walk);
	}
	for (i = 0; i < canon->nr_types; i++) {
		for (f = 0; f < canon->types[i]->nr_fields; f++) {
			struct field *field = &canon->types[i]->fields[f];

			if (!check_field_type(field))
				ok = false;
			else if (field->type)
				visit(canon, field->type, walk);
		}
	}
	if (too_many(canon, canon->nr_methods, MRPC_SCHEMA_MAX_METHODS, "methods") ||
	    too_many(canon, canon->nr_types, MRPC_SCHEMA_MAX_TYPES, "message types") ||
	    too_many(canon, canon->nr_fields, MRPC_SCHEMA_MAX_FIELDS, "fields in its types"))
		return false;
	return ok;
}

bool canon_of_service(struct canon *canon, const struct service *service)
{
	*canon = (struct canon){
		.name = service->full_name,
		.what = xasprintf("service %s", shown_name(service->full_name)),
		.file = service->file,
		.path = service->path,
		.methods = service->methods,
		.nr_methods = service->nr_methods,
	};
	return walk_types(canon);
}

bool canon_of_message(struct canon *canon, struct message *message)
{
	struct method *method = xalloc(1, sizeof(*method));

	*method = (struct method){ .name = "Method", .request = message, .reply = message };
	*canon = (struct canon){
		.name = "Layout",
		.what = xasprintf("message %s", shown_name(message->full_name)),
		.file = message->file,
		.path = message->path,
		.methods = method,
		.nr_methods = 1,
	};
	return walk_types(canon);
}

/* -- binary form ------------------------------------------------------------------ */

static void write_field(const struct field *field, struct buf *out)
{
	struct mrpc_schema_field record = {
		.number = cpu_to_le32(field->number),
		.kind = field->kind,
		.flags = field->flags,
		.type = cpu_to_le16(field->type ? field->type->index : MRPC_SCHEMA_NO_TYPE),
		.oneof = cpu_to_le16(field->oneof),
	};

	buf_add(out, &record, sizeof(record));
}

static void write_name(const char *name, struct buf *out)
{
	buf_add(out, name, strlen(name) + 1);
}

static void write_tables(const struct canon *canon, struct buf *out)
{
	size_t i, f;

	for (i = 0; i < canon->nr_methods; i++) {
		struct mrpc_schema_method record = {
			.request = cpu_to_le16(canon->methods[i].request->index),
			.reply = cpu_to_le16(canon->methods[i].reply->index),
			.flags = cpu_to_le16(canon->methods[i].streams),
		};

		buf_add(out, &record, sizeof(record));
	}
	for (i = 0; i < canon->nr_types; i++) {
		struct mrpc_schema_type record = {
			.nr_fields = cpu_to_le16(canon->types[i]->nr_fields),
			.nr_oneofs = cpu_to_le16(canon->types[i]->nr_oneofs),
			.flags = cpu_to_le16(canon->types[i]->map_entry ? MRPC_TYPE_MAP_ENTRY : 0),
		};

		buf_add(out, &record, sizeof(record));
	}
	for (i = 0; i < canon->nr_types; i++)
		for (f = 0; f < canon->types[i]->nr_fields; f++)
			write_field(&canon->types[i]->fields[f], out);
}

static void write_names(const struct canon *canon, struct buf *out)
{
	size_t i, f;

	write_name(canon->name, out);
	for (i = 0; i < canon->nr_methods; i++)
		write_name(canon->methods[i].name, out);
	for (i = 0; i < canon->nr_types; i++)
		write_name(canon->types[i]->full_name, out);
	for (i = 0; i < canon->nr_types; i++)
		for (f = 0; f < canon->types[i]->nr_fields; f++)
			write_name(canon->types[i]->fields[f].name, out);
}

void canon_write(const struct canon *canon, struct buf *out)
{
	struct mrpc_schema_hdr hdr;
	struct buf tables = { 0 }, names = { 0 };

	write_tables(canon, &tables);
	write_names(canon, &names);
	hdr = (struct mrpc_schema_hdr){
		.magic = cpu_to_le32(MRPC_SCHEMA_MAGIC),
		.version = cpu_to_le16(MRPC_SCHEMA_VERSION),
		.len = cpu_to_le32(sizeof(hdr) + tables.len + names.len),
		.nr_methods = cpu_to_le16(canon->nr_methods),
		.nr_types = cpu_to_le16(canon->nr_types),
		.nr_fields = cpu_to_le32(canon->nr_fields),
		.names_len = cpu_to_le32(names.len),
	};
	buf_add(out, &hdr, sizeof(hdr));
	buf_add(out, tables.data, tables.len);
	buf_add(out, names.data, names.len);
}
