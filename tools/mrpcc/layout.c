// SPDX-License-Identifier: GPL-2.0
/* The layout of struct blocks, computed by the kernel's schema compiler. */
#include <string.h>

#include "canon.h"
#include "layout.h"

/* The field that is number @index in the schema's table of fields. */
static struct field *field_at(const struct canon *canon, size_t index)
{
	size_t i;

	for (i = 0; i < canon->nr_types; i++) {
		if (index < canon->types[i]->nr_fields)
			return &canon->types[i]->fields[index];
		index -= canon->types[i]->nr_fields;
	}
	return NULL;
}

/* What to do about a limit; everything else is a mistake of mrpcc's own. */
static const char *advice(const struct mrpc_schema_error *err)
{
	unsigned long long value = err->value;

	if (strstr(err->what, "name has more"))
		return xasprintf("it has %llu, shorten it", value);
	if (strstr(err->what, "struct block"))
		return xasprintf("at least %llu bytes, and the limit is %u: move some fields into a message of their own",
				 value, MRPC_SCHEMA_MAX_STRUCT);
	if (strstr(err->what, "too long"))
		return xasprintf("%llu bytes, and the limit is %u: split it", value,
				 MRPC_SCHEMA_MAX_LEN);
	return xasprintf("%llu: a mistake of mrpcc, please report it", value);
}

/* Turns an index into a schema's table into a place and a name for people. */
static void explain(const struct canon *canon, const struct mrpc_schema_error *err)
{
	struct where where = file_where(canon->file, canon->path);
	const char *who = canon->what;

	if (!strcmp(err->table, "type") && err->index < canon->nr_types) {
		struct message *message = canon->types[err->index];

		where = file_where(message->file, message->path);
		who = xasprintf("message %s", shown_name(message->full_name));
	} else if (!strcmp(err->table, "field") && field_at(canon, err->index)) {
		struct field *field = field_at(canon, err->index);

		where = file_where(field->in->file, field->path);
		who = xasprintf("field %s of %s", shown_name(field->name),
				shown_name(field->in->full_name));
	} else if (!strcmp(err->table, "method") && err->index < canon->nr_methods) {
		const struct method *method = &canon->methods[err->index];

		where = file_where(canon->file, method->path);
		who = xasprintf("method %s of %s", shown_name(method->name), shown_name(who));
	}
	complain(where, "%s: %s: %s", who, err->what, advice(err));
}

static void take_layout(struct message *message, const struct mrpc_schema_plan *plan)
{
	const struct mrpc_type *type = &plan->types[message->index];
	size_t i;

	message->size = type->size;
	message->nr_has = type->nr_has;
	message->oneof_offset = type->oneof_offset;
	for (i = 0; i < message->nr_fields; i++) {
		const struct mrpc_field *field = &plan->fields[type->first_field + i];

		message->fields[i].offset = field->offset;
		message->fields[i].has_bit = field->has_bit;
	}
	message->laid_out = true;
}

/* Compiles a schema and stores the layout in its types. False if it complained. */
static bool compute_layout(const struct canon *canon, const struct buf *schema)
{
	struct mrpc_schema_error err = { 0 };
	s64 size = mrpc_schema_size(schema->data, schema->len, &err);
	void *mem;
	size_t i;

	if (size < 0) {
		explain(canon, &err);
		return false;
	}
	mem = xalloc(size, 1);
	if (mrpc_schema_compile(schema->data, schema->len, mem, size, &err)) {
		explain(canon, &err);
		return false;
	}
	for (i = 0; i < canon->nr_types; i++)
		take_layout(canon->types[i], mem);
	return true;
}

static void layout_service(struct service *service)
{
	struct canon canon;

	if (!canon_of_service(&canon, service))
		return;
	canon_write(&canon, &service->schema);
	compute_layout(&canon, &service->schema);
	service->types = canon.types;
	service->nr_types = canon.nr_types;
}

/* A type's layout depends on its own fields only: any schema with it will do. */
static void layout_message(struct message *message)
{
	struct buf schema = { 0 };
	struct canon canon;

	if (!canon_of_message(&canon, message))
		return;
	canon_write(&canon, &schema);
	compute_layout(&canon, &schema);
}

void layout_model(struct model *model)
{
	size_t i, j;

	for (i = 0; i < model->nr_files; i++) {
		struct file *file = &model->files[i];

		if (!file->generate)
			continue;
		for (j = 0; j < file->nr_services; j++)
			layout_service(&file->services[j]);
		for (j = 0; j < file->nr_messages; j++)
			if (!file->messages[j]->laid_out && !file->messages[j]->map_entry)
				layout_message(file->messages[j]);
	}
}
