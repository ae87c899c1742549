// SPDX-License-Identifier: GPL-2.0
/*
 * Enums and struct blocks. The members stand in an order that gives the layout
 * of kmod/lib/message/schema.h by the compiler's own rules, once everything of 8 bytes
 * is aligned to 8 (which 32-bit x86 does not do by itself). Assertions in the
 * generated source compare the result with what the schema compiler said.
 */
#include "comment.h"
#include "gen_field.h"
#include "gen_struct.h"
#include "names.h"

#define ALIGNED_8	"__attribute__((aligned(8)))"

static const char *value_name(const struct enumeration *enumeration, size_t i)
{
	return xasprintf("%s%s%s", enumeration->scope, *enumeration->scope ? "." : "",
			 enumeration->proto->value[i]->name);
}

void take_enum_names(const struct enumeration *enumeration)
{
	size_t i;

	name_take(enumeration->cname, file_where(enumeration->file, enumeration->path),
		  xasprintf("enum %s", enumeration->full_name));
	for (i = 0; i < enumeration->proto->n_value; i++) {
		struct path path = path_add(enumeration->path, PB_ENUM_VALUE, i);
		const char *name = value_name(enumeration, i);

		name_take(cname_of(name), file_where(enumeration->file, path),
			  xasprintf("enum value %s", name));
	}
}

void gen_enum(struct buf *out, const struct enumeration *enumeration)
{
	const EnumProto *proto = enumeration->proto;
	size_t i;

	gen_comment(out, "", enumeration->file, enumeration->path);
	buf_printf(out, "enum %s {\n", enumeration->cname);
	for (i = 0; i < proto->n_value; i++) {
		const char *cname = cname_of(value_name(enumeration, i));

		gen_comment(out, "\t", enumeration->file,
			    path_add(enumeration->path, PB_ENUM_VALUE, i));
		if (proto->value[i]->number == INT32_MIN)	/* no such literal in C */
			buf_printf(out, "\t%s = -2147483647 - 1,\n", cname);
		else
			buf_printf(out, "\t%s = %d,\n", cname, proto->value[i]->number);
	}
	buf_printf(out, "};\n\n");
}

static void gen_case_enum(struct buf *out, const struct message *message, size_t o)
{
	const struct oneof *oneof = &message->oneofs[o];
	const char *tag = xasprintf("%s_%s_case", message->cname, oneof->cname);
	struct where where = file_where(message->file, oneof->path);
	const char *what = xasprintf("oneof %s.%s", message->full_name, oneof->proto->name);
	size_t f;

	name_take(tag, where, what);
	buf_printf(out, "enum %s {\n", tag);
	buf_printf(out, "\t%s_%s_NOT_SET = 0,\n", message->cname, oneof->cname);
	name_take(xasprintf("%s_%s_NOT_SET", message->cname, oneof->cname), where, what);
	for (f = oneof->first; f < message->nr_fields; f++) {
		const struct field *field = &message->fields[f];
		const char *name = xasprintf("%s_CASE_%s", message->cname, field->cname);

		if (field->oneof != o)
			continue;
		name_take(name, file_where(message->file, field->path), what);
		buf_printf(out, "\t%s = %u,\n", name, field->number);
	}
	buf_printf(out, "};\n\n");
}

static void gen_member(struct buf *out, const char *indent, const struct field *field)
{
	const char *type = "struct mrpc_ref";
	const char *align = "";

	if (!field_repeated(field) && kind_is_scalar(field->kind)) {
		type = scalar_ctype(field->kind);
		if (field->kind >= MRPC_KIND_INT64)
			align = " " ALIGNED_8;
	}
	gen_comment(out, indent, field->in->file, field->path);
	buf_printf(out, "%s%s %s%s; /* %s */\n", indent, type, field->cname, align,
		   field_prototype(field));
}

static void gen_union(struct buf *out, const struct message *message, size_t first)
{
	size_t o = message->fields[first].oneof, f;

	gen_comment(out, "\t", message->file, message->oneofs[o].path);
	buf_printf(out, "\t__extension__ union { /* %s_case says which */\n", message->oneofs[o].cname);
	for (f = first; f < message->nr_fields; f++)
		if (message->fields[f].oneof == o)
			gen_member(out, "\t\t", &message->fields[f]);
	buf_printf(out, "\t};\n");
}

void gen_struct(struct buf *out, const struct message *message)
{
	size_t i;

	name_take(message->cname, file_where(message->file, message->path),
		  xasprintf("message %s", message->full_name));
	for (i = 0; i < message->nr_oneofs; i++)
		gen_case_enum(out, message, i);

	if (message->map_entry)
		buf_printf(out, "/* An entry of a map. */\n");
	else
		gen_comment(out, "", message->file, message->path);
	buf_printf(out, "struct %s {\n", message->cname);
	if (message->nr_has)
		buf_printf(out, "\tuint32_t _has[%u];\n", (message->nr_has + 31) / 32);
	for (i = 0; i < message->nr_oneofs; i++)
		buf_printf(out, "\tuint32_t %s_case; /* enum %s_%s_case */\n",
			   message->oneofs[i].cname, message->cname, message->oneofs[i].cname);
	for (i = 0; i < message->nr_fields; i++) {
		const struct field *field = &message->fields[i];

		if (!field_in_oneof(field))
			gen_member(out, "\t", field);
		else if (message->oneofs[field->oneof].first == i)
			gen_union(out, message, i);
	}
	if (!message->nr_fields)
		buf_printf(out, "\tuint64_t _empty;\n");
	buf_printf(out, "} " ALIGNED_8 ";\n\n");
}

void gen_layout_asserts(struct buf *out, const struct message *message)
{
	const char *tag = message->cname;
	size_t i;

	buf_printf(out, "__extension__ _Static_assert(sizeof(struct %s) == %u, \"size of %s\");\n", tag,
		   message->size, message->full_name);
	for (i = 0; i < message->nr_oneofs; i++)
		buf_printf(out,
			   "__extension__ _Static_assert(offsetof(struct %s, %s_case) == %zu, \"%s of %s\");\n",
			   tag, message->oneofs[i].cname, message->oneof_offset + 4 * i,
			   message->oneofs[i].proto->name, message->full_name);
	for (i = 0; i < message->nr_fields; i++) {
		const struct field *field = &message->fields[i];

		buf_printf(out, "__extension__ _Static_assert(offsetof(struct %s, %s) == %u, \"%s of %s\");\n",
			   tag, field->cname, field->offset, field->name, message->full_name);
	}
}
