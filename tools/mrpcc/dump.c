// SPDX-License-Identifier: GPL-2.0
/* A binary schema as text, from what the kernel's compiler makes of it. */
#include "dump.h"
#include "gen_field.h"
#include "sha256.h"

static const char *type_text(const struct mrpc_schema_plan *plan, const struct mrpc_field *f)
{
	const struct mrpc_field *entry;
	const struct mrpc_type *type;

	if (f->kind != MRPC_KIND_MESSAGE)
		return kind_name(f->kind);
	type = &plan->types[f->type];
	entry = plan->fields + type->first_field;
	if (type->flags & MRPC_TYPE_MAP_ENTRY)
		return xasprintf("map<%s, %s>", type_text(plan, &entry[0]),
				 type_text(plan, &entry[1]));
	return plan->names + type->name;
}

static void dump_field(struct buf *out, const struct mrpc_schema_plan *plan,
		       const struct mrpc_field *f)
{
	bool map = f->kind == MRPC_KIND_MESSAGE &&
		   plan->types[f->type].flags & MRPC_TYPE_MAP_ENTRY;
	const char *label = "";

	if (f->flags & MRPC_FIELD_REPEATED && !map)
		label = "repeated ";
	if (f->flags & MRPC_FIELD_OPTIONAL)
		label = "optional ";
	buf_printf(out, "    @%-5u %s%s %s = %u", f->offset, label, type_text(plan, f),
		   plan->names + f->name, f->number);
	if (f->flags & MRPC_FIELD_REPEATED && f->kind < MRPC_KIND_STRING &&
	    !(f->flags & MRPC_FIELD_PACKED))
		buf_printf(out, ", not packed");
	if (f->flags & MRPC_FIELD_OPTIONAL)
		buf_printf(out, ", has bit %u", f->has_bit);
	if (f->oneof != MRPC_SCHEMA_NO_ONEOF)
		buf_printf(out, ", in oneof %u", f->oneof);
	buf_printf(out, "\n");
}

static void dump_type(struct buf *out, const struct mrpc_schema_plan *plan, unsigned int t)
{
	const struct mrpc_type *type = &plan->types[t];
	unsigned int i;

	buf_printf(out, "\ntype %u: %s%s, %u bytes\n", t, plan->names + type->name,
		   type->flags & MRPC_TYPE_MAP_ENTRY ? " (map entry)" : "", type->size);
	for (i = 0; i < type->nr_oneofs; i++)
		buf_printf(out, "    @%-5u case of oneof %u\n", type->oneof_offset + 4 * i, i);
	for (i = 0; i < type->nr_fields; i++)
		dump_field(out, plan, &plan->fields[type->first_field + i]);
}

void dump_schema(struct buf *out, const struct buf *schema)
{
	struct mrpc_schema_error err;
	s64 size = mrpc_schema_size(schema->data, schema->len, &err);
	struct mrpc_schema_plan *plan;
	uint8_t hash[SHA256_LEN];
	unsigned int i;

	if (size < 0)
		return;
	plan = xalloc(size, 1);
	if (mrpc_schema_compile(schema->data, schema->len, plan, size, &err))
		return;
	sha256(schema->data, schema->len, hash);

	buf_printf(out, "service %s\nsha256 ", mrpc_schema_service(plan));
	for (i = 0; i < sizeof(hash); i++)
		buf_printf(out, "%02x", hash[i]);
	buf_printf(out, "\n%zu bytes, %u methods, %u types, %u fields\n\n", schema->len,
		   plan->nr_methods, plan->nr_types, plan->nr_fields);
	for (i = 0; i < plan->nr_methods; i++)
		buf_printf(out, "method %u: %s(%s) returns (%s)\n", i,
			   plan->names + plan->methods[i].name,
			   plan->names + plan->types[plan->methods[i].request].name,
			   plan->names + plan->types[plan->methods[i].reply].name);
	for (i = 0; i < plan->nr_types; i++)
		dump_type(out, plan, i);
}
