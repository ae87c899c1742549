/* SPDX-License-Identifier: GPL-2.0 */
/* From descriptors to generated files, whoever brings the one and takes the other. */
#ifndef MRPCC_COMPILE_H
#define MRPCC_COMPILE_H

#include "gen_file.h"

struct outputs {
	struct output *files;
	size_t nr;
};

/* Everything up to the schemas. NULL if something is wrong: see complaints(). */
struct model *compile_model(FileProto **protos, size_t nr, char **wanted, size_t nr_wanted,
			    bool unary);

/*
 * Code for the wanted files; with @bpf, headers for policies in eBPF, whose names must not
 * be in the way of that code. False if something is wrong: see complaints().
 */
bool compile_code(struct model *model, bool bpf, struct outputs *outputs);

#endif /* MRPCC_COMPILE_H */
