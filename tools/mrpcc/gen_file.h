/* SPDX-License-Identifier: GPL-2.0 */
/* The frame of a generated header and source. */
#ifndef MRPCC_GEN_FILE_H
#define MRPCC_GEN_FILE_H

#include "model.h"

/**
 * struct output - a generated file
 * @name: relative to the output directory
 * @text: its content
 */
struct output {
	char *name;
	struct buf text;
};

/* The header and the source of a file. */
void gen_file(struct model *model, struct file *file, struct output *header,
	      struct output *source);

/* Its header for policies in eBPF. */
void gen_bpf_file(struct model *model, struct file *file, struct output *header);

#endif /* MRPCC_GEN_FILE_H */
