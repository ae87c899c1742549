/* SPDX-License-Identifier: GPL-2.0 */
/* Enums and struct blocks. */
#ifndef MRPCC_GEN_STRUCT_H
#define MRPCC_GEN_STRUCT_H

#include "model.h"

void gen_enum(struct buf *out, const struct enumeration *enumeration);
void take_enum_names(const struct enumeration *enumeration);
void gen_struct(struct buf *out, const struct message *message);

/* Compares the layout that the compiler gives a struct with the schema's. */
void gen_layout_asserts(struct buf *out, const struct message *message);

#endif /* MRPCC_GEN_STRUCT_H */
