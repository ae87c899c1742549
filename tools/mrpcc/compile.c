// SPDX-License-Identifier: GPL-2.0
/* From descriptors to generated files. */
#include "check.h"
#include "compile.h"
#include "layout.h"
#include "names.h"

struct model *compile_model(FileProto **protos, size_t nr, char **wanted, size_t nr_wanted,
			    bool unary)
{
	struct model *model = model_build(protos, nr, wanted, nr_wanted, unary);
	size_t i;

	for (i = 0; i < model->nr_files; i++)
		if (model->files[i].generate)
			check_file(&model->files[i], unary);
	layout_model(model);
	return nr_complaints() ? NULL : model;
}

static void compile_file(struct model *model, struct file *file, bool bpf, struct outputs *outputs)
{
	struct output *next = &outputs->files[outputs->nr];

	gen_file(model, file, &next[0], &next[1]);
	outputs->nr += 2;
	if (!bpf)
		return;
	next[0] = next[1] = (struct output){ 0 };
	gen_bpf_file(model, file, &next[0]);
	outputs->nr--;
}

bool compile_code(struct model *model, bool bpf, struct outputs *outputs)
{
	size_t i;

	names_forget();
	outputs->files = xalloc(2 * model->nr_files, sizeof(*outputs->files));
	for (i = 0; i < model->nr_files; i++)
		if (model->files[i].generate)
			compile_file(model, &model->files[i], bpf, outputs);
	return !nr_complaints();
}
