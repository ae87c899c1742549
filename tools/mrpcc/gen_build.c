// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that make a message. Errors stick to the message (libmrpc's
 * mrpc.h): nothing here needs to be checked by the program before it is sent.
 */
#include "gen_build.h"
#include "gen_field.h"
#include "names.h"

#define MSG	"struct mrpc_msg *msg"

static char *this_param(const struct field *field)
{
	return xasprintf("struct %s *m", field->in->cname);
}

static void gen_new(struct buf *out, const struct message *message)
{
	const char *name = xasprintf("%s_new", message->cname);
	const char *params[] = { MSG, "struct mrpc_session *session", NULL };

	name_take(name, file_where(message->file, message->path),
		  xasprintf("message %s", message->full_name));
	gen_prototype(out, xasprintf("static inline struct %s *", message->cname), name, params);
	buf_printf(out, "\n{\n\treturn MRPC_CAST(struct %s *, mrpc_msg_new(msg, session,\n"
			"\t\t\tsizeof(struct %s), 0));\n}\n\n",
		   message->cname, message->cname);
}

/* Fields that can be absent; of the others absence is 0, "" or no elements. */
static void gen_clear(struct buf *out, const struct field *field)
{
	bool scalar = kind_is_scalar(field->kind);

	if (!field_has_presence(field))
		return;
	gen_function(out, field, "void ", "clear_", this_param(field), NULL);
	if (field_in_oneof(field)) {
		buf_printf(out, "\tif (%s)\n\t\tm->%s_case = 0;\n}\n\n", field_is_set(field),
			   field->in->oneofs[field->oneof].cname);
		return;
	}
	if (field_optional(field))
		buf_printf(out, "\tm->_has[%u] &= ~(1U << %u);\n", field->has_bit / 32,
			   field->has_bit % 32);
	if (scalar)
		buf_printf(out, "\tm->%s = 0;\n}\n\n", field->cname);
	else
		buf_printf(out, "\tm->%s.off = 0;\n\tm->%s.len = 0;\n}\n\n", field->cname,
			   field->cname);
}

/* Other numbers are written to the struct. */
static void gen_set_scalar(struct buf *out, const struct field *field)
{
	if (!field_has_presence(field))
		return;
	gen_function(out, field, "void ", "set_", this_param(field),
		     xasprintf("%s value", scalar_ctype(field->kind)), NULL);
	buf_printf(out, "%s\tm->%s = value;\n}\n\n", field_mark_set(field), field->cname);
}

/* To be filled by the program, or filled already. */
static void gen_alloc_attach(struct buf *out, const struct field *field, const char *type)
{
	const char *mark = field_mark_set(field);

	gen_function(out, field, type, "alloc_", MSG, this_param(field), "size_t len", NULL);
	buf_printf(out, field->kind == MRPC_KIND_STRING ?
		   "%s\treturn MRPC_CAST(char *, mrpc_msg_alloc_bytes(msg, &m->%s, len));\n}\n\n" :
		   "%s\treturn mrpc_msg_alloc_bytes(msg, &m->%s, len);\n}\n\n", mark, field->cname);
	gen_function(out, field, "void ", "attach_", MSG, this_param(field), "void *block",
		     "size_t off", "uint32_t len", NULL);
	buf_printf(out, "%s\tmrpc_msg_attach(msg, &m->%s, block, off, len, len);\n}\n\n", mark,
		   field->cname);
}

static void gen_string(struct buf *out, const struct field *field)
{
	const char *mark = field_mark_set(field);

	gen_function(out, field, "void ", "set_", MSG, this_param(field), "const char *str", NULL);
	buf_printf(out, "%s\tmrpc_msg_set_str(msg, &m->%s, str);\n}\n\n", mark, field->cname);
	gen_function(out, field, "void ", "setn_", MSG, this_param(field), "const char *str",
		     "size_t len", NULL);
	buf_printf(out, "%s\tmrpc_msg_set_strn(msg, &m->%s, str, len);\n}\n\n", mark,
		   field->cname);
	gen_alloc_attach(out, field, "char *");
}

static void gen_bytes(struct buf *out, const struct field *field)
{
	gen_function(out, field, "void ", "set_", MSG, this_param(field), "const void *data",
		     "size_t len", NULL);
	buf_printf(out, "%s\tmrpc_msg_set_bytes(msg, &m->%s, data, len);\n}\n\n",
		   field_mark_set(field), field->cname);
	gen_alloc_attach(out, field, "void *");
}

static void gen_message(struct buf *out, const struct field *field)
{
	const char *type = xasprintf("struct %s *", field->type->cname);

	gen_function(out, field, type, "alloc_", MSG, this_param(field), NULL);
	buf_printf(out, "%s\treturn MRPC_CAST(%s, mrpc_msg_alloc_struct(msg, &m->%s,\n"
			"\t\t\tsizeof(struct %s)));\n}\n\n",
		   field_mark_set(field), type, field->cname, field->type->cname);
}

static void gen_alloc_array(struct buf *out, const struct field *field, const char *type,
			    unsigned int align)
{
	gen_function(out, field, xasprintf("%s *", type), "alloc_", MSG, this_param(field),
		     "size_t nr", NULL);
	buf_printf(out, "\treturn MRPC_CAST(%s *, mrpc_msg_alloc_array(msg, &m->%s, nr,\n"
			"\t\t\tsizeof(%s), %u));\n}\n\n",
		   type, field->cname, type, align);
}

