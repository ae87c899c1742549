/* SPDX-License-Identifier: GPL-2.0 */
/* Compiles descriptors to generated files. The caller supplies and takes them. */
#ifndef MRPCC_COMPILE_H
#define MRPCC_COMPILE_H

#include "gen_file.h"

struct outputs {
	struct output *files;
	size_t nr;
};

/* Does everything up to the schemas. NULL on an error: see complaints(). */
struct model *compile_model(FileProto **protos, size_t nr, char **wanted, size_t nr_wanted,
			    bool unary);

/*
 * Generates code for the wanted files. With @bpf it generates headers for policies in eBPF; their
 * names must not collide with that code. False on an error: see complaints().
 */
bool compile_code(struct model *model, bool bpf, struct outputs *outputs);

#endif /* MRPCC_COMPILE_H */
