// SPDX-License-Identifier: GPL-2.0
/* From descriptors to generated files. */
#include "canon.h"
#include "compile.h"
#include "names.h"

struct model *compile_model(FileProto **protos, size_t nr, char **wanted, size_t nr_wanted)
{
	struct model *model = model_build(protos, nr, wanted, nr_wanted);

	canon_model(model);
	return nr_complaints() ? NULL : model;
}

bool compile_code(struct model *model, struct outputs *outputs)
{
	size_t i;

	names_forget();
	outputs->files = xalloc(2 * model->nr_files, sizeof(*outputs->files));
	for (i = 0; i < model->nr_files; i++) {
		if (!model->files[i].generate)
			continue;
		gen_file(model, &model->files[i], &outputs->files[outputs->nr],
			 &outputs->files[outputs->nr + 1]);
		outputs->nr += 2;
	}
	return !nr_complaints();
}