static void gen_scalars(struct buf *out, const struct field *field)
{
	const char *type = scalar_ctype(field->kind);
	unsigned int size = field->kind == MRPC_KIND_BOOL ? 1 :
			    field->kind >= MRPC_KIND_INT64 ? 8 : 4;

	gen_alloc_array(out, field, type, size);
	gen_function(out, field, "void ", "set_", MSG, this_param(field),
		     xasprintf("const %s *values", type), "size_t nr", NULL);
	buf_printf(out, "\tmrpc_msg_set_array(msg, &m->%s, values, nr, %u);\n}\n\n", field->cname,
		   size);
	gen_function(out, field, "void ", "attach_", MSG, this_param(field), "void *block",
		     "size_t off", "uint32_t nr", NULL);
	buf_printf(out, "\tmrpc_msg_attach(msg, &m->%s, block, off, nr, MRPC_CAST(size_t, nr) * %u);\n}\n\n",
		   field->cname, size);
}

static const char *elem_type(const struct field *field)
{
	if (field->type)
		return xasprintf("struct %s", field->type->cname);
	return kind_is_scalar(field->kind) ? scalar_ctype(field->kind) : "struct mrpc_ref";
}

/* Of scalars and structures, whose element is the value. */
static void gen_add_element(struct buf *out, const struct field *field)
{
	const char *type = elem_type(field);

	if (field->type) {
		gen_function(out, field, xasprintf("%s *", type), "add_", MSG, this_param(field),
			     NULL);
		buf_printf(out, "\treturn MRPC_CAST(%s *, mrpc_msg_append(msg, &m->%s,\n"
				"\t\t\tsizeof(%s)));\n}\n\n", type, field->cname, type);
		return;
	}
	gen_function(out, field, "void ", "add_", MSG, this_param(field),
		     xasprintf("%s value", type), NULL);
	buf_printf(out, "\t%s *e = MRPC_CAST(%s *, mrpc_msg_append(msg, &m->%s,\n"
			"\t\t\tsizeof(%s)));\n\n\tif (e)\n\t\t*e = value;\n}\n\n",
		   type, type, field->cname, type);
}

/* Of strings and bytes, whose element is a reference. */
static void gen_add_ref(struct buf *out, const struct field *field)
{
	bool bytes = field->kind == MRPC_KIND_BYTES;

	if (bytes)
		gen_function(out, field, "void ", "add_", MSG, this_param(field),
			     "const void *data", "size_t len", NULL);
	else
		gen_function(out, field, "void ", "add_", MSG, this_param(field),
			     "const char *str", NULL);
	buf_printf(out, "\tstruct mrpc_ref *e = MRPC_CAST(struct mrpc_ref *,\n"
			"\t\t\tmrpc_msg_append(msg, &m->%s, sizeof(*e)));\n\n\tif (e)\n", field->cname);
	buf_printf(out, bytes ? "\t\tmrpc_msg_set_bytes(msg, e, data, len);\n}\n\n" :
		   "\t\tmrpc_msg_set_str(msg, e, str);\n}\n\n");
}

/* One element of an array of references. */
static void gen_set_element(struct buf *out, const struct field *field, const char *setter)
{
	buf_printf(out, "\tstruct mrpc_ref *refs =\n"
			"\t\tMRPC_CAST(struct mrpc_ref *, mrpc_ref_mut(mrpc_msg_root(msg), m->%s));\n\n",
		   field->cname);
	buf_printf(out, "\tif (i < m->%s.len)\n\t\t%s;\n"
			"\telse if (!msg->err)\n\t\tmsg->err = -ERANGE;\n}\n\n",
		   field->cname, setter);
}

static void gen_refs(struct buf *out, const struct field *field)
{
	gen_alloc_array(out, field, "struct mrpc_ref", 8);
	if (field->kind == MRPC_KIND_BYTES) {
		gen_function(out, field, "void ", "set_", MSG, this_param(field), "size_t i",
			     "const void *data", "size_t len", NULL);
		gen_set_element(out, field, "mrpc_msg_set_bytes(msg, &refs[i], data, len)");
		return;
	}
	gen_function(out, field, "void ", "set_", MSG, this_param(field), "size_t i",
		     "const char *str", NULL);
	gen_set_element(out, field, "mrpc_msg_set_str(msg, &refs[i], str)");
	gen_function(out, field, "void ", "setn_", MSG, this_param(field), "size_t i",
		     "const char *str", "size_t len", NULL);
	gen_set_element(out, field, "mrpc_msg_set_strn(msg, &refs[i], str, len)");
}

static void gen_builder(struct buf *out, const struct field *field)
{
	gen_clear(out, field);
	if (field_repeated(field)) {
		if (field->type || kind_is_scalar(field->kind))
			gen_add_element(out, field);
		else
			gen_add_ref(out, field);
		if (field->type)
			gen_alloc_array(out, field, xasprintf("struct %s", field->type->cname), 8);
		else if (kind_is_scalar(field->kind))
			gen_scalars(out, field);
		else
			gen_refs(out, field);
		return;
	}
	if (field->type)
		gen_message(out, field);
	else if (field->kind == MRPC_KIND_STRING)
		gen_string(out, field);
	else if (field->kind == MRPC_KIND_BYTES)
		gen_bytes(out, field);
	else
		gen_set_scalar(out, field);
}

void gen_builders(struct buf *out, const struct message *message)
{
	size_t i;

	/* An entry is always in a map's array. */
	if (!message->map_entry)
		gen_new(out, message);
	for (i = 0; i < message->nr_fields; i++)
		gen_builder(out, &message->fields[i]);
}
