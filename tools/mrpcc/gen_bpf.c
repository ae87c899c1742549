// SPDX-License-Identifier: GPL-2.0
/*
 * For policies in eBPF: macros with the paths of fields as policies declare them,
 * "package.Type:path". A macro's name consists of the type and each field on the path, in
 * capitals. A macro for an element or an entry takes its index or key as a parameter.
 */
#include <ctype.h>
#include <linux/mrpc_policy.h>
#include <string.h>

#include "gen_bpf.h"
#include "gen_field.h"
#include "names.h"

#define MAX_NAMES	4	/* fields on a path, while that makes at most ... */
#define MAX_MACROS	4096	/* ... macros for a type */
#define COLUMNS		100

/**
 * struct walk - a walk over all fields that can be reached from a type
 * @out: NULL: count only, and no further than MAX_MACROS
 * @where: the place to report if a name is taken
 * @take: names are to be taken
 * @max_names: maximum number of names in a path
 * @nr: macros so far
 */
struct walk {
	struct buf *out;
	struct where where;
	bool take;
	size_t max_names;
	size_t nr;
};

/**
 * struct spot - a place in a message
 * @in: the spot of the message that contains it; NULL: it is the root
 * @type: the message there, or NULL
 * @macro: its name
 * @params: of the macro, each with ", " before it
 * @nr_params: number of @params
 * @text: the path as the inside of a string literal, with gaps for parameters
 * @len: bytes of the path, with the shortest arguments
 * @names: number of fields on the path
 */
struct spot {
	const struct spot *in;
	const struct message *type;
	const char *macro;
	const char *params;
	size_t nr_params;
	const char *text;
	size_t len;
	size_t names;
};

static char *capitals(const char *name)
{
	char *copy = xasprintf("%s", name), *p;

	for (p = copy; *p; p++)
		*p = *p == '.' ? '_' : toupper((unsigned char)*p);
	return copy;
}

/* -- macros ------------------------------------------------------------------------ */

static bool too_long(size_t len)
{
	return len > MRPC_POLICY_PATH - 1;
}

static void write_macro(struct walk *w, const struct spot *s, const char *suffix,
			const char *end, const char *comment)
{
	const char *params = s->nr_params ? xasprintf("(%s)", s->params + 2) : "";
	const char *name = xasprintf("%s%s", s->macro, suffix);
	char *value = xasprintf("\"%s%s\" /* %s */", s->text, end, comment);
	size_t columns = strlen("#define ") + strlen(name) + strlen(params) + 1 + strlen(value);

	if (w->take)
		name_take_macro(name, w->where, xasprintf("path %s%s", s->text, end));
	buf_printf(w->out, "#define %s%s%s%s\n", name, params, columns > COLUMNS ? " \\\n\t" : " ",
		   value);
}

static void add_macro(struct walk *w, const struct spot *s, const char *suffix, const char *end,
		      const char *comment)
{
	w->nr++;
	if (!w->out)
		return;
	if (too_long(s->len + strlen(end)))
		buf_printf(w->out, "/* No %s%s: a policy's paths have at most %u bytes. */\n",
			   s->macro, suffix, MRPC_POLICY_PATH - 1);
	else
		write_macro(w, s, suffix, end, comment);
}

/* A name that is generated from a field's must not collide with another field's name. */
static const char *suffix_of(const struct field *field, const char *suffix)
{
	const char *name = xasprintf("%s%s", field->name, suffix);
	size_t i;

	for (i = 0; i < field->in->nr_fields; i++)
		if (!strcasecmp(field->in->fields[i].name, name))
			return suffix_of(field, xasprintf("%s_", suffix));
	return suffix;
}

static const char *comment_of(const struct field *field)
{
	if (field->enumeration)
		return xasprintf("enum %s", field->enumeration->cname);
	if (field->type)
		return xasprintf("message %s", field->type->full_name);
	return kind_name(field->kind);
}

/* -- the walk ---------------------------------------------------------------------- */

static struct spot step_to(const struct spot *at, const struct field *field)
{
	return (struct spot){
		.in = at,
		.macro = xasprintf("%s__%s", at->macro, capitals(field->name)),
		.params = at->params,
		.nr_params = at->nr_params,
		.text = xasprintf("%s%s%s", at->text, at->in ? "." : "", field->name),
		.len = at->len + !!at->in + strlen(field->name),
		.names = at->names + 1,
	};
}

