/* SPDX-License-Identifier: GPL-2.0 */
/* Refusing what mrpc does not support. */
#ifndef MRPCC_CHECK_H
#define MRPCC_CHECK_H

#include "model.h"

/* Complains about everything in a file that code cannot be generated for; remarks on what is left out. */
void check_file(struct file *file, bool unary);

/* Complains, once, if a field's type is one that cannot be used. */
bool check_field_type(struct field *field);

#endif /* MRPCC_CHECK_H */
