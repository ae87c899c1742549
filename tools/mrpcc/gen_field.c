// SPDX-License-Identifier: GPL-2.0
/* What a field is in C, and the frame of the functions that handle it. */
#include <string.h>

#include "gen_field.h"
#include "names.h"

#define COLUMNS	100

struct kind {
	const char *proto;
	const char *c;	/* NULL: struct mrpc_ref */
};

static const struct kind kinds[] = {
	[MRPC_KIND_BOOL] = { "bool", "bool" },
	[MRPC_KIND_INT32] = { "int32", "int32_t" },
	[MRPC_KIND_SINT32] = { "sint32", "int32_t" },
	[MRPC_KIND_UINT32] = { "uint32", "uint32_t" },
	[MRPC_KIND_FIXED32] = { "fixed32", "uint32_t" },
	[MRPC_KIND_SFIXED32] = { "sfixed32", "int32_t" },
	[MRPC_KIND_FLOAT] = { "float", "float" },
	/* Enums of proto3 are open: any value can come. */
	[MRPC_KIND_ENUM] = { "enum", "int32_t" },
	[MRPC_KIND_INT64] = { "int64", "int64_t" },
	[MRPC_KIND_SINT64] = { "sint64", "int64_t" },
	[MRPC_KIND_UINT64] = { "uint64", "uint64_t" },
	[MRPC_KIND_FIXED64] = { "fixed64", "uint64_t" },
	[MRPC_KIND_SFIXED64] = { "sfixed64", "int64_t" },
	[MRPC_KIND_DOUBLE] = { "double", "double" },
	[MRPC_KIND_STRING] = { "string", NULL },
	[MRPC_KIND_BYTES] = { "bytes", NULL },
	[MRPC_KIND_MESSAGE] = { "message", NULL },
};

const char *scalar_ctype(u8 kind)
{
	return kinds[kind].c;
}

const char *kind_name(u8 kind)
{
	return kinds[kind].proto;
}

bool kind_is_scalar(u8 kind)
{
	return kinds[kind].c;
}

bool field_has_presence(const struct field *field)
{
	return !field_repeated(field) && (field_optional(field) || field_in_oneof(field) ||
					  field->kind == MRPC_KIND_MESSAGE);
}

static const char *prototype_type(const struct field *field)
{
	if (field->enumeration)
		return xasprintf("enum %s", field->enumeration->cname);
	if (field_map(field))
		return xasprintf("map<%s, %s>", prototype_type(&field->type->fields[0]),
				 prototype_type(&field->type->fields[1]));
	if (field->type)
		return xasprintf("struct %s", field->type->cname);
	return kinds[field->kind].proto;
}

const char *field_prototype(const struct field *field)
{
	const char *label = "";

	if (field_repeated(field) && !field_map(field))
		label = "repeated ";
	else if (field_optional(field))
		label = "optional ";
	return xasprintf("%s%s %s = %u", label, prototype_type(field), field->name,
			 field->number);
}

const char *field_is_set(const struct field *field)
{
	if (field_in_oneof(field))
		return xasprintf("m->%s_case == %u", field->in->oneofs[field->oneof].cname,
				 field->number);
	if (field_optional(field))
		return xasprintf("m->_has[%u] & 1U << %u", field->has_bit / 32,
				 field->has_bit % 32);
	if (field->kind == MRPC_KIND_MESSAGE && !field_repeated(field))
		return xasprintf("m->%s.len != 0", field->cname);
	return NULL;
}

const char *field_mark_set(const struct field *field)
{
	if (field_in_oneof(field))
		return xasprintf("\tm->%s_case = %u;\n",
				 field->in->oneofs[field->oneof].cname, field->number);
	if (field_optional(field))
		return xasprintf("\tm->_has[%u] |= 1U << %u;\n", field->has_bit / 32,
				 field->has_bit % 32);
	return "";
}

void gen_prototype(struct buf *out, const char *ret, const char *name, const char **params)
{
	size_t column = strlen(ret) + (*ret == '\t' ? 7 : 0) + strlen(name) + 1;
	bool first = true;

	buf_printf(out, "%s%s(", ret, name);
	for (; *params; params++) {
		size_t len = strlen(*params) + 2;

		if (!first)
			buf_printf(out, ",");
		if (!first && column + len > COLUMNS) {
			buf_printf(out, "\n\t\t%s", *ret == '\t' ? "\t" : "");
			column = *ret == '\t' ? 24 : 16;
		} else if (!first) {
			buf_printf(out, " ");
		}
		buf_printf(out, "%s", *params);
		column += len;
		first = false;
	}
	buf_printf(out, "%s)", first ? "void" : "");
}

#define MAX_PARAMS	8

void gen_function(struct buf *out, const struct field *field, const char *ret,
		  const char *prefix, ...)
{
	const char *params[MAX_PARAMS + 1];
	const char *name = xasprintf("%s_%s%s", field->in->cname, prefix, field->cname);
	size_t nr = 0;
	va_list ap;

	va_start(ap, prefix);
	do
		params[nr] = va_arg(ap, const char *);
	while (params[nr++] && nr <= MAX_PARAMS);
	va_end(ap);

	name_take(name, file_where(field->in->file, field->path),
		  xasprintf("field %s.%s", field->in->full_name, field->name));
	gen_prototype(out, xasprintf("static inline %s", ret), name, params);
	buf_printf(out, "\n{\n");
}
