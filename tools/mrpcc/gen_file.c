// SPDX-License-Identifier: GPL-2.0
/* The frame of a generated header and source. */
#include <ctype.h>
#include <string.h>

#include "comment.h"
#include "deps.h"
#include "gen_bpf.h"
#include "gen_build.h"
#include "gen_desc.h"
#include "gen_file.h"
#include "gen_protos.h"
#include "gen_read.h"
#include "gen_service.h"
#include "gen_struct.h"

/* "a/b.proto" -> "a/b" */
static char *stem_of(const struct file *file)
{
	return xasprintf("%.*s", (int)(strlen(file->proto->name) - strlen(".proto")),
			 file->proto->name);
}

static void gen_banner(struct buf *out, const struct file *file)
{
	buf_printf(out, "/*\n * Made by mrpcc from %s: do not edit.\n", file->proto->name);
	buf_printf(out, " * What mrpcc adds may be used under any license.\n");
	buf_printf(out, " */\n");
}

static char *guard_of(const struct file *file, const char *end)
{
	char *guard = xasprintf("%s_MRPC_%s", stem_of(file), end), *p;

	for (p = guard; *p; p++)
		*p = isalnum((unsigned char)*p) ? toupper((unsigned char)*p) : '_';
	return xasprintf("%s%s", isdigit((unsigned char)*guard) ? "MRPC_" : "", guard);
}

/* -- which other headers -------------------------------------------------------------- */

/* The compiler alone would say what is missing, but not what makes it. */
static void gen_include(struct buf *out, const struct file *file)
{
	const char *stem = stem_of(file), *name = file->proto->name;

	buf_printf(out, "#if defined(__has_include)\n#if !__has_include(\"%s.mrpc.h\")\n", stem);
	if (comes_with_library(name))
		buf_printf(out, "#error \"%s.mrpc.h is missing: it is in the folder 'include' of "
			   "libmrpc; pass that with -I\"\n", stem);
	else
		buf_printf(out, "#error \"%s.mrpc.h is missing: run mrpcc --out=DIR %s\"\n", stem,
			   name);
	buf_printf(out, "#endif\n#endif\n#include \"%s.mrpc.h\"\n", stem);
}

static void gen_includes(struct buf *out, struct model *model, struct file *file)
{
	size_t i;

	model_need(model, file);
	for (i = 0; i < model->nr_files; i++)
		if (model->files[i].needed)
			gen_include(out, &model->files[i]);
}

/* -- what both headers of a file have --------------------------------------------------- */

static void take_constant_names(struct file *file)
{
	size_t i;

	if (file->named)
		return;
	file->named = true;
	for (i = 0; i < file->nr_enums; i++)
		take_enum_names(file->enums[i]);
	for (i = 0; i < file->nr_services; i++)
		take_method_names(&file->services[i]);
}

/* Any number of headers, of others too, may have them, and be included together. */
static void gen_constants(struct buf *out, struct file *file)
{
	const char *guard = guard_of(file, "CONSTANTS");
	size_t i;

	if (!file->nr_enums && !file->nr_services)
		return;
	take_constant_names(file);
	buf_printf(out, "#ifndef %s\n#define %s\n\n", guard, guard);
	for (i = 0; i < file->nr_enums; i++)
		gen_enum(out, file->enums[i]);
	for (i = 0; i < file->nr_services; i++)
		gen_methods(out, &file->services[i]);
	buf_printf(out, "#endif /* %s */\n\n", guard);
}

/* -- the files ------------------------------------------------------------------------ */

static void gen_header(struct model *model, struct file *file, struct buf *out)
{
	const char *guard = guard_of(file, "H");
	size_t i;

	gen_banner(out, file);
	gen_file_comment(out, file);
	buf_printf(out, "#ifndef %s\n#define %s\n\n", guard, guard);
	buf_printf(out, "#include <errno.h>\n#include <string.h>\n\n#include <mrpc_message.h>\n");
	gen_includes(out, model, file);
	buf_printf(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");

	gen_constants(out, file);
	for (i = 0; i < file->nr_enums; i++)
		gen_enum_declaration(out, file->enums[i]);
	for (i = 0; i < file->nr_messages; i++)
		gen_message_declaration(out, file->messages[i]);
	buf_printf(out, "%s", file->nr_enums + file->nr_messages ? "\n" : "");
	for (i = 0; i < file->nr_messages; i++)
		gen_struct(out, file->messages[i]);
	for (i = 0; i < file->nr_messages; i++) {
		const struct message *message = file->messages[i];

		buf_printf(out, "/* -- %s %s -- */\n\n",
			   message->map_entry ? "map entry" : "message", message->full_name);
		gen_readers(out, message);
		gen_builders(out, message);
	}
	for (i = 0; i < file->nr_services; i++)
		gen_service_header(out, &file->services[i]);

	buf_printf(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif /* %s */\n", guard);
}

/* Of imported types, too: their headers could be older than the schema. */
static void gen_import_asserts(struct buf *out, const struct service *service)
{
	size_t i;

	for (i = 0; i < service->nr_types; i++) {
		struct message *message = service->types[i];

		if (message->file == service->file || message->asserted_in == service->file)
			continue;
		message->asserted_in = service->file;
		gen_layout_asserts(out, message);
	}
}

static void gen_source(struct model *model, struct file *file, struct buf *out)
{
	size_t i;

	gen_banner(out, file);
	buf_printf(out, "#include <stddef.h>\n\n");
	buf_printf(out, "#include \"%s.mrpc.h\"\n\n", stem_of(file));

	buf_printf(out, "/* The layout that the kernel computes from the schema. */\n");
	for (i = 0; i < file->nr_messages; i++)
		gen_layout_asserts(out, file->messages[i]);
	for (i = 0; i < file->nr_services; i++)
		gen_import_asserts(out, &file->services[i]);
	for (i = 0; i < file->nr_enums; i++)
		gen_enum_desc(out, file->enums[i]);
	for (i = 0; i < file->nr_messages; i++)
		gen_message_desc(out, file->messages[i]);
	gen_file_desc(out, file);
	gen_protos(out, model, file);
	for (i = 0; i < file->nr_services; i++) {
		buf_printf(out, "\n");
		gen_service_source(out, &file->services[i]);
	}
}

void gen_file(struct model *model, struct file *file, struct output *header,
	      struct output *source)
{
	header->name = xasprintf("%s.mrpc.h", stem_of(file));
	gen_header(model, file, &header->text);
	source->name = xasprintf("%s.mrpc.c", stem_of(file));
	gen_source(model, file, &source->text);
}

void gen_bpf_file(struct model *model, struct file *file, struct output *header)
{
	const char *guard = guard_of(file, "BPF_H");
	struct buf paths = { 0 };
	size_t i;

	for (i = 0; i < model->nr_files; i++)
		model->files[i].needed = false;
	gen_bpf_paths(&paths, file);
	file->needed = true;

	header->name = xasprintf("%s.mrpc.bpf.h", stem_of(file));
	gen_banner(&header->text, file);
	buf_printf(&header->text, "#ifndef %s\n#define %s\n\n", guard, guard);
	for (i = 0; i < model->nr_files; i++)
		if (model->files[i].needed)
			gen_constants(&header->text, &model->files[i]);
	buf_printf(&header->text, "%s#endif /* %s */\n", buf_text(&paths), guard);
}
