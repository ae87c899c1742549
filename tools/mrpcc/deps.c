// SPDX-License-Identifier: GPL-2.0
/* What a .proto needs: other files to be compiled, and the files that make is to watch. */
#include <string.h>

#include "deps.h"
#include "model.h"

/* libmrpc has the code of these; its Makefile makes it. */
static const char *const in_library[] = {
	"google/protobuf/any.proto", "google/protobuf/api.proto",
	"google/protobuf/duration.proto", "google/protobuf/empty.proto",
	"google/protobuf/field_mask.proto", "google/protobuf/source_context.proto",
	"google/protobuf/struct.proto", "google/protobuf/timestamp.proto",
	"google/protobuf/type.proto", "google/protobuf/wrappers.proto",
	"grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto",
	"grpc/reflection/v1alpha/reflection.proto", "mrpc/group/v1/group.proto",
};

/* -- files that must be compiled, too ------------------------------------------- */

bool deps_has(const struct deps *deps, const char *name)
{
	size_t i;

	for (i = 0; i < deps->nr; i++)
		if (!strcmp(deps->names[i], name))
			return true;
	return false;
}

void deps_add(struct deps *deps, const char *name)
{
	if (deps_has(deps, name))
		return;
	deps->names = xrealloc(deps->names, deps->nr + 1, sizeof(*deps->names));
	deps->names[deps->nr++] = name;
}

bool comes_with_library(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(in_library); i++)
		if (!strcmp(name, in_library[i]))
			return true;
	return false;
}

/* Marks what @file needs. An import stands before the files that import it. */
static void need_all(struct model *model, struct file *file, bool *needed)
{
	size_t i;

	model_need(model, file);
	for (i = 0; i < model->nr_files; i++)
		needed[i] |= model->files[i].needed;
}

void deps_needed(struct deps *deps, const FileSetProto *set, bool unary)
{
	bool *needed = xalloc(set->n_file, sizeof(*needed));
	char **names = xalloc(set->n_file, sizeof(*names));
	struct model *model;
	size_t i;

	for (i = 0; i < set->n_file; i++)
		names[i] = set->file[i]->name;
	/* Of each file that is needed, code will be asked for. */
	model = model_build(set->file, set->n_file, names, set->n_file, unary);
	needed[set->n_file - 1] = true;
	for (i = set->n_file; i--;)
		if (needed[i] && !comes_with_library(names[i]))
			need_all(model, &model->files[i], needed);
	for (i = 0; i + 1 < set->n_file; i++)
		if (needed[i] && !comes_with_library(names[i]))
			deps_add(deps, names[i]);
	/* What is wrong with them, compiling them says. */
	forget_complaints();
}

/* -- rules for make -------------------------------------------------------------- */

/* As the preprocessors of C write it: make reads no more than that. */
static void put_name(struct buf *out, const char *name)
{
	for (; *name; name++) {
		if (*name == ' ' || *name == '\t' || *name == '#')
			buf_printf(out, "\\");
		else if (*name == '$')
			buf_printf(out, "$");
		buf_printf(out, "%c", *name);
	}
}

void deps_rule(struct buf *out, const char *dir, const struct outputs *outputs,
	       const FileSetProto *set, const struct search *search)
{
	struct buf targets = { 0 };
	const char *path;
	size_t i;

	for (i = 0; i < outputs->nr; i++) {
		put_name(out, xasprintf("%s/%s", dir, outputs->files[i].name));
		buf_printf(out, i + 1 < outputs->nr ? " " : ":");
	}
	for (i = set->n_file; i--;) {
		path = search_find(search, set->file[i]->name);
		if (!path)
			continue;
		buf_printf(out, " \\\n  ");
		put_name(out, path);
		if (i + 1 == set->n_file)
			continue;
		put_name(&targets, path);
		buf_printf(&targets, ":\n");
	}
	buf_printf(out, "\n%s", buf_text(&targets));
}
