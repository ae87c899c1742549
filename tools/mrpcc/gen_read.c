// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that look at a message. A received message has been verified by
 * the kernel: they follow references without checking them, and check only the
 * index that the program gives.
 */
#include "gen_field.h"
#include "gen_read.h"

#define ROOT	"const void *root"
#define INDEX	"size_t i"
#define LENGTH	"size_t *len"

static char *this_param(const struct field *field)
{
	return xasprintf("const struct %s *m", field->in->cname);
}

static void gen_has(struct buf *out, const struct field *field)
{
	const char *is_set = field_is_set(field);

	if (!is_set)
		return;
	gen_function(out, field, "bool ", "has_", this_param(field), NULL);
	buf_printf(out, "\treturn %s;\n}\n\n", is_set);
}

/* In a program that is built to check itself. */
static void gen_check(struct buf *out)
{
	buf_printf(out, "\tMRPC_CHECK_ROOT(root, m);\n");
}

/* "return value;", or @otherwise where a oneof has another member. */
static void gen_return(struct buf *out, const struct field *field, const char *value,
		       const char *otherwise)
{
	if (field_in_oneof(field))
		buf_printf(out, "\treturn %s ? %s : %s;\n}\n\n", field_is_set(field), value,
			   otherwise);
	else
		buf_printf(out, "\treturn %s;\n}\n\n", value);
}

static void gen_string(struct buf *out, const struct field *field)
{
	gen_function(out, field, "const char *", "", ROOT, this_param(field), NULL);
	gen_check(out);
	gen_return(out, field, xasprintf("mrpc_ref_str(root, m->%s)", field->cname), "\"\"");
}

static void gen_bytes(struct buf *out, const struct field *field)
{
	gen_function(out, field, "const void *", "", ROOT, this_param(field), LENGTH, NULL);
	gen_check(out);
	if (field_in_oneof(field))
		buf_printf(out, "\tif (len)\n\t\t*len = %s ? m->%s.len : 0;\n",
			   field_is_set(field), field->cname);
	else
		buf_printf(out, "\tif (len)\n\t\t*len = m->%s.len;\n", field->cname);
	gen_return(out, field, xasprintf("mrpc_ref_ptr(root, m->%s)", field->cname), "MRPC_NULL");
}

static void gen_message(struct buf *out, const struct field *field)
{
	const char *type = xasprintf("const struct %s *", field->type->cname);

	gen_function(out, field, type, "", ROOT, this_param(field), NULL);
	gen_check(out);
	gen_return(out, field, xasprintf("MRPC_CAST(%s, mrpc_ref_ptr(root, m->%s))", type, field->cname),
		   "MRPC_NULL");
}

static void gen_scalars(struct buf *out, const struct field *field)
{
	const char *type = xasprintf("const %s *", scalar_ctype(field->kind));

	gen_function(out, field, type, "", ROOT, this_param(field), "size_t *nr", NULL);
	gen_check(out);
	buf_printf(out, "\tif (nr)\n\t\t*nr = m->%s.len;\n", field->cname);
	gen_return(out, field, xasprintf("MRPC_CAST(%s, mrpc_ref_ptr(root, m->%s))", type, field->cname),
		   "MRPC_NULL");
}

static void gen_refs(struct buf *out, const struct field *field)
{
	buf_printf(out, "\tconst struct mrpc_ref *refs =\n"
			"\t\tMRPC_CAST(const struct mrpc_ref *, mrpc_ref_ptr(root, m->%s));\n\n",
		   field->cname);
}

static void gen_strings(struct buf *out, const struct field *field)
{
	gen_function(out, field, "const char *", "", ROOT, this_param(field), INDEX, NULL);
	gen_check(out);
	gen_refs(out, field);
	buf_printf(out, "\treturn i < m->%s.len ? mrpc_ref_str(root, refs[i]) : MRPC_NULL;\n}\n\n",
		   field->cname);
}

static void gen_bytess(struct buf *out, const struct field *field)
{
	gen_function(out, field, "const void *", "", ROOT, this_param(field), INDEX, LENGTH, NULL);
	gen_check(out);
	gen_refs(out, field);
	buf_printf(out, "\tif (len)\n\t\t*len = i < m->%s.len ? refs[i].len : 0;\n"
			"\treturn i < m->%s.len ? mrpc_ref_ptr(root, refs[i]) : MRPC_NULL;\n}\n\n",
		   field->cname, field->cname);
}

static void gen_elements(struct buf *out, const struct field *field)
{
	buf_printf(out, "\tconst struct %s *e =\n"
			"\t\tMRPC_CAST(const struct %s *, mrpc_ref_ptr(root, m->%s));\n",
		   field->type->cname, field->type->cname, field->cname);
}

static void gen_messages(struct buf *out, const struct field *field)
{
	gen_function(out, field, xasprintf("const struct %s *", field->type->cname), "", ROOT,
		     this_param(field), INDEX, NULL);
	gen_check(out);
	gen_elements(out, field);
	buf_printf(out, "\n\treturn i < m->%s.len ? &e[i] : MRPC_NULL;\n}\n\n", field->cname);
}

/* From the end: of entries with the same key, protobuf says, the last counts. */
static void gen_find(struct buf *out, const struct field *field)
{
	const struct field *key = &field->type->fields[0];
	const char *type = xasprintf("const struct %s *", field->type->cname);

	if (kind_is_scalar(key->kind))
		gen_function(out, field, type, "find_", ROOT, this_param(field),
			     xasprintf("%s key", scalar_ctype(key->kind)), NULL);
	else
		gen_function(out, field, type, "find_", ROOT, this_param(field),
			     "const char *key", NULL);
	gen_check(out);
	gen_elements(out, field);
	if (!kind_is_scalar(key->kind))
		buf_printf(out, "\tconst size_t len = strlen(key);\n");
	buf_printf(out, "\tsize_t i = m->%s.len;\n\n\twhile (i--)\n", field->cname);
	if (kind_is_scalar(key->kind))
		buf_printf(out, "\t\tif (e[i].key == key)\n");
	else
		buf_printf(out, "\t\tif (e[i].key.len == len &&\n"
				"\t\t    !memcmp(mrpc_ref_str(root, e[i].key), key, len))\n");
	buf_printf(out, "\t\t\treturn &e[i];\n\treturn MRPC_NULL;\n}\n\n");
}

static void gen_reader(struct buf *out, const struct field *field)
{
	if (field_repeated(field)) {
		if (field->type)
			gen_messages(out, field);
		else if (field->kind == MRPC_KIND_STRING)
			gen_strings(out, field);
		else if (field->kind == MRPC_KIND_BYTES)
			gen_bytess(out, field);
		else
			gen_scalars(out, field);
		if (field_map(field))
			gen_find(out, field);
		return;
	}
	if (field->type)
		gen_message(out, field);
	else if (field->kind == MRPC_KIND_STRING)
		gen_string(out, field);
	else if (field->kind == MRPC_KIND_BYTES)
		gen_bytes(out, field);
	/* Numbers are read from the struct. */
}

void gen_readers(struct buf *out, const struct message *message)
{
	size_t i;

	for (i = 0; i < message->nr_fields; i++) {
		gen_has(out, &message->fields[i]);
		gen_reader(out, &message->fields[i]);
	}
}
