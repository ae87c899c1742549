/* SPDX-License-Identifier: GPL-2.0 */
/* Comments of the .proto in the generated code. */
#ifndef MRPCC_COMMENT_H
#define MRPCC_COMMENT_H

#include "model.h"

/* What the .proto says about the thing at @path, as a comment. */
void gen_comment(struct buf *out, const char *indent, const struct file *file,
		 struct path path);

/* The same for what describes the whole file. */
void gen_file_comment(struct buf *out, const struct file *file);

#endif /* MRPCC_COMMENT_H */