static void add_param(struct spot *s, const char *param, const char *before, const char *after)
{
	if (strstr(s->params, xasprintf(", %s", param)))
		param = xasprintf("%s%zu", param, s->nr_params + 1);
	s->params = xasprintf("%s, %s", s->params, param);
	s->nr_params++;
	s->text = xasprintf("%s%s%s%s", s->text, before, param, after);
}

/* Steps to an element, or to the value of a key. A text is quoted, other keys are not. */
static void step_in(struct spot *s, const struct field *field)
{
	u8 key = field_map(field) ? field->type->fields[0].kind : 0;

	if (key == MRPC_KIND_STRING)
		add_param(s, "text", "[\\\"\" ", " \"\\\"]");
	else
		add_param(s, key ? "key" : "i", "[\" #", " \"]");
	s->len += key == MRPC_KIND_STRING ? strlen("[\"\"]") :
		  key == MRPC_KIND_BOOL ? strlen("[true]") : strlen("[0]");
}

static bool is_on_the_way(const struct spot *s, const struct message *type)
{
	for (; s; s = s->in)
		if (s->type == type)
			return true;
	return false;
}

static void walk_message(struct walk *w, const struct spot *at);

static void walk_field(struct walk *w, const struct spot *at, const struct field *field)
{
	const struct field *value = field_map(field) ? &field->type->fields[1] : field;
	struct spot s = step_to(at, field);

	if (field_repeated(field)) {
		add_macro(w, &s, suffix_of(field, "_COUNT"), "#", "how many there are");
		step_in(&s, field);
	}
	add_macro(w, &s, "", "", comment_of(value));
	if (value->enumeration)
		value->enumeration->file->needed = true;
	if (value->kind == MRPC_KIND_STRING || value->kind == MRPC_KIND_BYTES)
		add_macro(w, &s, suffix_of(field, "_LEN"), "#", "bytes of it");
	if (!value->type || too_long(s.len) || s.names == w->max_names ||
	    is_on_the_way(at, value->type))
		return;
	s.type = value->type;
	walk_message(w, &s);
}

static void walk_message(struct walk *w, const struct spot *at)
{
	size_t i;

	for (i = 0; i < at->type->nr_fields && (w->out || w->nr <= MAX_MACROS); i++)
		walk_field(w, at, &at->type->fields[i]);
}

static struct spot root_of(const struct message *type)
{
	return (struct spot){
		.type = type,
		.macro = capitals(type->full_name),
		.params = "",
		.text = xasprintf("%s:", type->full_name),
		.len = strlen(type->full_name) + 1,
	};
}

static size_t count_macros(const struct spot *root, size_t max_names)
{
	struct walk w = { .max_names = max_names };

	walk_message(&w, root);
	return w.nr;
}

static void gen_paths(struct buf *out, struct message *type)
{
	struct walk w = {
		.out = out,
		.where = file_where(type->file, type->path),
		.take = !type->paths_named,
		.max_names = MAX_NAMES,
	};
	struct spot root = root_of(type);

	while (w.max_names > 1 && count_macros(&root, w.max_names) > MAX_MACROS)
		w.max_names--;
	buf_printf(out, "/* -- message %s -- */\n\n", type->full_name);
	if (w.max_names < MAX_NAMES)
		buf_printf(out, "/* Not all: paths of up to %zu names. */\n", w.max_names);
	walk_message(&w, &root);
	buf_printf(out, "%s", w.nr ? "\n" : "");
	type->paths_named = true;
}

/* -- a file ------------------------------------------------------------------------ */

static void gen_service(struct buf *out, const struct service *service)
{
	const char *name = xasprintf("%s_SERVICE", capitals(service->full_name));

	name_take_macro(name, file_where(service->file, service->path),
			xasprintf("service %s", service->full_name));
	buf_printf(out, "#define %s \"%s\"\n", name, service->full_name);
}

static void gen_once(struct buf *out, struct message *type, const struct file *file)
{
	if (type->paths_in == file)
		return;
	type->paths_in = file;
	gen_paths(out, type);
}

void gen_bpf_paths(struct buf *out, const struct file *file)
{
	size_t i, m;

	for (i = 0; i < file->nr_services; i++)
		gen_service(out, &file->services[i]);
	buf_printf(out, "%s", file->nr_services ? "\n" : "");
	for (i = 0; i < file->nr_services; i++)
		for (m = 0; m < file->services[i].nr_methods; m++) {
			gen_once(out, file->services[i].methods[m].request, file);
			gen_once(out, file->services[i].methods[m].reply, file);
		}
}
