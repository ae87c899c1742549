// SPDX-License-Identifier: GPL-2.0
/*
 * Descriptions of messages and enums, for what libmrpc does to a message of any type
 * (mrpc_message.h): tables, so that generated code stays small. Each file makes its messages known to
 * the library, for what finds a type by its name.
 */
#include <stdlib.h>
#include <string.h>

#include "gen_desc.h"
#include "gen_field.h"
#include "names.h"

void gen_enum_declaration(struct buf *out, const struct enumeration *enumeration)
{
	const char *name = xasprintf("%s__desc", enumeration->cname);

	name_take(name, file_where(enumeration->file, enumeration->path),
		  xasprintf("enum %s", enumeration->full_name));
	buf_printf(out, "extern const struct mrpc_enum_desc %s;\n", name);
}

void gen_message_declaration(struct buf *out, const struct message *message)
{
	const char *name = xasprintf("%s__desc", message->cname);

	name_take(name, file_where(message->file, message->path),
		  xasprintf("message %s", message->full_name));
	buf_printf(out, "extern const struct mrpc_message_desc %s;\n", name);
}

void gen_enum_desc(struct buf *out, const struct enumeration *enumeration)
{
	const EnumProto *proto = enumeration->proto;
	const char *tag = enumeration->cname;
	size_t i;

	buf_printf(out, "\nstatic const struct mrpc_enum_value %s__values[] = {\n", tag);
	for (i = 0; i < proto->n_value; i++)
		buf_printf(out, proto->value[i]->number == INT32_MIN ?
			   "\t{ \"%s\", -2147483647 - 1 },\n" : "\t{ \"%s\", %d },\n",
			   proto->value[i]->name, proto->value[i]->number);
	buf_printf(out, "};\n\nconst struct mrpc_enum_desc %s__desc = {\n", tag);
	buf_printf(out, "\t.name = \"%s\",\n\t.values = %s__values,\n\t.nr_values = %zu,\n};\n",
		   enumeration->full_name, tag, proto->n_value);
}

/* How the field's presence is known, and what else it is. */
static void write_flags(struct buf *out, const struct field *field)
{
	if (field_repeated(field))
		buf_printf(out, "\t\t.flags = MRPC_DESC_REPEATED%s,\n",
			   field_map(field) ? " | MRPC_DESC_MAP" :
			   field->flags & MRPC_FIELD_PACKED ? " | MRPC_DESC_PACKED" : "");
	else if (field_in_oneof(field))
		buf_printf(out, "\t\t.flags = MRPC_DESC_ONEOF,\n\t\t.presence = %zu,\n",
			   (size_t)field->in->oneof_offset + 4 * field->oneof);
	else if (field_optional(field))
		buf_printf(out, "\t\t.flags = MRPC_DESC_OPTIONAL,\n\t\t.presence = %u,\n",
			   field->has_bit);
}

static void write_field(struct buf *out, const struct field *field)
{
	const char *json = field->proto->json_name;

	buf_printf(out, "\t{\n\t\t.name = \"%s\",\n\t\t.json_name = ", field->name);
	buf_string(out, json ? json : field->name);
	buf_printf(out, ",\n\t\t.number = %u,\n\t\t.kind = %u, /* %s */\n\t\t.offset = %u,\n",
		   field->number, field->kind, kind_name(field->kind), field->offset);
	write_flags(out, field);
	if (field->type)
		buf_printf(out, "\t\t.message = &%s__desc,\n", field->type->cname);
	if (field->enumeration)
		buf_printf(out, "\t\t.enumeration = &%s__desc,\n", field->enumeration->cname);
	buf_printf(out, "\t},\n");
}

void gen_message_desc(struct buf *out, const struct message *message)
{
	const char *tag = message->cname;
	size_t i;

	if (message->nr_fields)
		buf_printf(out, "\nstatic const struct mrpc_field_desc %s__fields[] = {\n", tag);
	for (i = 0; i < message->nr_fields; i++)
		write_field(out, &message->fields[i]);
	buf_printf(out, "%s\nconst struct mrpc_message_desc %s__desc = {\n",
		   message->nr_fields ? "};\n" : "", tag);
	buf_printf(out, "\t.name = \"%s\",\n\t.size = %u,\n", message->full_name, message->size);
	if (message->nr_fields)
		buf_printf(out, "\t.fields = %s__fields,\n\t.nr_fields = %zu,\n", tag,
			   message->nr_fields);
	buf_printf(out, "};\n");
}

static int compare_names(const void *a, const void *b)
{
	const struct message *const *one = a, *const *other = b;

	return strcmp((*one)->full_name, (*other)->full_name);
}

/* Those that a google.protobuf.Any can hold, by name. */
static const struct message **by_name(const struct file *file, size_t *nr)
{
	const struct message **messages = xalloc(file->nr_messages, sizeof(*messages));
	size_t i;

	for (*nr = 0, i = 0; i < file->nr_messages; i++)
		if (!file->messages[i]->map_entry)
			messages[(*nr)++] = file->messages[i];
	qsort(messages, *nr, sizeof(*messages), compare_names);
	return messages;
}

void gen_file_desc(struct buf *out, const struct file *file)
{
	const struct message **messages;
	const char *tag;
	size_t i, nr;

	if (!file->nr_messages)
		return;
	messages = by_name(file, &nr);
	tag = messages[0]->cname;
	buf_printf(out, "\nstatic const struct mrpc_message_desc *const %s__messages[] = {\n", tag);
	for (i = 0; i < nr; i++)
		buf_printf(out, "\t&%s__desc,\n", messages[i]->cname);
	buf_printf(out, "};\n\nstatic struct mrpc_file_desc %s__file = {\n", tag);
	buf_printf(out, "\t.messages = %s__messages,\n\t.nr_messages = %zu,\n};\n", tag, nr);
	buf_printf(out, "\n__attribute__((constructor)) static void %s__file_add(void)\n", tag);
	buf_printf(out, "{\n\tmrpc_file_add(&%s__file);\n}\n", tag);
	buf_printf(out, "\n__attribute__((destructor)) static void %s__file_remove(void)\n", tag);
	buf_printf(out, "{\n\tmrpc_file_remove(&%s__file);\n}\n", tag);
}
