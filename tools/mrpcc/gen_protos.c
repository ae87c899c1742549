// SPDX-License-Identifier: GPL-2.0
/*
 * What protoc says of a .proto file, for a server's reflection. Each file with services has a copy of
 * its imports: an import that is there for its options only has no generated code to refer to.
 */
#include "gen_protos.h"

static void need_imports(struct model *model, struct file *file)
{
	size_t i;

	if (file->needed)
		return;
	file->needed = true;
	for (i = 0; i < file->proto->n_dependency; i++)
		need_imports(model, model_find_file(model, file->proto->dependency[i]));
}

/* The needed files, each after those that it imports. */
static FileSetProto needed_set(const struct model *model)
{
	FileSetProto set = GOOGLE__PROTOBUF__FILE_DESCRIPTOR_SET__INIT;
	FileProto *copy;
	size_t i;

	set.file = xalloc(model->nr_files, sizeof(*set.file));
	for (i = 0; i < model->nr_files; i++) {
		if (!model->files[i].needed)
			continue;
		copy = xalloc(1, sizeof(*copy));
		*copy = *model->files[i].proto;
		copy->source_code_info = NULL;
		set.file[set.n_file++] = copy;
	}
	return set;
}

/* One for all services of the file: it has the name of the first. */
static const char *name_of(const struct file *file)
{
	return xasprintf("%s__protos", file->services[0].cname);
}

void gen_protos(struct buf *out, struct model *model, const struct file *file)
{
	FileSetProto set;
	uint8_t *bytes;
	size_t i, len;

	if (!file->nr_services)
		return;
	for (i = 0; i < model->nr_files; i++)
		model->files[i].needed = false;
	need_imports(model, model_find_file(model, file->proto->name));
	set = needed_set(model);
	len = google__protobuf__file_descriptor_set__get_packed_size(&set);
	bytes = xalloc(len, 1);
	google__protobuf__file_descriptor_set__pack(&set, bytes);
	buf_printf(out, "\n/* This file and its imports: a google.protobuf.FileDescriptorSet */\n");
	buf_printf(out, "static const uint8_t %s[] = {", name_of(file));
	buf_bytes(out, bytes, len);
	buf_printf(out, "};\n");
}

void gen_protos_members(struct buf *out, const struct service *service)
{
	const char *name = name_of(service->file);

	buf_printf(out, "\t.protos = %s,\n\t.protos_len = sizeof(%s),\n", name, name);
}
